"""What is said about clauses, results and windows: the E05 family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic, Label
from cepc_grammar.spelling import duration_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar import ast
    from cepc_grammar.source import Span


def same_column(name: str, span: Span, first: str, place: Span, *, of_star: bool) -> Diagnostic:
    alike = "" if name == first else f", and `{first}` differs from it only in case"
    return Diagnostic(
        "E0501",
        f"two result columns are named `{name}`{alike}",
        span,
        "this has the name of the event's variable, and the column" if span == place else f"named `{name}`",
        others=() if span == place else (Label(place, f"named `{first}`"),),
        hint="write the columns that are wanted instead of `*`: `RETURN EACH VARIABLE() AS bound_to, …`"
        if of_star
        else "give it another name: `… AS other`",
    )


def reserved_column(name: str, span: Span, kind: str) -> Diagnostic:
    return Diagnostic(
        "E0502",
        f"a result column cannot be named `{name}`",
        span,
        f"named `{name}`",
        notes=(f"every result of {kind} query has a column `{name}` already",),
        hint="give it another name: `… AS other`",
    )


def not_grouped(column: ast.Name, grouped: Sequence[str], returned: Sequence[str] = ()) -> Diagnostic:
    """`returned` are all the columns that RETURN has outside aggregates and that are not in GROUP BY, in its order."""
    by = (
        f"groups are by {', '.join(f'`{g}`' for g in grouped)}"
        if grouped
        else "without GROUP BY all matches are one group"
    )
    group_by = f"GROUP BY {', '.join(dict.fromkeys((*grouped, *returned, column.text)))}"
    return Diagnostic(
        "E0503",
        f"`{column.text}` is not in GROUP BY",
        column.span,
        "has many values in one result row",
        notes=(f"an aggregate query has one row for each group and window; {by}",),
        hint=f"aggregate it, or add `{group_by}`: all events of a match then agree on it",
    )


def number_without_after_match(span: Span, select: str) -> Diagnostic:
    select = "" if select != "ANY" else "SELECT NEXT "
    return Diagnostic(
        "E0520",
        "MATCH_NUMBER without AFTER MATCH",
        span,
        "the matches of a partition have no order",
        notes=("with AFTER MATCH there is one match for each first event, and they are found one after the other",),
        hint=f"add `{select}AFTER MATCH SKIP PAST LAST EVENT`",
    )


def event_column(text: str, span: Span, column: str, grouped: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0503",
        f"`{text}` outside an aggregate",
        span,
        "has many values in one result row",
        notes=("an aggregate query has one row for each group and window, whatever the number of matches",),
        hint=f"write `MAX({text})`, say, add `GROUP BY {', '.join((*grouped, column))}`, "
        "or `RETURN MATCH …` for a row for each match",
    )


def star_alone(star: Span) -> Diagnostic:
    return Diagnostic(
        "E0504",
        "`RETURN MATCH *` returns everything already",
        star,
        "stands beside other columns",
        notes=("`*` is all events of the match as one array of structs",),
        hint="keep `*` alone, or name the columns; `RETURN EACH *`, a row for each event, may have others beside it",
    )


def having_of_event(column: ast.Name) -> Diagnostic:
    return Diagnostic(
        "E0337",
        f"HAVING of `{column.text}`",
        column.span,
        "it may differ from event to event of a match",
        notes=("HAVING keeps or leaves out whole matches, in RETURN EACH too",),
        hint="ask for something of the match, such as `MAX(v.x)`, or leave out rows where they are read",
    )


def star_without_match(star: Span) -> Diagnostic:
    return Diagnostic(
        "E0504",
        "`*` without MATCH",
        star,
        "not a column of an aggregate query",
        hint="write `RETURN MATCH *` or `RETURN EACH *` for all events of each match, or name the columns",
    )


def slide_in_match_query(slide: ast.Duration, why: str) -> Diagnostic:
    return Diagnostic(
        "E0505",
        "SLIDE in a match query is not supported yet",
        slide.span,
        "each match is returned once",
        notes=(why, "WITHIN bounds the match itself there: no windows are cut"),
        hint="leave SLIDE out",
    )


def no_bound(within: Span, window: ast.Duration, *, is_longer: bool) -> Diagnostic:
    without = f"leave WINDOW out: `WITHIN {duration_text(window)}` counts all matches in windows"
    return Diagnostic(
        "E0523",
        "WITHIN is not shorter than WINDOW",
        within,
        "each match in a window is as short as this",
        others=(Label(window.span, "as long as a window"),),
        notes=("beside WINDOW, which says how long windows are, WITHIN says how long a match may take",),
        hint=f"swap the two, or {without}" if is_longer else without,
    )


def no_windows(word: str, duration: ast.Duration, label: str, why: str) -> Diagnostic:
    """Of what stands behind `word` in a match query."""
    return Diagnostic(
        "E0505",
        f"{word} in a match query",
        duration.span,
        label,
        notes=(why, "WITHIN bounds the match itself there: no windows are cut"),
        hint=f"leave {word} out",
    )


def unbounded_offset(offset: ast.Duration) -> Diagnostic:
    return Diagnostic(
        "E0506",
        "`WITHIN UNBOUNDED` with OFFSET",
        offset.span,
        "nothing begins then",
        notes=("UNBOUNDED is one window over everything",),
        hint="leave OFFSET out, or give a duration",
    )


def session_in_match_query(session: ast.Session) -> Diagnostic:
    length = duration_text(session.gap)
    return Diagnostic(
        "E0521",
        "WITHIN SESSION in a match query",
        session.span,
        "a match has no session",
        notes=("sessions are windows, in which an aggregate query counts; in a match query WITHIN bounds the match",),
        hint=f"count matches, as by `RETURN COUNT(*) AS n`, or bound them: `WITHIN {length}`",
    )


def session_with(word: str, duration: ast.Duration) -> Diagnostic:
    return Diagnostic(
        "E0521",
        f"WITHIN SESSION with {word}",
        duration.span,
        "a session begins with an event, and at no other time",
        hint=f"leave {word} out",
    )


def not_beyond_session(within: ast.Duration, session: ast.Session) -> Diagnostic:
    return Diagnostic(
        "E0522",
        "NOT … WITHIN is longer than the gap between sessions",
        within.span,
        "what it forbids may be in another session",
        others=(Label(session.span, "so long no event comes between two sessions"),),
        notes=("matches of a session are counted from its events alone",),
        hint=f"write `NOT … WITHIN {duration_text(session.gap)}`, or a gap of {duration_text(within)}",
    )


def unbounded_slide(slide: ast.Duration) -> Diagnostic:
    return Diagnostic(
        "E0506",
        "`WITHIN UNBOUNDED` with SLIDE",
        slide.span,
        "nothing to slide",
        notes=("UNBOUNDED is one window over everything",),
        hint="leave SLIDE out, or give a duration",
    )


def after_match_here(span: Span, why: str, hint: str) -> Diagnostic:
    return Diagnostic(
        "E0511",
        "AFTER MATCH requires a match query with SELECT NEXT or CONTIGUOUS",
        span,
        why,
        notes=("it chooses one match for each first event; otherwise every match counts",),
        hint=hint,
    )


def not_a_column(span: Span, text: str, column: str) -> Diagnostic:
    return Diagnostic(
        "E0512",
        f"`{text}` is no attribute to group by",
        span,
        f"`{column}` is a column, this is a part of it",
        notes=("groups are of all events of a match, so no variable stands before a field",),
        hint=f"write `{text.partition('.')[2]}`",
    )


def event_agrees(parts: Sequence[ast.Name]) -> Diagnostic:
    return Diagnostic(
        "E0512",
        f"`{parts[0].text}` is no column to agree on",
        parts[0].span.to(parts[-1].span),
        "a column without a variable is expected",
        notes=("`[a, b]` says that all events of a match agree on a and b",),
        hint=f"write `[{'.'.join(part.text for part in parts[1:])}]`",
    )


def part_like_column(parts: Sequence[ast.Name]) -> Diagnostic:
    text = ".".join(part.text for part in parts)
    return Diagnostic(
        "E0512",
        f"`{text}` is a field of `{parts[0].text}`, and there is a column of this name",
        parts[0].span.to(parts[-1].span),
        "which of the two is meant",
        notes=("a field in `[ ]` or GROUP BY is a column of the query, called as it is written",),
        hint=f"write `` `{text}` `` for the column, or compute one of another name from the field in the STREAM",
    )


def part_like_variable(parts: Sequence[ast.Name]) -> Diagnostic:
    text, first = ".".join(part.text for part in parts), parts[0].text
    return Diagnostic(
        "W0504",
        f"`{first}` is a column and a variable",
        parts[0].span.to(parts[-1].span),
        f"here it is the column: the field `{text}`, on which all events agree",
        notes=(f"everywhere else in the query `{text}` is of the event that is bound to `{first}`",),
        hint="give the variable another alias",
    )


def not_comparable(column: ast.Name, type_: str) -> Diagnostic:
    return Diagnostic(
        "E0513",
        f"events cannot agree on `{column.text}`",
        column.span,
        f"{type_} values cannot be compared",
        notes=("GROUP BY and `[ ]` compare values; maps have no equality in Spark SQL",),
        hint="name another column",
    )


def slide_longer(slide: ast.Duration, word: str, length: ast.Duration) -> Diagnostic:
    """The `word` that the length of the windows stands behind."""
    return Diagnostic(
        "W0501",
        f"SLIDE is longer than {word}",
        slide.span,
        "events between two windows are in none",
        others=(Label(length.span, "as long as a window"),),
        hint="swap the two if that is not meant",
    )


def too_many_windows(slide: ast.Duration, word: str, length: ast.Duration, overlapping: int, most: int) -> Diagnostic:
    """The `word` that the length of the windows stands behind."""
    return Diagnostic(
        "E0514",
        f"every event lies in {overlapping:,} windows",
        slide.span,
        "so often a window begins",
        others=(Label(length.span, "so long it lasts"),),
        notes=(f"each of them would be counted by itself and be a row; at most {most:,} may hold one event",),
        hint=f"use a longer SLIDE or a shorter {word}",
    )


def no_slide(word: str, length: ast.Duration, slide: ast.Duration | None, offset: ast.Duration | None) -> Diagnostic:
    """The `word` that the length of the windows stands behind; `slide` is one that would do."""
    from cepc_grammar.printer import to_text  # here, because most programs start without the printer

    more = "" if offset is None else f" OFFSET {to_text(offset)}"
    return Diagnostic(
        "W0502",
        "matches across a window's edge are not counted",
        length.span,
        "windows follow each other without overlap",
        notes=("without SLIDE each window begins where the last one ended",),
        hint=f"add SLIDE: `{word} {to_text(length)} SLIDE {to_text(slide)}{more}`, say"
        if slide is not None
        else "add SLIDE",
    )


def group_by_event(item: ast.GroupItem, column: str) -> Diagnostic:
    text = ".".join(p.text for p in item.parts)
    return Diagnostic(
        "W0503",
        f"`GROUP BY {text}` is `GROUP BY {column}`",
        item.span,
        f"all events of a match agree on `{column}`, not only these",
        hint=f"write `GROUP BY {column}`",
    )
