"""Random programs that mean something, and streams to run them on: for the oracle against everything else.

Patterns are drawn as trees that know which variables they bind and how often, so that nearly every program is right.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator

TYPES = ("A", "B", "C", "D")
MANY = 99
HEADER = """STREAM s (at {time}, seq INT, kind STRING, k INT, g STRING, x INT, y DOUBLE, z DECIMAL(9, 2))
EVENT TIME at{unit}{order}
EVENT TYPE kind IN ('A', 'B', 'C', 'D');
EVENT Big AS A WHERE x > 1;
"""


@dataclass(frozen=True)
class Tree:
    """A pattern as text, with how often at most it binds each variable, and the type of each."""

    text: str
    counts: Counter[str] = field(default_factory=Counter)
    nothing: bool = False  # can it match nothing?
    some: bool = False  # is there a SOME inside?
    negated: tuple[str, ...] = ()
    edge_not: bool = False  # does it begin or end with NOT?


@dataclass(frozen=True)
class Allowed:
    """What may stand in a pattern: SOME not with AFTER MATCH, reluctant marks only there, and `named` patterns by name.

    `fresh` numbers the aliases of named patterns that negate: a negated variable has a name of its own.
    """

    negation: bool = True
    some: bool = True
    reluctant: bool = False
    named: tuple[tuple[str, Tree], ...] = ()
    fresh: Iterator[int] = field(default_factory=count, compare=False)


@dataclass(frozen=True)
class Case:
    """A program with one query `q`, and the rows of its stream."""

    text: str
    rows: tuple[dict[str, Any], ...]


def _atom(draw: st.DrawFn, allowed: Allowed) -> Tree:
    if allowed.named and draw(st.integers(0, 2)) == 0:
        return _named(draw, allowed)
    kind = draw(st.sampled_from(("A", "A", "B", "B", "C", "D", "Big", "ANY")))
    if kind == "ANY":
        return Tree("ANY e", Counter(("e",)))
    alias = draw(st.sampled_from(("", "", "1", "2")))
    name = f"{kind.lower()}{alias}" if alias else kind
    return Tree(f"{kind} {name}" if alias else kind, Counter((name,)))


def _named(draw: st.DrawFn, allowed: Allowed) -> Tree:
    """A named pattern in place: its variables are the query's, or with an alias the alias's."""
    name, tree = draw(st.sampled_from(allowed.named))
    alias = f"m{next(allowed.fresh)}" if tree.negated else draw(st.sampled_from(("", "v", "w")))
    if not alias:
        return replace(tree, text=name)
    counts = Counter({f"{alias}.{v}": n for v, n in tree.counts.items()})
    return replace(tree, text=f"{name} {alias}", counts=counts, negated=tuple(f"{alias}.{v}" for v in tree.negated))


def _joined(word: str, parts: list[Tree], counts: Counter[str], nothing: bool) -> Tree:
    edges = (parts[0], parts[-1]) if word == "SEQ" else parts
    return Tree(
        f"{word}({', '.join(p.text for p in parts)})",
        counts,
        nothing,
        some=word == "SOME" or any(p.some for p in parts),
        negated=tuple(v for p in parts for v in p.negated),
        edge_not=any(p.edge_not for p in edges),
    )


def _sum(parts: list[Tree]) -> Counter[str]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part.counts)
    return total


def _most(parts: list[Tree]) -> Counter[str]:
    total: Counter[str] = Counter()
    for part in parts:
        total |= part.counts
    return total


@st.composite
def trees(draw: st.DrawFn, allowed: Allowed, depth: int = 2) -> Tree:
    """A pattern that is not only negation."""
    if depth == 0:
        return _atom(draw, allowed)
    form = draw(st.sampled_from(("atom", "seq", "seq", "seq", "plus", "repeat", "or", "and", "some")))
    if form == "some" and not allowed.some:
        form = "and"
    if form == "atom":
        return _atom(draw, allowed)
    inner = trees(allowed, depth=depth - 1)
    if form in ("plus", "repeat"):
        return _repeated(draw, draw(inner), allowed, draw(st.sampled_from(QUANTIFIERS if form == "repeat" else PLUS)))
    parts = draw(st.lists(inner, min_size=2, max_size=3 if form == "seq" else 2))
    match form:
        case "or":
            return _joined("OR", parts, _most(parts), any(p.nothing for p in parts))
        case "and" | "some":
            if any(p.edge_not for p in parts):
                plain = replace(allowed, named=())
                parts = [_atom(draw, plain), _atom(draw, plain)]
            if form == "and":
                return _joined("AND", parts, _sum(parts), all(p.nothing for p in parts))
            return _joined("SOME", parts, _sum(parts), any(p.nothing for p in parts))
    return _sequence(draw, parts, allowed)


PLUS = (("+", MANY, False),)
QUANTIFIERS = (
    *PLUS,
    ("*", MANY, True),
    ("?", 1, True),
    ("{2}", 2, False),
    ("{1,2}", 2, False),
    ("{1,3}", 3, False),
    ("{0,2}", 2, True),
    ("{2,}", MANY, False),
)


def _repeated(draw: st.DrawFn, body: Tree, allowed: Allowed, quantifier: tuple[str, int, bool]) -> Tree:
    sign, most, empty = quantifier
    counts = Counter({v: n * most for v, n in body.counts.items()})
    text = body.text if body.text.endswith(")") else f"({body.text})"
    mark = "?" if allowed.reluctant and draw(st.booleans()) else ""
    return replace(body, text=f"{text}{sign}{mark}", counts=counts, nothing=body.nothing or empty)


def _sequence(draw: st.DrawFn, parts: list[Tree], allowed: Allowed) -> Tree:
    plain = all(p.nothing for p in parts)
    whole = _joined("SEQ", parts, _sum(parts), plain)
    if not allowed.negation or draw(st.integers(0, 3)) > 0:
        return whole
    at = draw(st.integers(0, len(parts)))
    forbidden = _negated(draw, at > 0 and not parts[0].nothing)
    texts = [p.text for p in parts]
    texts.insert(at, forbidden)
    edge = whole.edge_not or at in (0, len(parts)) or plain
    return replace(whole, text=f"SEQ({', '.join(texts)})", edge_not=edge)


def _negated(draw: st.DrawFn, after_event: bool) -> str:
    """A NOT. Its variables are called @ and numbered in the end: a negated variable has a name of its own."""
    kinds = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=2))
    atoms = [f"{k} @" for k in kinds]
    form = draw(st.sampled_from(("OR", "SEQ")))
    within = draw(st.sampled_from(("", "", "", " WITHIN 2 s"))) if after_event else ""
    return f"NOT {atoms[0]}{within}" if len(atoms) == 1 else f"NOT {form}({', '.join(atoms)}){within}"


@st.composite
def whole_patterns(draw: st.DrawFn, allowed: Allowed) -> Tree:
    tree = _unnumbered(draw, allowed)
    text, names = _numbered(tree.text)
    return replace(tree, text=text, negated=(*tree.negated, *names))


def _numbered(text: str) -> tuple[str, tuple[str, ...]]:
    """The pattern with names for what it negates, and these."""
    pieces = text.split("@")
    names = tuple(f"n{i}" for i in range(len(pieces) - 1))
    return pieces[0] + "".join(n + p for n, p in zip(names, pieces[1:], strict=True)), names


def _unnumbered(draw: st.DrawFn, allowed: Allowed) -> Tree:
    tree = draw(trees(allowed, depth=draw(st.sampled_from((1, 1, 2, 2, 2, 3)))))
    plain = replace(allowed, named=())
    if tree.nothing:
        extra = _atom(draw, plain)
        tree = _joined("SEQ", [tree, extra], _sum([tree, extra]), False)
    if allowed.negation and draw(st.integers(0, 7)) == 0:
        forbidden = _negated(draw, after_event=False)
        extra = _atom(draw, plain)
        counts = _sum([tree, extra])
        return replace(tree, text=f"AND({tree.text}, {extra.text}, {forbidden})", counts=counts)
    return tree


# ---- conditions and results ------------------------------------------------------------------------------------------

LOCAL = (
    "{v}.x > 0",
    "{v}.y < 2.5",
    "{v}.x IS NOT NULL",
    "{v}.g = 'p'",
    "({v}.x % 2 = 0 OR {v}.y > 1)",
    "{v}.z <= 1.5",
    "NOT {v}.x BETWEEN 1 AND 2",
)
PAIR = (
    "{v}.x < {w}.x",
    "{v}.x <= {w}.x + 1",
    "{v}.y > {w}.y",
    "{v}.g = {w}.g",
    "{v}.x + {w}.x > 1",
    "({v}.y <> {w}.y OR {w}.x > 1)",
)
RUN = (
    "{v}.x > PREV({v}).x",
    "{v}.y <= PREV({v}).y",
    "{v}.x >= FIRST({v}).x",
    "LAST({v}).y > FIRST({v}).y",
    "{v}.g <=> PREV({v}).g",
)
ENDS = ("{w}.x > LAST({v}).x", "{w}.x < FIRST({v}).x")
NEGATED = ("{n}.x > 0", "{n}.x > {v}.x", "{n}.g = {v}.g", "{n}.y < 1.5")
AGGREGATES = (
    "COUNT(*)", "COUNT({v})", "COUNT({v}.x)", "SUM({v}.x)", "AVG({v}.x)", "MIN({v}.x)", "MAX({v}.y)", "MIN({v}.g)",
    "SUM({v}.y)", "SUM({v}.z)", "AVG({v}.z)", "AVG({v}.y)", "MAX({v}.z)", "MIN({v}.at)", "SUM({v}.x + 1) + COUNT(*)",
    "CAST(COUNT(*) AS STRING)", "TRY_SUM({v}.x)", "SUM(ABS({v}.x))",
)  # fmt: skip
LISTS = (
    "FIRST({v}.x)",
    "LAST({v}.y)",
    "COUNT({v})",
    "SUM({v}.x)",
    "AVG({v}.y)",
    "MIN({v}.g)",
    "MAX({v}.x)",
    "COLLECT({v}.x)",
    "COUNT({v}.y)",
    "SUM({v}.z)",
    "AVG({v}.z)",
)
SINGLES = ("{v}.x", "{v}.y", "{v}.g", "{v}.at", "{v}.x + 1", "COALESCE({v}.x, -1)")


def _conditions(draw: st.DrawFn, tree: Tree, pairs: bool) -> list[str]:
    names = sorted(tree.counts)
    lists = [v for v in names if tree.counts[v] > 1]
    found = []
    for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2)))):
        v, w = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        negated = ("negated",) * (3 if tree.negated else 0)
        kind = draw(st.sampled_from(("local", "local", "pair", "run", "ends", *negated)))
        if kind == "pair" and pairs and v != w:
            found.append(draw(st.sampled_from(PAIR)).format(v=v, w=w))
        elif kind == "run" and pairs and lists:
            found.append(draw(st.sampled_from(RUN)).format(v=draw(st.sampled_from(lists))))
        elif kind == "ends" and pairs and lists:
            v = draw(st.sampled_from(lists))
            if v != w:
                found.append(draw(st.sampled_from(ENDS)).format(v=v, w=w))
        elif kind == "negated" and pairs:
            found.append(draw(st.sampled_from(NEGATED)).format(n=draw(st.sampled_from(tree.negated)), v=v))
        else:
            found.append(draw(st.sampled_from(LOCAL)).format(v=v))
    return found


def _returns(draw: st.DrawFn, tree: Tree, match: bool) -> list[str]:
    names = sorted(tree.counts)
    if not match:
        chosen = draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=3, unique=True))
        return [c.format(v=draw(st.sampled_from(names))) for c in chosen]
    found = []
    for _ in range(draw(st.integers(1, 3))):
        v = draw(st.sampled_from(names))
        found.append(draw(st.sampled_from(LISTS if tree.counts[v] > 1 else SINGLES)).format(v=v))
    return [*found, "COUNT(*)"]


@st.composite
def queries(
    draw: st.DrawFn, name: str = "q", match: bool | None = None, select: str | None = None, pairs: bool = True
) -> str:
    """One query as text."""
    match = draw(st.booleans()) if match is None else match
    select = draw(st.sampled_from(("ANY", "ANY", "ANY", "NEXT", "CONTIGUOUS"))) if select is None else select
    after = select != "ANY" and match and draw(st.integers(0, 2)) == 0
    allowed = Allowed(some=not after, reluctant=after)
    definitions = []
    if draw(st.integers(0, 2)) == 0:
        inner = draw(whole_patterns(replace(allowed, negation=draw(st.booleans()))))
        where = " AND ".join(_conditions(draw, inner, pairs) or _conditions(draw, inner, pairs))
        definitions = [f"PATTERN {name}_p AS {inner.text}{f' WHERE {where}' if where else ''};\n"]
        allowed = replace(allowed, named=((f"{name}_p", inner),))
    tree = draw(whole_patterns(allowed))
    conditions = _conditions(draw, tree, pairs)
    group = draw(st.sampled_from(("", "", "", "k", "g", "k, g")))
    equal = draw(st.sampled_from(("", "", "", "", "[k]", "[g]", "[k, g]")))
    where = " AND ".join(([equal] if equal else []) + conditions)
    items = [f"{r} AS r{i}" for i, r in enumerate(_returns(draw, tree, match))]
    if group and not match:
        items = [*(g.strip() for g in group.split(",")), *items]
    if match and draw(st.integers(0, 9)) == 0:
        items = ["*"]
    clauses = [f"QUERY {name}", f"RETURN {'MATCH ' if match else ''}{', '.join(items)}", f"PATTERN {tree.text}"]
    if where:
        clauses.append(f"WHERE {where}")
    if group:
        clauses.append(f"GROUP BY {group}")
    if not match and draw(st.integers(0, 5)) == 0:
        clauses.append("HAVING COUNT(*) > 1")
    if select != "ANY":
        clauses.append(f"SELECT {select}")
        if after:
            v = draw(st.sampled_from(sorted(tree.counts)))
            skip = draw(st.sampled_from(("TO NEXT EVENT", "PAST LAST EVENT", f"TO FIRST {v}", f"TO LAST {v}")))
            clauses.append(f"AFTER MATCH SKIP {skip}")
    within = draw(st.sampled_from(("2", "5", "8")))
    slide = "" if match else draw(st.sampled_from(("", " SLIDE 1 s", " SLIDE 2 s", " SLIDE 4 s")))
    clauses.append("WITHIN UNBOUNDED;" if draw(st.integers(0, 5)) == 0 else f"WITHIN {within} s{slide};")
    return "".join(definitions) + "\n  ".join(clauses) + "\n"


NEIGHBOURS = (
    "{w} > {v}",
    "{w} <= {v}",
    "{w} = {v}",
    "{w} <> {v}",
    "({w} + {v}) % 2 = 0",
    "{w} >= {v} AND {w} < 2 + {v}",
)


@st.composite
def between_neighbours(draw: st.DrawFn) -> str:
    """An aggregate query with conditions between neighbours, in a pattern with NOT or under SELECT CONTIGUOUS, or both."""
    texts, conditions, before = [], [], ""
    names = draw(st.sampled_from(("ab", "ab", "aba", "abc", "a")))
    for number, name in enumerate(names):
        variable, listed = f"{name}{number}", draw(st.booleans())
        x = f"{variable}.x"
        if draw(st.integers(0, 2)) == 0:
            texts.append(_negated(draw, after_event=False))
        texts.append(f"{name.upper()}{'+' if listed else ''} {variable}")
        test = draw(st.sampled_from(NEIGHBOURS))
        if before and draw(st.booleans()):
            conditions.append(test.format(w=f"FIRST({variable}).x" if listed else x, v=before))
        if listed and draw(st.booleans()):
            conditions.append(draw(st.sampled_from(NEIGHBOURS)).format(w=x, v=f"PREV({variable}).x"))
        before = f"LAST({variable}).x" if listed else x
    if draw(st.integers(0, 3)) == 0:
        texts.append(_negated(draw, after_event=False))
    pattern, _ = _numbered(f"SEQ({', '.join(texts)})")
    other = draw(st.sampled_from(("", "", "D", "SEQ(A a0, D)", "SEQ(A a0, D d, NOT C last)")))
    pattern = f"OR({pattern}, {other})" if other else pattern
    last = f"{names[0]}0"
    items = ", ".join(
        f"{aggregate.format(v=last)} AS r{i}"
        for i, aggregate in enumerate(draw(st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=3, unique=True)))
    )
    where = f"WHERE {' AND '.join(conditions)}\n" if conditions else ""
    select = draw(st.sampled_from(("", "", "SELECT CONTIGUOUS\n")))
    return f"QUERY q RETURN {items}\n PATTERN {pattern}\n {where}{select} WITHIN {draw(st.sampled_from(('5 s', '8 s SLIDE 2 s')))};\n"


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
floats = st.sampled_from((0.0, -0.0, 0.5, 1.0, 1.5, 2.0, 2.5, -3.25, math.nan, math.inf, None))


@st.composite
def rows(draw: st.DrawFn, timestamp: bool, most: int = 8) -> tuple[dict[str, Any], ...]:
    """Events with ties, nulls and equal rows; times from -3 to 6 seconds, some absent."""
    from decimal import Decimal

    found = []
    for _ in range(draw(st.integers(2, most)) if draw(st.integers(0, 9)) else draw(st.integers(0, 1))):
        at = draw(st.sampled_from((None, -3, -1, *range(6), *range(6))))
        found.append({
            "at": at if at is None or not timestamp else EPOCH + timedelta(seconds=at),
            "seq": draw(st.sampled_from((1, 1, 2, None))),
            "kind": draw(st.sampled_from(("A", "A", "A", "B", "B", "B", "C", "C", "D", "E", None))),
            "k": draw(st.sampled_from((1, 1, 1, 1, 1, 2, None))),
            "g": draw(st.sampled_from(("p", "p", "p", "p", "q", None))),
            "x": draw(st.sampled_from((0, 1, 1, 2, 3, -2, None, 2_000_000_000))),
            "y": draw(floats),
            "z": draw(st.sampled_from((Decimal("1.50"), Decimal("-0.25"), Decimal("9999999.99"), None))),
        })  # fmt: skip
    return tuple(found)


@st.composite
def cases_between_neighbours(draw: st.DrawFn) -> Case:
    header = HEADER.format(time="BIGINT", unit=" UNIT s", order="")
    plain = {"seq": 1, "k": 1, "g": "p", "y": 1.5, "z": None}
    found = [
        {
            "at": at,
            "kind": draw(st.sampled_from("AAAAABBBBBCD")),
            "x": draw(st.sampled_from((0, 1, 1, 2, 2, 3, None))),
            **plain,
        }
        for at in sorted(draw(st.lists(st.integers(0, 9), min_size=5, max_size=10)))
    ]
    return Case(header + draw(between_neighbours()), tuple(found))


@st.composite
def cases(
    draw: st.DrawFn, /, size: int = 1, match: bool | None = None, select: str | None = None, pairs: bool = True
) -> Case:
    """A program of `size` queries (q, q1, …) with a stream."""
    timestamp = draw(st.booleans())
    header = HEADER.format(
        time="TIMESTAMP" if timestamp else "BIGINT",
        unit="" if timestamp else " UNIT s",
        order=draw(st.sampled_from(("", "", " ORDER BY seq"))),
    )
    texts = [draw(queries(name=f"q{i or ''}", match=match, select=select, pairs=pairs)) for i in range(size)]
    return Case(header + "".join(texts), draw(rows(timestamp)))


# ---- queries with much in common -------------------------------------------------------------------------------------

PIECES = (
    "A a{i}", "B b{i}", "C c{i}", "D d{i}", "B+ b{i}", "A+ a{i}", "SEQ(A a{i}, B b{i})+", "OR(B b{i}, C c{i})", "C? c{i}",
    "AND(C c{i}, D d{i})", "NOT C",
)  # fmt: skip


@st.composite
def overlapping(draw: st.DrawFn, most: int = 4) -> Case:
    """Aggregate queries over sequences that overlap: some pieces of one list each, with windows and conditions of their own."""
    pieces = draw(st.lists(st.sampled_from(PIECES), min_size=2, max_size=4))
    window = draw(st.sampled_from(("8 s SLIDE 2 s", "5 s")))
    texts = [_overlapping(draw, number, pieces, window) for number in range(draw(st.integers(2, most)))]
    timestamp = draw(st.booleans())
    header = HEADER.format(time="TIMESTAMP" if timestamp else "BIGINT", unit="" if timestamp else " UNIT s", order="")
    return Case(header + "".join(texts), draw(rows(timestamp, most=10)))


def _overlapping(draw: st.DrawFn, number: int, pieces: list[str], window: str) -> str:
    first = draw(st.integers(0, len(pieces) - 1))
    own = pieces[first : draw(st.integers(first + 1, len(pieces)))]
    before, behind = (
        draw(st.sampled_from(("", "", "D d{i}", "A a{i}"))),
        draw(st.sampled_from(("", "", "C c{i}", "B b{i}"))),
    )
    own = [piece.format(i=i) for i, piece in enumerate(filter(None, [before, *own, behind]))]
    if all("?" in piece or "NOT" in piece for piece in own):
        own.append("A a9")
    pattern = f"SEQ({', '.join(own)})" if len(own) > 1 else own[0]
    v = draw(st.sampled_from(sorted(set(re.findall(r"\b[a-d]\d\b", pattern)))))
    returns = draw(st.lists(st.sampled_from(AGGREGATES[:12]), min_size=1, max_size=2, unique=True))
    items = ", ".join(f"{r.format(v=v)} AS r{i}" for i, r in enumerate(returns))
    where = f" WHERE {draw(st.sampled_from(LOCAL)).format(v=v)}" if draw(st.integers(0, 2)) == 0 else ""
    if draw(st.booleans()):
        window = draw(st.sampled_from(("3 s SLIDE 1 s", "8 s SLIDE 4 s", "UNBOUNDED")))
    return f"QUERY q{number or ''} RETURN {items} PATTERN {pattern}{where} WITHIN {window};\n"


@st.composite
def crowded(draw: st.DrawFn) -> Case:
    """Aggregate queries with windows over many events of few groups."""
    case = draw(overlapping(most=3))
    timestamp = "at TIMESTAMP" in case.text
    found = []
    for _ in range(draw(st.integers(10, 40))):
        at = draw(st.integers(-5, 15))
        found.append({
            "at": EPOCH + timedelta(seconds=at) if timestamp else at, "seq": 1, "kind": draw(st.sampled_from("AAABBBCCD")),
            "k": 1, "g": "p", "x": draw(st.sampled_from((0, 1, 2, -3, None))), "y": draw(floats), "z": None,
        })  # fmt: skip
    return Case(case.text.replace("WITHIN UNBOUNDED", "WITHIN 6 s SLIDE 2 s"), tuple(found))
