"""Random programs in which rows of queries are events: those of `programs.py` with a stream of the rows of their query,
queries over that, and often a stream of the rows of one of these.

The rows have the columns that the events of `programs.py` have, so that any query is one over them, too.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc_runtime.plan.windows import Unbounded
from cepc_runtime.sql.types import to_arrow
from tests.equivalence import Refused
from tests.programs import Asked, query
from tests.several_streams import compile_text

if TYPE_CHECKING:
    from random import Random

    from tests.programs import Case, Make
    from tests.several_streams import Compiled

COLUMNS = ("seq", "word", "k", "g", "x", "y", "z", "n", "d", "o", "at")
KIND = (
    "kind AS CASE (COALESCE(x, 0) + COALESCE(k, 1) + counted) % 3 WHEN 0 THEN 'A' WHEN 1 THEN 'B' ELSE 'C' END",
    "kind AS CASE WHEN y > 1.5 THEN 'B' WHEN x IS NULL THEN 'C' ELSE 'A' END",
    "kind AS 'A'",
)
ALIKE = (
    "ANY+ e", "SEQ(ANY e, ANY f)", "SEQ(ANY e, NOT B, ANY+ f)", "SEQ(A e, ANY f)", "ANY e", "SEQ(A+ e, OR(B f, C c))",
    "ANY{2} e", "AND(A e, B f)", "SEQ(Big e, ANY f)", "SEQ(ANY e, Odd? f)",
)  # fmt: skip
MIXED = (
    "SEQ(s.A e, t.A f)",
    "SEQ(ANY e, t.B f)",
    "AND(s.B e, t.A f)",
    "SEQ(t.A e, NOT s.C, s.B f)",
    "SEQ(s.A+ e, t.C f)",
)
ONE = re.compile(
    r"(QUERY q\b[^;]*?RETURN +)(MATCH +)?(.*?)(\n\s*PATTERN [^;]*)(WITHIN (?:(?!WITHIN)[^;])*;)", re.DOTALL
)


def rows_as_events(make: Make) -> Make:
    return lambda chance: chained(chance, make(chance))


def chained(chance: Random, case: Case) -> Case:
    """The case of one query, with more queries over its rows."""
    try:
        (asked,) = compile_text(case.text).program.queries
    except Refused:
        return case
    if asked.returns_events:
        case, own = replace(case, text=ONE.sub(r"\1\2\3\4FROM s\n  \5", case.text)), set[str]()
    else:
        v = chance.choice([one.name for one in asked.variables if not one.negated])
        own = {output.name for output in asked.outputs}
        more = [f"MAX({v}.{name}) AS {name}" for name in COLUMNS if name not in own] + ["COUNT(*) AS counted"]
        case = replace(case, text=ONE.sub(rf"\1\2\3, {', '.join(more)}\4FROM s\n  \5", case.text))
    edges = ("match_start", "match_end") if asked.kind == "match" else ("window_start", "window_end")
    unbounded = asked.kind == "aggregate" and isinstance(asked.window, Unbounded)
    unit = " UNIT s" if "at BIGINT" in case.text or "AS BIGINT)" in case.text else ""
    times = [f"EVENT TIME at{unit}"] if unbounded else ["", "", f"EVENT TIME {edges[0]}", f"EVENT TIME at{unit}"]
    if asked.returns_events:
        text = f"STREAM t FROM QUERY q;\n{_of_events(chance, edges)}" if not unbounded else ""
        return replace(case, text=case.text + text)
    time = chance.choice(times)
    order = " ORDER BY counted, seq" if time and chance.random() < 0.3 else ""
    stream = f"STREAM t (\n  {chance.choice(KIND)}\n)\n{time}{order}\nEVENT TYPE kind IN ('A', 'B', 'C', 'D')\nFROM QUERY q;\n"
    queries = [_query(chance, f"p{i or ''}") for i in range(chance.choice((1, 2)))]
    text = case.text + stream + "".join(queries)
    if chance.random() < 0.4:
        text += _third(chance, queries[-1], f"p{len(queries) - 1 or ''}")
    return replace(case, text=text)


def _of_events(chance: Random, edges: tuple[str, str]) -> str:
    window = chance.choice(("WITHIN 5 s", "WITHIN UNBOUNDED"))
    return f"""QUERY p RETURN MATCH e.events AS first, f.{edges[0]} AS then PATTERN SEQ(t e, t f) SELECT NEXT {window};
