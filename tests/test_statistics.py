"""Statistics: measured on events that can be counted by hand, written down and read again, and what is assumed without
them.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

import cepc
from cepc.cli import cepc as command
from cepc.planning import plan_program
from cepc.planning.logical import LogicalPlan
from cepc.running.given import read_given
from cepc.statistics import Grouping, Statistics, TypeStatistics
from cepc.statistics.as_json import WrongFormError, from_json, to_json
from cepc.statistics.measure import measure
from cepc.statistics.read import read_statistics
from cepc_runtime.plan.stream import Letter

STREAM = """\
STREAM s (at BIGINT, kind STRING, k INT, x INT)
EVENT TIME at UNIT ms
EVENT TYPE kind IN ('A', 'B', 'C');
"""
QUERY = "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WHERE [k] AND B.x > 3 WITHIN 10 s SLIDE 10 s;\n"

# In group 1: A B B A B, in group 2: A B B; the C is no event of the query's.
EVENTS = [
    (0, "A", 1, 1),
    (100, "A", 2, 9),
    (200, "B", 1, 4),
    (300, "B", 2, 3),
    (400, "B", 1, 5),
    (400, "B", 2, None),
    (500, "C", 1, 7),
    (600, "A", 1, 2),
    (2000, "B", 1, 1),
    (None, "B", 1, 1),
    (2000, None, 1, 1),
]
COLUMNS = ("at", "kind", "k", "x")
TYPES = (pa.int64(), pa.string(), pa.int32(), pa.int32())


def plan_of(text: str) -> LogicalPlan:
    return plan_program(cepc.compile(text).program).plans[0]


def table(events: Sequence[tuple[object, ...]] = EVENTS) -> pa.Table:
    return pa.table([pa.array([e[i] for e in events], type_) for i, type_ in enumerate(TYPES)], COLUMNS)


def measured(query: str = QUERY, events: Sequence[tuple[object, ...]] = EVENTS) -> Statistics:
    program = cepc.compile(STREAM + query).program
    plan = plan_program(program).plans[0]
    stream = program.streams[0]
    read = read_given(table(events), replace(plan.stream, raw_types=None), stream.input)
    return measure(plan, read.table, stream.types)


def letters(condition: str, pattern: str = "A") -> tuple[Letter, ...]:
    """The letters of a query with this condition, and another without."""
    where = f"WHERE {condition}" if condition else ""
    return plan_of(f"{STREAM}QUERY q RETURN COUNT(*) AS n PATTERN SEQ({pattern}) {where} WITHIN 1 s SLIDE 1 s;").letters


# ---- measured


def test_rates_are_over_the_time_from_the_first_event_to_the_last() -> None:
    found = measured()
    assert found.events == 9
    assert found.seconds == 2.0
    assert {name: one.rate for name, one in found.types.items()} == {"A": 1.5, "B": 2.5, "C": 0.5}
    assert found.rate(Letter(None)) == 4.5


def test_the_rate_of_a_letter_counts_the_events_that_pass_its_conditions() -> None:
    a, b = plan_of(STREAM + QUERY).letters
    found = measured()
    assert found.selectivity(b) == 2 / 5  # of 4, 3, 5, null and 1
    assert (found.rate(a), found.rate(b)) == (1.5, 1.0)


def test_a_letter_of_several_conditions_was_measured_as_a_whole() -> None:
    query = "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WHERE B.x > 3 AND B.x < 5 WITHIN 1 s SLIDE 1 s;"
    found = measured(query)
    assert found.types["B"].true_for == {"x < 5": 3 / 5, "x > 3": 2 / 5, "x < 5 AND x > 3": 1 / 5}
    assert found.selectivity(plan_of(STREAM + query).letters[1]) == 1 / 5


def test_conditions_that_were_measured_one_by_one_are_taken_to_be_independent() -> None:
    found = Statistics(types={"A": TypeStatistics(2.0, {"x > 3": 0.5, "k = 1": 0.25})})
    assert found.rate(letters("A.x > 3 AND A.k = 1")[0]) == 2.0 * 0.5 * 0.25


def test_statistics_survive_that_a_condition_is_written_otherwise_and_queries_move() -> None:
    query = "QUERY new RETURN COUNT(*) AS n PATTERN SEQ(C, B bee) WHERE (bee.x  >  3) WITHIN 1 s SLIDE 1 s;"
    assert measured().selectivity(plan_of(STREAM + query).letters[1]) == 2 / 5


def test_groups_are_those_of_each_partition() -> None:
    found = measured()
    assert found.groups(()) == 1
    assert found.groups(["k"]) == 2
    assert (found.largest(()), found.largest(["k"]), found.largest(["x"])) == (1, 5 / 8, 0)


@pytest.mark.parametrize(
    ("events", "rate"), [([], 1.0), ([(7, "A", 1, 1)], 1.0), ([(7, "A", 1, 1), (7, "A", 2, 1)], 2.0)]
)
def test_of_one_instant_only_the_number_of_events_is_known(events: Sequence[tuple[object, ...]], rate: float) -> None:
    assert measured(events=events).rate(Letter("A")) == rate


def test_a_type_that_a_query_asks_for_and_that_never_occurs_has_the_rate_nought() -> None:
    assert measured(events=[(0, "A", 1, 1), (1000, "A", 1, 1)]).rate(Letter("B")) == 0


def test_of_a_stream_with_one_type_every_event_is_of_it() -> None:
    stream = "STREAM s (at BIGINT, x INT) EVENT TIME at UNIT s;"
    plan = plan_of(f"{stream} QUERY q RETURN COUNT(*) AS n PATTERN SEQ(s a, s b) WHERE a.x > 1 WITHIN 9 s SLIDE 9 s;")
    found = measure(
        plan, pa.table({"at": pa.array([0, 1, 2], pa.int64()), "x": pa.array([1, 2, 3], pa.int32())}), ["s"]
    )
    assert sorted(found.rate(letter) for letter in plan.letters) == [1.0, 1.5]


# ---- assumed


@pytest.mark.parametrize(
    ("condition", "share"),
    [
        ("", 1),
        ("A.x = 1", 1 / 10),
        ("A.kind LIKE 'a%'", 1 / 10),
        ("A.x > 1", 1 / 3),
        ("A.x <> 1", 9 / 10),
        ("A.x BETWEEN 1 AND 5", 1 / 4),
        ("A.x IN (1, 2, 3)", 3 / 10),
        ("A.x IN (1, 2, 3, 4, 5, 6, 7)", 1 / 2),
        ("A.x IS NULL", 1 / 10),
        ("A.x IS NOT NULL", 9 / 10),
        ("(A.x = 1 OR A.k = 1)", 1 - 0.9 * 0.9),
        ("A.x = 1 AND A.k > 1", 1 / 10 * 1 / 3),
        ("ISNAN(CAST(A.x AS DOUBLE))", 1 / 3),
    ],
)
def test_without_statistics_a_condition_has_a_share_that_everybody_knows(condition: str, share: float) -> None:
    (letter,) = letters(condition)
    assert Statistics().selectivity(letter) == pytest.approx(share)
    assert Statistics().rate(letter) == pytest.approx(share)


@pytest.mark.parametrize(
    ("partition", "groups"),
    [([], 1), (["k"], 100), (["a"], 7), (["a", "k"], 100), (["b"], 100), (["c"], 30), (["a", "b"], 5000)],
)
def test_columns_make_as_many_groups_as_what_is_known_of_others_allows(partition: list[str], groups: float) -> None:
    known = {("a",): Grouping(7), ("c", "d"): Grouping(30), ("b", "z"): Grouping(9000), ("a", "b"): Grouping(5000)}
    assert Statistics(groupings=known).groups(partition) == groups


def test_the_share_of_events_in_groups_with_a_letter_is_that_of_its_type_at_most() -> None:
    found = measured()
    assert found.groupings[("k",)].in_groups_with == {"A": {"": 1.0}, "B": {"": 1.0, "x > 3": 5 / 8}}
    assert found.groupings[()].in_groups_with == {}  # all events are one group
    b = plan_of(STREAM + QUERY).letters[1]
    assert found.in_groups_with(b, ["k"]) == 5 / 8
    known = Statistics(groupings={("k",): Grouping(in_groups_with={"B": {"": 0.5}})})
    assert (known.in_groups_with(b, ["k"]), known.in_groups_with(b, ["x"])) == (0.5, 1.0)


# ---- files


def test_a_file_says_what_was_measured() -> None:
    found = {"s": measured()}
    assert from_json(to_json(found)) == found
    assert to_json(from_json(to_json(found))) == to_json(found)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("[]", "the file is no object"),
        ('{"stream": {}}', "the file has a key `stream`; there `streams` can be"),
        ('{"streams": {"s": {"types": []}}}', "`types` of `s` is no object"),
        ('{"streams": {"s": {"types": {"A": {"rate": -1}}}}}', "`rate` of `A` of `s` is -1; it has to be at least 0"),
        ('{"streams": {"s": {"types": {"A": {"rate": NaN}}}}}', "`rate` of `A` of `s` is nan; it has to be at least 0"),
        ('{"streams": {"s": {"types": {"A": {"rate": true}}}}}', "`rate` of `A` of `s` is no number"),
        (
            '{"streams": {"s": {"types": {"A": {"true_for": {"x > 1": 2}}}}}}',
            "`x > 1` in `true_for` of `A` of `s` is 2; it has to be from 0 to 1",
        ),
        ('{"streams": {"s": {"groupings": {}}}}', "`groupings` of `s` is no list"),
        ('{"streams": {"s": {"groupings": [{"by": "k"}]}}}', "`by` of a grouping of `s` is no list of columns"),
        (
            '{"streams": {"s": {"groupings": [{"in_groups_with": {"A": {"x > 3": 2}}}]}}}',
            "`x > 3` in `A` in `in_groups_with` of a grouping of `s` is 2; it has to be from 0 to 1",
        ),
    ],
)
def test_a_file_of_another_form_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(WrongFormError) as raised:
        from_json(text)
    assert str(raised.value) == reason


def test_every_part_of_a_file_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    path.write_text('{"streams": {"s": {"types": {"A": {"rate": 5}}}}}')
    found = read_statistics(str(path), cepc.compile(STREAM + QUERY).program)
    assert found == {"s": Statistics(types={"A": TypeStatistics(5.0)})}
    path.write_text("{}")
    assert read_statistics(str(path), cepc.compile(STREAM + QUERY).program) == {"s": Statistics()}


@pytest.mark.parametrize(
    ("content", "code", "part"),
    [
        (None, "E0003", "No such file"),
        (None, "E0003", "stats.json` writes the statistics of events"),
        ("{", "E0809", "is no statistics file"),
        ('{"streams": {"t": {}}}', "E0810", "the stream `t`, which the program does not have"),
        ('{"streams": {"s": {"types": {"AB": {}}}}}', "E0810", "the type `AB`, which the stream `s` does not have"),
        ('{"streams": {"s": {"groupings": [{"in_groups_with": {"D": {}}}]}}}', "E0810", "the type `D`"),
        ('{"streams": {"s": {"groupings": [{"by": ["key"]}]}}}', "E0810", "the column `key`, which the stream `s`"),
    ],
)
def test_a_file_that_does_not_fit_the_program_is_an_error(
    content: str | None, code: str, part: str, tmp_path: Path
) -> None:
    path = tmp_path / "stats.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(cepc.DataError) as raised:
        read_statistics(str(path), cepc.compile(STREAM + QUERY).program)
    assert [d.code for d in raised.value.diagnostics] == [code]
    assert part in str(raised.value)


# ---- the command


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.cep").write_text(STREAM + QUERY)
    Path("s.jsonl").write_text("".join(json.dumps(dict(zip(COLUMNS, e, strict=True))) + "\n" for e in EVENTS))


def analyze(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["analyze", *arguments])


def test_analyze_prints_tables() -> None:
    result = analyze("s.cep", "--events", "s.jsonl")
    assert result.exit_code == 0, result.output
    assert (
        result.stdout
        == """\
