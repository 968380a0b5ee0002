"""What is said of MATCH_RECOGNIZE: E0952 what is not there, E0953 names, E0954 conditions that cannot be kept as they
are meant, E0955 the errors of AFTER MATCH SKIP.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.near import nearest
from cepc_grammar.pattern import Or, Repeat, fold, walk
from cepc_grammar.source import NOWHERE, Span
from cepc_grammar.sql.syntax import PHYSICAL, PatternVariable
from cepc_runtime.sql.aggregate_functions import aggregate_written
from cepc_runtime.sql.types import Map

from ..diagnostics.listed import listed
from ..expressions.messages import article

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from cepc_grammar.sql.syntax import Anchor, CreateTable, FoundClause, RowPattern, RowSkip, RowsPerMatch, SortKey
    from cepc_runtime.sql.types import DataType

    from ..automaton.positions import PatternTooLarge
    from .tables import RowTable


def of_a_table(problem: Diagnostic) -> Diagnostic:
    """What is said of a query, as it is said of a clause that was lowered to it."""
    match problem.code:
        case "E0510":
            return replace(problem, notes=(), hint="write a shorter one: `WITHIN INTERVAL '30' DAY`, say")
        case "E0301":
            return replace(problem, notes=tuple(note for note in problem.notes if "the program declares" not in note))
        case "E0304":
            return replace(problem, label=problem.label.replace("WHERE", "DEFINE").replace("HAVING", "WHERE"))
        case "E0338":
            note = "Spark computes conditions on the row at hand, and what a clause is over"
            of_row = "of a row, write MATCH_RECOGNIZE over `(SELECT *, … AS name FROM table)`, and `name` here"
            hint = f"{of_row}; of a measure, write it in Spark's SELECT around the clause"
            return replace(problem, label=problem.label.replace("HAVING", "WHERE"), notes=(note,), hint=hint)
    return problem


# ---- what is not there -----------------------------------------------------------------------------------------------

_NOT_HERE: Final = {
    "MATCH_SEQUENCE_NUMBER": "with ALL ROWS PER MATCH it is `COUNT(*)`",
    "MATCH_ROWTIME": "it is `LAST(x)`, of the column of times",
    "PRIOR": "the row before is `PREV(x)`",
}
"""Functions of other engines' MATCH_RECOGNIZE, and what is written here."""


def not_here(call: ast.Call) -> Diagnostic | None:
    """Where another engine's function is called."""
    name = call.function.text
    if (cure := _NOT_HERE.get(name.upper())) is None:
        return None
    return Diagnostic("E0301", f"unknown function `{name}`", call.span, "another engine's function", hint=cure)


def unmatched_skip(rows: RowsPerMatch, skip: RowSkip) -> Diagnostic:
    return Diagnostic(
        "E0952", f"WITH UNMATCHED ROWS and AFTER MATCH SKIP {skip.mode}", rows.span,
        "matches may overlap here, and whether a row is in one is known of none alone",
        hint="write AFTER MATCH SKIP PAST LAST ROW, or leave it out and LEFT JOIN the table to the result",
    )  # fmt: skip


def unmatched_excluded(rows: RowsPerMatch, excluded: PatternVariable) -> Diagnostic:
    name = excluded.name.text
    return Diagnostic(
        "E0952", f"`{{- {name} -}}` and WITH UNMATCHED ROWS", rows.span,
        f"rows of {name} are in a match and would not be shown, as SQL does not allow either",
        hint=f"write {name} without `{{-` and `-}}`, and leave its rows out by a WHERE behind the clause",
    )  # fmt: skip


def unmatched_edge(rows: RowsPerMatch, edge: Anchor) -> Diagnostic:
    return Diagnostic(
        "E0952", f"WITH UNMATCHED ROWS and `{_SIGNS[edge.at]}` around a pattern that matches no row, too", rows.span,
        "some rows would be those of empty matches here, and others those of none",
        hint="let the pattern match one row at least, by `+` for `*`, say",
    )  # fmt: skip


