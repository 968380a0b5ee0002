"""Gloria as a pass: which states it proposes to propagate on basis columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings

from cepc.api import check_text
from cepc.passes.choose import choose
from cepc.passes.columns import columns
from cepc.passes.engine import load
from cepc.passes.gloria.gloria import gloria, greedy
from cepc.planning.logical import counted
from cepc.shared_plans import Options, plan_shared
from tests.equivalence import Refused, compile_text
from tests.programs import Case, cases, drawn
from tests.rates import Frequent, Same

if TYPE_CHECKING:
    from cepc.passes.workload import Context, Workload
    from cepc_runtime.plan.sharing import SharedStates
    from cepc_runtime.plan.stream import Letter

STREAM = "STREAM s (kind STRING, ts TIMESTAMP, x INT) EVENT TIME ts EVENT TYPE kind;"
MANY_WINDOWS = "WITHIN 60 min SLIDE 1 min"


def before(queries: str, frequent: str) -> tuple[Workload, Context]:
    """`q: SEQ(A, B); r: …`, counted over 60 windows unless `|` says other clauses, as the optimisers get them."""
    statements = []
    for query in queries.split(";"):
        name, pattern = (part.strip() for part in query.split(":", 1))
        pattern, _, clauses = pattern.partition("|")
        statements.append(f"QUERY {name} RETURN COUNT(*) PATTERN {pattern} {clauses or MANY_WINDOWS};")
    program = check_text(STREAM + "\n".join(statements), "t.cep").program
    assert program is not None
    options = Options(1, without=("columns",), statistics={"s": Frequent(frequent)})
    shared = plan_shared(program, options)
    return shared.workloads[0], shared.contexts[0]


def proposed(workload: Workload) -> tuple[SharedStates, ...]:
    return tuple(part for proposal in workload.proposals for part in proposal.parts)


def shown(workload: Workload) -> list[str]:
    """For each proposed part, its queries and the variables that lead into their states."""
    found = []
    for part in proposed(workload):
        names = []
        for member in part.members:
            (query,) = (q for q in counted(workload.plan) if q.name == member.query)
            into = {step.target: query.automaton.variables[step.variable] for step in query.automaton.steps}
            names.append(f"{member.query}({' '.join(into[state] for state in member.states)})")
        found.append(" | ".join(names))
    return found


PARTS = [
    ("a frequent middle", "q: SEQ(A, B, C, D); r: SEQ(E, B, C, F)", "BC", ["q(B C) | r(B C)"]),
    ("a rare one does not pay", "q: SEQ(A, B, C, D); r: SEQ(E, B, C, F)", "ADEF", []),
    ("a Kleene sub-pattern", "q: SEQ(A, SEQ(B, C)+, D); r: SEQ(E, SEQ(B, C)+, F)", "BC", ["q(B C) | r(B C)"]),
    (
        "a nested one",
        "q: SEQ(X, SEQ(A, SEQ(B, C)+)+); r: SEQ(Y, SEQ(A, SEQ(B, C)+)+)",
        "ABC",
        ["q(A B C) | r(A B C)"],
    ),
    (
        "what two nested ones have in common",
        "q: SEQ(X, SEQ(A, SEQ(B, C)+)+); r: SEQ(Y, SEQ(D, SEQ(B, C)+)+)",
        "BC",
        ["q(B C) | r(B C)"],
    ),
    (
        "of a Kleene sub-pattern and what follows, the frequent part",
        "q: SEQ(X, SEQ(A, B)+, C, D); r: SEQ(Y, SEQ(A, B)+, C, E)",
        "AB",
        ["q(A B) | r(A B)"],
    ),
    (
        "all of it, if all is frequent",
        "q: SEQ(X, SEQ(A, B)+, C, D); r: SEQ(Y, SEQ(A, B)+, C, E)",
        "ABC",
        ["q(A B C) | r(A B C)"],
    ),
    (
        "only some of the queries",
        "q: SEQ(A, B+, C, D); r: SEQ(E, B+, C, F); s: SEQ(X, B, Y)",
        "BC",
        ["q(B C) | r(B C)"],
    ),
    ("other groups", "q: SEQ(A, B, C, D); r: SEQ(E, B, C, F) | WHERE [x] WITHIN 60 min SLIDE 1 min", "BC", []),
    ("one query", "q: SEQ(A, B, C, D)", "BC", []),
    ("few windows", "q: SEQ(A, B, C) | WITHIN 1 min; r: SEQ(E, B, C) | WITHIN 1 min", "BC", []),
]


@pytest.mark.parametrize(
    ("queries", "frequent", "parts"), [case[1:] for case in PARTS], ids=[case[0] for case in PARTS]
)
def test_what_is_proposed(queries: str, frequent: str, parts: list[str]) -> None:
    workload, context = before(queries, frequent)
    assert shown(gloria(workload, context)) == parts


def test_a_pass_with_nothing_to_propose_gives_back_the_workload() -> None:
    workload, context = before("q: SEQ(A, B); r: SEQ(C, D)", "")
    assert gloria(workload, context) is workload
    assert greedy(workload, replace(context, forced="greedy")) is workload


def test_a_proposal_is_noted_with_its_queries() -> None:
    workload = gloria(*before(PARTS[0][1], PARTS[0][2]))
    assert [(n.name, n.queries, n.text) for n in workload.notes if n.name == "gloria"] == [
        ("gloria", ("q", "r"), "could share 2 states on 3 basis columns")
    ]


def test_greedy_proposes_only_if_it_is_asked_for() -> None:
    workload, context = before(PARTS[2][1], PARTS[2][2])
    assert greedy(workload, context) is workload
    assert shown(greedy(workload, replace(context, forced="greedy"))) == PARTS[2][3]


def test_a_query_that_another_stands_for_is_no_member() -> None:
    """q and r are one up to C; what is kept once has no basis of its own."""
    workload, context = before("q: SEQ(A, B, C, D); r: SEQ(A, B, C, E); s: SEQ(X, B, C, F)", "BC")
    assert shown(gloria(workload, context)) == ["q(B C) | s(B C)"]


def test_what_is_proposed_is_chosen_where_it_pays() -> None:
    workload, context = before(PARTS[2][1], PARTS[2][2])
    alone, together = (columns(choose(w, context), context).plan for w in (workload, gloria(workload, context)))
    prices = [load(plan, context.rates, context.model, context.second).nanoseconds for plan in (alone, together)]
    assert prices[1] < 0.7 * prices[0]
    assert any(part.basis for part in together.sharing)


@dataclass(frozen=True)
class Fewer(Same):
    """Each condition halves how often a letter comes, so that none is nearly like another."""

    def rate(self, letter: Letter) -> float:
        return 1000.0 / 2.0 ** (len(letter.conditions) + len(letter.excluded))


@pytest.mark.parametrize(
    "rates", [Fewer(), Same()], ids=["letters that differ", "letters of a type that come equally often"]
)
@example(cases(size=3)(Random(38196)))  # B with a condition in one query and without in another
@given(drawn(cases(size=3)))
@settings(suppress_health_check=list(HealthCheck))
def test_of_any_program_states_of_the_same_letters_are_proposed(rates: Same, case: Case) -> None:
    """Letters that nearly all events of their type have are one to the pass."""
    try:
        compiled = compile_text(case.text)
    except Refused:
        return
    shared = plan_shared(compiled.program, Options(1, without=("columns",)))
    for workload, found in zip(shared.workloads, shared.contexts, strict=True):
        context = replace(found, rates=rates)
        parts = proposed(gloria(workload, context))
        replace(workload.plan, sharing=workload.plan.sharing + parts)
        automata = {q.name: q.automaton for q in counted(workload.plan)}
        for part in parts:
            of_members = set()
            for member in part.members:
                automaton = automata[member.query]
                into = {s.target: workload.plan.letters[s.letter] for s in automaton.steps}
                letters = tuple(into[state] for state in member.states)
                of_members.add(letters if isinstance(rates, Fewer) else tuple(one.raw_type for one in letters))
            assert len(of_members) == 1
        chosen = columns(choose(gloria(workload, context), context), context).plan
        alone = columns(workload, context).plan
        costs = [load(plan, context.rates, context.model, context.second).nanoseconds for plan in (chosen, alone)]
        assert costs[0] <= costs[1] * (1 + 1e-9)