stream s: 9 events in 2 seconds

  type  a second
  A          1.5
  B          2.5
  C          0.5

  type  condition  true for
  B     x > 3         40.0%

  groups by       groups  largest
  (all together)       1     100%
  k                    2    62.5%

  groups by  type  condition  events in groups with it
  k          B     x > 3                         62.5%
"""
    )


def test_analyze_writes_a_file_that_is_read_as_it_was_measured() -> None:
    assert analyze("s.cep", "--events", "s.jsonl", "-o", "stats.json").exit_code == 0
    assert read_statistics("stats.json", cepc.compile("s.cep").program) == {"s": measured()}


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["s.cep"], 2, "E0705"),
        (["s.cep", "--events", "absent.jsonl"], 2, "E0701"),
        (["absent.cep"], 2, "E0001"),
        (["s.cep", "--events", "s.jsonl", "-o", "no/where.json"], 2, "make its directory first: `mkdir -p no`"),
        (["s.cep", "--events", "s.jsonl", "-o", "."], 2, "give the name of a file, or another place"),
        (["s.cep", "--events", "empty.jsonl"], 0, "stream s: 0 events"),
    ],
)
def test_analyze_ends_as_run_does(arguments: list[str], status: int, part: str) -> None:
    Path("empty.jsonl").write_text("")
    result = analyze(*arguments)
    assert result.exit_code == status
    assert part in result.output


def test_a_condition_without_a_value_for_an_event_is_said() -> None:
    Path("s.cep").write_text(STREAM + QUERY.replace("B.x > 3", "1 / (B.x - 4) > 0"))
    result = analyze("s.cep", "--events", "s.jsonl")
    assert result.exit_code == 1
    assert "E0804" in result.stderr