def unmatched_number(node: ast.Call) -> Diagnostic:
    return Diagnostic(
        "E0952", "MATCH_NUMBER() WITH UNMATCHED ROWS", node.span, "rows that no match has would count like matches",
        hint="tell matches apart by a measure such as `FINAL FIRST(x)` of a column of ORDER BY, and leave this one out",
    )  # fmt: skip


def unshown_column(rows: RowsPerMatch, column: str, type_: str) -> Diagnostic:
    return Diagnostic(
        "E0952", f"ALL ROWS PER MATCH with `{column}`, of the type {type_}", rows.span,
        "all columns of the table are shown, and one of this type cannot be",
        hint=f"write MATCH_RECOGNIZE over `(SELECT … FROM table)` without `{column}`, or with a cast of it",
    )  # fmt: skip


def not_running(node: ast.Call) -> Diagnostic:
    name = f"{node.function.text.upper()}{' of DISTINCT' if node.distinct else ''}"
    return Diagnostic(
        "E0952", f"a running {name}", node.span, "it is there of whole matches alone",
        notes=("measures of ALL ROWS PER MATCH are of the rows up to the one at hand, unless FINAL stands before",),
        hint="write FINAL before it, or use COUNT, SUM, AVG, MIN or MAX without DISTINCT",
    )  # fmt: skip


def no_order(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0952", "MATCH_RECOGNIZE without ORDER BY", span, "its rows have no order",
        notes=("which rows match would be different from run to run",),
        hint="write ORDER BY with the columns that order the rows of a partition",
    )  # fmt: skip


_SIGNS: Final = {"start": "^", "end": "$"}


def anchor_inside(found: Anchor) -> Diagnostic:
    where = "first" if found.at == "start" else "last"
    return Diagnostic(
        "E0952", f"`{_SIGNS[found.at]}` inside a pattern", found.span,
        f"it can stand {where} in the whole pattern alone",
        hint=f"write it {where}; with an alternative that has it and one that has it not, write two MATCH_RECOGNIZE",
    )  # fmt: skip


def anchor_of_several(found: Anchor, names: Sequence[str]) -> Diagnostic:
    where = "first" if found.at == "start" else "last"
    return Diagnostic(
        "E0952", f"`{_SIGNS[found.at]}` beside several variables", found.span,
        f"the {where} row of a match may be of {listed(names, 'or')}, and has to be of one variable here",
        hint=f"give that row a variable of its own, of which the pattern has no other in the {where} place",
    )  # fmt: skip


def dotted(reference: ast.Reference, clause: str) -> Diagnostic:
    text = ".".join(part.text for part in reference.parts)
    return Diagnostic(
        "E0952", f"`{text}` in {clause}", reference.span, "columns of the table can stand here, and no parts of them",
        hint="select the part under a name of its own in a view, and write MATCH_RECOGNIZE over that",
    )  # fmt: skip


def not_ordered(reference: ast.Reference, clause: str, type_: DataType) -> Diagnostic:
    """Of a type with maps, which Spark neither orders nor compares."""
    value = f"{reference.parts[0].text}['key']" if isinstance(type_, Map) else "…"
    return Diagnostic(
        "E0303", "wrong type", reference.span, f"this is {article(type_.sql)}; {clause} requires a type with an order",
        hint=f"write MATCH_RECOGNIZE over `(SELECT *, {value} AS x FROM table)`, and `x` here",
    )  # fmt: skip


def not_sorted(reference: ast.Reference, type_: DataType) -> Diagnostic:
    """Of ORDER BY around a clause."""
    part = "['key']" if isinstance(type_, Map) else "…"
    return Diagnostic(
        "E0303", "wrong type", reference.span,
        f"this is {article(type_.sql)}; ORDER BY requires a type with an order, as in Spark",
        hint=f"let a measure be what the rows are ordered by, `LAST(x){part} AS name`, and write `name` here",
    )  # fmt: skip


def no_columns(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0952", "MATCH_RECOGNIZE without MEASURES and PARTITION BY", span, "its rows would have no columns",
        hint="write `MEASURES MATCH_NUMBER() AS n`, say",
    )  # fmt: skip


def only_empty(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0952", "a pattern that matches no row", span, "nothing but empty matches would be found",
        hint="name a variable in the pattern",
    )  # fmt: skip


