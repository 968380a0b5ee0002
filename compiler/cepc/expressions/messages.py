"""The sentences about types and expressions: every diagnostic E03xx and W03xx is made here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.foreign_names import FUNCTIONS
from cepc_grammar.spelling import name_text, string_text
from cepc_runtime.sql.aggregate_functions import AGGREGATES, WIDEST, aggregate_written, spellings
from cepc_runtime.sql.types import is_numeric

from ..diagnostics.listed import listed
from ..wording import many

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cepc_grammar.source import Span
    from cepc_runtime.sql.types import DataType

    from .meant_pattern import MeantPattern


def _did_you_mean(name: str | None) -> str:
    return "" if name is None else f"did you mean `{name}`?"


# ---- functions -------------------------------------------------------------------------------------------------------


def unknown_function(span: Span, name: str, near: str | None, module: str | None = None) -> Diagnostic:
    """`module` is the one of the standard library that has it."""
    if module is not None:
        return Diagnostic(
            "E0301",
            f"unknown function `{name}`",
            span,
            f"a function of {module}",
            hint=f"write `IMPORT {module};` first",
        )
    return Diagnostic(
        "E0301",
        f"unknown function `{name}`",
        span,
        "no such function",
        notes=("functions of Spark can be called, and those that the program declares: `FUNCTION name(x) AS …`",),
        hint=FUNCTIONS.get(name.upper()) or _did_you_mean(near) or "`cepc functions` lists the functions",
        replacement=None if name.upper() in FUNCTIONS else near,
    )


def form_with_unit(span: Span, name: str, unit: str, cure: str) -> Diagnostic:
    return Diagnostic(
        "E0301",
        f"unknown function `{name}({unit}, …)`",
        span,
        "Spark's form with a unit is not there",
        hint=f"write `{cure}`",
    )


def argument_count(span: Span, usage: str, least: int, most: int | None, given: int, hint: str = "") -> Diagnostic:
    if most is None:
        wanted = f"at least {many(least, 'argument')}"
    elif least == most:
        wanted = many(least, "argument")
    else:
        wanted = f"{least} to {many(most, 'argument')}"
    return Diagnostic(
        "E0302",
        "wrong number of arguments",
        span,
        f"`{usage}` requires {wanted}; {given} given" if given else f"`{usage}` requires {wanted}; none given",
        hint=hint,
    )


def wrong_argument(span: Span, what: str, expected: str, found: DataType, hint: str = "") -> Diagnostic:
    return Diagnostic(
        "E0303", "wrong type", span, f"this is {article(found.sql)}; {what} requires {expected}", hint=hint
    )


def no_exact_squares(span: Span, name: str, found: DataType) -> Diagnostic:
    expected, cast = f"an integer or a DECIMAL of at most {WIDEST} digits", f"CAST(… AS DECIMAL({WIDEST}, 6))"
    hint = f"write `{name}({cast})`, with as many decimals as matter" if is_numeric(found) else ""
    return wrong_argument(span, name, expected, found, hint)


def wrong_value(span: Span, what: str, expected: str) -> Diagnostic:
    return Diagnostic("E0303", "wrong type", span, f"{what} requires {expected}")


def wrong_operands(span: Span, what: str, expected: str, found: Iterable[DataType], hint: str) -> Diagnostic:
    types = " and ".join(dict.fromkeys(t.sql for t in found))
    return Diagnostic(
        "E0303",
        "wrong type",
        span,
        f"{what} requires {expected}; these are {types}",
        hint=hint,
    )


def article(type_name: str) -> str:
    return f"an {type_name}" if type_name[0] in "AEIO" else f"a {type_name}"


def nondeterministic(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0309",
        f"`{name}` is not deterministic",
        span,
        "gives another result each time it is called",
        notes=(
            "the same queries on the same events give the same rows; a function of the clock or of chance would not",
        ),
        hint="a column of the event can hold the value instead",
    )


def not_scalar(span: Span, name: str, kind: str) -> Diagnostic:
    why = {
        "window": "a window function looks at neighbouring rows, and events are related by PATTERN instead",
        "generator": "a function that makes several rows of one has no place in an expression",
        "higher-order": "it takes a function, `x -> …`, which an expression cannot hold",
    }[kind]
    others = {
        "window": "`PREV(v).x`, `FIRST(v).x` and `LAST(v).x` give values of other events of the match",
        "higher-order": FUNCTIONS.get(name.upper(), "compute it where the events are made, as a column of theirs"),
    }
    return Diagnostic(
        "E0310",
        f"the {kind} function `{name}` is not allowed",
        span,
        "no function of values",
        notes=(why,),
        hint=others.get(kind, ""),
    )


def unknown_aggregate(span: Span, name: str, near: str | None) -> Diagnostic:
    counted = ", ".join(spellings(countable=True))
    of_lists = listed((f.written for f in AGGREGATES if not f.countable and not f.names), "and")
    return Diagnostic(
        "E0311",
        f"the aggregate `{name}` is not supported",
        span,
        "an aggregate of Spark's that queries cannot compute",
        notes=(f"the aggregates are {counted}, and {of_lists} in a match query",),
        hint=FUNCTIONS.get(name.upper()) or _did_you_mean(near),
    )


def reserved(span: Span, what: str, hint: str) -> Diagnostic:
    return Diagnostic("E0110", f"{what} is not supported yet", span, "reserved for later", hint=hint)


def like_several(e: ast.Like, several: ast.Call) -> Diagnostic:
    """`x LIKE ANY ('a', 'b')`."""
    word = several.function.text.upper()
    operand = ".".join(map(name_text, e.operand.parts)) if isinstance(e.operand, ast.Reference) else "x"
    like = f"NOT {e.kind}" if e.negated else e.kind
    patterns = [
        string_text(one.text) if isinstance(one, ast.Literal) and one.kind == "string" else "…"
        for one in several.arguments[:MOST_PATTERNS]
    ]
    each = [f"{operand} {like} {pattern}" for pattern in patterns]
    each += ["…"] if len(several.arguments) > MOST_PATTERNS else []
    hint = f"write `({(' AND ' if word == 'ALL' else ' OR ').join(each)})`"
    return reserved(several.function.span, f"{e.kind} {word}", hint)


MOST_PATTERNS = 3


# ---- types -----------------------------------------------------------------------------------------------------------


def not_a_condition(span: Span, found: DataType, where: str) -> Diagnostic:
    return Diagnostic(
        "E0304",
        "condition is not a BOOLEAN",
        span,
        f"this is {article(found.sql)}; {where} requires a condition that is true or false",
        hint="a comparison gives a BOOLEAN: `x > 0`, `x IS NOT NULL`",
    )


def joined_conditions(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0304", "condition is not a BOOLEAN", span, "`||` joins texts",
        hint="conditions are joined by OR: `a > 1 OR b < 0`",
    )  # fmt: skip


def unknown_type(span: Span, name: str, near: str | None) -> Diagnostic:
    return Diagnostic(
        "E0305",
        f"unknown type `{name}`",
        span,
        "no such type",
        notes=("types are Spark SQL's: STRING, INT, BIGINT, DOUBLE, DECIMAL(p, s), BOOLEAN, DATE, TIMESTAMP, …",),
        hint=_did_you_mean(near),
        replacement=near,
    )


def type_before_name(span: Span, type_: str) -> Diagnostic:
    title, label = "a type before the name of its column", "a column is a name and behind it a type"
    return Diagnostic("E0305", title, span, label, hint=f"write the name first, and `{type_}` behind it")


def unsupported_type(span: Span, name: str, instead: str) -> Diagnostic:
    return Diagnostic("E0305", f"the type {name} is not supported", span, "not supported", hint=instead)


def type_parameters(span: Span, problem: str, usage: str) -> Diagnostic:
    return Diagnostic("E0306", "wrong type parameters", span, problem, hint=f"write `{usage}`")


def impossible_cast(span: Span, found: DataType, target: DataType, hint: str = "") -> Diagnostic:
    return Diagnostic(
        "E0307",
        "impossible cast",
        span,
        f"{article(found.sql)} cannot be cast to {target.sql}",
        notes=("casts are those of Spark SQL in ANSI mode",),
        hint=hint,
    )


def unreadable_text(span: Span, text: str, target: DataType, example: str) -> Diagnostic:
    return Diagnostic(
        "E0327",
        "text of the wrong form",
        span,
        f"'{text}' cannot be read as {article(target.sql)}",
        notes=(f"beside {article(target.sql)}, Spark reads a STRING as one",),
        hint=_instead_of_text(text, target, example),
    )


def _instead_of_text(text: str, target: DataType, example: str) -> str:
    if not text.strip():
        return "what has no value is null, and no empty text: `x IS NULL`, or `x IS NOT NULL`"
    if is_numeric(target):
        return "write a number, or make the numbers texts: `CAST(x AS STRING)`"
    return f"{article(target.sql)} is written {example}" if example else ""


def no_type(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0330",
        "column without a type",
        span,
        "this is NULL, which has no type of its own",
        notes=("a column requires a type",),
        hint="write `CAST(NULL AS STRING)`, or another type",
    )


# ---- literals --------------------------------------------------------------------------------------------------------


def bad_literal(span: Span, label: str, hint: str = "", notes: tuple[str, ...] = ()) -> Diagnostic:
    return Diagnostic("E0308", "impossible value", span, label, notes=notes, hint=hint)


def fraction_in_interval(span: Span, whole: str) -> Diagnostic:
    notes = ("an interval is of whole units, as in Spark, of which seconds alone may have a fraction",)
    return bad_literal(span, "a fraction of another unit than seconds", f"write `{whole}`", notes)


# ---- aggregates and events -------------------------------------------------------------------------------------------


def distinct(span: Span, name: str, *, of_match: bool = False) -> Diagnostic:
    if of_match:
        note = "it is of one event"
        return Diagnostic("E0312", f"DISTINCT in {name}", span, note, hint="remove DISTINCT")
    note = "matches are counted and summed without being listed, so that equal values are not found"
    cure = f"write a RETURN MATCH query: {name}(DISTINCT …) in it is of each match, and may be applied to its rows"
    title, label = "DISTINCT in an aggregate", f"{name} cannot leave out equal values"
    return Diagnostic("E0312", title, span, label, notes=(note,), hint=f"remove DISTINCT, or {cure}")


def distinct_in_condition(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0312", "DISTINCT in a condition", span, f"{name} cannot leave out equal values here",
        notes=("a match that grows keeps sums, not the values of all its events",),
        hint=f"remove DISTINCT, or write HAVING {name}(DISTINCT …), which leaves out rows of a match query",
    )  # fmt: skip


def distinct_running(span: Span, name: str, *, in_condition: bool) -> Diagnostic:
    place = "HAVING, where it leaves out rows" if in_condition else "RETURN, which is of the whole match"
    return Diagnostic(
        "E0312", f"DISTINCT in RUNNING {name}", span, f"a running {name} cannot leave out equal values",
        notes=("from one event to the next sums are kept, not the values of all events",),
        hint=f"remove DISTINCT, or write {name}(DISTINCT …) without RUNNING in {place}",
    )  # fmt: skip


def nested_aggregate(span: Span, outer: str, inner: str) -> Diagnostic:
    return Diagnostic(
        "E0313",
        "nested aggregates",
        span,
        f"{inner} stands inside {outer}",
        notes=(f"the argument of {outer} is computed for each event",),
        hint=f"take {inner} out of {outer}",
    )


def mixed_variables(span: Span, name: str, variables: Iterable[str]) -> Diagnostic:
    function = aggregate_written(name)
    names = ", ".join(f"`{v}`" for v in variables)
    return Diagnostic(
        "E0314",
        "aggregate over several variables",
        span,
        f"{name} is over the events of one variable; this mentions {names}",
        notes=("a match binds each variable to events of its own, which do not come in pairs",),
        hint=f"combine results instead: `{name}(a.x) + {name}(b.y)`"
        if function is not None and function.linear
        else "",
    )


def aggregate_not_allowed(span: Span, name: str, where: str, *, numbers: bool = False) -> Diagnostic:
    cure = (
        f"write `HAVING {name}() …` after the pattern: it leaves out rows, and changes no number"
        if numbers
        else f"write `HAVING {name}(…) …` after the pattern, which is of the whole match or row"
    )
    if where == "WHERE":
        note = (
            "WHERE has COUNT, SUM, AVG, MIN, MAX, MIN_BY and MAX_BY of the events of one variable, "
            "with RUNNING or without"
        )
    else:
        note = "a condition on one event decides which events there are, before any match"
    title, label = "aggregate in a condition", f"{name} is not allowed in {where}"
    return Diagnostic("E0315", title, span, label, notes=(note,), hint=cure)


def count_of_all(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0315", "COUNT(*) in WHERE", span, "in WHERE it is of the events of one variable",
        notes=("HAVING COUNT(*) is of all matches of a row, or in a match query of all events of a match",),
        hint="write `COUNT(v)` for the variable `v`, or `HAVING COUNT(*) …` after the pattern",
    )  # fmt: skip


def aggregate_in_column(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0315",
        "aggregate in a computed column",
        span,
        f"{name} is over many events",
        notes=("a column is computed of one record, from its other columns",),
        hint=f"write {name} in RETURN of a query",
    )


def list_of_all_matches(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0311",
        f"{name} in an aggregate query",
        span,
        "it is of one match's events; this query aggregates over all matches",
        hint="write `RETURN MATCH …` for a row for each match",
    )


def number_of_matches(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0311",
        "MATCH_NUMBER in an aggregate query",
        span,
        "a row is about all matches of a window",
        hint="remove it, or return a row for each match: `RETURN MATCH …`",
    )


def no_variable(span: Span, name: str, columns: Iterable[str], *, distinct: bool, by: bool) -> Diagnostic:
    found = next(iter(columns), None) or "column"
    return Diagnostic(
        "E0316",
        "aggregate of no event",
        span,
        f"{name} requires a column of a variable; this mentions none",
        notes=("an aggregate is over the events that a variable is bound to",),
        hint=f"write `{name}({'DISTINCT ' * distinct}v.{found}{', v.y' * by})` for a variable `v`",
    )


def navigation_not_allowed(span: Span, name: str, where: str, hint: str) -> Diagnostic:
    return Diagnostic("E0317", f"{name} out of place", span, f"{name} is not allowed in {where}", hint=hint)


def label_out_of_place(span: Span, where: str) -> Diagnostic:
    return Diagnostic(
        "E0334",
        "LABEL out of place",
        span,
        f"LABEL is not allowed in {where}",
        notes=("a label is a text that rows carry; it is the same for all events and matches of a query",),
        hint="write the text itself, or LABEL in RETURN, outside aggregates",
    )


def label_argument(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0334",
        "LABEL without the name of a label",
        span,
        "LABEL requires one name",
        hint="write `LABEL(severity)`, and `WITH (severity = 'high')` behind the name of the query",
    )


def navigation_argument(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0317",
        f"{name} without a variable",
        span,
        f"{name} requires one variable of the pattern",
        hint=f"write `{name}(v).x`",
    )


def navigation_places(span: Span, name: str, most: int) -> Diagnostic:
    least, hint = {
        "PREV": (1, "`PREV(v, 2).x` is of the event before the one before; the event at hand is `v.x`"),
        "FIRST": (0, "`FIRST(v, 2).x` is of the second event after the first"),
        "LAST": (0, "`LAST(v, 2).x` is of the second event before the last"),
    }[name]
    return Diagnostic(
        "E0317", f"{name} looks a number of events away", span, f"a whole number from {least} to {most} stands here",
        notes=("every partial match keeps so many events in mind",), hint=hint,
    )  # fmt: skip


def navigation_of_value(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0317", f"{name} of a value, some events away", span,
        f"with a number of events, {name} is of a column of a variable, or a field of one",
        notes=("where there is no such event it is null",),
        hint=f"compute with what it gives: `{name}(v, 1).x + 1`",
    )  # fmt: skip


def beside_not_allowed(span: Span, name: str, where: str) -> Diagnostic:
    return Diagnostic(
        "E0335", f"{name} out of place", span, f"{name} is not allowed in {where}",
        notes=(f"{name} looks at the events beside one, among all that agree on `[ ]` and GROUP BY of a query",),
        hint=f"{name} stands in WHERE of a query or of a named pattern: `WHERE v.x > {name}(v.x)`",
    )  # fmt: skip


def beside_of_several(span: Span, name: str, column: str) -> Diagnostic:
    return Diagnostic(
        "E0335", f"{name} over several streams", span, f"the streams of this query have no `{column}` in common",
        notes=("the event beside one may be of any of them; columns of one name are one where a type fits all",),
        hint="give a stream a column of another name that is computed from it, `other AS …`, and ask for that",
    )  # fmt: skip


def beside_without_column(span: Span, name: str, variable: str) -> Diagnostic:
    return Diagnostic(
        "E0335", f"{name} of an event", span, f"`{variable}` is an event, and {name} is of one of its columns",
        hint=f"write `{name}({variable}.x)`, with a column in the place of x",
    )  # fmt: skip


def beside_without_variable(span: Span, name: str, column: str) -> Diagnostic:
    return Diagnostic(
        "E0335", f"{name} without a variable", span, "all events of the partition share this column",
        hint=f"write `{name}(v.{column})` for the variable `v`",
    )  # fmt: skip


def beside_of_value(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0335", f"{name} of a value", span, f"{name} is of a column of a variable, or a field of one",
        hint=f"compute with what it gives: `{name}(v.x) + 1`; a computed column of the STREAM may stand in it",
    )  # fmt: skip


def beside_arguments(span: Span, name: str, count: int) -> Diagnostic:
    hint = f"`COALESCE({name}(v.x), 0)` is 0 where there is no such event" if count > 2 else f"write `{name}(v.x)`"
    return Diagnostic(
        "E0335", f"{name} with {count} arguments", span, f"{name} takes a column, and how many places away it is",
        hint=hint,
    )  # fmt: skip


def beside_places(span: Span, name: str, most: int) -> Diagnostic:
    other = "LEAD" if name == "LAG" else "LAG"
    return Diagnostic(
        "E0335", f"{name} looks a number of places away", span, f"a whole number from 1 to {most:,} stands here",
        hint=f"`{name}(v.x, 2)` is of the event but one; {other} looks the other way",
    )  # fmt: skip


def no_running(span: Span, name: str, *, each: bool) -> Diagnostic:
    cure = "`RUNNING SUM(v.x)` is of the events of v up to the one at hand"
    if name in ("FIRST", "LAST", "PREV"):
        cure = f"leave RUNNING out: `{name}(v).x` is of one event"
        if each and name == "LAST":
            cure = (
                "write `v.x`, which is of the row's event; `LAST(v.x)` is of the whole match, the same in all its rows"
            )
    return Diagnostic(
        "E0336",
        f"no RUNNING {name}",
        span,
        "RUNNING stands before COUNT, SUM, AVG, MIN, MAX, MIN_BY and MAX_BY",
        hint=cure,
    )


def running_not_allowed(span: Span, name: str, where: str) -> Diagnostic:
    return Diagnostic(
        "E0336", f"RUNNING {name} out of place", span, f"RUNNING is not allowed in {where}",
        notes=("it is of the events of a variable up to the one of which a condition is asked",),
        hint=f"leave RUNNING out: {name} is of the whole match then; in WHERE and in `RETURN EACH …` "
        f"`RUNNING {_of_events(name, 'v')}` is of the events up to one",
    )  # fmt: skip


def variable_of_no_event(span: Span, where: str) -> Diagnostic:
    return Diagnostic(
        "E0337", "VARIABLE out of place", span, f"VARIABLE is not allowed in {where}",
        notes=("it is the name of the variable to which an event of a match is bound",),
        hint="`RETURN EACH …` has a row for each event of a match, and VARIABLE() in it; "
        "in a row for each match, `COLLECT(VARIABLE())` is those of its events",
    )  # fmt: skip


def running_of_all(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0336", "RUNNING COUNT(*)", span, "it is of the events of one variable",
        hint="write `RUNNING COUNT(v)` for the variable `v`",
    )  # fmt: skip


def _of_events(name: str, variable: str) -> str:
    function = aggregate_written(name)
    return f"{name}({variable})" if function is not None and function.counts else f"{name}({variable}.x)"


def end_beside_running(span: Span, variables: Sequence[str], end: str) -> Diagnostic:
    names = " and ".join(f"`{name}`" for name in variables)
    return Diagnostic(
        "E0336", "RUNNING of several variables beside one's end", span,
        f"with RUNNING of {names}, which `{end}` is depends on the event at hand",
        notes=(f"it is asked of every event of {names}, in order",),
        hint=f"`{variables[0]}.x` is of the event at hand, and null where that is of another variable; or join "
        "conditions on one variable each by AND",
    )  # fmt: skip


def running_beside_later(span: Span, variable: str, end: str, aggregate: str, *, alone: bool) -> Diagnostic:
    """`end` is the event that is not known yet, without one the `aggregate` of all events. No other variable is RUNNING
    where this is `alone`.
    """
    what = end.partition("(")[0] or f"{aggregate} of all events"
    unknown = f"`{end}`" if end else f"{aggregate} of all events of `{variable}`"
    first = f", the first one `FIRST({variable}).x`" if alone else ""
    return Diagnostic(
        "E0336", f"RUNNING beside {what}", span, f"{unknown} is not known yet at the event of which this is asked",
        hint=f"the event at hand is `{variable}.x`{first}",
    )  # fmt: skip


def other_of_single(span: Span, name: str, variable: str) -> Diagnostic:
    """PREV(v), or an event so many places from the first or the last, of a variable that is bound to one."""
    if name != "PREV":
        return Diagnostic(
            "E0318", f"{name} with a number, of a single variable", span,
            f"`{variable}` is bound to one event in a match, which is the first and the last",
            notes=(f"{name}(v, 1) is another event of the same variable v",),
            hint=f"repeat the variable (`E+ {variable}`), or write `{variable}.x`",
        )  # fmt: skip
    return Diagnostic(
        "E0318",
        "PREV of a single variable",
        span,
        f"`{variable}` is bound to one event in a match, which has no previous one",
        notes=("PREV(v) is the event before among those of the same variable v",),
        hint=f"repeat the variable (`E+ {variable}`), or compare with the other variable by its name",
    )


def list_without_aggregate(span: Span, variable: str, column: str) -> Diagnostic:
    return Diagnostic(
        "E0319",
        "several values for one column",
        span,
        f"`{variable}` is bound to several events in a match",
        notes=("a row has one value for each column",),
        hint=f"write `FIRST({variable}.{column})`, LAST, MIN, MAX, SUM, AVG, COUNT, or COLLECT for all of them",
    )


def not_a_struct(span: Span, name: str, found: DataType) -> Diagnostic:
    return Diagnostic(
        "E0322",
        f"unknown field `{name}`",
        span,
        f"{article(found.sql)} has no fields; `.{name}` requires a STRUCT",
    )


def unknown_field(span: Span, name: str, found: DataType, near: str | None) -> Diagnostic:
    return Diagnostic(
        "E0322",
        f"unknown field `{name}`",
        span,
        f"{found.sql} has no such field",
        hint=_did_you_mean(near),
        replacement=near and name_text(ast.Name(near)),
    )


def too_large(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0331",
        "expression too large",
        span,
        "written out, this has too many parts",
        notes=("BETWEEN, NULLIF and CASE x WHEN … mention their operand more than once, and nested ones many times",),
        hint="name a part of it with EVENT … AS, or write it without so much nesting",
    )


def misplaced_star(span: Span, where: str) -> Diagnostic:
    return Diagnostic(
        "E0323",
        "misplaced `*`",
        span,
        f"`*` is not a value{where}",
        hint="`*` stands in `COUNT(*)`, `RETURN MATCH *` and `RETURN EACH *`",
    )


def unknown_result_type(span: Span, name: str, likely: DataType) -> Diagnostic:
    return Diagnostic(
        "E0324",
        f"the type of `{name}(…)` is not known",
        span,
        "depends on the arguments, in a way only Spark knows",
        hint=f"say what it is: `CAST({name}(…) AS {likely.sql})`, or another type",
    )


def spark_alone(span: Span, what: str, where: str, cure: str) -> Diagnostic:
    return Diagnostic(
        "E0338", f"{what} is computed by Spark alone", span, f"{where} is not computed by Spark",
        notes=("Spark computes the columns of a stream and conditions on one event",), hint=cure,
    )  # fmt: skip


def prev_beside_others(span: Span, variable: str, others: Iterable[str]) -> Diagnostic:
    names = ", ".join(f"`{o}`" for o in others)
    return Diagnostic(
        "E0326",
        "PREV beside another variable",
        span,
        f"a condition with PREV({variable}) mentions `{variable}` alone; this mentions {names} too",
        notes=("PREV relates neighbouring events of one variable, whatever the rest of the match is",),
        hint="conditions joined by AND can stand apart; where both are in one comparison or OR, give events names of "
        "their own: `SEQ(E e1, E e2)` and `e2.x - e1.x`",
    )


def event_by_number(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0221", f"`{name}` is an event, not a value", span, "events of a variable have no numbers",
        hint=f"`FIRST({name}).x` and `LAST({name}).x` are of its first and last event, `FIRST({name}, 1).x` is of the"
        f" second, `COLLECT({name}.x)` of all",
    )  # fmt: skip


def event_as_value(span: Span, name: str, column: str | None) -> Diagnostic:
    return Diagnostic(
        "E0328",
        "an event is not a value",
        span,
        f"`{name}` is an event; a value requires one of its columns",
        hint=f"write `{name}.{column}`" if column else "",
    )


def unknown_extract(span: Span, name: str, near: str | None) -> Diagnostic:
    return Diagnostic(
        "E0329",
        f"a time has no `{name}`",
        span,
        "unknown part of a time",
        notes=("the parts are YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFWEEK, DOY, HOUR, MINUTE, SECOND",),
        hint=_did_you_mean(near),
    )


# ---- warnings --------------------------------------------------------------------------------------------------------


def comparison_with_null(span: Span, instead: str) -> Diagnostic:
    return Diagnostic(
        "W0301",
        "comparison with NULL",
        span,
        "this is never true: a comparison with NULL is null",
        hint=f"write `{instead}`",
    )


def text_as_number(span: Span, target: DataType) -> Diagnostic:
    return Diagnostic(
        "W0302",
        "text read as a number",
        span,
        f"this STRING is read as {article(target.sql)}",
        notes=("the job fails at the first text that is not a number",),
        hint=f"write `TRY_CAST(… AS {target.sql})` to have null there, or compare with a STRING",
    )


def pattern_of_times(span: Span, better: MeantPattern) -> Diagnostic:
    pattern = string_text(better.pattern)
    return Diagnostic(
        "W0303",
        "a pattern of times says something else than it seems to",
        span,
        f"`{better.written}` {better.says}; {better.unit} are `{better.letters}`",
        hint=f"write `{pattern}`",
        replacement=pattern,
    )


def no_regular_expression(span: Span, wrong: str) -> Diagnostic:
    return Diagnostic(
        "W0304",
        wrong,
        span,
        "a run stops where a text is searched for it",
        hint="in a string `\\\\[` is a plain `[`, say; a text as it stands is found by `CONTAINS(x, '[')`",
    )


def false_is_counted(span: Span) -> Diagnostic:
    return Diagnostic(
        "W0305",
        "COUNT of a condition",
        span,
        "counted where it is false, too: COUNT leaves out nulls alone",
        hint="write `COUNT(CASE WHEN … THEN 1 END)`, with the condition in the place of `…`",
    )
