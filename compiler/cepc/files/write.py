"""Files that commands write: whole, or as they were before."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from ..errors import RunError
from .messages import unwritable


def write_text(name: str, text: str) -> None:
    """Write UTF-8 text, in the place of what is there. Raises RunError, and the file is then the one it was."""
    write_bytes(name, text.encode())


def write_bytes(name: str, data: bytes) -> None:
    """As `write_text`."""
    try:
        path = Path(name).resolve()  # a link stays one
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_bytes(data)
            return
        begun = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            begun.write_bytes(data)
            if path.exists():
                shutil.copymode(path, begun)
            begun.replace(path)
        except BaseException:
            with suppress(OSError):
                begun.unlink()
            raise
    except (OSError, ValueError) as error:
        raise RunError([unwritable(name, error)]) from None