def _first_of(pattern: RowPattern, variables: Collection[str]) -> ast.Name:
    """The first mention of one of the variables."""
    names = (node.name for node in walk(pattern) if isinstance(node, PatternVariable))
    return next(name for name in names if name.text in variables)


def rowless(pattern: RowPattern, variables: Collection[str]) -> Diagnostic:
    """Of variables that a pattern mentions where it repeats them zero times."""
    name = _first_of(pattern, variables)
    return Diagnostic(
        "E0952", f"no row can be mapped to `{name.text}`", name.span, "it is repeated zero times",
        hint="leave it out of the pattern, and of what mentions it",
    )  # fmt: skip


def behind_nothing(pattern: RowPattern, variables: Collection[str]) -> Diagnostic:
    """Of variables whose rows a pattern does not prefer to no row."""
    name = _first_of(pattern, variables)
    return Diagnostic(
        "E0952", f"no row can be mapped to `{name.text}`", name.span, "the pattern prefers to match no row to this",
        notes=("no row is matched everywhere, so what stands behind that is never looked for",),
        hint="leave it out of the pattern, and of what mentions it; or write it before what can match no row",
    )  # fmt: skip


def empty_first(pattern: RowPattern, span: Span) -> Diagnostic:
    note = "a reluctant `*?` or `??` takes as few rows as what comes after it allows, and nothing does"
    cure = "leave the `?` behind the quantifier out"
    if _chosen_first(pattern) == "alternative":
        note = "the first alternative is preferred to the others, and it matches no row"
        cure = "write the alternative without rows behind the others"
    return Diagnostic(
        "E0952", "a pattern that prefers to match no row", span, "it would be done before it takes one", notes=(note,),
        hint=f"{cure}, or let the pattern begin or end with a variable that has to be there",
    )  # fmt: skip


def _chosen_first(pattern: RowPattern) -> OneOf["quantifier", "alternative"] | None:
    """What makes a pattern prefer to match no row."""

    def of(
        node: RowPattern, parts: tuple[OneOf["quantifier", "alternative"] | None, ...]
    ) -> OneOf["quantifier", "alternative"] | None:
        match node:
            case Or():
                return parts[0] or "alternative"
            case Repeat(_, 0, _, True):
                return "quantifier"
        return "quantifier" if "quantifier" in parts else next((part for part in parts if part is not None), None)

    return fold(pattern, of)


def too_large(span: Span, problem: PatternTooLarge) -> Diagnostic:
    return too_many_states(span, f"{problem.operator} makes an automaton of more than {problem.size:,} states")


def too_many_states(span: Span, label: str) -> Diagnostic:
    return Diagnostic(
        "E0801", "the pattern is too large", span, label,
        notes=("A{m,n} writes its pattern out n times, and PERMUTE each of its orders",), hint="use smaller counts",
    )  # fmt: skip


def permanent_view(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0952", "a view with MATCH_RECOGNIZE that stays", span, "Spark keeps the text of a view, which it cannot read",
        notes=("the clause is answered when the view is made, and stands in it as a temporary view",),
        hint=f"write `CREATE TEMPORARY VIEW {name} AS …`, or `CREATE TABLE {name} AS …` for its rows of now",
    )  # fmt: skip


def too_long(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0954", "a pattern that is too long when it is written out", span,
        "its alternatives have to stand apart for the conditions of DEFINE",
        hint="make of a quantifier like `{2,50}` one without so many variables around it, or leave conditions out that "
        "mention variables which may have no row",
    )  # fmt: skip


def too_far(span: Span, most: int) -> Diagnostic:
    return Diagnostic(
        "E0952", "an offset that is too large", span, f"FIRST and LAST look {most} rows further at most",
        hint=f"write a number up to {most}; PREV and NEXT may count more rows",
    )  # fmt: skip


def several_rows_back(span: Span, variable: str | None, of: str) -> Diagnostic:
    whose = "rows of the match" if variable is None else f"rows of {variable}"
    return Diagnostic(
        "E0952", f"{whose} with an offset in the definition of {of}", span, "these are of several variables here",
        notes=("a variable counts as several where its condition mentions other rows in one place than in another",),
        hint="name one variable, with a simpler definition; or use it in MEASURES and filter by WHERE around "
        "MATCH_RECOGNIZE",
    )  # fmt: skip


