"""Random programs that mean something, and streams to run them on: for the oracle against everything else.

A case follows from one number, so that it can be had again; what tests draw is that number. Every query takes the words
of its stream apart (`[word]` or GROUP BY word), so that one program is compared on tens of small streams (`words.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.patterns import NEGATED, Allowed, Tree, beside_a_test, negated, numbered, pattern
from tests.words import EPOCH, Word, free, stream, timed

HEADER = """STREAM s (
  at {time}, seq INT, word INT, kind STRING, k INT, g STRING, x INT, y DOUBLE, z DECIMAL(9, 2), n BIGINT, d DATE, o BOOLEAN
)
EVENT TIME at{unit}{order}
EVENT TYPE kind IN ('A', 'B', 'C', 'D');
EVENT Big AS A WHERE x > 1;
EVENT Odd AS B WHERE x % 2 = 1;
"""


@dataclass(frozen=True)
class Case:
    """A program, the rows of its stream, and how the words in them came about."""

    text: str
    rows: tuple[dict[str, Any], ...]
    words: tuple[Word, ...] = ()


SESSIONS = 0.15
"""Of the aggregate queries."""

Make = Callable[[Random], Case]


def drawn(make: Make) -> st.SearchStrategy[Case]:
    """Cases for a property of Hypothesis, which draws their numbers alone: programs that it draws are too like one
    another.
    """
    return st.integers(0, 2**64 - 1).map(lambda number: make(Random(number)))


def bounded(make: Make) -> Make:
    """The same cases, with windows for queries that have none: streams take no others."""

    def made(chance: Random) -> Case:
        one = make(chance)
        return replace(one, text=one.text.replace("WITHIN UNBOUNDED", "WITHIN 6 s"))

    return made


def streamed(make: Make) -> Make:
    """The same as what can be a stream: with windows, and without LAG and LEAD."""

    def made(chance: Random) -> Case:
        one = bounded(make)(chance)
        return replace(one, text=OTHERS.sub(r"\1", one.text))

    return made


def some(chance: Random, of: tuple[str, ...], most: int) -> list[str]:
    """One to `most` different ones."""
    return chance.sample(of, chance.randint(1, most))


# ---- conditions and results ------------------------------------------------------------------------------------------

LOCAL = (
    "{v}.x > 0",
    "{v}.y < 2.5",
    "{v}.x IS NOT NULL",
    "{v}.g = 'p'",
    "({v}.x % 2 = 0 OR {v}.y > 1)",
    "{v}.z <= 1.5",
    "NOT {v}.x BETWEEN 1 AND 2",
    "{v}.n < 5000000000",
    "{v}.d >= DATE '2000-01-01'",
    "{v}.o",
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
OF_NEGATED = ("{n}.x > 0", "{n}.y < 1.5", "{n}.x > {v}.x", "{n}.g = {v}.g")
"""The first two are on one event."""
OF_OTHERS = (
    "(LAG({v}.x) <= {v}.x) IS NOT FALSE",
    "(LEAD({v}.y) >= {v}.y) IS NOT FALSE",
    "COALESCE(LAG({v}.x, 2), 1) >= 0",
    "(LEAD({v}.g, 2) = {v}.g) IS NOT FALSE",
    "LAG({v}.at) IS NOT NULL",
    "(LEAD({v}.k) + LAG({v}.k) > 1) IS NOT FALSE",
)
PAIR_OF_OTHERS = (
    "(LAG({v}.x) <= {w}.x) IS NOT FALSE",
    "(LEAD({v}.y) >= LAG({w}.y)) IS NOT FALSE",
    "(LAG({v}.x) <= LAST({w}).x) IS NOT FALSE",
)
OTHERS = re.compile(r"\b(?:LAG|LEAD)\(([\w.]+)(?:, \d)?\)")
RUNNING = (
    "RUNNING SUM({v}.x) < 6",
    "RUNNING COUNT({v}) <= 2",
    "RUNNING COUNT({v}.y) >= 1",
    "{v}.x <= 1.5 * RUNNING AVG({v}.x)",
    "(RUNNING MIN({v}.x) >= 0) IS NOT FALSE",
    "RUNNING MAX({v}.y) < 3",
    "(RUNNING MAX_BY({v}.x, {v}.y) >= 0) IS NOT FALSE",
    "(RUNNING MIN_BY({v}.y, {v}.g) < {v}.y + 1) IS NOT FALSE",
    "(RUNNING SUM({v}.y) < 4.5) IS NOT FALSE",
    "RUNNING AVG({v}.z) <= 1.5",
    "RUNNING SUM({v}.n) < 6000000000",
    "(RUNNING AVG({v}.y) <= RUNNING SUM({v}.z)) IS NOT FALSE",
    "(RUNNING MIN({v}.g) = FIRST({v}).g) IS NOT FALSE",
    "(RUNNING MAX({v}.d) >= PREV({v}).d) IS NOT FALSE",
    "(RUNNING SUM({v}.x + 1) > PREV({v}).x) IS NOT FALSE",
    "(RUNNING MAX({v}.o) OR RUNNING COUNT({v}) > 1)",
)
PAIR_RUNNING = (
    "(RUNNING SUM({v}.x) <= {w}.x + 2) IS NOT FALSE",
    "RUNNING COUNT({v}) <= COUNT({w}) + 1",
    "(RUNNING SUM({v}.y) < LAST({w}).y + 1) IS NOT FALSE",
    "({v}.x - {w}.x <= RUNNING AVG({v}.x)) IS NOT FALSE",
    "(RUNNING AVG({v}.z) <= FIRST({w}).z + 1) IS NOT FALSE",
    "(RUNNING MAX({v}.d) >= MIN({w}.d)) IS NOT FALSE",
    "RUNNING COUNT({v}) - RUNNING COUNT({w}) <= 1",
    "COALESCE(RUNNING SUM({v}.x), 0) - COALESCE(RUNNING SUM({w}.x), 0) > -3",
    "(RUNNING MAX({v}.g) >= RUNNING MIN({w}.g)) IS NOT FALSE",
    "COALESCE({v}.x, RUNNING COUNT({w}) - 1) <= RUNNING COUNT({v}) + 1",
    "(RUNNING AVG({v}.y) > 2 * RUNNING AVG({w}.y)) IS NOT TRUE",
    "COALESCE({w}.x + RUNNING COUNT({v}), RUNNING SUM({w}.x), 2) > 1",
    "(RUNNING MAX_BY({v}.x, {v}.at) <= {w}.x + 2) IS NOT FALSE",
    "COALESCE(RUNNING MAX_BY({v}.x, {v}.at), {w}.x, 3) >= COALESCE(RUNNING MIN_BY({w}.x, {w}.at), 1)",
)
FURTHER = (
    "FIRST({v}, 1).x >= FIRST({v}).x",
    "(LAST({v}, 1).x <= LAST({v}).x) IS NOT FALSE",
    "{v}.x >= PREV({v}, 2).x",
    "({v}.y <> PREV({v}.y, 2) + 1) IS NOT FALSE",
    "COALESCE(FIRST({v}.x, 2), 1) > 0",
    "(FIRST({v}, 1).g = LAST({v}, 1).g) IS NOT FALSE",
    "({v}.x + PREV({v}).x >= PREV({v}, 2).x) IS NOT FALSE",
    "LAST({v}, 2).x IS NULL",
    "({v}.x >= LAST({v}, 1).x) IS NOT FALSE",
    "(RUNNING SUM({v}.x) > PREV({v}, 2).x) IS NOT FALSE",
    "(FIRST({v}, 0).x <= LAST({v}, 0).x) IS NOT FALSE",
    "({v}.x - PREV({v}, 2).x <= LAST({v}).x) IS NOT FALSE",
)
"""Of lists."""
PAIR_FURTHER = (
    "({w}.x > LAST({v}, 1).x) IS NOT FALSE",
    "{w}.y >= FIRST({v}, 1).y",
    "COALESCE({w}.x <= FIRST({v}, 2).x, TRUE)",
    "(LAST({v}, 1).x IS NULL OR {w}.x <> LAST({v}, 1).x)",
)
WHOLE = (
    "COUNT({v}) >= 2",
    "COUNT({v}) <= 2",
    "COUNT({v}.y) = 1",
    "SUM({v}.x) > 2",
    "(SUM({v}.y) < 4.5) IS NOT FALSE",
    "AVG({v}.z) <= 1.5",
    "MIN({v}.x) >= 0",
    "(MAX({v}.g) <= 'p') IS NOT FALSE",
    "{v}.x <= AVG({v}.x)",
    "2 * AVG({v}.z) > {v}.z",
    "{v}.y >= MIN({v}.y)",
    "MAX({v}.g) >= {v}.g",
    "SUM({v}.n) < 6000000000",
    "COUNT({v}) % 2 = 0",
    "(MIN_BY({v}.x, {v}.y) <= 2) IS NOT FALSE",
    "(MAX_BY({v}.g, {v}.x) >= 'p') IS NOT FALSE",
    "(MAX({v}.x) >= FIRST({v}).x) IS NOT FALSE",
    "(AVG({v}.y) <= SUM({v}.z)) IS NOT FALSE",
    "COALESCE(MAX({v}.d) >= DATE '2000-01-01', TRUE)",
    "CAST(SUM({v}.x) AS DECIMAL(38, 0)) > 1",
    "(MIN({v}.o) OR COUNT({v}) > 1)",
    "(PREV({v}).x + PREV({v}, 2).x > MIN({v}.x)) IS NOT FALSE",
)
PAIR_WHOLE = (
    "COUNT({v}) > COUNT({w})",
    "{w}.x < SUM({v}.x)",
    "(SUM({v}.x) <= SUM({w}.x)) IS NOT FALSE",
    "({w}.y <= 1.5 * AVG({v}.y)) IS NOT FALSE",
    "MAX({v}.x) >= LAST({w}).x",
)
AGGREGATES = (
    "COUNT(*)", "COUNT({v})", "SUM({v}.n)", "COUNT({v}.x)", "SUM({v}.x)", "AVG({v}.x)", "MIN({v}.x)", "MAX({v}.y)", "MIN({v}.g)",
    "SUM({v}.y)", "SUM({v}.z)", "AVG({v}.z)", "AVG({v}.y)", "MAX({v}.z)", "MIN({v}.at)", "SUM({v}.x + 1) + COUNT(*)",
    "CAST(COUNT(*) AS STRING)", "TRY_SUM({v}.x)", "SUM(ABS({v}.x))", "MAX({v}.d)", "MIN({v}.o)", "COUNT({v}.o)",
    "TRY_COUNT(*)", "AVG({v}.n)", "COUNT({v}.y)", "MAX({v}.x)",
    "VARIANCE({v}.x)", "VAR_POP({v}.n)", "STDDEV({v}.z)", "STDDEV_POP({v}.x)",
)  # fmt: skip
OF_LISTS = (
    "FIRST({v}.x)", "LAST({v}.y)", "COLLECT({v}.x)", "COUNT({v})", "COUNT({v}.x)", "COUNT({v}.y)", "COUNT({v}.o)", "SUM({v}.x)",
    "SUM({v}.y)", "SUM({v}.z)", "SUM({v}.n)", "AVG({v}.x)", "AVG({v}.y)", "AVG({v}.z)", "AVG({v}.n)", "MIN({v}.x)", "MIN({v}.g)",
    "MIN({v}.n)", "MIN({v}.at)", "MIN({v}.o)", "MAX({v}.x)", "MAX({v}.y)", "MAX({v}.z)", "MAX({v}.d)",
    "VARIANCE({v}.x)", "VAR_POP({v}.n)", "STDDEV({v}.z)", "STDDEV_POP({v}.x)",
)  # fmt: skip
OF_ITS_EVENTS = (
    "COUNT(DISTINCT {v}.x)", "COUNT(DISTINCT {v}.y)", "COUNT(DISTINCT {v}.g)", "SUM(DISTINCT {v}.z)", "AVG(DISTINCT {v}.x)",
    "SUM(DISTINCT {v}.y)", "COLLECT(DISTINCT {v}.k)", "COUNT(DISTINCT {v}.o)", "MIN_BY({v}.x, {v}.y)",
    "MAX_BY({v}.g, {v}.x)", "MIN_BY({v}.at, {v}.z)", "MAX_BY({v}.y, {v}.n)", "MAX_BY({v}.x + 1, {v}.d)", "MIN_BY({v}.d, {v}.g)",
    "MAX_BY({v}.k, {v}.x % 2)",
)  # fmt: skip
"""Of a match's events, in a match query alone."""
ENDS_OF_LISTS = re.compile(r"^(FIRST|LAST)\((.*)\.(\w)\)$")
FURTHER_OFF = (r"\1(\2.\3)", r"\1(\2.\3, 0)", r"\1(\2.\3, 1)", r"\1(\2, 1).\3", r"\1(\2, 2).\3")
"""What may stand in the place of FIRST and LAST of a list."""
SINGLES = ("{v}.x", "{v}.y", "{v}.g", "{v}.at", "{v}.x + 1", "COALESCE({v}.x, -1)")


