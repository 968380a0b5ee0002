"""A compiler from complex-event-processing queries to one shared PySpark job.

    >>> import cepc
    >>> cepc.check("QUERY q RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 1 HOUR").ok
    True

Importing this is light: each function imports what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import Checked

__all__ = ["check"]


def check(text: str, name: str = "<text>") -> Checked:
    """Check a program; `name` is what its diagnostics call it."""
    from .api import check_text

    return check_text(text, name)