def back_beside_others(span: Span, of: str) -> Diagnostic:
    return Diagnostic(
        "E0954", f"an earlier row of {of} beside another variable's row", span,
        "these cannot stand in one condition here",
        notes=("how far away the earlier row is depends on the way that the match took",),
        hint="join them by AND, as conditions of their own; or compare in WHERE around MATCH_RECOGNIZE, of measures",
    )  # fmt: skip


def not_in_define(node: ast.Call, name: str) -> Diagnostic:
    return Diagnostic(
        "E0952", f"{name} in DEFINE", node.span, "this is known of a match as a whole", hint="use it in MEASURES"
    )


def not_of_one_row(call: ast.Call) -> Diagnostic:
    """Of what asks of other rows in a condition on a row of the result."""
    name = call.function.text.upper()
    return Diagnostic(
        "E0951", f"{name} in WHERE", call.span, "WHERE around MATCH_RECOGNIZE is asked of a row of its result",
        hint="make it a measure, `… AS name`, and write `name` here",
    )  # fmt: skip


def final_in_define(node: ast.Call) -> Diagnostic:
    return Diagnostic(
        "E0952", "FINAL in DEFINE", node.span, "a condition is asked before the match is complete",
        notes=("SQL allows no FINAL in DEFINE",), hint="leave FINAL out",
    )  # fmt: skip


def no_distinct(node: ast.Call) -> Diagnostic:
    return Diagnostic(
        "E0952", f"{node.function.text.upper()} of DISTINCT in DEFINE", node.span,
        "in DEFINE rows are aggregated as they are", hint="leave DISTINCT out, or use it in MEASURES",
    )  # fmt: skip


def aggregate_of_several(node: ast.Call) -> Diagnostic:
    name = node.function.text.upper()
    return Diagnostic(
        "E0952", f"{name} over rows of several variables in DEFINE", node.span, "it cannot be put together from theirs",
        notes=("DEFINE has COUNT, MIN, MAX, SUM and AVG of a column of several, but no AVG of DECIMAL",),
        hint=f"write `{name}(variable.column)`, of one variable; or compare a measure in WHERE around MATCH_RECOGNIZE",
    )  # fmt: skip


def running_beside_others(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0954", "an aggregate beside another variable's row", span, "these cannot stand in one condition",
        notes=("an aggregate in DEFINE is checked while a match grows, row by row of its variable",),
        hint="join them by AND, as conditions of their own; or compare in WHERE around MATCH_RECOGNIZE, of measures",
    )  # fmt: skip


def no_within(span: Span, why: str) -> Diagnostic:
    return Diagnostic(
        "E0952", f"WITHIN {why}", span, "it bounds the time from the first row of a match to the last",
        hint="write `WITHIN INTERVAL '1' HOUR`, say, and let ORDER BY begin with a column of times that ascends",
    )  # fmt: skip


def within_without_length(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0952", "WITHIN of months or years, over a stream", span, "they have no length of their own",
        hint="write `WITHIN INTERVAL '30' DAY`, say",
    )  # fmt: skip


def coming_without_watermark(table: Span) -> Diagnostic:
    return Diagnostic(
        "E0952", "MATCH_RECOGNIZE over a stream without a watermark", table, "nothing says which rows may still come",
        hint="give its DataFrame one before it becomes a view: `.withWatermark('at', '30 seconds')`, of the column of"
        " times that ORDER BY begins with",
    )  # fmt: skip


def coming_from_clause(table: Span) -> Diagnostic:
    return Diagnostic(
        "E0952", "MATCH_RECOGNIZE over the rows of another clause, in a stream", table,
        "nothing says which of these rows may still come",
        notes=("Spark has no watermark behind an operator of ours, whatever `withWatermark` says there",),
        hint="write the rows of the first clause, to files or a table, and read these as a stream; or write queries of"
        " cepc's own, with `STREAM … FROM QUERY`",
    )  # fmt: skip