def _conditions(chance: Random, tree: Tree, pairs: bool) -> list[str]:
    names = sorted(tree.counts)
    lists = [v for v in names if tree.counts[v] > 1]
    found = []
    for _ in range(chance.choice((0, 1, 1, 1, 2))):
        v, w = chance.choice(names), chance.choice(names)
        kind = chance.choice(("local", "local", "pair", "run", "ends", *(("negated",) * (3 if tree.negated else 0))))
        if kind == "pair" and pairs and v != w:
            found.append(chance.choice(PAIR).format(v=v, w=w))
        elif kind == "run" and pairs and lists:
            found.append(chance.choice(RUN).format(v=chance.choice(lists)))
        elif kind == "ends" and pairs and lists:
            v = chance.choice(lists)
            if v != w:
                found.append(chance.choice(ENDS).format(v=v, w=w))
        elif kind == "negated":
            test = chance.choice(OF_NEGATED if pairs else OF_NEGATED[:2])
            found.append(test.format(n=chance.choice(tree.negated), v=v))
        else:
            found.append(chance.choice(LOCAL).format(v=v))
    return found + _beside(Random(str(chance.getstate()[1][:4])), tree, pairs)


def _beside(chance: Random, tree: Tree, pairs: bool) -> list[str]:
    """Sometimes a condition with LAG or LEAD, of events up to one, of all of a variable, or of one further in; it has a
    chance of its own, so that it changes no other choice.
    """
    kind = chance.random()
    lists = [v for v in sorted(tree.counts) if tree.counts[v] > 1]
    if kind > 0.7 and pairs:
        v = chance.choice((*lists, *lists, *tree.negated, *sorted(tree.counts)))
        w = chance.choice((*sorted(tree.counts), *tree.negated))
        other = v != w and not {v, w} <= set(tree.negated)
        if kind > 0.85:
            return [chance.choice(PAIR_RUNNING if other and kind > 0.9 else RUNNING).format(v=v, w=w)]
        if other and chance.random() < 0.4:
            return [chance.choice(PAIR_WHOLE).format(v=v, w=w)]
        return [chance.choice(WHOLE).format(v=v)]
    if kind > 0.6 and pairs and lists:
        v, w = chance.choice(lists), chance.choice(sorted(tree.counts))
        return [chance.choice(PAIR_FURTHER if v != w and chance.random() < 0.4 else FURTHER).format(v=v, w=w)]
    if kind > 0.15:
        return []
    v, w = chance.choice(sorted(tree.counts)), chance.choice(sorted(tree.counts))
    if pairs and v != w and chance.random() < 0.4:
        return [chance.choice(PAIR_OF_OTHERS).format(v=v, w=w)]
    return [chance.choice(OF_OTHERS).format(v=chance.choice((v, *tree.negated)))]


