"""Groups in which nothing can match are left out: what matches need, which go, and that no row changes."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from cepc.api import check_text
from cepc.automaton.needs import cuts, fewest, needs_of, paths_of
from cepc.passes.prune import MANY
from cepc.passes.strategy import strategy
from cepc.planning import plan_program
from cepc.planning.logical import Uncountable
from cepc.shared_plans import Options, plan_shared
from cepc_runtime.batch import execute
from cepc_runtime.enumerate.arranged import arrange_for
from cepc_runtime.events import grouped as events
from cepc_runtime.events.grouped import read
from cepc_runtime.events.letters import Kinds, classify
from cepc_runtime.events.prune import KINDS as MOST_KINDS
from cepc_runtime.events.prune import staying_of
from cepc_runtime.events.stretch import Stretch, TimeSpan
from cepc_runtime.parts.resources import Resources
from cepc_runtime.plan.as_json import from_text_of_plan, to_text
from cepc_runtime.plan.physical import Need, Needs
from tests.equivalence import Refused, answered, compile_text, same, table_of
from tests.programs import between_neighbours, cases, overlapping
from tests.properties import NOTHING, Seen, hold

if TYPE_CHECKING:
    from random import Random

    from cepc import model
    from cepc.automaton.needs import Paths
    from cepc.passes.workload import Workload
    from cepc_runtime.plan.physical import PhysicalPlan
    from tests.programs import Case, Make

STREAM = (
    "STREAM s (at BIGINT, kind STRING, k INT, y DOUBLE, x INT)\n"
    "EVENT TIME at UNIT s EVENT TYPE kind IN ('A', 'B', 'C', 'D');\n"
)


def checked(queries: str) -> model.CheckedProgram:
    program = check_text(STREAM + queries, "t.cep").program
    assert program is not None
    return program


def workload(queries: str, options: Options | None = None) -> Workload:
    (found,) = plan_shared(checked(queries), options or Options(1)).workloads
    return found


def matches(pattern: str, clauses: str = "WHERE [k]") -> str:
    return f"QUERY q RETURN MATCH COUNT(*) AS n PATTERN {pattern} {clauses} WITHIN 9 s;"


def counts(pattern: str, clauses: str = "WHERE [k]") -> str:
    return f"QUERY q RETURN COUNT(*) AS n PATTERN {pattern} {clauses} WITHIN 9 s;"


def said(found: Workload) -> list[str]:
    """What each query needs, as `A A|B 2`."""
    letters = [letter.raw_type or "ANY" for letter in found.plan.letters]

    def text(need: Need) -> str:
        names = "|".join(dict.fromkeys(letters[i] for i in need.letters))
        return names if need.events == 1 else f"{names} {need.events}"

    return [" ".join(map(text, needs.of)) for needs in found.plan.needs]


# ---- what matches need -----------------------------------------------------------------------------------------------

NEEDED = [
    ("SEQ(A, B, C)", ["A B C"]),
    ("SEQ(A, B?, C*)", ["A"]),
    ("SEQ(A, OR(B, C))", ["A B|C"]),
    ("SEQ(A x, B{2,}, A y)", ["A 2 B 2"]),
    ("SOME(A, B)", ["A|B"]),
    ("OR(SEQ(A, B), SEQ(C, D))", ["A|C A|D B|C B|D"]),
    ("AND(A, SEQ(B, NOT C, D))", ["A B D"]),
    ("SEQ(A, NOT SEQ(C, D), B)", ["A B"]),
    ("SEQ(A, ANY e)", ["A ANY A|ANY 2"]),
    ("ANY+ e", ["ANY"]),
    ("SEQ(A, B){3}", ["A 3 B 3"]),
]


@pytest.mark.parametrize("query", [matches, counts])
@pytest.mark.parametrize(("pattern", "needs"), NEEDED, ids=[pattern for pattern, _ in NEEDED])
def test_what_lies_on_every_path_is_needed(pattern: str, needs: list[str], query: Any) -> None:
    found = said(workload(query(pattern)))
    if "ANY" not in pattern or query is matches:  # an automaton has other letters than the places of a pattern then
        assert found == needs


def test_two_tests_of_one_type_may_hold_for_one_event() -> None:
    assert said(workload(matches("SEQ(A x, A y)", "WHERE [k] AND x.x > 1 AND y.x < 5"))) == ["A A A 2"]


@pytest.mark.parametrize("select", ["NEXT", "CONTIGUOUS"])
def test_what_may_not_be_skipped_is_not_needed(select: str) -> None:
    assert said(workload(matches("SEQ(A, C)", f"WHERE [k] SELECT {select}"))) == ["A C"]


LEFT_ALONE = {
    "a query without groups": matches("SEQ(A, B)", ""),
    "partitions whose first value of a group is shown": counts("SEQ(A, B)", "WHERE [k] GROUP BY y"),
    "a query beside one whose first value of a group is shown": counts("SEQ(A, B)", "WHERE [k] GROUP BY y")
    + counts("SEQ(A, B)", "WHERE [k, y]").replace("QUERY q", "QUERY r"),
    "very many queries over the same groups": "".join(
        counts("SEQ(A, B)").replace("QUERY q", f"QUERY q{i}") for i in range(MANY + 1)
    ),
}


@pytest.mark.parametrize("queries", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_nothing_is_said_of(queries: str) -> None:
    assert workload(queries).plan.needs == ()


def test_groups_of_doubles_that_are_the_partitions_may_go() -> None:
    assert said(workload(counts("SEQ(A, B)", "GROUP BY y"))) == ["A B"]


def test_the_pass_says_it_once_for_queries_that_need_the_same() -> None:
    found = workload(counts("SEQ(A, B)") + matches("AND(B, A, NOT C)").replace("QUERY q", "QUERY r"))
    assert [(note.queries, note.text) for note in found.notes if note.name == "prune"] == [
        (("q", "r"), "a match has A and B; groups without them are left out")
    ]


def test_it_is_switched_off_by_its_name() -> None:
    assert workload(counts("SEQ(A, B)"), Options(2, without=("prune",))).plan.needs == ()
    assert workload(counts("SEQ(A, B)"), Options(0)).plan.needs == ()


def test_a_plan_with_needs_is_the_same_after_its_way_as_text() -> None:
    plan = strategy(workload(counts("SEQ(A, OR(B, C){2})")).plan, "local")
    assert plan.needs
    assert from_text_of_plan(to_text(plan)) == plan


def test_only_engines_that_have_whole_groups_are_told() -> None:
    plan = workload(counts("SEQ(A, B)") + "QUERY r RETURN COUNT(*) AS n PATTERN A GROUP BY k WITHIN 9 s;").plan
    assert [needs.query for needs in plan.needs] == ["q", "r"]
    assert [needs.query for needs in strategy(plan, "local").needs] == ["q", "r"]
    assert [needs.query for needs in strategy(plan, "batch").needs] == ["q"]  # Spark itself aggregates r
    assert strategy(plan, "stream").needs == ()


def by_definition(case: Case, _chance: Random) -> Seen:
    """A smallest cut is a set of letters without which no end is reached, though it is without all but one of them;
    and what a need says is the fewest events of its letters on any path, and some.
    """
    compiled = compile_text(case.text)
    for query in compiled.logical.queries:
        counting = query.counting
        paths = paths_of(query.positions if isinstance(counting, Uncountable) else counting.automaton)
        for cut in cuts(paths):
            assert fewest(without(paths, cut), frozenset()) is None
            assert all(fewest(without(paths, cut - {letter}), frozenset()) is not None for letter in cut)
        for need in needs_of(paths, compiled.logical.letters):
            assert fewest(paths, frozenset(need.letters)) == need.events > 0
    return NOTHING


def without(paths: Paths, letters: frozenset[int]) -> Paths:
    return replace(paths, edges=tuple(edge for edge in paths.edges if edge[2] not in letters))


@pytest.mark.parametrize("match", [False, True])
def test_cuts_are_what_they_are_by_definition(match: bool) -> None:
    hold(f"cuts: {match}", cases(match=match), by_definition, with_rows=0, differing=0)


def test_no_small_cut_is_missed() -> None:
    """By trying all sets of letters."""
    (plan,) = plan_program(checked(matches("OR(SEQ(A, OR(B, C)), SEQ(D, AND(A z, B w)))"))).plans
    paths = paths_of(plan.queries[0].positions)
    letters = range(len(plan.letters))
    sets = chain.from_iterable(combinations(letters, size) for size in range(1, len(letters) + 1))
    cutting = [set(one) for one in sets if fewest(without(paths, frozenset(one)), frozenset()) is None]
    smallest = [one for one in cutting if not any(other < one for other in cutting)]
    assert sorted(map(sorted, cuts(paths))) == sorted(map(sorted, smallest)) != []


# ---- which events stay -----------------------------------------------------------------------------------------------


def stays(groups: str, reads: dict[str, str], needs: dict[str, str]) -> str | None:
    """Of groups like `AB A`, what stays; needs like `A BB`: an A and two of B, `A|B`: an A or a B."""
    of = [(number, event) for number, group in enumerate(groups.split()) for event in group]
    letters = (frozenset[int](), *(frozenset((letter,)) for letter in range(3)))
    kinds = Kinds(np.array(["ABC".index(e) + 1 for _, e in of], dtype=np.int32), letters)
    told = tuple(
        Needs(query, tuple(Need(tuple(sorted({"ABC".index(x) for x in n if x != "|"})), 1 if "|" in n else len(n)) for n in text.split()))
        for query, text in needs.items()
    )  # fmt: skip
    asked = {query: None if text == "*" else frozenset("ABC".index(x) for x in text) for query, text in reads.items()}
    found = staying_of(kinds, asked, told)
    stay = None if found is None else found(np.array([number for number, _ in of], dtype=np.int64), len(groups.split()))
    return None if stay is None else "".join(e for (_, e), is_left in zip(of, stay, strict=True) if is_left)


STAYING = [
    ("a group without what is needed goes", "AB A B", {"q": "AB"}, {"q": "A B"}, "AB"),
    ("nothing is copied where all groups have it", "AB BA", {"q": "AB"}, {"q": "A B"}, None),
    ("one of several letters is enough", "AB AC A", {"q": "ABC"}, {"q": "A B|C"}, "ABAC"),
    ("two events of a letter", "ABB AB BB", {"q": "AB"}, {"q": "A BB"}, "ABB"),
    ("one query that can match keeps its events", "AB AC BC", {"q": "AB", "r": "AC"}, {"q": "A B", "r": "A C"}, "ABAC"),
    ("and its events alone", "ABC", {"q": "AB", "r": "AC"}, {"q": "AA B", "r": "A C"}, "AC"),
    ("a query that reads all events keeps all of them", "ABC BC", {"q": "*"}, {"q": "A"}, "ABC"),
    ("a query of which nothing is said keeps what it reads", "AB AC", {"q": "AB", "r": "C"}, {"q": "A B"}, "ABC"),
    ("nothing is said", "A B", {"q": "AB"}, {}, None),
    ("there are no events", "", {"q": "AB"}, {"q": "A B"}, None),
    ("all groups go", "A B", {"q": "AB"}, {"q": "A B"}, ""),
]


@pytest.mark.parametrize(("groups", "reads", "needs", "left"), [c[1:] for c in STAYING], ids=[c[0] for c in STAYING])
def test_which_events_stay(groups: str, reads: dict[str, str], needs: dict[str, str], left: str | None) -> None:
    assert stays(groups, reads, needs) == left


def test_of_too_many_kinds_nothing_goes() -> None:
    letters = (frozenset[int](), *(frozenset((i,)) for i in range(MOST_KINDS + 1)))
    kinds = Kinds(np.array([1], dtype=np.int32), letters)
    needs = tuple(Needs(f"q{i}", (Need((i,), 2),)) for i in range(MOST_KINDS + 1))
    reads = {f"q{i}": frozenset((i,)) for i in range(MOST_KINDS + 1)}
    assert staying_of(kinds, reads, needs) is None
    assert staying_of(kinds, {"q0": reads["q0"]}, needs) is not None


# ---- of whole groups alone -------------------------------------------------------------------------------------------


def small(kinds: str, groups: list[int]) -> pa.Table:
    """An event each second."""
    length = len(kinds)
    columns = {"at": [*range(length)], "kind": [*kinds], "k": groups, "y": [0.0] * length, "x": [1] * length}
    return pa.table(columns).cast(pa.schema([("at", "int64"), ("kind", "string"), ("k", "int32"), ("y", "float64"), ("x", "int32")]))  # fmt: skip


def test_a_stretch_of_whole_groups_asks_for_all_their_rows() -> None:
    plan = strategy(workload(counts("SEQ(A, B)")).plan, "local")
    reading = read(small("AB", [1, 1]), plan.stream)
    with pytest.raises(ValueError, match="not asked for"):
        Stretch(plan, reading, TimeSpan(first=1), whole=True)


def test_what_a_query_may_try_does_not_shrink_with_the_events_that_are_left() -> None:
    plan = strategy(workload(matches("SEQ(A, B)", "WHERE [k] AND A.x <= B.x")).plan, "local")
    reading = read(small("ABAAAC", [1, 1, 2, 3, 4, 5]), plan.stream)
    arranged = arrange_for(reading, classify(reading, plan.letters), plan.stream, plan.queries, None, plan.needs)
    assert (arranged.events.length, arranged.mattering) == (2, 5)


# ---- no row changes --------------------------------------------------------------------------------------------------


def both(case: Case) -> tuple[PhysicalPlan, PhysicalPlan]:
    """The plan with and without the pass, and nothing else."""
    program = compile_text(case.text).program
    found = [
        plan_shared(program, Options(1, without=("normalise", "columns", *off))).plans[0] for off in ((), ("prune",))
    ]
    return strategy(found[0], "local"), strategy(found[1], "local")


class Went:
    """In how many cases some events of the plan's queries went before they were sorted."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.cases = self.pruned = 0
        self.here = False
        gapless = events._without_gaps

        def seen(*given: Any) -> Any:
            self.here = True
            return gapless(*given)

        patch.setattr(events, "_without_gaps", seen)

    def __call__(self, case: Case, chance: Random) -> Seen:
        compiled = compile_text(case.text)
        expected = answered(case, compiled)
        if expected is None:
            return NOTHING
        table = table_of(case, compiled)
        resources = Resources(threads=chance.choice((1, 2, 3)), few=1)
        self.here = False
        found = [execute(plan, table, interpreted=True, resources=resources).tables for plan in both(case)]
        self.cases += 1
        self.pruned += self.here
        for name, answer in expected.items():
            pruned, plain = (tables[name].to_pylist() for tables in found)
            assert same(pruned, plain), (name, pruned, plain)
            assert same(pruned, answer.rows), (name, pruned, answer.rows)
        return Seen.of(case, expected)


def needing(make: Make) -> Make:
    """The same programs, but few of which no match needs two events: their groups seldom go."""

    def made(chance: Random) -> Case:
        for _ in range(4):
            one = make(chance)
            try:
                plan, _plain = both(one)
            except Refused:
                continue
            if any(sum(need.events for need in needs.of) > 1 for needs in plan.needs):
                break
        return one

    return made


KINDS: dict[str, tuple[Make, float]] = {
    "any": (cases(), 0.5),
    "counted": (needing(cases(match=False, pairs=False)), 0.5),
    "with SELECT NEXT and AFTER MATCH": (cases(match=True, select="NEXT", after=True), 0.5),
    "with SELECT CONTIGUOUS": (cases(select="CONTIGUOUS"), 0.5),
    "with conditions between neighbours": (between_neighbours, 0.5),
    "several of one program": (cases(size=3), 0.5),
    "with much in common": (overlapping(), 0.3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_row_changes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, share = KINDS[kind]
    went = Went(monkeypatch)
    hold(f"groups that cannot match go: {kind}", make, went)
    assert went.pruned >= share * went.cases, (went.pruned, went.cases)