def order_of_coming(key: SortKey, by: str) -> Diagnostic:
    return Diagnostic(
        "E0952", "MATCH_RECOGNIZE over a stream in another order than that of time", key.column.span,
        f"the stream's watermark is of `{by}`",
        notes=("rows come in about that order, and are matched when those before them are known",),
        hint=f"let ORDER BY begin with `{by}`, ascending; more columns may follow",
    )  # fmt: skip


def coming_without_within(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0952", "MATCH_RECOGNIZE over a stream without WITHIN", span, "a match could go on for ever",
        notes=("all rows would be kept, and none would ever be given",),
        hint="write `WITHIN INTERVAL '1' HOUR`, say, behind PATTERN's `)`",
    )  # fmt: skip


def anchor_of_coming(found: Anchor) -> Diagnostic:
    return Diagnostic(
        "E0952", f"`{_SIGNS[found.at]}` over a stream", found.span, "a stream of rows has no first and no last one",
        hint=f"leave `{_SIGNS[found.at]}` out",
    )  # fmt: skip


def next_of_coming(node: ast.Call) -> Diagnostic:
    name = node.function.text.upper()
    return Diagnostic(
        "E0952", f"{name} over a stream", node.span, "the rows behind one are still to come",
        hint="let a variable of PATTERN be that row, and ask for its column",
    )  # fmt: skip


def row_to_skip_to(skip: RowSkip) -> Diagnostic:
    """Of `TO FIRST ROW` and `TO LAST ROW`, in which ROW would be a variable."""
    return Diagnostic(
        "E0951", f"SKIP {skip.mode} ROW", skip.span, "a variable of the pattern is expected for ROW",
        hint="write `AFTER MATCH SKIP PAST LAST ROW`, `TO NEXT ROW`, or `TO LAST` and a variable",
    )  # fmt: skip


# ---- names -----------------------------------------------------------------------------------------------------------


def unknown_column(name: ast.Name, table: RowTable) -> Diagnostic:
    word = name.text.upper()
    if word == "CLASSIFIER" or ((function := aggregate_written(word)) is not None and function.numbers):
        called = f"{word}()"
        return Diagnostic(
            "E0953", f"`{table.name}` has no column `{name.text}`", name.span, "a function without its parentheses",
            hint=f"write `{called}`", replacement=called,
        )  # fmt: skip
    near = nearest(name.text, table.types)
    there = listed([f"`{column}`" for column in table.types], "and")
    return Diagnostic(
        "E0953", f"`{table.name}` has no column `{name.text}`", name.span, "unknown column",
        hint=f"did you mean `{near}`?" if near else f"its columns are {there}", replacement=near,
    )  # fmt: skip


def measure_as_column(name: ast.Name) -> Diagnostic:
    return Diagnostic(
        "E0953", f"`{name.text}` is a measure", name.span, "a column of the table is expected here",
        notes=("measures are columns of the result, made of its rows when a match is complete",),
        hint=f"write what stands before `AS {name.text}` in its place",
    )  # fmt: skip


def unknown_before_dot(name: ast.Name, table: RowTable, variables: Sequence[str]) -> Diagnostic:
    if name.text.casefold() == table.name.casefold():
        return Diagnostic(
            "E0953", f"`{name.text}` is no variable", name.span, "a column has a variable before it, or nothing",
            hint=f"leave `{name.text}.` out, or write a variable there: {_has(variables)}",
        )  # fmt: skip
    near = nearest(name.text, [*variables, *table.types])
    return Diagnostic(
        "E0953", f"`{name.text}` is no variable and no column of `{table.name}`", name.span, "unknown name",
        hint=f"did you mean `{near}`?" if near else _has(variables), replacement=near,
    )  # fmt: skip


def _has(variables: Sequence[str]) -> str:
    return f"the pattern has {listed(variables, 'and')}" if variables else "the pattern has no variables"