def _returns(chance: Random, tree: Tree, match: bool, after: bool = False) -> list[str]:
    names = sorted(tree.counts)
    if not match:
        return [aggregate.format(v=chance.choice(names)) for aggregate in some(chance, AGGREGATES, 3)]
    found = []
    for _ in range(chance.randint(1, 4)):
        v = chance.choice(names)
        found.append(chance.choice(OF_LISTS if tree.counts[v] > 1 else SINGLES).format(v=v))
    further = Random(str(chance.getstate()[1][:4]))  # of its own, so that it changes no other choice
    found = [ENDS_OF_LISTS.sub(further.choice(FURTHER_OFF), item) for item in found]
    return [*found, *(["MATCH_NUMBER()"] * (after and chance.random() < 0.5)), "COUNT(*)"]


OF_EVENTS = (
    "VARIABLE()", "VARIABLE()", "x", "k", "at", "y + 1", "COALESCE(g, VARIABLE())", "{v}.x", "{v}.g", "COALESCE({v}.x, x + 1)",
    "RUNNING COUNT(*)", "RUNNING COUNT({v})", "RUNNING COUNT({v}.y)", "RUNNING SUM({v}.x)", "RUNNING SUM({v}.y)",
    "RUNNING SUM({v}.z)", "RUNNING SUM({v}.n)", "RUNNING AVG({v}.x)", "RUNNING AVG({v}.y)", "RUNNING AVG({v}.z)",
    "RUNNING MIN({v}.x)", "RUNNING MAX({v}.g)", "RUNNING MIN({v}.y)", "RUNNING MAX({v}.o)", "RUNNING MAX({v}.at)",
    "x - RUNNING AVG({v}.x) + RUNNING MIN_BY({v}.x, {v}.y)", "CONCAT(CAST(RUNNING SUM({v}.n + 1) AS STRING), RUNNING MAX_BY({v}.g, {v}.z))",
)  # fmt: skip
"""In RETURN EACH: what is of the row's event."""


