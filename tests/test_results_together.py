"""Rows of queries whose results are made alike, which are computed together: they are those of each query by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import cepc
from cepc_runtime.batch import execute
from cepc_runtime.results import together
from tests.driven import driven
from tests.equivalence import answered, compile_text, same, table_of
from tests.programs import Asked, case
from tests.properties import NOTHING, Seen, hold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from cepc_runtime.results.as_columns import Results
    from tests.programs import Case

STREAM = (
    "STREAM s (at BIGINT, kind STRING, k STRING, x DOUBLE, n BIGINT, y AS CAST(n AS DECIMAL(9, 2)), z AS CAST(n AS DECIMAL(9, 1)))"
    " EVENT TIME at UNIT s EVENT TYPE kind;"
)


def run(queries: str, rows: Sequence[tuple[Any, ...]]) -> dict[str, list[dict[str, Any]]]:
    names = ("at", "kind", "k", "x", "n")
    events = pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})
    return {name: table.to_pylist() for name, table in cepc.compile(STREAM + queries).run(events).items()}


class Joined:
    """How many tables were made together with others, while it looks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables = 0
        made = together._together

        def counting(alike: Sequence[Results]) -> Any:
            self.tables += len(alike) if len(alike) > 1 else 0
            return made(alike)

        monkeypatch.setattr(together, "_together", counting)


# ---- a property ------------------------------------------------------------------------------------------------------


def alike(chance: Random) -> Case:
    """A query, and others that differ in names and constants alone, or in what they return as well."""
    one = case(chance, 1, Asked(match=False))
    begin = one.text.index("QUERY q")
    returned, clauses = one.text[begin:].partition("\n  PATTERN ")[::2]
    texts = []
    for i in range(chance.randint(2, 6)):
        shown = re.sub(r" AS r(\d)", rf" AS {'rs'[i % 2]}\1", returned.replace("QUERY q", f"QUERY q{i or ''}", 1))
        shown += f", {chance.choice((0, 2, 7))} AS c, COUNT(*) * {chance.choice(('0.0D', '-0.0D', '0.0D'))} AS zero"
        if found := re.search(r"\((\w+)\.", returned):  # constants inside aggregates are no query's own
            shown += f", SUM(IF({found[1]}.x > {i % 3}, {found[1]}.y, 0.5D)) AS some"
        having = f"COUNT(*) >{'=' * (i // 4)} {chance.choice((0, 0, 1, 2, 4))}"
        rest = re.sub(r"\n  HAVING .*", "", clauses)
        rest = re.sub(r"\n  (SELECT|WITHIN)", rf"\n  HAVING {having}\n  \1", rest, count=1)
        texts.append(f"{shown}\n  PATTERN {rest}")
    return type(one)(one.text[:begin] + "".join(texts), one.rows, one.words)


@pytest.mark.parametrize(("few", "waiting"), [(together.FEW, together.WAITING), (40, 60)], ids=["as it is", "small"])
def test_rows_are_those_of_each_query_by_itself(few: int, waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "FEW", few)
    monkeypatch.setattr(together, "WAITING", waiting)
    joined = Joined(monkeypatch)

    def check(one: Case, _: Random) -> Seen:
        compiled = compile_text(one.text)
        answers = answered(one, compiled)
        if answers is None:
            return NOTHING
        found = execute(compiled.plan, table_of(one, compiled)).tables
        for query in compiled.plan.queries:
            name = query.name
            assert same(found[name].to_pylist(), answers[name].rows), name
            alone = driven(table_of(one, compiled), compiled.plan, [query])[name]
            assert sorted(map(repr, found[name].to_pylist())) == sorted(map(repr, alone.to_pylist())), name
            assert found[name].schema == alone.schema
        return Seen.of(one, answers)

    hold(f"results that are made alike, {waiting} at once", alike, check)
    assert joined.tables > 0


# ---- what differs ----------------------------------------------------------------------------------------------------


def test_zero_and_negative_zero_are_two_constants() -> None:
    found = run(
        "QUERY p RETURN SUM(A.x) * 0.0D AS z, -0.0D AS r PATTERN A WITHIN 9 s;"
        "QUERY q RETURN SUM(A.x) * -0.0D AS z, 0.0D AS r PATTERN A WITHIN 9 s;",
        [(1, "A", "a", 1.0, 1)],
    )
    assert [[repr(row["z"]), repr(row["r"])] for rows in found.values() for row in rows] == [
        ["0.0", "-0.0"],
        ["-0.0", "0.0"],
    ]