def not_shown(name: ast.Name, shown: Sequence[str]) -> Diagnostic:
    near = nearest(name.text, shown)
    there = listed([f"`{column}`" for column in shown], "and")
    return Diagnostic(
        "E0953", f"MATCH_RECOGNIZE has no column `{name.text}`", name.span, "unknown column",
        notes=("with ONE ROW PER MATCH its columns are those of PARTITION BY and MEASURES",),
        hint=f"did you mean `{near}`?" if near else f"there are {there}", replacement=near,
    )  # fmt: skip


def unusable_column(name: ast.Name, type_: str) -> Diagnostic:
    return Diagnostic(
        "E0953", f"`{name.text}` has the type {type_}", name.span, "columns of this type cannot be used here",
        hint="select it in a view, cast to a STRING or to what is needed of it, and write MATCH_RECOGNIZE over that",
    )  # fmt: skip


def unknown_variable(name: ast.Name, known: Iterable[str]) -> Diagnostic:
    known = list(known)
    near = nearest(name.text, known)
    return Diagnostic(
        "E0953", f"no variable is called `{name.text}`", name.span, "the pattern does not have it",
        hint=f"did you mean `{near}`?" if near else _has(known), replacement=near,
    )  # fmt: skip


def twice(name: ast.Name, what: str) -> Diagnostic:
    return Diagnostic(
        "E0953", f"`{name.text}` is {what} twice", name.span, "this is the second time", hint="leave one of them out"
    )


def selected_twice(name: ast.Name) -> Diagnostic:
    return Diagnostic(
        "E0956", f"`{name.text}` is a column twice", name.span, "only Spark has rows with two columns of one name",
        hint=f"leave one of them out, or give it another name: `… AS {name.text}_2`",
    )  # fmt: skip


def unknown_table(found: FoundClause, known: Sequence[str]) -> Diagnostic:
    if isinstance(found.table, Span):
        return no_plain_select(found.table)
    near = nearest(found.table_name, known)
    return Diagnostic(
        "E0953", f"there is no table `{found.table_name}`", found.table.span, "nothing is known of its columns",
        notes=("without Spark a table is one that the text creates: views, and what WITH names, are not known",),
        hint=f"did you mean `{near}`?" if near else
        "declare it: `CREATE TABLE name (column TYPE, …) USING parquet LOCATION 'path'`",
    )  # fmt: skip


def not_in_catalogue(reference: ast.Reference) -> Diagnostic:
    name = ".".join(part.text for part in reference.parts)
    return Diagnostic(
        "E0953", f"there is no table `{name}`", reference.span, "neither a table nor a view is called so",
        notes=("MATCH_RECOGNIZE is answered before the rest of the text, so what WITH names is not there yet",),
        hint=f"make a view of it: `CREATE TEMPORARY VIEW {name} AS …`, or `df.createOrReplaceTempView('{name}')`",
    )  # fmt: skip


def all_columns(reference: ast.Reference) -> Diagnostic:
    return Diagnostic(
        "E0951", "`.*` cannot stand here", reference.span, "rows are counted by it, and nothing else",
        hint=f"write `COUNT({reference.parts[0].text}.*)`, or name a column",
    )  # fmt: skip


def several_variables(call: ast.Expression, names: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0953", "columns of several variables in one argument", call.span,
        f"it is of rows of one variable, and these are of {listed(names, 'and')}",
        hint="write one variable before all of its columns, or a call for each variable",
    )  # fmt: skip


def no_column(call: ast.Expression) -> Diagnostic:
    function = aggregate_written(call.function.text.upper()) if isinstance(call, ast.Call) else None
    counts = function is not None and function.counts
    rows = "`COUNT(*)` for all rows, `COUNT(v.*)` for those of a variable, or " * counts
    return Diagnostic(
        "E0953", "no column in the argument", call.span, "nothing says of which rows it is",
        hint=f"write {rows}a column of the table, with a variable before it or without",
    )  # fmt: skip


def nested(call: ast.Call) -> Diagnostic:
    name = call.function.text.upper()
    hint = "write `PREV(LAST(v.x), n)`, or each by itself"
    if name == "CLASSIFIER":
        hint = "`CLASSIFIER()` by itself is of the last row so far, and `CLASSIFIER(v)` of the last one of a variable"
    elif name in PHYSICAL:
        hint = (
            f"write `{name}(x, 2)` for the row two places away; or compute it in what the clause is over: `(SELECT *, "
            "LAG(x) OVER (…) AS before FROM table)`"
        )
    return Diagnostic(
        "E0953", f"{name} inside of another", call.span, "PREV and NEXT take FIRST or LAST, and nothing else is nested",
        hint=hint,
    )  # fmt: skip