def _of_events(chance: Random, names: list[str]) -> list[str]:
    return [item.format(v=chance.choice(names)) for item in some(chance, OF_EVENTS, 4)]


OF_ALL_EVENTS = (
    "SUM(x)", "AVG(y)", "SUM(z)", "SUM(n)", "MIN(g)", "MAX(at)", "COUNT(o)", "COUNT(DISTINCT g)", "COLLECT(VARIABLE())",
    "COLLECT(DISTINCT x)", "STDDEV(x)", "VAR_POP(z)", "MIN_BY(VARIABLE(), x)", "MAX_BY(y, d)", "MIN_BY(k, at)",
    "COUNT(DISTINCT VARIABLE())", "SUM(CASE WHEN VARIABLE() = '{v}' THEN x ELSE -1 END)", "COLLECT({v}.g || VARIABLE())",
    "SUM(x + k)", "AVG(DISTINCT y)", "TRY_SUM(x)", "COUNT(1)",
)  # fmt: skip
RUNNING_OF_ALL = (
    "RUNNING SUM(x)", "RUNNING AVG(y)", "RUNNING SUM(z)", "RUNNING MAX(VARIABLE())", "RUNNING COUNT(g)", "RUNNING MIN(o)",
    "RUNNING MIN_BY(VARIABLE(), y)", "RUNNING MAX_BY(x, z)", "x - RUNNING AVG(x) + RUNNING COUNT(VARIABLE())",
)  # fmt: skip
"""Over all events of a match, whatever variable they are bound to; up to one in RETURN EACH."""


def _of_all(chance: Random, names: list[str], each: bool) -> list[str]:
    """Now and then, by draws of its own, so that all others are as before."""
    v = chance.choice(names)
    if chance.random() < 0.7:
        return []
    running = [f"{chance.choice(RUNNING_OF_ALL)} AS up_to"] * each
    return [f"{chance.choice(OF_ALL_EVENTS).format(v=v)} AS of_all", *running]


