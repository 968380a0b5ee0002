"""A case that fails, made small: fewer events, then a smaller program, as long as it still fails."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from cepc_grammar import ast
from cepc_grammar.parser import parse
from cepc_grammar.pattern import And, Or, Repeat, Selected, Seq, Some
from cepc_grammar.printer import to_text
from cepc_grammar.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.programs import Case


def smallest(case: Case, fails: Callable[[Case], bool], rounds: int = 600) -> Case:
    """The smallest that is found in so many runs of `fails`, which has to be true of the case itself."""
    budget = iter(range(rounds))

    def still(one: Case) -> bool:
        return next(budget, None) is not None and fails(one)

    case = replace(case, words=())
    before = None
    while before != case:
        before = case
        case = _fewer_rows(case, still)
        case = _smaller_text(case, still)
    columns = {name for row in case.rows for name in row if name in case.text}
    return replace(case, rows=tuple({name: row[name] for name in row if name in columns} for row in case.rows))


def _fewer_rows(case: Case, still: Callable[[Case], bool]) -> Case:
    """Without any one word, then in ever smaller runs without other rows."""
    numbers = sorted({row.get("word") for row in case.rows}, key=repr)
    size = len(numbers) // 2
    while size:
        for at in range(0, len(numbers), size):
            dropped = set(numbers[at : at + size])
            shorter = replace(case, rows=tuple(row for row in case.rows if row.get("word") not in dropped))
            if len(shorter.rows) < len(case.rows) and still(shorter):
                case = shorter
        size //= 2
    at = 0
    while at < len(case.rows):
        shorter = replace(case, rows=(*case.rows[:at], *case.rows[at + 1 :]))
        if still(shorter):
            case = shorter
        else:
            at += 1
    return case


def _smaller_text(case: Case, still: Callable[[Case], bool]) -> Case:
    found: Case | None = case
    while found is not None:
        case, program = found, parse(Source("case.cep", found.text)).program
        shorter = (replace(case, text=to_text(one)) for one in smaller(program) if _asks(one))
        found = next((one for one in shorter if len(one.text.split()) < len(case.text.split()) and still(one)), None)
    return case


def _asks(program: ast.Program) -> bool:
    return any(isinstance(statement, ast.Query) for statement in program.statements)


def smaller(node: Any) -> Iterator[Any]:
    """The node with one thing less: a statement, a clause, a conjunct, an operand; or an operator's operand in its
    place.
    """
    match node:
        case tuple():
            for place in range(len(node)):
                if len(node) > 1:
                    yield (*node[:place], *node[place + 1 :])
                for one in smaller(node[place]):
                    yield (*node[:place], one, *node[place + 1 :])
            return
        case Seq(inner) | And(inner) | Or(inner) | Some(inner):
            yield from inner
        case Repeat(body=inner) | Selected(body=inner):
            yield inner
        case ast.Binary(operator="AND", left=left, right=right):
            yield left
            yield right
        case ast.Query():
            for less in (
                replace(node, where=None),
                replace(node, having=None),
                replace(node, slide=None),
                replace(node, offset=None),
                replace(node, after_match=None),
                replace(node, group_by=()),
                replace(node, labels=()),
            ):
                if less != node:
                    yield less
        case ast.NamedPattern() if node.where is not None:
            yield replace(node, where=None)
    if is_dataclass(node) and not isinstance(node, type):
        for field in fields(node):
            if field.name not in ("span", "labels"):  # a label is a name with its text
                for one in smaller(getattr(node, field.name)):
                    yield replace(node, **{field.name: one})
