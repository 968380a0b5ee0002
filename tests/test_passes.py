"""The sharing passes together: what they see, what they decide, and that no row changes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings

from cepc.api import check_text
from cepc.cli import cepc
from cepc.passes import NAMES, OPTIMISERS, PASSES, BrokenPass, optimise
from cepc.passes.choose import choose
from cepc.passes.engine import EngineModel, Load, edge_rate, load, planes, width
from cepc.passes.pattern import Event, PlannedPattern, events, pattern_of
from cepc.passes.strategy import strategy
from cepc.passes.workload import Budget, Context, Workload
from cepc.planning import plan_program
from cepc.planning.logical import is_countable
from cepc.shared_plans import STEPS, Options, loads, plan_shared
from cepc.statistics import Statistics
from cepc_grammar.pattern import And, Not, Or, Repeat, Seq, Some
from cepc_runtime.plan.sharing import Member, SharedStates
from tests.equivalence import Refused, answered, by_engine, compile_text, same
from tests.programs import cases, drawn, overlapping
from tests.properties import NOTHING, Seen, hold
from tests.rates import Frequent

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from cepc_runtime.plan.stream import Letter
    from tests.programs import Case, Make


STREAM = "STREAM s (kind STRING, ts TIMESTAMP, x INT) EVENT TIME ts EVENT TYPE kind;"

TREES = [
    ("SEQ(A, B+)", Seq((Event(0, "A"), Repeat(Event(1, "B"), 1, None)))),
    ("SEQ(A a, A b)", Seq((Event(0, "a"), Event(0, "b")))),
    ("AND(A, SEQ(B, NOT C, D))", And((Event(0, "A"), Seq((Event(1, "B"), Not(Event(2, "C")), Event(3, "D")))))),
    ("OR(A, SOME(B, C))", Or((Event(0, "A"), Some((Event(1, "B"), Event(2, "C")))))),
    ("SEQ(A, B{2,3})", Seq((Event(0, "A"), Repeat(Event(1, "B"), 2, 3)))),
]

TYPES = {
    "SEQ(A, B+)": ["A", "B"],
    "SEQ(A a, A b)": ["A", "A"],
    "AND(A, SEQ(B, NOT C, D))": ["A", "B", "C", "D"],
    "OR(A, SOME(B, C))": ["A", "B", "C"],
    "SEQ(A, B{2,3})": ["A", "B"],
}


@pytest.mark.parametrize(("text", "tree"), TREES, ids=[text for text, _ in TREES])
def test_a_pattern_is_a_tree_over_letters(text: str, tree: PlannedPattern) -> None:
    program = check_text(f"{STREAM} QUERY q RETURN COUNT(*) PATTERN {text} WITHIN 1 min;", "t.cep").program
    assert program is not None
    (plan,) = plan_program(program).plans
    found = pattern_of(program.queries[0], {letter: i for i, letter in enumerate(plan.letters)})
    assert found == tree
    assert [plan.letters[e.letter].raw_type for e in events(found)] == TYPES[text]


# ---- what is shared --------------------------------------------------------------------------------------------------


def workload(queries: str, options: Options | None = None) -> Workload:
    """`q: SEQ(A, B); r: …`, an aggregate query each, with a window of 10 s sliding by 5 s unless `|` says other
    clauses.
    """
    statements = []
    for query in queries.split(";"):
        name, pattern = (part.strip() for part in query.split(":", 1))
        pattern, _, clauses = pattern.partition("|")
        statements.append(f"QUERY {name} RETURN COUNT(*) PATTERN {pattern} {clauses or 'WITHIN 10 s SLIDE 5 s'};")
    program = check_text(STREAM + "\n".join(statements), "t.cep").program
    assert program is not None
    (found,) = plan_shared(program, options or Options(seconds=None)).workloads
    return found


def shown(found: Workload) -> list[str]:
    """The parts: `=` joins states kept once, `|` states side by side, `*` stands before those on basis columns."""
    return [
        ("*" if part.basis else "")
        + (" = " if part.equal else " | ").join(f"{m.query}{list(m.states)}" for m in part.members)
        for part in found.plan.sharing
    ]


ONCE = [
    ("equal prefixes are kept once", "q: SEQ(A, B, C); r: SEQ(A, B, D)", ["q[0, 1, 2] = r[0, 1, 2]"]),
    ("equal patterns are kept once", "q: SEQ(A, B+); r: SEQ(A, B+)", ["q[0, 1, 2] = r[0, 1, 2]"]),
    (
        "of three queries two have more in common",
        "q: SEQ(A, B); r: SEQ(A, B, C); s: A",
        ["q[0, 1] = r[0, 1] = s[0, 1]", "q[2] = r[2]"],
    ),
    (
        "loops are equal if all that leads into them is",
        "q: SEQ(A, B)+; r: SEQ(SEQ(A, B)+, C)",
        ["q[0, 1, 2] = r[0, 1, 2]"],
    ),
    ("windows that differ keep states apart", "q: SEQ(A, B); r: SEQ(A, B) | WITHIN 10 s SLIDE 1 s", []),
    ("groups that differ keep states apart", "q: SEQ(A, B); r: SEQ(A, B) | WHERE [x] WITHIN 10 s SLIDE 5 s", []),
    ("tests that differ keep states apart", "q: SEQ(A, B); r: SEQ(A, B) | WHERE A.x > 1 WITHIN 10 s SLIDE 5 s", []),
    ("a NOT in one of them keeps states apart", "q: SEQ(A, B, C); r: SEQ(A, NOT D, B, C)", []),
    (
        "what a NOT moves is equal if what it moves from is",
        "q: SEQ(A, NOT SEQ(C, D), B); r: SEQ(A, NOT SEQ(C, D), E)",
        ["q[0, 1, 3] = r[0, 1, 3]"],
    ),
    ("and not else", "q: SEQ(A, NOT SEQ(C, D), B); r: SEQ(E, NOT SEQ(C, D), B)", []),
    ("patterns without anything in common share nothing", "q: SEQ(A, B); r: SEQ(C, D)", []),
    ("one query has nobody to share with", "q: SEQ(A, B)", []),
]


@pytest.mark.parametrize(("queries", "parts"), [case[1:] for case in ONCE], ids=[case[0] for case in ONCE])
def test_what_holds_the_same_is_kept_once(queries: str, parts: list[str]) -> None:
    found = workload(queries, Options(without=("columns",), optimiser="none"))
    assert shown(found) == parts


SAID = [
    ("q: SEQ(A, B); r: SEQ(A, B)", "q r have the same rows"),
    ("q: SEQ(A, B); r: SEQ(A, B) | WITHIN 10 s SLIDE 5 s HAVING COUNT(*) > 1", "q r count the same matches"),
    ("q: SEQ(A, B); r: SEQ(A, B, C)", "q r what q counts is a prefix of what r counts"),
]


@pytest.mark.parametrize(("queries", "sentence"), SAID, ids=[sentence for _, sentence in SAID])
def test_duplicates_and_prefixes_are_said(queries: str, sentence: str) -> None:
    notes = workload(queries, Options(1)).notes
    assert [" ".join((*note.queries, note.text)) for note in notes] == [sentence]


BESIDE = [
    ("states reached on the same letter", "q: SEQ(A, B, C); r: SEQ(D, B, C)", ["q[2] | r[2]", "q[3] | r[3]"]),
    ("windows may differ", "q: SEQ(A, B); r: SEQ(A, B) | WITHIN 9 s SLIDE 3 s", ["q[1] | r[1]", "q[2] | r[2]"]),
    (
        "one stands for those that are kept with it",
        "q: SEQ(A, B); r: SEQ(A, B); s: SEQ(C, B)",
        ["q[1, 2] = r[1, 2]", "q[2] | s[2]"],
    ),
    ("groups may not", "q: SEQ(A, B); r: SEQ(A, B) | WHERE [x] WITHIN 10 s SLIDE 5 s", []),
]  # fmt: skip


@pytest.mark.parametrize(("queries", "parts"), [case[1:] for case in BESIDE], ids=[case[0] for case in BESIDE])
def test_states_lie_side_by_side(queries: str, parts: list[str]) -> None:
    starts = "q[0] | r[0]"  # where nothing stands for them, the starts are beside each other too
    assert [part for part in shown(workload(queries, Options(1))) if not part.startswith(starts)] == parts


def test_panes_are_shared_by_queries_that_differ_in_their_windows() -> None:
    found = workload(
        "q: SEQ(A, B+) | WITHIN 60 min SLIDE 1 min; r: SEQ(A, B+) | WITHIN 30 min SLIDE 1 min",
        Options(optimiser="weave"),
    )
    assert shown(found) == ["*q[0, 1, 2] | r[0, 1, 2]"]


def test_a_frequent_common_middle_is_propagated_on_basis_columns() -> None:
    clauses = "| WITHIN 60 min SLIDE 1 min"
    queries = f"q: SEQ(A, B, C, D) {clauses}; r: SEQ(E, B, C, F) {clauses}; s: SEQ(G, B, C, H) {clauses}"
    found = workload(queries, Options(statistics={"s": Frequent("BC")}, without=("weave",)))
    assert "*q[2, 3] | r[2, 3] | s[2, 3]" in shown(found)
    rare = workload(queries, Options(statistics={"s": Frequent("AD")}, without=("weave",)))
    assert not any(part.basis for part in rare.plan.sharing)


# ---- what a plan costs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rated(Frequent):
    """A in 3, B in 100, C in 7 events of a second."""

    def rate(self, letter: Letter) -> float:
        return {"A": 3.0, "B": 100.0, "C": 7.0}[letter.raw_type or ""]


SHORT, LONG = "WITHIN 10 s SLIDE 5 s", "WITHIN 60 s SLIDE 1 s"
IN_B = SharedStates((Member("q", (2,)), Member("r", (2,))))
COSTS: dict[str, tuple[str, tuple[SharedStates, ...], Load]] = {
    # Each query has four operations: A, B into a run, B on, C. A row of q is 2 windows wide, one of r 3 · 2 (a count
    # and a sum of two).
    "alone": (SHORT, (), Load(420, 210 * 8, 420 * 10 + 210 * 8)),
    "once what both have": (
        SHORT,
        (SharedStates((Member("q", (0, 1)), Member("r", (0, 1))), equal=True),),
        Load(417, 210 * 8 - 3 * 6, 417 * 10 + 210 * 8 - 3 * 6),
    ),
    "side by side": (
        SHORT,
        (SharedStates((Member("q", (1, 2)), Member("r", (1, 2)))),),
        Load(220, 210 * 8, 220 * 10 + 210 * 8),
    ),
    "on basis columns that do not pay": (SHORT, (replace(IN_B, basis=True),), Load(320, 210 * 8, 320 * 10 + 210 * 8)),
    # 300 operations on 2 rows 3 deep; A, C and an edge of a window end a run, 11 in a second, each for 2 · 2 operations
    # on all columns.
    "on basis columns that pay": (
        LONG,
        (replace(IN_B, basis=True),),
        Load(300 + 44 + 20, 300 * 6 + 44 * 240 + 10 * 240, 364 * 10 + 300 * 6 + 44 * 240 + 10 * 240),
    ),
}


@pytest.mark.parametrize(("window", "parts", "expected"), COSTS.values(), ids=COSTS)
def test_a_plan_costs(window: str, parts: tuple[SharedStates, ...], expected: Load) -> None:
    """With 10 for an operation and 1 for a number."""
    queries = (
        f"QUERY {n} RETURN {what} PATTERN SEQ(A, B+, C) {window};" for n, what in (("q", "COUNT(*)"), ("r", "SUM(B.x)"))
    )
    plan = replace(compile_text(STREAM + "".join(queries)).logical, sharing=parts)
    assert load(plan, Rated(""), EngineModel(10, 1), 1_000_000) == expected


@pytest.mark.parametrize(
    ("result", "wide"), [("COUNT(*)", 1), ("COUNT(B)", 2), ("SUM(B.x)", 3), ("COUNT(B) AS n, SUM(B.x)", 4)]
)
def test_a_row_is_as_wide_as_its_planes(result: str, wide: int) -> None:
    """The count of matches, that of events, that of values and their sum; two windows are open at once."""
    (query,) = compile_text(f"{STREAM}QUERY q RETURN {result} AS r PATTERN B WITHIN 10 s SLIDE 5 s;").logical.queries
    assert is_countable(query)
    assert (planes(query), width(query)) == (wide, 2 * wide)


@pytest.mark.parametrize(
    ("window", "edges"),
    [("UNBOUNDED", 0), ("60 s", 1 / 60), ("10 s SLIDE 5 s", 1 / 5), ("7 s SLIDE 2 s", 1)],
)
def test_windows_open_and_close(window: str, edges: float) -> None:
    """So often in a second; one opens where another closes if they fit."""
    (query,) = compile_text(f"{STREAM}QUERY q RETURN COUNT(*) PATTERN A WITHIN {window};").plan.queries
    assert edge_rate(query.window, 1_000_000) == edges


def test_of_two_proposals_about_other_queries_both_are_taken() -> None:
    inner = {"q": "A, B", "r": "A, B", "s": "C, D", "t": "C, D"}
    texts = (f"{name}: SEQ({name.upper()}, {pair}, Z) | {LONG}" for name, pair in inner.items())
    found = workload("; ".join(texts), Options(0))
    for first, second in ("qr", "st"):
        part = SharedStates((Member(first, (2, 3)), Member(second, (2, 3))), basis=True)
        found = found.proposed(f"{first} and {second}", part)
    chosen = choose(found, Context(Frequent("ABCD"), EngineModel(), Budget(STEPS), 1e6))
    assert shown(chosen) == ["*q[2, 3] | r[2, 3]", "*s[2, 3] | t[2, 3]"]
    assert chosen.notes[-1].text.startswith("a choice of the proposals' parts is taken")


# ---- the driver ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (Options(0), ()),
        (Options(1), ("normalise", "columns", "prune")),
        (Options(), NAMES),
        (Options(without=("sharon",)), tuple(name for name in NAMES if name != "sharon")),
        (Options(optimiser="none"), tuple(name for name in NAMES if name not in OPTIMISERS)),
        (Options(optimiser="weave"), tuple(name for name in NAMES if name == "weave" or name not in OPTIMISERS)),
    ],
)
def test_options_choose_passes(options: Options, names: tuple[str, ...]) -> None:
    assert options.passes() == names


def test_at_level_0_every_query_is_by_itself() -> None:
    found = workload("q: SEQ(A, B); r: SEQ(A, B)", Options(0))
    assert (found.plan.sharing, found.notes) == ((), ())


def test_a_pass_with_nothing_to_do_gives_back_the_workload() -> None:
    alone = workload("q: A", Options(0))
    context = Context(Statistics(), EngineModel(), Budget(STEPS), 1e6)
    assert all(apply(alone, context) is alone for apply in PASSES if apply.__name__ != "weave")


def test_a_pass_that_changes_the_queries_is_named() -> None:
    alone = workload("q: A; r: B", Options(0))

    def columns(found: Workload, _: Context) -> Workload:
        return replace(found, plan=replace(found.plan, queries=found.plan.queries[:1]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepc.passes.PASSES", (columns,))
        with pytest.raises(BrokenPass, match="the pass columns"):
            optimise(alone, Context(Statistics(), EngineModel(), Budget(STEPS), 1e6), ("columns",))


def test_each_pass_is_carried_out_by_its_name() -> None:
    alike = workload("q: A; r: A", Options(0))
    context = Context(Statistics(), EngineModel(), Budget(STEPS), 1e6)
    changed = {apply.__name__: optimise(alike, context, [apply.__name__]) is not alike for apply in PASSES}
    assert changed["normalise"]
    assert not changed["motto"]


@given(drawn(cases(size=3)))
@settings(suppress_health_check=list(HealthCheck))
def test_the_load_is_never_more_than_unshared(case: Case) -> None:
    try:
        compiled = compile_text(case.text)
    except Refused:
        return
    for found, context in zip(
        *(getattr(plan_shared(compiled.program), name) for name in ("workloads", "contexts")), strict=True
    ):
        alone, together = loads(found, context)
        assert together.nanoseconds <= alone.nanoseconds * (1 + 1e-9)
        assert together.operations <= alone.operations * (1 + 1e-9)


CHOICES = (Options(1), Options(), *(Options(optimiser=name) for name in OPTIMISERS))


def unchanged(case: Case, _chance: Random) -> Seen:
    compiled = compile_text(case.text)
    expected = answered(case, compiled)
    if expected is None:
        return NOTHING
    for options in CHOICES:
        (plan,) = plan_shared(compiled.program, options).plans
        found = by_engine(case, replace(compiled, plan=strategy(plan, "local")), interpreted=True)
        assert found is not None, options
        for name, answer in expected.items():
            assert same(found[name], answer.rows), (options, name)
    return Seen.of(case, expected)


@pytest.mark.parametrize(("kind", "make"), [("any", cases(size=3)), ("with much in common", overlapping())])
def test_sharing_changes_no_row(kind: str, make: Make) -> None:
    hold(f"shared in every way: queries {kind}", make, unchanged)


# ---- the command line ------------------------------------------------------------------------------------------------

PROGRAM = STREAM + "".join(
    f"QUERY {name} RETURN COUNT(*) AS n PATTERN SEQ(A, {last}) WITHIN 10 s SLIDE 5 s;" for name, last in ("qB", "rC")
)
EVENTS = "kind,ts,x\nA,2026-01-01T00:00:01Z,1\nB,2026-01-01T00:00:02Z,1\nC,2026-01-01T00:00:03Z,1\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "p.cep").write_text(PROGRAM)
    (tmp_path / "e.csv").write_text(EVENTS)
    return str(tmp_path / "p.cep"), str(tmp_path / "e.csv")


@pytest.mark.parametrize(
    "options",
    [["-O0"], ["-O1"], ["-O2"], ["--no-pass", "normalise"], *(["--optimizer", name] for name in (*OPTIMISERS, "none"))],
    ids=" ".join,
)
def test_whatever_is_shared_cepc_run_has_the_same_rows(files: tuple[str, str], options: list[str]) -> None:
    program, events = files
    found = CliRunner().invoke(cepc, ["run", program, "--events", events, *options])
    assert [json.loads(line)["n"] for line in found.stdout.splitlines()] == [1, 1, 1, 1], found.output


@pytest.mark.parametrize("level", ["0", "1", "2"])
def test_cepc_compile_knows_the_levels(files: tuple[str, str], level: str) -> None:
    found = CliRunner().invoke(cepc, ["compile", files[0], f"-O{level}"])
    assert found.exit_code == 0
    assert ('"equal":true' in found.stdout.replace("'\n    '", "")) == (level != "0")


WRONG = [
    (["--no-pass", "normalize"], "there is no pass `normalize`; did you mean `normalise`?"),
    (["--optimizer", "glory"], "there is no optimiser `glory`; did you mean `gloria`?"),
    (["--optimizer-budget", "soon"], "--optimizer-budget is seconds like `4s` or a number of steps, not `soon`"),
]


@pytest.mark.parametrize(("options", "said"), WRONG, ids=[said for _, said in WRONG])
@pytest.mark.parametrize("command", ["run", "compile", "explain"])
def test_options_without_a_meaning_are_refused(
    files: tuple[str, str], command: str, options: list[str], said: str
) -> None:
    found = CliRunner().invoke(cepc, [command, files[0], *options])
    assert found.exit_code == 2
    assert said in " ".join(found.output.split())