# ---- queries ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """What kind of query is wanted; None: any. `pairs`: with conditions over several events; `keyed`: with words apart;
    `group`: what it groups by.
    """

    match: bool | None = None
    select: str | None = None
    after: bool | None = None
    pairs: bool = True
    keyed: bool | None = None
    negation: bool = True
    group: str | None = None


def query(chance: Random, name: str, asked: Asked) -> str:
    """One query as text, with its named patterns before it."""
    match = chance.random() < 0.5 if asked.match is None else asked.match
    select = chance.choice(("ANY", "ANY", "ANY", "NEXT", "CONTIGUOUS")) if asked.select is None else asked.select
    after = select != "ANY" and match and (chance.random() < 0.4 if asked.after is None else asked.after)
    definitions, allowed = _definitions(
        chance, name, Allowed(asked.negation, some=not after, reluctant=after), asked.pairs
    )
    tree = pattern(chance, allowed)
    if chance.random() < 0.12 and (tested := beside_a_test(chance, tree, f"{name}_t")) is not None:
        tree, variable = tested
        test = chance.choice(LOCAL).format(v=variable)
        definitions += f"PATTERN {name}_t AS {variable} WHERE {test};\n"
    conditions = _conditions(chance, tree, asked.pairs)
    keyed = asked.keyed
    groups = ("word", "word", "word", "word, k", "g, word", "", "k") if keyed else ("", "k", "g")
    group = chance.choice(groups) if asked.group is None else asked.group
    equal = chance.choice(("", "", "", "k", "g", "k, g"))
    if keyed and "word" not in group:
        equal = f"word, {equal}" if equal else "word"
    where = " AND ".join(([f"[{equal}]"] if equal else []) + conditions)
    items = [f"{r} AS r{i}" for i, r in enumerate(_returns(chance, tree, match, after))]
    if not match:
        items = [*(g.strip() for g in group.split(",") if g), *items]
    elif keyed and chance.random() < 0.5:
        items = ["word", *items]
    if match and chance.random() < 0.1:
        items = ["*"]
    own = Random(f"{items} {tree.text}")  # draws of its own, so that all others are as before
    if (
        match
        and items != ["*"]
        and (lists := [v for v, n in sorted(tree.counts.items()) if n > 1])
        and own.random() < 0.4
    ):
        items.append(f"{own.choice(OF_ITS_EVENTS).format(v=own.choice(lists))} AS of_its_events")
    each = match and own.random() < 0.15
    if each:
        items += [f"{item} AS e{i}" for i, item in enumerate(_of_events(own, sorted(tree.counts)))]
    if match and items != ["*"]:
        items += _of_all(Random(f"{tree.text} {items}"), sorted(tree.counts), each)
    labelled = chance.random() < 0.1
    if labelled and items != ["*"]:
        items.append(chance.choice(("LABEL(owner) AS label", "CONCAT(LABEL(owner), '.') AS label")))
    labels = f" WITH (owner = 'team {name}', note = 'none')" if labelled else ""
    clauses = [
        f"QUERY {name}{labels}",
        f"RETURN {('EACH ' if each else 'MATCH ') if match else ''}{', '.join(items)}",
        f"PATTERN {tree.text}",
    ]
    clauses += [f"WHERE {where}"] * bool(where) + [f"GROUP BY {group}"] * bool(group)
    # the one word of a stream where words are not taken apart has few rows to choose from
    if chance.random() < (0.05 if match else 0.1) and keyed is not False:
        test = chance.choice(("COUNT(*) > 1", "MATCH_NUMBER() % 2 = 1")) if after else "COUNT(*) > 1"
        clauses.append(f"HAVING {test}")
    clauses += [f"SELECT {select}"] * (select != "ANY") + [_after(chance, tree)] * after
    window = _window(chance, tree.least, match)
    text = definitions + "\n  ".join(clauses)
    if (
        not match and (other := Random(text)).random() < SESSIONS
    ):  # by draws of its own, so that all others are as before
        window = f"SESSION {other.choice((2, 3, 5) if ' WITHIN ' in text else (1, 2, 3, 5))} s"
    return f"{text}\n  WITHIN {window};\n"


def _definitions(chance: Random, name: str, allowed: Allowed, pairs: bool) -> tuple[str, Allowed]:
    """Named patterns of three kinds: of any form, with parameters, and to be negated; and what may stand in the query
    with them.
    """
    text, named, negatable = "", [], []
    if chance.random() < 0.33:
        inner = pattern(chance, replace(allowed, negation=allowed.negation and chance.random() < 0.75))
        where = " AND ".join(_conditions(chance, inner, pairs) or _conditions(chance, inner, pairs))
        text += f"PATTERN {name}_p AS {inner.text}{f' WHERE {where}' if where else ''};\n"
        named.append((f"{name}_p", inner))
    if chance.random() < 0.15:
        kind, column = chance.choice("ABC"), chance.choice("xy")
        text += (
            f"PATTERN {name}_r(T, c) AS T{{1,2}} run WHERE {chance.choice(('run.c > 0', 'run.c >= FIRST(run).c'))};\n"
        )
        named.append((f"{name}_r({kind}, {column})", Tree("", Counter(("run", "run")), places=1)))
    if allowed.negation and chance.random() < 0.25:
        text += f"PATTERN {name}{NEGATED} AS SEQ(C c, D d) WHERE {chance.choice(('c.x >= d.x', 'c.x > 0'))};\n"
        negatable.append(f"{name}{NEGATED}")
    return text, replace(allowed, named=tuple(named), negatable=tuple(negatable))


def _after(chance: Random, tree: Tree) -> str:
    v = chance.choice(sorted(tree.counts))
    length = f"FOR {chance.choice((1, 2, 3, 6))} s"
    modes = "TO NEXT EVENT", "PAST LAST EVENT", f"TO FIRST {v}", f"TO LAST {v}", length
    return f"AFTER MATCH SKIP {chance.choice(modes)}"


def _window(chance: Random, least: int, match: bool) -> str:
    """A window with room for a match."""
    if chance.random() < 0.15:
        return "UNBOUNDED"
    length = least + chance.choice((1, 2, 3, 4, 8))
    if match:
        return f"{length} s"
    slide = chance.choice(("", " SLIDE 1 s", " SLIDE 2 s", " SLIDE 2 s", f" SLIDE {length + 1} s"))
    return f"{length} s{slide}{_offset(chance)}"


def _offset(chance: Random) -> str:
    """Of windows, mostly none; some are longer than a slide, and some whole slides."""
    return f" OFFSET {chance.choice((1, 1, -1, -2, 3, 7, -100, 0))} s" if chance.random() < 0.25 else ""


Form = tuple[str, str, str, Callable[[Any], Any]]
"""A column of the stream, what may stand in the input instead, how the column is computed of it, and the value of the
input for a value of the column.
"""

FORMS: tuple[Form, ...] = (
    ("at TIMESTAMP", "ms BIGINT", "at AS TIMESTAMP_MILLIS(ms)", lambda at: (at - EPOCH) // timedelta(milliseconds=1)),
    ("at TIMESTAMP", "written STRING", "at TIMESTAMP AS CAST(written AS TIMESTAMP)", lambda at: at.isoformat()),
    ("at BIGINT", "written STRING", "at AS CAST(CONCAT('', written) AS BIGINT)", str),
    (
        "word INT",
        "w STRUCT<id: INT, of: STRUCT<id: INT>>",
        "word AS w.of.id",
        lambda word: {"id": 1, "of": {"id": word}},
    ),
    ("kind STRING", "Kind STRING", "kind AS UPPER(Kind)", str.lower),
    ("k INT", "own STRUCT<k: BIGINT>", "k INT AS own.k", lambda k: {"k": k}),
    ("g STRING", "G STRING", "g AS NULLIF(REPLACE(G, '.', ''), 'none')", lambda g: "." + g),
    ("x INT", "more BIGINT", "x AS CAST(more - 1 AS INT)", lambda x: x + 1),
)


def with_computed(chance: Random, one: Case) -> Case:
    """The same program and events, often with columns that are computed of others, or with events of any type in the
    place of those of one in a derived type.
    """
    one = with_forms(one, chance.sample(FORMS, chance.randint(1, 4))) if chance.random() <= 0.3 else one
    kind = chance.choice(("A", "B", *"------"))
    return replace(one, text=one.text.replace(f" AS {kind} WHERE x ", " AS ANY WHERE x ", 1))


def with_forms(one: Case, some: Iterable[Form]) -> Case:
    """The same program and events, with these forms of the columns that it has."""
    forms = {form[0]: form for form in some if f"{form[0]}," in one.text}
    text, rows = one.text, one.rows
    for column, given, computed, value in forms.values():
        name, read = column.split()[0], given.split()[0]
        text = text.replace(f"{column},", f"{computed},", 1).replace("STREAM s (", f"STREAM s (\n  {given},", 1)
        rows = tuple({**row, read: None if row[name] is None else value(row[name])} for row in rows)
    return replace(one, text=text, rows=rows)


def _time(chance: Random) -> tuple[str, str]:
    """The type of the event time, and its unit."""
    return chance.choice((("TIMESTAMP", ""), ("BIGINT", " UNIT s")))


def with_stream(chance: Random, text: str, keyed: bool = True) -> Case:
    """The program with a stream of many words, or of one where its queries do not take words apart."""
    rows, words = stream(text, chance, 30 if keyed else 10)
    if keyed:
        return Case(text, rows, words)
    made = ("accepted", "twice") if chance.random() < 0.85 else ("forbidden",)
    numbers = [number for number, word in enumerate(words) if word.made in made]
    chosen = chance.choice(numbers or range(len(words)))
    return Case(text, tuple(row for row in rows if row["word"] == chosen))


def _keyed(chance: Random) -> bool:
    return chance.random() < 0.92


def case(chance: Random, size: int = 1, asked: Asked = Asked()) -> Case:
    """A program of `size` queries (q, q1, …) with a stream."""
    time, unit = _time(chance)
    keyed = _keyed(chance) if asked.keyed is None else asked.keyed
    texts = [query(chance, f"q{i or ''}", replace(asked, keyed=keyed)) for i in range(size)]
    header = HEADER.format(time=time, unit=unit, order=chance.choice(("", "", " ORDER BY seq")))
    return with_computed(chance, with_stream(chance, header + "".join(texts), keyed))


def cases(
    *,
    size: int = 1,
    match: bool | None = None,
    select: str | None = None,
    after: bool | None = None,
    pairs: bool = True,
) -> Make:
    return lambda chance: case(chance, size, Asked(match, select, after, pairs))


# ---- conditions between neighbours -----------------------------------------------------------------------------------

NEIGHBOURS = (
    "{w} > {v}",
    "{w} <= {v}",
    "{w} = {v}",
    "{w} <> {v}",
    "({w} + {v}) % 2 = 0",
    "{w} >= {v} AND {w} < 2 + {v}",
)


OTHERWISE = (
    "D", "SEQ({a} a0, D)", "SEQ({a} a0, D d, NOT C last)", "AND({a} a0, D d)", "AND({a} a0, D d, NOT C last)",
    "AND({a} a0, SEQ(B b9, NOT C last, D d))", "SOME(C c9, D d)", "ANY e9",
    "SEQ(C c9, B b9){{1,2}}", "SEQ(C c9, NOT A gone, B b9){{1,2}}", "q_p", "q_p m", "q_r(B, x)",
)  # fmt: skip
NAMED_NEIGHBOURS = {
    "q_p": "PATTERN q_p AS SEQ(C s, NOT A gone, D t) WHERE t.x > s.x;\n",
    "q_r": "PATTERN q_r(T, c) AS T+ run WHERE run.c >= PREV(run).c;\n",
    "q_n": "PATTERN q_n AS SEQ(C c, D d) WHERE c.x > 0;\n",
}
"""What may stand beside a pattern with conditions between neighbours; its first event is of {a}."""


SPECIAL = {"a": ("A", "A", "Big"), "b": ("B", "B", "Odd"), "c": ("C", "C", "ANY")}


def _of_neighbour(chance: Random, listed: bool, first: bool) -> str:
    """A quantifier; of the first variable one that asks for an event, or the pattern might match nothing."""
    if not listed:
        return "" if first else chance.choice(("", "", "", "?"))
    some = ("+", "+", "+", "{2}", "{1,2}", "{2,}")
    return chance.choice(some if first else (*some, "*", "{0,2}"))


def between_neighbours(chance: Random, grouped: bool | None = None, keyed: bool | None = None) -> Case:
    """An aggregate query with conditions between neighbours, in a pattern with NOT or under SELECT CONTIGUOUS, or
    both.
    """
    texts, conditions, kinds, before = [], [], [], ""
    allowed = Allowed(negatable=("q_n",) if chance.random() < 0.25 else ())
    names = chance.choice(("ab", "ab", "aba", "abc", "a"))
    for number, name in enumerate(names):
        variable, listed = f"{name}{number}", chance.random() < 0.5
        x = f"{variable}.x"
        if chance.random() < 0.33:
            texts.append(negated(chance, allowed, after_event=False))
        kinds.append(chance.choice(SPECIAL[name]))
        texts.append(f"{kinds[-1]}{_of_neighbour(chance, listed, first=number == 0)} {variable}")
        test = chance.choice(NEIGHBOURS)
        if before and chance.random() < 0.5:
            conditions.append(test.format(w=f"FIRST({variable}).x" if listed else x, v=before))
        if listed and chance.random() < 0.5:
            conditions.append(chance.choice(NEIGHBOURS).format(w=x, v=f"PREV({variable}).x"))
        before = f"LAST({variable}).x" if listed else x
    if chance.random() < 0.25:
        texts.append(negated(chance, allowed, after_event=False))
    whole, gone = numbered(f"SEQ({', '.join(texts)})")
    if gone and chance.random() < 0.33:
        conditions.append(chance.choice(OF_NEGATED[:2]).format(n=chance.choice(gone)))
    other = chance.choice(("", "", *OTHERWISE)).format(a=kinds[0])
    whole = f"OR({whole}, {other})" if other else whole
    items = ", ".join(f"{a.format(v=f'{names[0]}0')} AS r{i}" for i, a in enumerate(some(chance, AGGREGATES, 3)))
    keyed = _keyed(chance) if keyed is None else keyed
    group = chance.random() < 0.75 if grouped is None else grouped
    items, by = (f"word, {items}", "GROUP BY word ") if keyed and group else (items, "")
    conditions += ["[word]"] if keyed and not group else []
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    select = chance.choice(("", "", "SELECT CONTIGUOUS "))
    having = "HAVING COUNT(*) > 1 " if chance.random() < 0.1 else ""
    window = chance.choice(("5 s", "8 s SLIDE 2 s", "12 s SLIDE 3 s", "5 s SLIDE 6 s", "UNBOUNDED"))
    window += "" if window == "UNBOUNDED" else _offset(chance)
    named = "".join(definition for name, definition in NAMED_NEIGHBOURS.items() if name in whole)
    text = f"{named}QUERY q RETURN {items}\n PATTERN {whole}\n {where}{by}{having}{select} WITHIN {window};\n"
    time, unit = _time(chance)
    header = HEADER.format(time=time, unit=unit, order=chance.choice(("", " ORDER BY seq")))
    return with_computed(chance, with_stream(chance, header + text, keyed))


# ---- named patterns beside their own variables -----------------------------------------------------------------------

TESTED = (
    ("SEQ(A a, ANY e)", "a", "e"), ("SEQ(ANY e, A a)", "e", "a"), ("SEQ(A a, B b)", "a", "b"), ("AND(A a, B b)", "a", "b"),
    ("SEQ(A a, B? b)", "a", "b"), ("A", "A", "A"), ("SEQ(A a, A+ f)", "a", "f"),
)  # fmt: skip
"""A named pattern without its quantifier, and two variables of it that its condition is about."""
BESIDE = {
    "a": ("A a", "A a", "A+ a", "SEQ(A a, C c)", "OR(A a, C c)"), "b": ("B b", "B+ b"), "e": ("ANY e", "ANY{1,2} e"),
    "A": ("A", "A", "A+", "SEQ(A, C)"), "f": ("A f", "SEQ(A f, C c)"),
}  # fmt: skip
"""What binds a variable of it once more, so that the events of a match do not say which of them the condition sees."""


def beside_itself(chance: Random) -> Case:
    """A query whose named pattern binds variables that are bound beside it, too, or that stands in it twice."""
    body, v, w = chance.choice(TESTED)
    quantified = f"{body if body.endswith(')') else f'({body})'}{chance.choice(('{2}', '{2,}', '+', '{1,2}', ''))}"
    test = chance.choice(RUN[:3]).format(v=v) if v == w else chance.choice(PAIR).format(v=v, w=w)
    if v == w and quantified in ("(A)", "(A){1,2}"):
        quantified = "A{2}"
    other = "q_p" if chance.random() < 0.2 else chance.choice(BESIDE[chance.choice((v, w))])
    parts = ["q_p", other] if chance.random() < 0.75 else [other, "q_p"]
    select, match = chance.choice(("ANY", "ANY", "ANY", "NEXT", "CONTIGUOUS")), chance.random() < 0.66
    after = match and select != "ANY" and chance.random() < 0.4
    operator = chance.choice(("AND", "AND", "AND", "SEQ", *(() if after else ("SOME",))))
    keyed = _keyed(chance)
    items = ["COUNT(*) AS n", f"COUNT({v}) AS of_v"] if match else ["COUNT(*) AS n", f"SUM({v}.x) AS s"]
    window = f"{chance.choice((5, 8))} s{'' if match else chance.choice(('', ' SLIDE 2 s')) + _offset(chance)}"
    clauses = [f"QUERY q RETURN {'MATCH ' if match else ''}{', '.join(['word', *items] if keyed else items)}"]
    clauses += [f"PATTERN {operator}({', '.join(parts)})"]
    clauses += ["WHERE [word]" if match else "GROUP BY word"] * keyed
    clauses += [f"SELECT {select}"] * (select != "ANY") + ["AFTER MATCH SKIP TO NEXT EVENT"] * after
    time, unit = _time(chance)
    header = HEADER.format(time=time, unit=unit, order=chance.choice(("", " ORDER BY seq")))
    text = f"PATTERN q_p AS {quantified} WHERE {test};\n" + "\n  ".join([*clauses, f"WITHIN {window};\n"])
    return with_computed(chance, with_stream(chance, header + text, keyed))


# ---- queries with much in common -------------------------------------------------------------------------------------

PIECES = (
    "A a{i}", "B b{i}", "C c{i}", "D d{i}", "B+ b{i}", "A+ a{i}", "SEQ(A a{i}, B b{i})+", "OR(B b{i}, C c{i})", "C? c{i}",
    "AND(C c{i}, D d{i})", "NOT C", "ANY e{i}", "B* b{i}", "C{{0,2}} c{i}",
)  # fmt: skip


def _overlapping_case(chance: Random, most: int) -> Case:
    pieces = [chance.choice(PIECES) for _ in range(chance.randint(2, 4))]
    window, keyed = chance.choice(("8 s SLIDE 2 s", "5 s")), _keyed(chance)
    texts = [_overlapping(chance, number, pieces, window, keyed) for number in range(chance.randint(2, most))]
    time, unit = _time(chance)
    return with_stream(chance, HEADER.format(time=time, unit=unit, order="") + "".join(texts), keyed)


def overlapping(most: int = 4) -> Make:
    """Aggregate queries over sequences that overlap: some pieces of one list each, with windows and conditions of their
    own.
    """
    return lambda chance: with_computed(chance, _overlapping_case(chance, most))


def _overlapping(chance: Random, number: int, pieces: list[str], window: str, keyed: bool) -> str:
    first = chance.randrange(len(pieces))
    own = pieces[first : chance.randint(first + 1, len(pieces))]
    before, behind = chance.choice(("", "", "D d{i}", "A a{i}")), chance.choice(("", "", "C c{i}", "B b{i}"))
    own = [piece.format(i=i) for i, piece in enumerate(filter(None, [before, *own, behind]))]
    if all("?" in piece or "*" in piece or "{0" in piece or "NOT" in piece for piece in own):
        own.append("A a9")
    whole = f"SEQ({', '.join(own)})" if len(own) > 1 else own[0]
    v = chance.choice(sorted(set(re.findall(r"\b[a-e]\d\b", whole))))
    items = ", ".join(f"{r.format(v=v)} AS r{i}" for i, r in enumerate(some(chance, AGGREGATES[:13], 2)))
    group = keyed and chance.random() < 0.75
    conditions = [chance.choice(LOCAL).format(v=v)] * (chance.random() < 0.33) + ["[word]"] * (keyed and not group)
    if own.count("NOT C") == 1 and chance.random() < 0.5:
        conditions.append(chance.choice(LOCAL).format(v="C"))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    items, where = (f"word, {items}", f"{where} GROUP BY word") if group else (items, where)
    if chance.random() < 0.5:
        window = chance.choice(("3 s SLIDE 1 s", "8 s SLIDE 4 s", "UNBOUNDED"))
    window += "" if window == "UNBOUNDED" else _offset(chance)  # often all that two queries' windows differ in
    return f"QUERY q{number or ''} RETURN {items} PATTERN {whole}{where} WITHIN {window};\n"


def crowded(chance: Random) -> Case:
    """Aggregate queries with windows over many events of few groups."""
    made = _overlapping_case(chance, most=3)
    found = []
    for _ in range(chance.randint(30, 45)):
        event = {
            "at": chance.randrange(-5, 16),
            "kind": chance.choice("AAABBBCCD"),
            "word": chance.choice((0, 0, 1)),
            "k": 1,
            "g": "p",
        }
        found.append(free(chance) | event)
    rows = tuple(timed(row) for row in found) if "at TIMESTAMP" in made.text else tuple(found)
    return with_computed(
        chance, Case(made.text.replace("WITHIN UNBOUNDED", f"WITHIN 6 s SLIDE 2 s{_offset(chance)}"), rows)
    )
