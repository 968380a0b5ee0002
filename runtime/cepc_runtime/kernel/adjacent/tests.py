"""Conditions between neighbours as tests on numbers.

`later.x OP earlier.y`, with any expression of one event on each side, compares ranks that both sides share. Any other
condition is evaluated for all pairs of a block of events at once, before the loop reaches them.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from ...cheap_dataclass import dataclass
from ...numbers.columns import Bools, Ints, as_bools, flat, ranks
from ...sql.evaluate import can_fail, evaluate
from ...sql.evaluate.errors import EvaluationError
from ...sql.evaluate.truths import truths
from ...sql.expression import Call, FieldKey, conjuncts, fields, variables
from .moves import reachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...events.letters import Kinds
    from ...plan.automaton import Automaton
    from ...plan.strategy import AdjacentCondition
    from ...sql.expression import Expression

LESS: Final = 0
LESS_EQUAL: Final = 1
GREATER: Final = 2
GREATER_EQUAL: Final = 3
EQUAL: Final = 4
DIFFERENT: Final = 5
PAIRS: Final = 6

_TEXT_OR_ROLE: Final = re.compile(r"""('(?:[^'\\]|\\.)*+'|`[^`]*`)|\b(?:earlier|later)\.""", re.DOTALL)

MOST_FAILING: Final = 1000
"""Pairs of a block without a value that are looked for one by one."""

OPERATORS: Final = {"<": LESS, "<=": LESS_EQUAL, ">": GREATER, ">=": GREATER_EQUAL, "=": EQUAL}
_SWAPPED: Final = {LESS: GREATER, LESS_EQUAL: GREATER_EQUAL, GREATER: LESS, GREATER_EQUAL: LESS_EQUAL}


class Failing(Enum):
    """What a condition is for two events for which it has no value."""

    ERROR = "error"
    TRUE = "true"
    FALSE = "false"


@dataclass(frozen=True, slots=True)
class Comparison:
    """`later OPERATOR earlier`, each side over one event."""

    operator: int
    later: Expression
    earlier: Expression


@dataclass(frozen=True)
class Test:
    """One conjunct, on the edges from `sources`. Of a comparison: the ranks of both sides for all events, -1 where
    there is none.

    Of pairs: `ordinal[i]` counts the events before i that can be the earlier one, which are listed in `earlier`.
    """

    expression: Expression
    operator: int
    left: Ints
    right: Ints
    earlier: Ints
    ordinal: Ints
    later: Bools


def tests_of(conditions: Sequence[AdjacentCondition]) -> dict[int, tuple[Expression, ...]]:
    """The conjuncts that each step has to satisfy."""
    found: dict[int, list[Expression]] = {}
    for condition in conditions:
        for step in condition.steps:
            found.setdefault(step, []).extend(conjuncts(condition.expression))
    return {step: tuple(dict.fromkeys(conditions)) for step, conditions in found.items()}


def comparison(expression: Expression) -> Comparison | None:
    """The condition as a comparison of the two events, if it is one."""
    match expression:
        case Call("not", (Call("=", (a, b)),)):
            sides = _sides(a, b)
            return None if sides is None else Comparison(DIFFERENT, *sides[:2])
        case Call(operator, (a, b)) if operator in OPERATORS:
            sides = _sides(a, b)
            if sides is None:
                return None
            later, earlier, swapped = sides
            number = OPERATORS[operator]
            return Comparison(_SWAPPED.get(number, number) if swapped else number, later, earlier)
    return None


def _sides(a: Expression, b: Expression) -> tuple[Expression, Expression, bool] | None:
    if variables(a) == ("later",) and variables(b) == ("earlier",):
        return a, b, False
    if variables(a) == ("earlier",) and variables(b) == ("later",):
        return b, a, True
    return None


def prepare_test(
    expression: Expression, steps: Sequence[int], automaton: Automaton, table: Any, kinds: Kinds, failing: Failing
) -> Test:
    """The test on all events of a class. `steps` are all those that have it."""
    sources = {automaton.steps[step].source for step in steps}
    sources |= {state for state, after in reachable(automaton).items() if not sources.isdisjoint(after)}
    later = kinds.satisfying(frozenset(automaton.steps[step].letter for step in steps))
    bound = frozenset(s.letter for s in (*automaton.steps, *automaton.ties) if s.target in sources)
    earlier = kinds.satisfying(bound)
    by_ranks = failing is Failing.ERROR or not can_fail(expression)
    found = comparison(expression) if by_ranks else None
    none = np.empty(0, dtype=np.int64)
    if found is None:
        ordinal = np.concatenate(([0], np.cumsum(earlier)))
        return Test(expression, PAIRS, none, none, np.flatnonzero(earlier), ordinal, later)
    left, right = shared_ranks(found, table, np.flatnonzero(later), np.flatnonzero(earlier))
    return Test(expression, found.operator, left, right, none, none, later)


def shared_ranks(found: Comparison, table: Any, later: Ints, earlier: Ints) -> tuple[Ints, Ints]:
    """The ranks of both sides among the values of both."""
    sides = [(found.later, "later", later), (found.earlier, "earlier", earlier)]
    columns = [evaluate_side(e, table, name, rows) for e, name, rows in sides]
    if columns[0].type != columns[1].type:
        raise TypeError(f"a comparison of {columns[0].type} and {columns[1].type}")
    numbers = ranks(pa.chunked_array(columns)).numbers
    left, right = np.full(table.num_rows, -1, dtype=np.int64), np.full(table.num_rows, -1, dtype=np.int64)
    left[later], right[earlier] = numbers[: len(later)], numbers[len(later) :]
    return left, right


def evaluate_side(expression: Expression, table: Any, name: str, rows: Ints) -> Any:
    """The values of an expression of one of the two events, of which those in `rows` are `name`."""
    with as_in_the_query():
        return flat(evaluate(expression, columns_of(expression, table, **{name: rows}), len(rows)))


def columns_of(expression: Expression, table: Any, **rows: Ints) -> dict[FieldKey, Any]:
    """The columns of an expression over `earlier` and `later`: row i is of the events `earlier[i]` and `later[i]`."""
    return {
        field.key: flat(table.column(field.column).take(pa.array(rows[field.variable])))
        for field in fields(expression)
        if field.variable is not None
    }


def evaluate_pairs(test: Test, table: Any, earlier: Ints, later: Ints, failing: Failing) -> Bools:
    """Where the condition is true of the pairs. Raises EvaluationError, where it may be anything else only for more
    pairs than MOST_FAILING.
    """
    columns = columns_of(test.expression, table, earlier=earlier, later=later)
    with as_in_the_query():
        if failing is Failing.ERROR:
            return as_bools(evaluate(test.expression, columns, len(later)))
        true, failed = truths(test.expression, columns, len(later), MOST_FAILING)
    return true | failed if failing is Failing.TRUE else true


@contextmanager
def as_in_the_query() -> Iterator[None]:
    """What fails is said without `earlier` and `later`, which are no variables of the query."""
    try:
        yield
    except EvaluationError as error:
        error.expression = _TEXT_OR_ROLE.sub(lambda found: found[1] or "", error.expression)
        raise
