"""Whether a folder is the user's alone: what is run from a cache must not be anybody else's."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def is_private(folder: Path) -> bool:
    """Whether only the user (or root) can put something there, or something else in the place of it or of a folder
    above it.

    What is not there yet is as private as where it will be. Raises OSError where that cannot be known.
    """
    whole = folder.absolute()
    while not whole.exists():
        whole = whole.parent
    found = whole.resolve(strict=True)
    return _is_closed(found.stat()) and all(_is_safe(above.stat()) for above in found.parents)


def _is_closed(status: os.stat_result) -> bool:
    """Owned by the user or root, and written by nobody else; a group with the user's number is the user's own."""
    others = stat.S_IWOTH | (0 if status.st_gid == os.getuid() else stat.S_IWGRP)
    return status.st_uid in (0, os.getuid()) and not status.st_mode & others


def _is_safe(status: os.stat_result) -> bool:
    """In a folder like /tmp everybody may write, but not take away what is another's."""
    return _is_closed(status) or (status.st_uid in (0, os.getuid()) and bool(status.st_mode & stat.S_ISVTX))