@pytest.mark.parametrize("letter", ["D", "F"])
def test_a_constant_negative_zero_keeps_its_sign_beside_queries_that_differ_in_it_alone(letter: str) -> None:
    """It is no value of GROUP BY, of which both zeros are 0.0."""
    found = run(
        f"QUERY p RETURN 0.0{letter} AS x, COUNT(*) AS n PATTERN A WITHIN 9 s;"
        f"QUERY q RETURN -0.0{letter} AS x, COUNT(*) AS n PATTERN A WITHIN 9 s;"
        f"QUERY r RETURN -0.0{letter} AS y, COUNT(*) AS n PATTERN A WITHIN 9 s;",
        [(1, "A", "a", 1.0, 1)],
    )
    assert [repr(found["p"][0]["x"]), repr(found["q"][0]["x"]), repr(found["r"][0]["y"])] == ["0.0", "-0.0", "-0.0"]


def test_conditions_that_differ_in_the_sign_of_zero_are_two() -> None:
    found = run(
        "QUERY p RETURN MATCH A.at PATTERN A WHERE CAST(A.x * 0.0D AS STRING) = '0.0' WITHIN 9 s;"
        "QUERY q RETURN MATCH A.at PATTERN A WHERE CAST(A.x * -0.0D AS STRING) = '0.0' WITHIN 9 s;",
        [(1, "A", "a", 1.0, 1)],
    )
    assert [len(found["p"]), len(found["q"])] == [1, 0]


def test_constants_inside_aggregates_are_not_those_of_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = Joined(monkeypatch)
    text = "QUERY {q} RETURN SUM({v}.x * {f}D) AS total, {c} AS c PATTERN {v} HAVING SUM(IF({v}.n > {n}, 1, 0)) >= {m} WITHIN 9 s;"
    parts = [("p", "A", 1.5, 7, 0, 1), ("q", "B", 2.0, 8, 1, 2), ("r", "A", 3.5, 9, 1, 2)]
    found = run(
        "".join(text.format(q=q, v=v, f=f, c=c, n=n, m=m) for q, v, f, c, n, m in parts),
        [
            (1, "A", "a", 1.0, 1),
            (2, "A", "a", 2.0, 1),
            (3, "B", "a", 4.0, 2),
            (4, "B", "a", 5.0, 3),
            (5, "A", "a", 3.0, 5),
        ],
    )
    shown = {name: [(row["total"], row["c"]) for row in rows] for name, rows in found.items()}
    assert shown == {"p": [(9.0, 7)], "q": [(18.0, 8)], "r": []}
    assert joined.tables >= 2


