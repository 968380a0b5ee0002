"""`cepc.sql`: any text of Spark SQL's, with MATCH_RECOGNIZE in it. Each clause is answered by the engine as it answers
any query, all clauses of a statement together, and stands in the statement as a view; the rest is Spark's.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from cepc_grammar.source import Source, Span
from cepc_grammar.sql.parser import CLAUSE, parse_sql
from cepc_runtime.sql.types import NULL, quote_name

from ..errors import ProgramError
from ..running.session import is_of_spark, need_pyspark
from ..running.spark import dataframes, streaming_dataframes
from . import messages as say
from .coming import numbers_of
from .navigation import RefusedError
from .number_frame import coming_frame, number_frame
from .program import NamedClause, program_of
from .results import shown_frame
from .selecting import not_sorted
from .tables import ROWS_THERE, RowsComing, RowTable

if TYPE_CHECKING:
    from cepc_grammar import ast
    from cepc_grammar.sql.syntax import FoundClause, SqlStatement
    from cepc_runtime.sql.types import DataType

NAME = "<sql>"

_DELAY: Final = "spark.watermarkDelayMs"
"""What Spark notes of a column that has a watermark."""

_STATEFUL: Final = "TransformWithState"
"""What the plan of a stream has in it that is the rows of a clause, or of another such operator."""

_PERMANENT_VIEW: Final = re.compile(
    r"CREATE(\s+OR\s+REPLACE)?\s+VIEW(\s+IF\s+NOT\s+EXISTS)?\s+(?P<name>[^\s(]+)", re.IGNORECASE
)


def run_sql(spark: Any, text: str) -> Any:
    """The DataFrame of the text's last statement. Raises ProgramError, and whatever Spark raises."""
    source = Source(NAME, text)
    parsed = parse_sql(source)
    has_clause = CLAUSE in text.upper() or any(problem.replacement == CLAUSE for problem in parsed.diagnostics)
    if parsed.diagnostics and has_clause:  # what else is no text of ours may be one of Spark's
        raise ProgramError(parsed.diagnostics, {NAME: source})
    need_pyspark()
    if not is_of_spark(spark, "SparkSession"):
        cure = "`cepc.sql(cepc.spark_session(), text)` begins one"
        raise TypeError(f"`spark` is a session of Spark, and not {type(spark).__name__}: {cure}")
    result = None
    for statement in parsed.statements:
        if statement.clauses and (kept := _PERMANENT_VIEW.match(text, statement.span.start)) is not None:
            raise ProgramError([say.permanent_view(Span(*kept.span(), NAME), kept["name"])], {NAME: source})
        written, views = _with_views(spark, statement, source)
        try:
            result = spark.sql(written)
        finally:
            for view in () if _is_kept(statement, source) else views:
                spark.catalog.dropTempView(view)
    if result is None:
        raise ProgramError([say.no_clause()], {NAME: source})
    return result


def _is_kept(statement: SqlStatement, source: Source) -> bool:
    """Whether views of the statement are asked for after it: of a view that it makes, and where Spark Connect looks at
    a query when its rows are wanted.
    """
    from pyspark.sql.utils import is_remote

    return is_remote() or source.text[statement.span.start :].lstrip()[:6].upper() == "CREATE"


def _with_views(spark: Any, statement: SqlStatement, source: Source) -> tuple[str, list[str]]:
    """The statement with the name of a view in place of each clause and its table; and these names."""
    pieces, at, views = list[str](), statement.span.start, list[str]()
    for found, frame in zip(statement.clauses, clause_frames(spark, statement, source), strict=True):
        view = f"match_recognize_{uuid4().hex}"
        views.append(view)
        frame.createOrReplaceTempView(view)
        lines = source.text.count("\n", found.place.start, found.place.end)  # for what Spark says of later ones
        pieces += (source.text[at : found.place.start], view + "\n" * lines)
        at = found.place.end
    return "".join((*pieces, source.text[at : statement.span.end])), views


def clause_frames(spark: Any, statement: SqlStatement, source: Source) -> list[Any]:
    """A DataFrame for each clause of a statement, answered together. Raises ProgramError."""
    if not statement.clauses:
        return []
    named, frames = _over_tables(spark, statement, source)
    found: dict[str, Any] = {}
    for coming in (False, True):
        if own := [clause for clause in named if isinstance(clause.table.rows, RowsComing) == coming]:
            found |= _answered(spark, statement, source, own, frames)
    return [found[clause.name] for clause in named]


