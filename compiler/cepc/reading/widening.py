"""Which columns stand for a declared type; generated jobs ask the same, so the rule is in the runtime."""

from __future__ import annotations

from cepc_runtime.widening import widens

__all__ = ["widens"]