def offset(written: ast.Expression) -> Diagnostic:
    return Diagnostic(
        "E0953",
        "an offset that is no number",
        written.span,
        "a whole number of rows is expected",
        hint="write `1`, say",
    )


def arguments(call: ast.Call) -> Diagnostic:
    return Diagnostic(
        "E0953", f"the arguments of {call.function.text.upper()}", call.span, "these do not fit",
        hint="write `LAST(v.x)`, `PREV(v.x, 1)`, `COUNT(*)`, `SUM(v.x)`, `CLASSIFIER()`, `MATCH_NUMBER()`",
    )  # fmt: skip


# ---- conditions ------------------------------------------------------------------------------------------------------


def _of(variable: str | None) -> str:
    return "a row of the match" if variable is None else f"a row of {variable}"


def perhaps_unmapped(span: Span, variable: str | None, of: str) -> Diagnostic:
    return Diagnostic(
        "E0954", f"{_of(variable)} that may not be there", span,
        f"whether there is one before a row of {of} depends on the way that the match took",
        notes=("without one this is null in SQL, and the pattern does not say where that is so",),
        hint="write the cases out as alternatives of the pattern, with variables of their own",
    )  # fmt: skip


def depends_on_length(span: Span, variable: str | None, of: str) -> Diagnostic:
    return Diagnostic(
        "E0954", f"{_of(variable)} so far, which is not the last one of the match", span,
        f"after a row of {of} there may be another one, and how far away this one was is open",
        notes=("the first and the last row so far are known, others where it is known how many rows away they are",),
        hint="compare with the last row so far, with `PREV(x)`, the row before, or with a variable without more rows",
    )  # fmt: skip


# ---- runs ------------------------------------------------------------------------------------------------------------


def cannot_skip(variable: str, end: str) -> str:
    return (
        f"AFTER MATCH SKIP TO {end} {variable}: a match has no row of {variable} after its first row, so there is "
        "nothing to skip to"
    )


def skip_failed(said: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0955", said, span, "SQL ends with an error there",
        hint="write `AFTER MATCH SKIP PAST LAST ROW`, or a pattern in which the variable has a later row in each match",
    )  # fmt: skip


def other_table(name: ast.Name, alias: ast.Name | None) -> Diagnostic:
    cure = "give the clause that name: `MATCH_RECOGNIZE (…) AS" if alias is None else "write `"
    known = name.text if alias is None else f"{alias.text}.*"
    return Diagnostic(
        "E0953", f"there is no table `{name.text}` here", name.span, "it is not the name behind the clause",
        hint=f"{cure}{' ' * (alias is None)}{known}`",
    )  # fmt: skip


def no_plain_select(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0956", "a query that needs Spark", span, "this is not understood without Spark",
        notes=(
            (
                "in this process a statement is `SELECT columns FROM table MATCH_RECOGNIZE (…) AS name WHERE "
                "condition ORDER BY columns LIMIT rows`, with `*` or columns, and nothing else"
            ),
        ),
        hint="`cepc.sql(spark, text)` of Python answers any query of Spark's",
    )  # fmt: skip


def csv_by_position(table: CreateTable) -> Diagnostic:
    return Diagnostic(
        "E0956", "CSV without a header", table.span, "Spark takes the first line of the file for a row here",
        notes=("in this process the first line has the names of the columns",),
        hint="write `OPTIONS (header 'true')`, and such a line into the file",
    )  # fmt: skip


def no_clause() -> Diagnostic:
    return Diagnostic(
        "E0956", "no MATCH_RECOGNIZE", NOWHERE, "", notes=("cepc reads nothing else of a SQL text",),
        hint="write `SELECT * FROM table MATCH_RECOGNIZE (…)`, or give the query to Spark as it is",
    )  # fmt: skip