def test_the_least_and_the_greatest_are_those_of_each_query(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = Joined(monkeypatch)
    text = "QUERY q{i} RETURN k, MIN({v}.x) AS least, MAX({v}.k) AS most, MAX({w}.x) AS other PATTERN SEQ({v}, {w}) GROUP BY k WITHIN 9 s;"
    found = run(
        "".join(text.format(i=i, v=v, w=w) for i, (v, w) in enumerate((("A", "B"), ("B", "A"), ("A", "C")))),
        [
            (1, "A", "a", 4.0, 0),
            (2, "B", "a", -0.5, 0),
            (3, "A", "a", 2.0, 0),
            (4, "C", "a", 9.0, 0),
            (5, "C", "b", 7.0, 0),
        ],
    )
    shown = {name: [(row["least"], row["most"], row["other"]) for row in rows] for name, rows in found.items()}
    assert shown == {"q0": [(4.0, "a", -0.5)], "q1": [(-0.5, "a", 2.0)], "q2": [(2.0, "a", 9.0)]}
    assert joined.tables == 3


def test_queries_have_thresholds_and_constants_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    joined = Joined(monkeypatch)
    found = run(
        "".join(
            f"QUERY q{i} RETURN k, COUNT(*) AS n{i}, 'rule {i}' AS rule, SUM({v}.x) AS t PATTERN SEQ({v}, C) GROUP BY k "
            f"HAVING SUM({v}.n) > {i} WITHIN 9 s;"
            for i, v in enumerate("ABAB")
        ),
        [
            (1, "A", "a", 1.5, 1),
            (2, "B", "a", 2.5, 2),
            (3, "C", "a", 0.0, 0),
            (4, "B", "b", 4.0, 7),
            (5, "C", "b", 0.0, 0),
        ],
    )
    edges = {"window_start": 0, "window_end": 9}
    b = [{"k": "a", "t": 2.5, **edges}, {"k": "b", "t": 4.0, **edges}]
    assert {name: sorted(rows, key=str) for name, rows in found.items()} == {
        "q0": [{"k": "a", "n0": 1, "rule": "rule 0", "t": 1.5, **edges}],
        "q1": [{**one, "n1": 1, "rule": "rule 1"} for one in b],
        "q2": [],
        "q3": [{**b[1], "n3": 1, "rule": "rule 3"}],
    }
    assert joined.tables == 4


def test_sums_of_any_size_are_compared_with_the_threshold_of_each_query() -> None:
    text = "QUERY q{i} RETURN k, {i} AS i, COUNT(*) AS n PATTERN {v} GROUP BY k HAVING SUM({v}.n) > {least} AND COUNT(*) < {most} WITHIN 9 s;"
    parts = [("A", 5, 9), ("B", 2**63 - 1, 9), ("A", 2**63 - 1, 9), ("A", 0, 3)]
    found = run(
        "".join(text.format(i=i, v=v, least=least, most=most) for i, (v, least, most) in enumerate(parts)),
        [*((at, "A", "a", 1.0, 2**62) for at in range(3)), (4, "B", "a", 1.0, 7), (5, "A", "b", 1.0, 6)],
    )
    shown = {name: sorted((row["k"], row["i"]) for row in rows) for name, rows in found.items()}
    assert shown == {"q0": [("a", 0), ("b", 0)], "q1": [], "q2": [("a", 2)], "q3": [("b", 3)]}


UNLIKE = {
    "windows": ("COUNT(*) AS n PATTERN A WITHIN 2 s", "COUNT(*) AS n PATTERN A WITHIN 3 s"),
    "HAVING, and none": ("COUNT(*) AS n PATTERN A WITHIN 2 s", "COUNT(*) AS n PATTERN A HAVING COUNT(*) > 1 WITHIN 2 s"),
    "comparisons": (
        "COUNT(*) AS n PATTERN A HAVING COUNT(*) > 1 WITHIN 2 s", "COUNT(*) AS n PATTERN A HAVING COUNT(*) < 1 WITHIN 2 s",
    ),
    "a result, and HAVING": (
        "COUNT(*) AS n, COUNT(*) > COUNT(A) AS b PATTERN SEQ(A+, B) WITHIN 9 s",
        "COUNT(*) AS n PATTERN SEQ(A+, B) HAVING COUNT(*) > COUNT(A) WITHIN 9 s",
    ),
    "groups of partitions": (
        "COUNT(*) AS n PATTERN A WHERE [k] GROUP BY k WITHIN 9 s", "COUNT(*) AS n PATTERN A WHERE [k] WITHIN 9 s",
    ),
    "groups": ("COUNT(*) AS n PATTERN A GROUP BY k WITHIN 9 s", "COUNT(*) AS n PATTERN A WITHIN 9 s"),
    "a variable bound once, and often": (
        "SUM(A.n) AS t PATTERN SEQ(A, B) WITHIN 9 s", "SUM(A.n) AS t PATTERN SEQ(A+, B) WITHIN 9 s",
    ),
    "of which variable": (
        "SUM(A.n) AS a, SUM(A.n) AS b, SUM(B.n) AS c PATTERN SEQ(A, B) WITHIN 9 s",
        "SUM(A.n) AS a, SUM(B.n) AS b, SUM(B.n) AS c PATTERN SEQ(A, B) WITHIN 9 s",
    ),
    "functions": ("MIN(A.x) AS a PATTERN A WITHIN 9 s", "MAX(A.x) AS a PATTERN A WITHIN 9 s"),
    "two variables of one type": (
        "MIN(v.x) AS a, MIN(w.x) AS b PATTERN SEQ(A v, A w, B) WITHIN 9 s",
        "MIN(v.x) AS a, MIN(w.x) AS b PATTERN SEQ(A v, A w) WITHIN 9 s",
    ),
    "digits behind the point": (
        "CAST(SUM(A.y) AS DOUBLE) AS a PATTERN A WITHIN 9 s", "CAST(SUM(A.z) AS DOUBLE) AS a PATTERN A WITHIN 9 s",
    ),
    "a constant, and none": ("1 AS a, COUNT(*) AS n PATTERN A WITHIN 9 s", "CAST(NULL AS INT) AS a, COUNT(*) AS n PATTERN A WITHIN 9 s"),
    "what is too large, and null": (
        "TRY_SUM(A.n + 9000000000000000000) AS a PATTERN A WITHIN 9 s", "SUM(A.n + 9000000000000000000) AS a PATTERN A WITHIN 9 s",
    ),
    "what is too large, and is compared": (
        "COUNT(*) AS a PATTERN A HAVING SUM(A.n + 9000000000000000000) > 0 WITHIN 9 s",
        "COUNT(*) AS a PATTERN A HAVING SUM(A.n + 9000000000000000000) > 9223372036854775807 WITHIN 9 s",
    ),
}  # fmt: skip
EVENTS = [
    (0, "A", "a", 4.0, 1), (1, "A", "b", 2.0, 2), (2, "B", "a", 3.0, 3), (3, "A", "a", 1.0, 4), (4, "A", "a", 9.0, 5),
    (5, "B", "b", 6.0, 6),
]  # fmt: skip


@pytest.mark.parametrize("places", [(0, 1), (1, 0), (0, 1, 0, 1)], ids=["in this order", "in the other", "twice"])
@pytest.mark.parametrize("what", UNLIKE)
def test_queries_that_differ_in_one_thing_have_each_its_rows(what: str, places: Sequence[int]) -> None:
    def outcome(own: Mapping[str, str]) -> dict[str, list[str]] | str:
        try:
            found = run("".join(f"QUERY {name} RETURN {query};" for name, query in own.items()), EVENTS)
        except cepc.RunError as error:
            return error.diagnostics[0].title
        return {name: sorted(map(repr, rows)) for name, rows in found.items()}

    queries = {f"q{i}": UNLIKE[what][place] for i, place in enumerate(places)}
    alone = [outcome({name: query}) for name, query in queries.items()]
    errors = [one for one in alone if isinstance(one, str)]
    rows = {name: shown for one in alone if not isinstance(one, str) for name, shown in one.items()}
    assert outcome(queries) == (errors[0] if errors else rows)
    assert errors or any(rows.values())


TOO_LARGE = "QUERY {name} RETURN SUM(A.n) AS t PATTERN A WITHIN 9 s;"
FINE = "QUERY {name} RETURN SUM(B.n) AS t PATTERN B WITHIN 9 s;"
DIVIDED = "QUERY {name} RETURN 1 / (COUNT(*) - 2) AS t PATTERN A WITHIN 9 s;"


@pytest.mark.parametrize(
    ("queries", "first"),
    [
        ((FINE, TOO_LARGE, TOO_LARGE), "q1"),
        ((FINE, DIVIDED, TOO_LARGE, FINE), "q1"),
        ((TOO_LARGE, DIVIDED), "q0"),
        ((FINE, DIVIDED, FINE, DIVIDED), "q1"),
    ],
)
def test_an_error_is_that_of_the_first_query_that_has_one(queries: Sequence[str], first: str) -> None:
    text = "".join(query.format(name=f"q{i}") for i, query in enumerate(queries))
    with pytest.raises(cepc.RunError) as caught:
        run(text, [(1, "A", "a", 1.0, 2**62), (2, "A", "a", 1.0, 2**62), (3, "B", "a", 1.0, 1)])
    wrong = text.index(f"QUERY {first} ")
    assert caught.value.diagnostics[0].span.start - len(STREAM) in range(wrong, wrong + len(TOO_LARGE))


def test_what_waits_comes_before_what_is_wrong_with_a_later_query() -> None:
    given = [object(), object()]

    def found() -> Any:
        yield given[0]
        raise ValueError("of the next")

    batches = together._batches(found())

    class Rows:
        def __len__(self) -> int:
            return 3

    given[0] = type("Given", (), {"totals": Rows()})()
    assert next(batches) == [given[0]]
    with pytest.raises(ValueError, match="of the next"):
        next(batches)
