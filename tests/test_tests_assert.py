"""Every test asserts something: by itself, or by what it calls in the tests."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.sources import nodes

TESTS: Final = Path(__file__).parent
SAYS_NO: Final = {"raises", "fail", "warns"}
"""What of pytest's fails a test without `assert`."""


def functions() -> dict[str, list[ast.FunctionDef]]:
    """All functions and methods of the tests, by name."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for path in sorted(TESTS.rglob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef):
                found.setdefault(node.name, []).append(node)
    return found


def used(function: ast.FunctionDef) -> set[str]:
    """The names that it uses."""
    nodes = list(ast.walk(function))
    return {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}


@pytest.mark.unhurried
def test_every_test_asserts() -> None:
    known = functions()
    asserting = set(SAYS_NO)
    asserting |= {
        n for n, several in known.items() if any(isinstance(x, ast.Assert) for f in several for x in ast.walk(f))
    }
    before = 0
    while len(asserting) > before:
        before = len(asserting)
        asserting |= {name for name, several in known.items() if any(used(f) & asserting for f in several)}
    tests = [name for name in known if name.startswith("test_")]
    assert len(tests) > 1000
    assert [name for name in tests if name not in asserting] == []
