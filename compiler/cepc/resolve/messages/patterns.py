"""What is said about patterns, variables, negation and conditions: the E04 family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic, Label

if TYPE_CHECKING:
    from typing import Literal as OneOf

    from cepc_grammar.source import Span


def can_be_empty(span: Span, parts: tuple[Span, ...], nots: tuple[Span, ...]) -> Diagnostic:
    """`parts` are the optional parts of it, `nots` the alternatives that are NOTs alone."""
    if nots:
        return Diagnostic(
            "E0401", "the pattern can match nothing", nots[0], "a NOT is no event, and this is all there is of a match",
            notes=("a match is a set of events, and the empty set would be one in every window",),
            hint="say what happens beside it: `SEQ(NOT B, A)`, `SEQ(A, NOT B, C)`; or leave it out of the OR",
        )  # fmt: skip
    return Diagnostic(
        "E0401",
        "the pattern can match nothing",
        span,
        "every part of it may be absent",
        notes=("a match is a set of events, and the empty set would be one in every window",),
        others=tuple(Label(part, "may be absent") for part in parts[:4] if part != span),
        hint="require at least one event: `E+` in place of `E*`, `E` in place of `E?`",
    )


def bounds(span: Span, least: int, most: int) -> Diagnostic:
    if most == 0:
        return Diagnostic(
            "E0402",
            "a repetition of 0 times",
            span,
            "this matches nothing, ever",
            hint="leave it out; if it must not occur, write `NOT`",
        )
    return Diagnostic(
        "E0402",
        f"a repetition of at least {least} and at most {most} times",
        span,
        f"{least} is more than {most}",
        hint=f"write `{{{most},{least}}}`",
    )


def two_types(variable: str, span: Span, type_: str, first: Span, first_type: str) -> Diagnostic:
    return Diagnostic(
        "E0403",
        f"the variable `{variable}` has two event types",
        span,
        f"an event of type {type_} here",
        notes=("all occurrences of one name are one variable, tested, counted and returned together",),
        others=(Label(first, f"an event of type {first_type} here"),),
        hint="give one of the two another alias",
    )


def not_at_edge(negation: Span, operand: Span, operator: str) -> Diagnostic:
    return Diagnostic(
        "E0404",
        f"an operand of this {operator} begins or ends with NOT",
        negation,
        "no gap is given here",
        notes=(
            f"operands of {operator} are interleaved, so no event of it stands before or after the NOT",
            "`AND(A, B, NOT C)`, no C in the whole window, is for the whole pattern only",
        ),
        others=(Label(operand, f"the operand of {operator}"),) if operand != negation else (),
        hint=f"put the NOT between two events, or into the SEQ around the {operator}",
    )


def not_of_this(span: Span, what: str, hint: str) -> Diagnostic:
    return Diagnostic(
        "E0405",
        f"NOT of {what}",
        span,
        "cannot be negated",
        notes=("what is negated is an event type, an OR, or a SEQ without NOT",),
        hint=hint,
    )


def not_of_nothing(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0406",
        "NOT of a pattern that can match nothing",
        span,
        "this may be absent, so it is always there",
        hint="negate a pattern with at least one event",
    )


def repeated_not(span: Span, *, optional: bool) -> Diagnostic:
    label = "where it may be absent, nothing is forbidden" if optional else "none once is none however often"
    return Diagnostic("W0403", "a quantifier on NOT says nothing", span, label, hint="leave the quantifier out")


def before_the_last(span: Span, last: str, earlier: str, variable: str) -> Diagnostic:
    """`last` is an event of the variable, `earlier` the column of another one, as they are written."""
    return Diagnostic(
        "W0404",
        f"`{last}` is counted from the end of the whole match",
        span,
        f"compares each event of `{variable}` with that one, itself included",
        notes=(f"in MATCH_RECOGNIZE, `{last}` of the row's own variable is a row before it",),
        hint=f"write `{earlier}`, which is of the event of `{variable}` before each one",
    )


def only_not(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0407",
        "a pattern of NOT alone",
        span,
        "no event is left to make a match of",
        notes=("NOT says what may not happen between the events of a match",),
        hint="say what happens instead: `SEQ(A, NOT B, C)`, or `SEQ(A, NOT B WITHIN 30 MINUTES)`",
    )


def not_in_not(span: Span, outer: Span) -> Diagnostic:
    return Diagnostic(
        "E0408",
        "NOT inside NOT",
        span,
        "negated already",
        others=(Label(outer, "by this NOT"),),
        hint="say directly what is required",
    )


def no_anchor(negation: Span, within: Span) -> Diagnostic:
    return Diagnostic(
        "E0409",
        "NOT … WITHIN requires an event before it",
        within,
        "counted from the last event before the NOT",
        others=(Label(negation, "nothing stands before it"),),
        hint="leave WITHIN out here; the gap then starts with the window",
    )


def negated_name(variable: str, span: Span, other: Span, type_: str) -> Diagnostic:
    return Diagnostic(
        "E0410",
        f"the negated `{variable}` requires a name of its own",
        span,
        f"`{variable}` is another variable already",
        notes=("a condition on the name would mean both, the events that must be there and those that must not",),
        others=(Label(other, "this one"),),
        hint=f"give it an alias of its own: `NOT {type_} {'other' if variable == 'n' else 'n'}`",
    )


def two_negations(span: Span, variables: tuple[str, str], places: tuple[Span, Span]) -> Diagnostic:
    first, second = variables
    return Diagnostic(
        "E0411",
        "a condition over events of two NOTs",
        span,
        f"mentions `{first}` and `{second}`",
        notes=("each NOT forbids by itself; none of its events is there to compare with those of another",),
        others=tuple(Label(place, f"`{name}`") for name, place in zip(variables, places, strict=True)),
        hint="compare each with an event of the match",
    )


def negated_returned(variable: str, span: Span, declared: Span) -> Diagnostic:
    return Diagnostic(
        "E0412",
        f"the negated `{variable}` cannot be returned",
        span,
        "no match has such an event",
        others=(Label(declared, "negated here"),),
        hint="return a variable outside NOT",
    )


def equivalence_in_pattern(span: Span, attributes: str) -> Diagnostic:
    first = attributes.split(",")[0]
    return Diagnostic(
        "E0413",
        "`[ ]` in a named pattern",
        span,
        "it partitions all events of a query",
        notes=("`[a]` says that all events of the whole match agree on a, so it belongs to the query",),
        hint=f"write `WHERE [{attributes}]` in the query, or compare events: `p.{first} = t.{first}`",
    )


def equivalence_twice(second: Span, first: Span, both: str) -> Diagnostic:
    return Diagnostic(
        "E0414",
        "`[ ]` stands twice in WHERE",
        second,
        "the second one",
        others=(Label(first, "the first one"),),
        hint=f"write both in one: `[{both}]`",
    )


def reluctant(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0415",
        "a reluctant quantifier without AFTER MATCH",
        span,
        "the last `?` says which match to prefer",
        notes=("without AFTER MATCH every match is returned, so none is preferred",),
        hint="leave the last `?` out, or add `SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT`",
    )


def some_with_after_match(span: Span, clause: Span) -> Diagnostic:
    return Diagnostic(
        "E0416",
        "SOME with AFTER MATCH",
        span,
        "has no order of preference",
        others=(Label(clause, "one match is chosen here"),),
        hint="write what is preferred first: `OR(AND(P, Q), P, Q)`",
    )


def too_large(span: Span, events: int, levels: int) -> Diagnostic:
    return Diagnostic(
        "E0417",
        "the pattern is too large",
        span,
        f"more than {events:,} events or {levels} levels when its named patterns are written out",
        notes=("named patterns that double each other grow exponentially",),
        hint="use repetition: `P{2,100}`",
    )


def next_of_conditions(part: Span, condition: Span | None, what: str) -> Diagnostic:
    return Diagnostic(
        "E0418",
        f"NEXT of a part with {what}",
        part,
        "which event could come next has to be seen from each event by itself",
        others=() if condition is None else (Label(condition, "this is about several events of the part"),),
        hint="write CONTIGUOUS instead, or `SELECT NEXT` for the whole pattern, which looks at all conditions",
    )


def overflow(span: Span, part: Span) -> Diagnostic:
    return Diagnostic(
        "W0401",
        "this count can pass BIGINT",
        span,
        "doubles with every event",
        notes=(
            (
                "64 events of `A+` have 2^64 - 1 matches under SELECT ANY; "
                "a job whose count does not fit stops with an error"
            ),
        ),
        others=(Label(part, "repeated without bound"),),
        hint="write `CAST(COUNT(*) AS DECIMAL(38,0))`, `AS STRING` (any size) or `AS DOUBLE`, or `TRY_COUNT(*)`",
    )


def enumeration(
    span: Span, text: str, why: OneOf["NOT", "apart", "NEXT", "RUNNING", "whole"], cure: str | None
) -> Diagnostic:
    """`NEXT` is the query's SELECT, where nothing but that is the reason; `cure` is that of this condition alone."""
    selected = why == "NEXT"
    match why:
        case "NOT":
            label = "compares an event inside NOT with others"
        case "apart":
            label = "compares events that are no neighbours"
        case "RUNNING":
            label = "is of all events of a variable up to one"
        case "whole":
            label = "is of all events of a variable"
        case "NEXT":
            label = "compares neighbours, but under SELECT NEXT"
    return Diagnostic(
        "W0402",
        "this condition needs every partial match enumerated",
        span,
        label,
        notes=(
            "time and memory grow with the number of partial matches"
            + ("" if selected else ", which under `+` doubles with every event"),
            f"a job with too many of them stops with an error that names `{text}`",
        ),
        hint=cure
        or (
            "cheap are conditions on single events and `[ ]`"
            if selected
            else "cheap are neighbours in a SEQ, PREV, LAST before and FIRST behind a neighbour, and `[ ]`"
        ),
    )
