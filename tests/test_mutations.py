"""The changes that tests/mutants.py tries, on small pieces of code."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from textwrap import dedent, indent

import pytest

from tests.mutants import Candidate, Cover, chosen, sources
from tests.mutations import mutations


def changed(code: str) -> list[str]:
    """All changes of a function with this body, the parentheses that they are written in left out."""
    source = "def f():\n" + indent(code, "    ")
    return [ast.unparse(ast.parse(dedent(m.of(source).partition("\n")[2]))) for m in mutations(source)]


CHANGES = {
    "a comparison": ("x = a < b", ["x = a <= b"]),
    "each comparison of a chain": ("x = a <= b != c", ["x = a < b != c", "x = a <= b == c"]),
    "whether it is one": ("x = a is None", ["x = a is not None"]),
    "and, not": ("x = a and not b", ["x = a or not b", "x = a and b"]),
    "a sign": ("x = -a", ["x = a"]),
    "operators": ("x = a + b * c", ["x = a - b * c", "x = a + (b + c)"]),
    "an operator in place": ("x += a", ["x -= a"]),
    "a number": ("x = 3", ["x = 4"]),
    "a truth": ("x = True", ["x = False"]),
    "a side": ("x = find(a, side='left')", ["x = find(a, side='right')"]),
    "a branch": ("if a:\n    x = b", ["if not a:\n    x = b"]),
    "a branch on a comparison for equality, once": ("if a == b:\n    x = b", ["if a != b:\n    x = b"]),
    "a loop": ("while f(a):\n    x = b", ["while not f(a):\n    x = b"]),
    "what is taken": ("x = [a for a in b if a.c]", ["x = [a for a in b if not a.c]"]),
    "a choice": ("x = a if b else c", ["x = a if not b else c"]),
    "a call": ("x = max(a, b)", ["x = min(a, b)"]),
    "a call of a module": ("x = np.minimum(a, b)", ["x = np.maximum(a, b)"]),
    "an order": ("x = sorted(a, key=b)", ["x = list(a)"]),
    "a call for what it does": ("a.add(b)", ["pass"]),
    "bounds of a slice": ("x = a[b:c]", ["x = a[b + 1:c]", "x = a[b - 1:c]", "x = a[b:c + 1]", "x = a[b:c - 1]"]),
    "the end of a loop": ("for a in b:\n    break", ["for a in b:\n    continue"]),
    "what follows a letter of several bytes": ("x = 'ä', 1", ["x = ('ä', 2)"]),
    "what is written in several lines": ("x = (a +\n  b)", ["x = a - b"]),
}


@pytest.mark.parametrize(("code", "expected"), CHANGES.values(), ids=CHANGES)
def test_changed_is(code: str, expected: list[str]) -> None:
    assert sorted(changed(code)) == sorted(expected)


LEFT_ALONE = {
    "texts": '"a"',
    "texts put together": "x = 'a' + b",
    "texts with values": "x = f'{a + 1}'",
    "errors": "raise E(1)",
    "assertions": "assert a < 1",
    "annotations": "x: Literal[1] = y",
    "that lengths are equal": "for x in zip(a, b, strict=True): ...",
}


@pytest.mark.parametrize("code", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone_are(code: str) -> None:
    assert changed(code) == []


def test_of_a_module_is_left_alone_what_is_no_behaviour() -> None:
    assert not mutations(
        "if TYPE_CHECKING:\n    x = 1\n"
        "__all__ = [1]\n"
        "MOST: Final = 10_000\n"
        "Number = int | float\n"
        "@dataclass(frozen=True)\nclass A:\n    '''A'''\n    a: tuple[Literal[1], ...]\n"
        "def f(x: Literal[1]) -> Literal[1]: ...\n"
    )
    assert [m.what for m in mutations("FEW: Final = 10\n")] == ["10 → 11"]


def test_a_change_is_covered_by_its_statement_or_by_the_head_of_one_with_a_body() -> None:
    source = "A = 1\ndef f(b=2):\n    x = g(\n        3,\n    )\n    if a < (\n        4\n    ):\n        c = 5\n"
    assert {m.what: set(m.covered) for m in mutations(source)} == {
        "1 → 2": set(),
        "2 → 3": set(),
        "3 → 4": {3, 4, 5},
        "< → <= in a < 4": {6, 7, 8},
        "a < 4 → not a < 4": {6, 7, 8},
        "4 → 5": {7},
        "5 → 6": {9},
    }


def test_what_is_done_on_import_is_covered_by_all_tests_of_the_module() -> None:
    on_import, in_function = mutations("A = 1\ndef f():\n    return 2\n")
    one, two = Candidate("a.py::one", 1), Candidate("a.py::two", 1)
    cover = Cover({("a/m.py", 3): {one}}, {"a/m.py": {one: 1, two: 2}, "a/n.py": {two: 3}, "b/m.py": {one: 4}})
    assert cover.of("a/m.py", on_import) == {one: 1, two: 2}
    assert cover.of("a/n.py", on_import) == {two: 3}
    assert cover.of("b/constants.py", on_import) == {one: 4}  # those of the folder, where a module has no function
    assert cover.of("a/m.py", in_function) == {one: 1}
    assert cover.of("a/n.py", in_function) == {}


@dataclass(frozen=True)
class Choice:
    seconds: float
    expected: list[str]


CHOICES = {
    "all, the fastest first": Choice(100, ["b::1", "a::1", "a::2", "b::2"]),
    "the fastest for half of the time": Choice(8, ["b::1", "a::1"]),
    "then what runs most of the module": Choice(18, ["b::1", "a::1", "b::2"]),
    "one at least": Choice(0, ["b::1"]),
}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_tests_are_chosen(choice: Choice) -> None:
    tests = {Candidate("a::2", 8): 5, Candidate("a::1", 3): 1, Candidate("b::1", 1): 1, Candidate("b::2", 9): 50}
    assert [test.name for test in chosen(tests, choice.seconds)] == choice.expected


def test_every_change_of_a_module_is_python_and_another_program() -> None:
    source = sources()["compiler/cepc/passes/motto/suffix.py"]
    for mutation in mutations(source):
        assert ast.dump(ast.parse(mutation.of(source))) != ast.dump(ast.parse(source)), mutation