def _answered(
    spark: Any, statement: SqlStatement, source: Source, named: list[NamedClause], frames: dict[str, Any]
) -> dict[str, Any]:
    """A DataFrame by name for each of these clauses, the rows of which are all there, or are all still to come. Raises
    ProgramError.
    """
    program = program_of(named, {source.name: source})
    if program.checked.program is None:
        raise ProgramError(program.checked.diagnostics, program.checked.sources)
    if statement.select is not None:
        (query,) = program.checked.program.queries
        with suppress(RefusedError):  # Spark says what it knows of other columns
            if unsorted := not_sorted(statement.select, program.clauses[query.name], query):
                raise ProgramError(unsorted, {source.name: source})
    checked, sources = program.checked.program, program.checked.sources
    if any(isinstance(clause.table.rows, RowsComing) for clause in named):
        events = {name: coming_frame(frames[rows.order.table], rows) for name, rows in program.rows.items()}
        numbers = {name: numbers_of(rows) for name, rows in program.rows.items()}
        found = streaming_dataframes(checked, sources, events, numbers, spark)
    else:
        events = {name: number_frame(frames[rows.order.table], rows) for name, rows in program.rows.items()}
        found = dataframes(checked, sources, events, session=spark)
    return {clause.name: shown_frame(found[clause.name], program.clauses[clause.name]) for clause in named}


def _over_tables(spark: Any, statement: SqlStatement, source: Source) -> tuple[list[NamedClause], dict[str, Any]]:
    """The clauses with what they are over, and the DataFrames of these by name. Raises ProgramError."""
    problems, named, frames = [], list[NamedClause](), dict[str, Any]()
    tables: dict[str, RowTable] = {}
    for number, found in enumerate(statement.clauses, 1):
        name = f"(query {number})" if isinstance(found.table, Span) else found.table_name
        try:
            if name not in frames:
                frames[name] = _table(spark, found, source)
                tables[name] = _row_table(name, frames[name], found)
        except RefusedError as error:
            problems.append(error.diagnostic)
            continue
        named.append(NamedClause(f"match_recognize_{number}", found, tables[name]))
    if problems:
        raise ProgramError(problems, {source.name: source})
    return named, frames


def _table(spark: Any, found: FoundClause, source: Source) -> Any:
    """Raises RefusedError where the catalogue has no such table or view."""
    from pyspark.errors import AnalysisException

    if isinstance(found.table, Span):
        return spark.sql(source.text[found.table.start + 1 : found.table.end - 1])
    try:
        frame = spark.table(".".join(quote_name(part.text) for part in found.table.parts))
        frame.schema  # noqa: B018 - Spark Connect looks for the table only now
    except AnalysisException:
        raise RefusedError(say.not_in_catalogue(found.table)) from None
    return frame


def _row_table(name: str, frame: Any, found: FoundClause) -> RowTable:
    """Raises RefusedError where it is a stream that has no watermark."""
    from cepc_runtime.spark.schema import from_spark

    types: dict[str, ast.TypeExpr] = {}
    others: dict[str, str] = {}
    for field in frame.schema.fields:
        type_ = from_spark(field.dataType)
        written = None if type_ is None else _written(type_)
        if written is None:
            others[field.name] = field.dataType.simpleString()
        else:
            types[field.name] = written
    return RowTable(name, types, others, _coming(frame, found) if frame.isStreaming else ROWS_THERE)


def _coming(frame: Any, found: FoundClause) -> RowsComing:
    from pyspark.sql import types as T  # noqa: N812

    table = found.table if isinstance(found.table, Span) else found.table.span
    made_by = getattr(frame, "_jdf", None)
    if made_by is not None and _STATEFUL in made_by.queryExecution().analyzed().toString():
        raise RefusedError(say.coming_from_clause(table))
    times = [field for field in frame.schema.fields if isinstance(field.dataType, T.TimestampType)]
    watermarked = [field.name for field in times if _DELAY in field.metadata]  # a window can have one as well
    if not watermarked:
        raise RefusedError(say.coming_without_watermark(table))
    return RowsComing(watermarked[0])


def _written(type_: DataType) -> ast.TypeExpr | None:
    """The type as a program has it; None for one that no column can have there."""
    created = parse_sql(Source("type", f"CREATE TABLE t (c {type_.sql})")).statements[0].created
    return None if created is None or type_ == NULL else created.columns[0].type
