"""Clauses over tables whose rows come as time goes on: what they must say, and what they cannot ask."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.pattern import walk
from cepc_grammar.sql.syntax import PHYSICAL, Anchor
from cepc_runtime.plan.row_numbers import RowNumbers
from cepc_runtime.plan.stream import Beside

from ..resolve.walk import walk as every
from . import messages as say
from .navigation import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cepc_grammar.sql.syntax import MatchRecognize

    from .. import model
    from .numbered import NumberedRows, RowOrder
    from .tables import RowsComing


def length_of_matches(clause: MatchRecognize, order: RowOrder, rows: RowsComing) -> ast.Duration:
    """What WITHIN says, which such a clause needs: a match is known when no longer one can come. Raises RefusedError,
    where nothing would ever be known as well.
    """
    key = clause.order_by[0]
    if order.order[0].column != rows.by or key.descending:
        raise RefusedError(say.order_of_coming(key, rows.by))
    if clause.within is None:
        raise RefusedError(say.coming_without_within(clause.span))
    for anchor in (node for node in walk(clause.pattern) if isinstance(node, Anchor)):
        raise RefusedError(say.anchor_of_coming(anchor))
    for node in (node for expression in _asked(clause) for node in every(expression)):
        if isinstance(node, ast.Call) and PHYSICAL.get(node.function.text.upper(), 0) > 0:
            raise RefusedError(say.next_of_coming(node))
    return _duration(clause.within)


def _asked(clause: MatchRecognize) -> Iterator[ast.Expression]:
    yield from (measure.expression for measure in clause.measures)
    yield from (definition.condition for definition in clause.definitions)


def _duration(within: ast.Expression) -> ast.Duration:
    if not isinstance(within, ast.Interval):
        raise RefusedError(say.no_within(within.span, "what is no INTERVAL"))
    lengths = [part.microseconds for part in within.parts]
    if any(length is None for length in lengths):
        raise RefusedError(say.within_without_length(within.span))
    return ast.Duration(str(sum(length for length in lengths if length is not None)), "MICROSECOND", within.span)


def numbers_of(rows: NumberedRows) -> RowNumbers:
    """How the rows are numbered as they become known. What `FIRST(x, n)` stands for is asked of following rows, which
    are known when a match is.
    """
    following = tuple(one for one in rows.shifted if one.places > 0)
    return RowNumbers(rows.number, rows.order.partition, rows.order.order[1:], following)


def with_rows_before(program: model.CheckedProgram, rows: Mapping[str, NumberedRows]) -> model.CheckedProgram:
    """The program, in which what PREV asks of `rows` before others is no column of the input: it is known when these
    are.
    """
    streams = (_with_rows_before(one, rows[one.name]) if one.name in rows else one for one in program.streams)
    return replace(program, streams=tuple(streams))


def _with_rows_before(stream: model.Stream, rows: NumberedRows) -> model.Stream:
    before = [one for one in rows.shifted if one.places < 0]
    made, types = {one.name for one in before}, dict(stream.columns)
    partition = tuple(sorted(rows.order.partition))
    return replace(
        stream,
        columns=tuple(column for column in stream.columns if column[0] not in made),
        input=replace(stream.input, columns=tuple(column for column in stream.input.columns if column[0] not in made)),
        beside=tuple(Beside(one.name, one.column, types[one.name], one.places, partition) for one in before),
    )
