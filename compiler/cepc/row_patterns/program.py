"""The clauses of a text as one program of ours: a stream for each order of a table's rows, a query for each clause."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass

from ..checked import Checked
from ..files.read import ImportReader
from ..resolve import check
from ..too_large import too_large
from . import messages as say
from .coming import with_rows_before
from .lower import lower_clause
from .navigation import RefusedError
from .numbered import unused
from .selecting import around, not_sorted
from .tables import RowsComing, RowsThere

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source
    from cepc_grammar.sql.syntax import FoundClause, PlainSelect

    from .lower import LoweredClause
    from .numbered import NumberedRows
    from .tables import RowTable

OF_VALUES: Final = ("W0302", "W0303", "W0304", "W0305")
"""Warnings that say the same of a clause. Others show expressions as they are after it was lowered."""
_BIGINT: Final = ast.TypeExpr("BIGINT")


@dataclass(frozen=True, slots=True)
class NamedClause:
    """A clause, the table that it is over, and what its query is called; `select` is around it where no Spark is."""

    name: str
    found: FoundClause
    table: RowTable
    select: PlainSelect | None = None


@dataclass(frozen=True, slots=True)
class ClauseProgram:
    """`checked` has no program where something is wrong. `clauses` are those of the queries, by name, and `rows` what
    each stream is made of.
    """

    checked: Checked
    clauses: Mapping[str, LoweredClause]
    rows: Mapping[str, NumberedRows]


def program_of(clauses: Sequence[NamedClause], sources: Mapping[str, Source]) -> ClauseProgram:
    """The program, and what is wrong with it, in places of the SQL text."""
    problems: list[Diagnostic] = []
    lowered: dict[str, LoweredClause] = {}
    tables: dict[str, RowTable] = {}
    for clause in clauses:
        found, wrong = lower_clause(clause.found, clause.table, clause.name)
        problems += wrong
        if found is not None:
            try:
                lowered[clause.name] = found if clause.select is None else around(clause.select, found)
            except RefusedError as error:
                problems.append(error.diagnostic)
            tables[clause.name] = clause.table
    rows = _streams(lowered, tables)
    streams = [_stream(name, numbered, table) for name, numbered, table, _ in rows]
    of_query = {query: name for name, _, _, queries in rows for query in queries}
    queries = [replace(one.query, streams=(ast.Name(of_query[name], one.query.span),)) for name, one in lowered.items()]
    resolved = check(ast.Program((*streams, *queries)), ImportReader())
    problems += (say.of_a_table(d) for d in resolved.diagnostics if d.severity == "error")
    if resolved.program is not None and not problems:
        problems += (say.too_many_states(d.span, d.label) for d in too_large(resolved.program, resolved.built))
    if resolved.program is not None and not problems:
        checked_queries = {query.name: query for query in resolved.program.queries}
        problems += (
            problem
            for clause in clauses
            if clause.select is not None
            for problem in not_sorted(clause.select, lowered[clause.name], checked_queries[clause.name])
        )
    coming = {name: numbered for name, numbered, table, _ in rows if isinstance(table.rows, RowsComing)}
    program = None if problems or resolved.program is None else with_rows_before(resolved.program, coming)
    warnings = {(d.code, d.span): d for d in resolved.diagnostics if d.code in OF_VALUES}  # a DEFINE is of many places
    checked = Checked(program, (*problems, *warnings.values()), sources)
    return ClauseProgram(checked, lowered, {name: numbered for name, numbered, _, _ in rows})


def _streams(
    lowered: Mapping[str, LoweredClause], tables: Mapping[str, RowTable]
) -> list[tuple[str, NumberedRows, RowTable, tuple[str, ...]]]:
    """For each order of rows, the name of its stream, what it is made of, the table, and the queries over it."""
    found: list[tuple[NumberedRows, RowTable, tuple[str, ...]]] = []
    for query, one in lowered.items():
        at = next((i for i, (rows, _, _) in enumerate(found) if rows.order == one.rows.order), None)
        if at is None:
            found.append((one.rows, tables[query], (query,)))
        else:
            rows, table, queries = found[at]
            found[at] = rows.with_those_of(one.rows), table, (*queries, query)
    taken = {variable for one in lowered.values() for variable in _aliases(one.query)} | set(lowered)
    named: list[tuple[str, NumberedRows, RowTable, tuple[str, ...]]] = []
    for rows, table, queries in found:
        name = unused(table.name, frozenset(taken))
        taken.add(name)
        named.append((name, rows, table, queries))
    return named


def _aliases(query: ast.Query) -> Iterable[str]:
    from cepc_grammar.pattern import walk

    return (n.alias.text for n in walk(query.pattern) if isinstance(n, ast.AnyEvent) and n.alias is not None)


def _stream(name: str, rows: NumberedRows, table: RowTable) -> ast.Stream:
    """Whose events are the numbered rows. The number is their time, or where they are still to come the order of those
    of one time.
    """
    columns = {column: table.types[column] for column in rows.columns} | {rows.number: _BIGINT}
    columns |= {one.name: columns[one.column] for one in rows.shifted}
    match table.rows:
        case RowsThere():
            time = ast.EventTime(ast.Name(rows.number), "us")
        case RowsComing(by):
            time = ast.EventTime(ast.Name(by), order_by=(ast.Name(rows.number),))
    return ast.Stream(
        ast.Name(name), tuple(ast.Column(ast.Name(column), type_) for column, type_ in columns.items()), time
    )
