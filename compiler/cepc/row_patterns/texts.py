"""SQL texts by themselves, without a Spark whose catalogue has tables: what they declare and ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.sql.parser import parse_sql
from cepc_runtime.cheap_dataclass import dataclass

from ..checked import Checked
from ..diagnostics.render import errors
from ..expressions.written_types import misspelt_type
from . import messages as say
from .numbered import counted
from .program import ClauseProgram, NamedClause, program_of
from .selecting import selected
from .tables import table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source
    from cepc_grammar.sql.syntax import CreateTable, FoundClause, PlainSelect, SqlStatement

    from .lower import LoweredClause


@dataclass(frozen=True, slots=True)
class SqlProgram:
    """`tables` are those that the texts create, by name, and `statements` those around the queries, by the queries'
    names; in `others` there is no MATCH_RECOGNIZE.
    """

    clauses: ClauseProgram
    tables: Mapping[str, CreateTable]
    statements: Mapping[str, SqlStatement]
    others: tuple[SqlStatement, ...]

    @property
    def checked(self) -> Checked:
        return self.clauses.checked


def sql_program(sources: Iterable[Source]) -> SqlProgram:
    """The clauses of the texts, which are one program, over the tables that they create."""
    given = list(sources)
    known = {source.name: source for source in given}
    parsed = [parse_sql(source) for source in given]
    problems = [d for one in parsed for d in one.diagnostics]
    statements = [statement for one in parsed for statement in one.statements]
    tables: dict[str, CreateTable] = {}
    for created in (statement.created for statement in statements if statement.created):
        table_name = created.name.parts[-1]
        if any(table_name.text.casefold() == other.casefold() for other in tables):
            problems.append(say.twice(table_name, "created"))
        tables.setdefault(table_name.text, created)
    unread = [statement.unread for statement in statements if statement.unread is not None]
    problems += unread
    named: list[NamedClause] = []
    around: dict[str, SqlStatement] = {}
    for statement in statements:
        for found in statement.clauses:
            table = _table(found, tables)
            if table is None:
                if not unread:  # one of these may be it
                    problems.append(say.unknown_table(found, list(tables)))
                continue
            name = _name(statement, found, around)
            around[name] = statement
            named.append(NamedClause(name, found, table_of(table), statement.select))
    if not named and not problems:
        problems.append(say.no_clause())
    program = program_of(named, known)
    said = {problem.span for problem in program.checked.diagnostics}
    problems += (d for created in tables.values() for d in _misspelt_types(created) if d.span not in said)
    others = tuple(s for s in statements if s.other is not None and not s.clauses)
    if not problems:
        return SqlProgram(program, tables, around, others)
    every = (*problems, *program.checked.diagnostics)
    checked = Checked(None if errors(every) else program.checked.program, every, known)
    return SqlProgram(ClauseProgram(checked, program.clauses, program.rows), tables, around, others)


def _misspelt_types(created: CreateTable) -> list[Diagnostic]:
    """Of all columns, also of those that no clause asks for."""
    return [problem for column in created.columns for problem in misspelt_type(column.type)]


def _table(found: FoundClause, tables: Mapping[str, CreateTable]) -> CreateTable | None:
    name = found.table_name.rpartition(".")[2]
    return tables.get(name) or next((t for key, t in tables.items() if key.casefold() == name.casefold()), None)


def _name(statement: SqlStatement, found: FoundClause, taken: Mapping[str, object]) -> str:
    """What the rows are called: the alias, or the table."""
    alias = None if statement.select is None else statement.select.alias
    called = found.table_name.rpartition(".")[2] if alias is None else alias.text
    return counted(called, "_", taken)


def not_plain(program: SqlProgram) -> list[Diagnostic]:
    """What only Spark can answer: what stands around clauses and between them, and files that it reads by position."""
    around = [s for s in program.statements.values() if s.select is None or s.other is not None]
    places = dict.fromkeys(s.other or s.span for s in (*around, *program.others))
    used = {rows.order.table for rows in program.clauses.rows.values()}
    tables = [table for name, table in program.tables.items() if name in used and _by_position(table)]
    selects = ((one.select, program.clauses.clauses[name]) for name, one in program.statements.items())
    twice = [name for select, clause in selects if select is not None for name in _selected_twice(select, clause)]
    return [
        *(say.no_plain_select(place) for place in places),
        *(say.selected_twice(name) for name in twice),
        *(say.csv_by_position(table) for table in tables),
    ]


def _selected_twice(select: PlainSelect, clause: LoweredClause) -> list[ast.Name]:
    """What columns of the result are called that another one before them is."""
    names = [column.written for column in selected(select, clause)]
    folded = [name.text.casefold() for name in names]
    return [name for at, name in enumerate(names) if folded[at] in folded[:at]]


def _by_position(table: CreateTable) -> bool:
    """Whether Spark takes the first line for a row, and columns in their order."""
    headed = any(key.lower() == "header" and value.lower() == "true" for key, value in table.options)
    return table.format == "csv" and not headed
