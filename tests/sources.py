"""The project's own modules as trees, each parsed once for all tests that look at them."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of the module."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
