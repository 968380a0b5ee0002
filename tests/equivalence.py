"""Running one case in every way there is, and comparing rows with the oracle's."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from cepc.api import check_parsed
from cepc.files.read import ImportReader
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from cepc_runtime.batch import execute
from cepc_runtime.sql.computed import compute
from cepc_runtime.sql.evaluate.errors import EvaluationError
from cepc_runtime.sql.types import to_arrow
from tests import oracle

if TYPE_CHECKING:
    from cepc import model
    from cepc.planning.logical import LogicalPlan
    from cepc_grammar import ast
    from cepc_runtime.plan.physical import PhysicalPlan
    from tests.programs import Case

Rows = list[dict[str, Any]]

EVERY = 17
"""Digits that tell every double from all others."""
ABOUT = 9
"""Digits that sums of DOUBLE have where parts of a group are put together."""


class Refused(Exception):  # noqa: N818 - the generator went too far, no failure
    """The compiler has errors for the program; the codes of its diagnostics."""


@dataclass(frozen=True)
class Compiled:
    tree: ast.Program
    program: model.CheckedProgram
    logical: LogicalPlan
    plan: PhysicalPlan


def checked_text(text: str) -> tuple[ast.Program, model.CheckedProgram]:
    """A program's tree, and what was checked of it. Raises Refused."""
    source = Source("case.cep", text)
    parsed = parse(source)
    assert not parsed.diagnostics, parsed.diagnostics
    checked = check_parsed([(source, parsed)], ImportReader())
    if checked.program is None:
        raise Refused(" ".join(f"{d.code} {d.title}" for d in checked.errors))
    return parsed.program, checked.program


@lru_cache(16)  # a check, its property and what counts constructs ask one after the other
def compile_text(text: str) -> Compiled:
    tree, checked = checked_text(text)
    planned = plan_program(checked)
    if planned.diagnostics:
        raise Refused(" ".join(f"{d.code} {d.title}" for d in planned.diagnostics))
    if not planned.plans:
        raise Refused("no query")
    return Compiled(tree, checked, planned.plans[0], strategy(planned.plans[0], "local"))


def input_of(case: Case, compiled: Compiled) -> pa.Table:
    (stream,) = compiled.program.streams
    return pa.Table.from_pylist(
        list(case.rows), schema=pa.schema([(name, to_arrow(type_)) for name, type_ in stream.input.columns])
    )


def table_of(case: Case, compiled: Compiled) -> pa.Table:
    """The events with the columns that queries see."""
    (stream,) = compiled.program.streams
    return compute(input_of(case, compiled), stream.input.computed).select(list(stream.column_types))


def by_oracle(case: Case, compiled: Compiled) -> dict[str, Rows] | None:
    """The rows, or None where the program fails on this stream (a value that does not fit, a division by zero)."""
    answers = answered(case, compiled)
    return None if answers is None else {name: answer.rows for name, answer in answers.items()}


class HasTree(Protocol):
    @property
    def tree(self) -> ast.Program: ...


def answered(case: Case, compiled: HasTree) -> dict[str, oracle.Answer] | None:
    """The oracle's rows and matches, or None as for `by_oracle`. What it would take too long for is refused."""
    return answers_over(list(case.rows), compiled)


def answers_over(events: oracle.Events, compiled: HasTree) -> dict[str, oracle.Answer] | None:
    """The same over these events, of one stream or of each."""
    try:
        return oracle.answers(compiled.tree, events)
    except (oracle.EvaluationError, oracle.Overflow):
        return None
    except (oracle.TooMuch, RecursionError):  # it goes one level deeper for each event of a repetition
        raise Refused("more derivations than the oracle can go through") from None


def by_engine(case: Case, compiled: Compiled, *, interpreted: bool | None = None) -> dict[str, Rows] | None:
    try:
        found = execute(compiled.plan, table_of(case, compiled), interpreted=interpreted)
    except (ArithmeticError, EvaluationError):
        return None
    return {name: table.to_pylist() for name, table in found.tables.items()}


def same(left: Rows, right: Rows, digits: int = EVERY) -> bool:
    """Equal as multisets of rows, DOUBLE in so many digits."""
    return Counter(_comparable(row, digits) for row in left) == Counter(_comparable(row, digits) for row in right)


def among(some: Rows, rows: Rows, digits: int = EVERY) -> bool:
    """Whether they are some of the rows, none more often than there."""
    return not Counter(_comparable(row, digits) for row in some) - Counter(_comparable(row, digits) for row in rows)


def _comparable(value: Any, digits: int) -> Any:
    match value:
        case int() | str() | None:  # most values, first
            return (type(value).__name__, value)
        case dict():
            return tuple((k, _comparable(v, digits)) for k, v in sorted(value.items()))
        case list() | tuple():
            return tuple(_comparable(v, digits) for v in value)
        case float() if math.isnan(value):
            return "NaN"
        case float():
            return ("double", float(f"{value:.{digits}g}") + 0.0)
        case Decimal():
            return ("decimal", value.normalize() + 0)
    return (type(value).__name__, value)
