"""What stands in a query, and which pairs of it have been compared together, with rows.

A bug between two constructs is found only where both stand in one query that has rows. `constructs` names what does,
from the text, the plan, the data and the way in which the rows were found; `Pairs` counts. A pair that the language, or
a way of executing, rules out has its reason in `NEVER`; any other that a long run has never met is a hole in the tests.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from cepc_grammar import ast
from cepc_grammar.pattern import And, Not, Or, Repeat, Selected, Seq, Some
from cepc_runtime.plan.strategy import Count, CountNeighbours, List
from tests.oracle.expressions import conjuncts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.plan.strategy import PhysicalQuery
    from tests.equivalence import Compiled
    from tests.oracle import Answer
    from tests.programs import Case

OF_COLUMNS: Final = ("COUNT", "SUM", "AVG", "MIN", "MAX", "VARIANCE", "VAR_POP", "STDDEV", "STDDEV_POP")
OF_ALL_MATCHES: Final = (*OF_COLUMNS, "TRY_COUNT", "TRY_SUM")
AGGREGATES: Final = (*OF_ALL_MATCHES, "FIRST", "LAST", "COLLECT", "MIN_BY", "MAX_BY")
NAVIGATION: Final = frozenset({"PREV", "FIRST", "LAST"})
WHOLE: Final = ("COUNT", "SUM", "AVG", "MIN", "MAX")
EXACT_FLOAT: Final = 2**53


def constructs(case: Case, compiled: Compiled, name: str, answer: Answer) -> frozenset[str]:
    """What stands in the query of this name and in the matches that it has."""
    statements = compiled.tree.statements
    (query,) = (s for s in statements if isinstance(s, ast.Query) and s.name.text == name)
    (stream,) = (s for s in statements if isinstance(s, ast.Stream))
    (plan,) = (plan for plan in compiled.plan.queries if plan.name == name)
    named = {s.name.text: s for s in statements if isinstance(s, ast.NamedPattern)}
    derived = {s.name.text for s in statements if isinstance(s, ast.DerivedEvent)}
    types = {name: type_.sql.partition("(")[0] for name, type_ in compiled.program.streams[0].columns}
    assert stream.event_time is not None
    found = {*_pattern(query.pattern, named, derived), *_conditions(query.where, compiled, name)}
    found |= {*_clauses(query), *_results(query, types), *_data(case, answer), *_tests(plan), _engine(plan)}
    found.add(f"time as {types[stream.event_time.column.text]}")
    found |= {"computed column"} if any(column.expression for column in stream.columns) else set()
    return frozenset(found | {"ORDER BY"} if stream.event_time.order_by else found)


# ---- the text --------------------------------------------------------------------------------------------------------


def _pattern(
    node: ast.Pattern, named: dict[str, ast.NamedPattern], derived: set[str], inside: tuple[str, ...] = ()
) -> Iterator[str]:
    match node:
        case ast.Atom(name, arguments, alias):
            if name.text in derived:
                yield "derived type"
            definition = named.get(name.text)
            if definition is not None:
                yield "named pattern with alias" if alias else "named pattern"
                yield from ["parameters"] * (arguments is not None)
                yield from ["conditions of a named pattern"] * (definition.where is not None)
                yield from _pattern(definition.pattern, named, derived, (*inside, "named"))
        case ast.AnyEvent():
            yield "ANY"
        case Repeat(body, least, most, reluctant):
            yield _quantifier(least, most)
            yield from ["reluctant"] * reluctant
            yield from ["nested repetition"] * ("repeat" in inside and most is None)
            yield from _pattern(body, named, derived, (*inside, "repeat"))
        case Seq(elements):
            yield "SEQ"
            for place, element in enumerate(elements):
                if isinstance(element, Not):
                    yield "NOT first" if place == 0 else "NOT last" if place == len(elements) - 1 else "NOT between"
                    yield from ["NOT in an operand of AND"] * ("and" in inside)
                    yield from ["NOT in a repetition"] * ("repeat" in inside)
                    yield from ["NOT in a named pattern"] * ("named" in inside)
                yield from _pattern(element, named, derived, inside)
        case And(operands) | Or(operands) | Some(operands):
            word = type(node).__name__.upper()
            yield word
            for operand in operands:
                if isinstance(operand, Not):
                    yield "NOT of the whole window"
                yield from _pattern(operand, named, derived, (*inside, "or" if word == "OR" else "and"))
        case Selected(body, select):
            yield f"{select} of a part"
            yield from _pattern(body, named, derived, inside)
        case Not(body, within):
            yield (
                f"NOT {type(body).__name__.upper()}"
                if not isinstance(body, ast.Atom)
                else ("NOT of a named pattern" if body.name.text in named else "NOT of a type")
            )
            yield from ["NOT … WITHIN"] * (within is not None)


def _quantifier(least: int, most: int | None) -> str:
    match least, most:
        case 1, None:
            return "+"
        case 0, None:
            return "*"
        case 0, 1:
            return "?"
        case _, None:
            return "{n,}"
        case _ if least == most:
            return "{n}"
        case 0, _:
            return "{0,n}"
    return "{m,n}"


def _conditions(where: ast.Expression | None, compiled: Compiled, name: str) -> Iterator[str]:
    (query,) = (query for query in compiled.program.queries if query.name == name)
    negated = {v.name for v in query.variables if v.negated}
    known = {v.name for v in query.variables}
    for part in conjuncts(where):
        if isinstance(part, ast.Equivalence):
            yield "[ ]"
            continue
        called = {node.function.text for node in _walk(part) if isinstance(node, ast.Call)}
        yield from called & {"LAG", "LEAD"}
        calls = [node for node in _walk(part) if isinstance(node, ast.Call)]
        running = {call.function.text for call in calls if call.running}
        yield from (f"RUNNING {function}" for function in running)
        yield from {f"WHERE {call.function.text}" for call in calls if _is_whole(call)}
        yield from {f"further {call.function.text}" for call in calls if _is_further(call)}
        navigated = called & NAVIGATION
        variables = _named(part, known)
        own = {v for call in calls if call.running for v in _named(call, known)}
        yield from ["RUNNING beside another variable"] * bool(own and variables - own)
        yield from ["RUNNING of several variables"] * (len(own) > 1)
        yield from (f"condition with {function}" for function in navigated)
        if variables & negated:
            yield "condition on what is negated"
        elif len(variables) > 1:
            yield "condition over two variables"
        elif not navigated:
            yield "condition on one event"


def _named(part: ast.Expression, known: set[str]) -> set[str]:
    """The variables that it mentions."""
    names = {".".join(p.text for p in node.parts) for node in _walk(part) if isinstance(node, ast.Reference)}
    return {v for v in known if any(n == v or n.startswith(f"{v}.") for n in names)}


def _is_whole(call: ast.Call) -> bool:
    return call.function.text in WHOLE and not call.running


def _is_further(call: ast.Call) -> bool:
    """Of an event some places further in."""
    return call.function.text in NAVIGATION and len(call.arguments) > 1


def _clauses(query: ast.Query) -> Iterator[str]:
    yield f"SELECT {query.select}"
    if query.labels:
        yield "LABEL"
    if query.group_by:
        yield "GROUP BY"
    if query.having is not None:
        yield "HAVING"
    if query.after_match is not None:
        yield f"AFTER MATCH {query.after_match.skip}"
    if any(isinstance(n, ast.Call) and n.function.text == "MATCH_NUMBER" for n in _walk((query.returns, query.having))):
        yield "MATCH_NUMBER"


def _results(query: ast.Query, types: dict[str, str]) -> Iterator[str]:
    calls = [n for item in query.returns.items for n in _walk(item.expression) if isinstance(n, ast.Call)]
    of_matches = query.returns.match or not any(call.function.text in OF_ALL_MATCHES for call in calls)
    yield "match query" if of_matches else "aggregate query"
    if isinstance(query.within, ast.Unbounded):
        yield "UNBOUNDED"
    elif isinstance(query.within, ast.Session):
        yield "SESSION"
    elif of_matches:
        yield "bound of a match"
    else:
        within = query.within.microseconds
        slide = within if query.slide is None else query.slide.microseconds
        assert within is not None
        assert slide is not None
        offset = 0 if query.offset is None else query.offset.microseconds
        assert offset is not None
        yield from ["OFFSET"] * (offset % slide != 0)
        yield "SLIDE at WITHIN" if slide == within else "SLIDE below WITHIN" if slide < within else "SLIDE above WITHIN"
    if any(isinstance(item.expression, ast.Star) for item in query.returns.items):
        yield "EACH *" if query.returns.each else "MATCH *"
    yield from ["EACH"] * query.returns.each
    for call in calls:
        if call.running:
            yield "RUNNING in EACH"
        elif call.function.text in AGGREGATES:
            yield f"{call.function.text} {_type_of(call.arguments, types)}"
            yield from ["DISTINCT"] * call.distinct
    for item in query.returns.items:
        if isinstance(item.expression, ast.Cast):
            yield "a cast around an aggregate"


def _type_of(arguments: tuple[Any, ...], types: dict[str, str]) -> str:
    columns = [node.parts[-1].text for node in _walk(arguments) if isinstance(node, ast.Reference)]
    return next((types[column] for column in columns if column in types), "of events" if columns else "(*)")


def _walk(node: Any) -> Iterator[Any]:
    yield node
    if isinstance(node, tuple):
        for part in node:
            yield from _walk(part)
    elif is_dataclass(node) and not isinstance(node, type):
        for part in fields(node):
            if part.name != "span":
                yield from _walk(getattr(node, part.name))


# ---- the plan and the data -------------------------------------------------------------------------------------------


def _tests(plan: PhysicalQuery) -> Iterator[str]:
    letters: dict[str, set[int]] = {}
    for edge in plan.positions.edges:
        letters.setdefault(edge.variable, set()).add(edge.letter)
    if any(len(own) > 1 for own in letters.values()):
        yield "several tests of a variable"


def _engine(plan: PhysicalQuery) -> str:
    match plan.strategy:
        case Count():
            return "counted"
        case CountNeighbours():
            return "counted between neighbours"
        case List():
            return "listed"
        case other:
            raise AssertionError(f"{other} by itself")


def _data(case: Case, answer: Answer) -> Iterator[str]:
    for match in answer.matches:
        rows = [case.rows[event] for event, _ in match]
        times = {row["at"] for row in rows}
        if len(times) < len(rows):
            yield "ties in a match"
        if any(value is None for row in rows for value in row.values()):
            yield "nulls in a match"
        if any((at if isinstance(at, int) else at.timestamp()) < 0 for at in times):
            yield "before 1970"
    if any(isinstance(value, int) and abs(value) > EXACT_FLOAT for row in answer.rows for value in _leaves(row)):
        yield "numbers past 53 bits"


def _leaves(value: object) -> Iterator[object]:
    """The values in a row, those in its lists and structs too."""
    match value:
        case dict():
            for item in value.values():
                yield from _leaves(item)
        case list() | tuple():
            for item in value:
                yield from _leaves(item)
        case _:
            yield value


# ---- pairs -----------------------------------------------------------------------------------------------------------

WAYS: Final = (
    "interpreted", "compiled", "on threads", "in parts on disk", "shared at every level", "states side by side", "matches joined",
    "in panes", "in segments", "in slices", "by partitions", "large groups in pieces", "as a stream", "through Spark's operator",
)  # fmt: skip
TYPES: Final = ("INT", "BIGINT", "DOUBLE", "DECIMAL", "STRING", "BOOLEAN", "DATE", "TIMESTAMP")
CUT_COUNTS: Final = ("in panes", "in segments", "in slices", "by partitions", "states side by side")
AFTER: Final = tuple(
    f"AFTER MATCH {mode}" for mode in ("TO NEXT EVENT", "PAST LAST EVENT", "TO FIRST", "TO LAST", "FOR")
)
SLIDES: Final = ("SLIDE below WITHIN", "SLIDE at WITHIN", "SLIDE above WITHIN")

ONE_OF: Final = (
    ("SELECT ANY", "SELECT NEXT", "SELECT CONTIGUOUS"),
    AFTER,
    ("match query", "aggregate query"),
    ("UNBOUNDED", "bound of a match", *SLIDES),
    ("time as TIMESTAMP", "time as BIGINT"),
    ("counted", "counted between neighbours", "listed"),
    WAYS,
)
"""Of each of these a query has one."""


@dataclass(frozen=True)
class Rule:
    """None of the first stands with one of the second, and why. A name that ends with `…` is of all that begin so."""

    these: tuple[str, ...]
    those: tuple[str, ...]
    why: str

    def rules_out(self, one: str, other: str) -> bool:
        return (_among(one, self.these) and _among(other, self.those)) or (
            _among(other, self.these) and _among(one, self.those)
        )


def _among(name: str, names: tuple[str, ...]) -> bool:
    return any(name.startswith(n[:-1]) if n.endswith("…") else name == n for n in names)


OF_PARTS: Final = ("CONTIGUOUS of a part", "NEXT of a part")
MATCHES_ONLY: Final = (
    "FIRST…", "LAST…", "COLLECT…", "MIN_BY…", "MAX_BY…", "DISTINCT", "EACH…", "RUNNING in EACH", "MATCH *", "bound of a match"
)  # fmt: skip
AGGREGATES_ONLY: Final = ("TRY_…", *SLIDES, "OFFSET", "a cast around an aggregate", "counted…")
OF_SEVERAL: Final = (
    "COUNT of events",
    *(f"{function} {of}…" for function in OF_COLUMNS for of in TYPES),
    "FIRST…",
    "LAST…",
    "COLLECT…",
    "MIN_BY…",
    "MAX_BY…",
    "DISTINCT",
)
NEVER: Final = (
    Rule(("match query", *MATCHES_ONLY), ("aggregate query", *AGGREGATES_ONLY), "it is of the other kind of query"),
    Rule(
        AFTER,
        ("SELECT ANY", "aggregate query", *AGGREGATES_ONLY, *CUT_COUNTS, "matches joined"),
        "AFTER MATCH is of match queries with a SELECT",
    ),
    Rule(
        ("reluctant",),
        ("SELECT ANY", "aggregate query", *AGGREGATES_ONLY, *CUT_COUNTS, "matches joined"),
        "without AFTER MATCH it changes nothing",
    ),
    Rule(
        ("MATCH_NUMBER",),
        ("SELECT ANY", "aggregate query", *AGGREGATES_ONLY, *CUT_COUNTS, "matches joined"),
        "without AFTER MATCH matches have no order",
    ),
    Rule(("MATCH_NUMBER",), ("SOME",), "SOME has no order of preference"),
    Rule(("SOME",), (*AFTER, "reluctant"), "SOME has no order of preference"),
    Rule(
        ("MATCH *",),
        (*(f"{function}…" for function in OF_COLUMNS), "FIRST…", "LAST…", "COLLECT…", "MIN_BY…", "MAX_BY…", "DISTINCT"),
        "it is all of RETURN",
    ),
    Rule(
        ("SESSION",),
        ("in panes", "in segments", "in slices", "by partitions", "match query", *MATCHES_ONLY, "OFFSET"),
        "windows that depend on the events of a group",
    ),
    Rule(("LEAD",), ("as a stream", "through Spark's operator"), "a stream does not know what is still to come"),
    Rule(
        ("UNBOUNDED",),
        ("in panes", "in segments", "in slices", "as a stream", "through Spark's operator"),
        "no windows",
    ),
    Rule(("NOT … WITHIN",), ("counted…", *CUT_COUNTS), "it is not counted"),
    Rule(("NOT…", *OF_PARTS), ("in panes",), "a pane does not know what came before it"),
    Rule(("SELECT NEXT", "SELECT CONTIGUOUS"), ("in panes", "matches joined"), "a pane does not know what is skipped"),
    Rule(
        ("match query", *MATCHES_ONLY),
        CUT_COUNTS,
        "counts alone are cut",
    ),
    Rule(("listed",), CUT_COUNTS, "counts alone are cut, and an automaton has states"),
    Rule(("GROUP BY",), ("by partitions",), "a group is one partition of its rows"),
    Rule(("condition with PREV",), ("counted",), "it is about two events"),
    Rule(("WHERE…", "RUNNING…", "further…"), ("counted…", *CUT_COUNTS, "matches joined"), "it is about many events"),
    Rule(("SELECT NEXT",), ("counted between neighbours",), "what may be skipped depends on conditions"),
    Rule(("MIN TIMESTAMP",), ("time as BIGINT",), "the event time is the one column of its type"),
    Rule(
        (
            "counted between neighbours",
            "condition with…",
            "condition over two variables",
        ),
        ("in panes", "states side by side"),
        "what an event may follow is not in its letter",
    ),
    Rule(("condition on what is negated",), ("in panes",), "a pane does not know what came before it"),
    Rule(
        (
            "+",
            "*",
            "?",
            "{…",
            "nested repetition",
            "OR",
            "SOME",
            "NOT between",
            "NOT first",
            "NOT last",
            "NOT SEQ",
            "NOT OR",
            *OF_PARTS,
            "NOT in…",
            "NOT of a named pattern",
            "NOT … WITHIN",
            "condition with…",
            "parameters",
            "several tests of a variable",
            *OF_SEVERAL,
            "SELECT NEXT",
            "SELECT CONTIGUOUS",
            "aggregate query",
            *AGGREGATES_ONLY,
        ),
        ("matches joined",),
        "joined are single events, in SEQ and AND",
    ),
)


def possible(one: str, other: str) -> bool:
    """Whether two constructs may stand together."""
    if any(one in some and other in some for some in ONE_OF):
        return False
    return not any(rule.rules_out(one, other) for rule in NEVER)


@dataclass
class Pairs:
    """How often two constructs stood in one query that was compared and had rows."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    single: Counter[str] = field(default_factory=Counter)

    def add(self, found: frozenset[str]) -> None:
        self.single.update(found)
        self.counts.update(combinations(sorted(found), 2))

    def plus(self, other: Pairs) -> None:
        self.counts.update(other.counts)
        self.single.update(other.single)

    def missing(self) -> list[tuple[str, str]]:
        """Those that may stand together and never did."""
        pairs = combinations(sorted(self.single), 2)
        return [pair for pair in pairs if pair not in self.counts and possible(*pair)]

    def impossible(self) -> list[tuple[str, str]]:
        """Those that did although a rule says that they cannot: the rule is wrong."""
        return [pair for pair in self.counts if not possible(*pair)]

    def text(self, rarest: int = 30) -> str:
        """How often each stood, the pairs that are rarest, and those that are missing."""
        lines = ["constructs in compared queries with rows:"]
        lines += [f"  {count:>9,}  {name}" for name, count in self.single.most_common()]
        seen = sorted((count, pair) for pair, count in self.counts.items())
        lines.append(f"{len(seen):,} pairs stood together; the rarest:")
        lines += [f"  {count:>9,}  {one} + {other}" for count, (one, other) in seen[:rarest]]
        missing = self.missing()
        lines.append(f"{len(missing):,} pairs that may stand together and did not" + ":" * bool(missing))
        lines += [f"             {one} + {other}" for one, other in missing]
        lines += [f"stood together against a rule: {one} + {other}" for one, other in self.impossible()]
        return "\n".join(lines)
