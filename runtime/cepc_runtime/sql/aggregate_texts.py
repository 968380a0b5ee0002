"""What is said of an aggregate: its text, and how to have a value that does not fit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .expression import Call, Field, as_written, in_parentheses, of_variable, walk
from .types import STRING, Interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .expression import Aggregate, Expression


def aggregate_text(aggregate: Aggregate) -> str:
    """The aggregate in a user's words."""

    def part(argument: Expression) -> str:
        variable = aggregate.variable
        if isinstance(argument, Field):
            return as_written(argument.column) if variable is None else of_variable(variable, argument.column)
        return "…" if variable is None else f"… of {variable}"

    return f"{'RUNNING ' * aggregate.running}{aggregate.function.written}({in_parentheses(aggregate, part)})"


def cure(aggregate: Aggregate, shown: Iterable[Expression]) -> str:
    """How to have its value in the expressions that show it: as a text where it is one by itself, as a number where it
    is an operand.
    """
    text = aggregate_text(aggregate)
    if not aggregate.function.of_any_size:  # an average of decimals
        return f"{text.replace('(', '(CAST(', 1)[:-1]} AS DOUBLE)) is approximate at any size"
    null = f"TRY_{text} is null instead"
    if aggregate.running:
        null = f"TRY_{text.removeprefix('RUNNING ')}, of the whole match, is null instead"
    if isinstance(aggregate.type, Interval):  # no cast computes it in another type
        return null
    if any(map(partial(_is_operand, aggregate), shown)):
        return f"CAST({text} AS DOUBLE) is approximate at any size, {null}"
    return f"CAST({text} AS STRING) is exact at any size, {null}"


def _is_operand(aggregate: Aggregate, shown: Expression) -> bool:
    """Whether anything but a text is made of its value."""
    calls = [node for node in walk(shown) if isinstance(node, Call) and aggregate in node.arguments]
    return any(call.function != "cast" or call.type != STRING for call in calls)