QUERY p1 RETURN COUNT(*) AS n, MIN(t.{edges[1]}) AS least PATTERN t+ SELECT CONTIGUOUS WITHIN 4 s SLIDE 2 s;
"""


def _query(chance: Random, name: str) -> str:
    kind = chance.random()
    if kind < 0.3:
        made = query(chance, name, Asked(keyed=True))
        return re.sub(r"(QUERY [^;]*)(WITHIN (?:(?!WITHIN)[^;])*;)", r"\1FROM t\n  \2", made)
    both = kind > 0.75
    pattern = chance.choice(MIXED if both else ALIKE)
    window = chance.choice(("5 s", "12 s SLIDE 3 s", "1 HOUR", "UNBOUNDED"))
    streams = chance.choice(("FROM s, t", "FROM t, s")) if both else "FROM t"
    by = "word" if "+" in pattern else chance.choice(("word", "k", "g"))
    if chance.random() < 0.5:
        items = f"{by}, COUNT(*) AS c, SUM(e.x) AS x, MAX(e.at) AS at"
        return f"QUERY {name} RETURN {items} PATTERN {pattern} GROUP BY {by} {streams} WITHIN {window};\n"
    window = window.split(" SLIDE")[0]
    items = f"{by}, COUNT(e) AS c, MAX(e.y) AS y, MIN(e.at) AS at" + (", COUNT(f) AS fs" if " f" in pattern else "")
    select = chance.choice(("", "SELECT NEXT ", "SELECT CONTIGUOUS "))
    return f"QUERY {name} RETURN MATCH {items} PATTERN {pattern} WHERE [{by}] {streams} {select}WITHIN {window};\n"


def _third(chance: Random, before: str, name: str) -> str:
    """A stream of the rows of a query over rows."""
    time = "EVENT TIME at UNIT s" if "BIGINT" in before else ""
    window = chance.choice(("WITHIN UNBOUNDED", "WITHIN 1 HOUR"))
    pattern = chance.choice(("u", "u{1,2} u", "SEQ(u u, u v)"))
    if "RETURN MATCH" not in before and "UNBOUNDED" in before:
        return ""
    return f"STREAM u {time} FROM QUERY {name};\nQUERY top RETURN COUNT(*) AS n, COUNT(u) AS us PATTERN {pattern} FROM u {window};\n"


def table_of(case: Case, compiled: Compiled) -> pa.Table:
    (stream,) = (stream for stream in compiled.program.streams if stream.query is None)
    rows: list[dict[str, Any]] = [*case.rows]
    return pa.Table.from_pylist(rows, schema=pa.schema([(n, to_arrow(type_)) for n, type_ in stream.input.columns]))


# ---- what was compared -----------------------------------------------------------------------------------------------

COMPARED: Counter[str] = Counter()
"""How many queries were over events, over rows and over both, how many of them had rows, and how many rows."""


def over(compiled: Compiled, query: str) -> str:
    """What a query looks at."""
    (stream,) = (q.stream for q in compiled.program.queries if q.name == query)
    made = {one.query is not None for one in compiled.program.members(stream)}
    return "both" if len(made) > 1 else "rows" if True in made else "events"


def counted(kind: str, rows: int) -> None:
    COMPARED[f"queries over {kind}"] += 1
    COMPARED[f"queries over {kind} with rows"] += rows > 0
    COMPARED[f"rows of queries over {kind}"] += rows
