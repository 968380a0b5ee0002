"""The generator of Gloria's workloads has the statistics it promises, and its text is the authors' file form."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from bench.gloria_workloads import FREQUENT, RARE, SHARED, Workload, mixed, workload

from cepc.api import check_text
from cepc.passes.gloria import PaperModel, Query, share
from cepc.passes.pattern import PlannedPattern, events, pattern_of
from cepc.planning import plan_program
from cepc_grammar.pattern import Repeat, Seq

ROOT = Path(__file__).parent.parent


def depth(pattern: PlannedPattern) -> int:
    match pattern:
        case Repeat(body):
            return 1 + depth(body)
        case Seq(elements):
            return max(map(depth, elements))
    return 0


def letters(made: Workload) -> list[list[int]]:
    return [[e.letter for e in events(m.pattern)] for m in made.made]


def test_every_seq_query_is_a_private_head_the_shared_types_and_a_private_tail() -> None:
    made = workload(200)
    users = Counter(letter for query in letters(made) for letter in set(query))
    for query in letters(made):
        start = query.index(0)
        assert query[start : start + SHARED] == list(range(SHARED))
        private = query[:start] + query[start + SHARED :]
        assert 1 <= start <= 3
        assert 1 <= len(query) - start - SHARED <= 3
        assert {users[letter] for letter in private} == {1}
    assert [users[letter] for letter in range(SHARED)] == [200] * SHARED


def test_shared_types_are_rare_and_private_ones_frequent() -> None:
    made = workload(200)
    for letter, rate in made.rates.items():
        low, high = RARE if letter in made.shared else FREQUENT
        assert low <= rate <= high
    private = [rate for letter, rate in made.rates.items() if letter not in made.shared]
    assert sum(private) / len(private) == pytest.approx(sum(FREQUENT) / 2, rel=0.05)


def test_parts_of_the_sequence_begin_and_end_everywhere() -> None:
    found = Counter((min(q), sum(e < 6 for e in q)) for q in letters(workload(300, shared=6, whole=False)))
    assert set(found) == {(first, n) for first in range(5) for n in range(2, 7 - first)}


@pytest.mark.parametrize("length", range(2, 11))
@pytest.mark.parametrize("nesting", range(1, 6))
def test_kleene_sub_patterns_have_their_length_and_depth(length: int, nesting: int) -> None:
    if nesting > length:
        with pytest.raises(ValueError, match="type of its own"):
            workload(2, 1, length=length, nesting=nesting)
        return
    made = workload(3, 1, length=length, nesting=nesting)
    assert {depth(m.pattern) for m in made.made} == {nesting}
    assert all(set(range(SHARED, SHARED + length)) <= set(query) for query in letters(made))


def test_a_mixed_workload_has_six_seq_queries_for_each_kleene_query() -> None:
    assert Counter(m.kleene for m in mixed(140).made) == {False: 120, True: 20}


def test_windows_last_5_to_20_minutes() -> None:
    found = Counter(m.minutes for m in workload(400).made)
    assert set(found) == {5, 10, 15, 20}
    assert min(found.values()) > 70


def test_the_same_seed_makes_the_same_workload_and_another_another() -> None:
    assert mixed(20, 3) == mixed(20, 3) != mixed(20, 4)


def test_the_text_is_a_workload_file_that_parses_to_the_same_patterns() -> None:
    made = mixed(14, length=4, nesting=2)
    stream = "STREAM stocks (ts TIMESTAMP, symbol STRING, open DOUBLE) EVENT TIME ts EVENT TYPE symbol;\n\n"
    program = check_text(stream + made.text, "workload.cep").program
    assert program is not None
    (plan,) = plan_program(program).plans
    names = {letter: i for i, letter in enumerate(plan.letters)}
    back = {q.name: pattern_of(q, names) for q in program.queries}
    for m in made.made:
        assert [plan.letters[e.letter].raw_type for e in events(back[m.name])] == [
            e.variable for e in events(m.pattern)
        ]
        assert depth(back[m.name]) == depth(m.pattern)


def test_a_query_of_the_authors_files_goes_through_the_pass() -> None:
    """The form of their files as it is, twice, so that there is something to share."""
    query = """
    RETURN T1.open_level, AVG(T1.open)
    PATTERN SEQ(SEQ(T1,SEQ(T2,T3,T4)+,T5)+, T6,T7)
    WHERE T1.vol > 100
    GROUP-BY T1.open_level
    WITHIN 15 min SLIDE 5 min
    """
    stream = "STREAM s (ts TIMESTAMP, t STRING, open DOUBLE, vol BIGINT, open_level INT) EVENT TIME ts EVENT TYPE t;"
    program = check_text(f"{stream}\n\nq0{query}\n\nq1{query}", "workload.cep").program
    assert program is not None
    (plan,) = plan_program(program).plans
    names = {letter: i for i, letter in enumerate(plan.letters)}
    found = share([Query(q.name, pattern_of(q, names)) for q in program.queries], PaperModel(default=10))
    assert {s.queries for s in found.shared} == {("q0", "q1")}
    # Around T1 … T5: 4 transitions onwards and 2 back; then to T6 and to T7.
    assert len({s.members[0][1:] for s in found.shared}) == 8


def test_the_comparison_with_the_best_plans_runs() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "bench.gloria_quality", "--workloads", "6"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(run.stdout.splitlines()) == 13


def test_the_benchmark_runs() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "bench.gloria", "--rounds", "1", "--queries", "6", "--kleene-queries", "4"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = run.stdout.splitlines()
    assert len(lines) == 19
    assert all(line.count("x") >= 2 for line in lines[2:])
