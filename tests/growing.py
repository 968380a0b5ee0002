"""How matches of AFTER MATCH are found where machine code does not walk them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_runtime.enumerate import preferred
from cepc_runtime.enumerate.enumerator import Enumerator

if TYPE_CHECKING:
    import pytest

EVERY = 1 << 62


def grow_together(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """No more than so many partial matches grow together; others are followed one after the other."""
    for limit in ("OF_ONE", "TOGETHER", "WAYS"):
        monkeypatch.setattr(preferred, limit, most)


def one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """All partial matches are followed so, and none is walked."""
    grow_together(monkeypatch, 0)
    monkeypatch.setattr(Enumerator, "walking", lambda *_: None)
