"""`cepc run --report`: a page about what happened."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from cepc.cli import cepc
from cepc.reporting.history import BARS
from tests.browser import browsed

STREAM = "STREAM s (kind STRING, at TIMESTAMP, k BIGINT, x INT) EVENT TIME at EVENT TYPE kind IN ('A', 'B', 'C');\n"
PROGRAM = """
QUERY counted RETURN k, COUNT(*) AS n PATTERN SEQ(A, B+) WHERE [k] GROUP BY k WITHIN 1 MINUTE SLIDE 30 SECONDS;
QUERY summed RETURN k, SUM(B.x) AS total PATTERN SEQ(A, B+, C) WHERE [k] GROUP BY k WITHIN 1 MINUTE SLIDE 30 SECONDS;
QUERY listed RETURN MATCH k, A.x AS x PATTERN SEQ(A, NOT C, B) WHERE [k] WITHIN 1 MINUTE;
QUERY all_of_it RETURN COUNT(*) AS n PATTERN SEQ(A, C) WITHIN UNBOUNDED;
QUERY nothing RETURN MATCH k PATTERN SEQ(A, B, C, A) WHERE [k] WITHIN 1 s;
"""
EVENTS = [("A", 0, 1), ("B", 10, 1), ("B", 20, 1), ("C", 25, 1), ("A", 40, 2), ("B", 50, 2), ("A", 70, 1), ("B", 80, 1)]
HOSTILE = "`</title><script>document.title='out'</script><img src=x onerror=alert(1)>\" & ]]>`"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        {"kind": kind, "at": f"2026-01-31T00:{at // 60:02}:{at % 60:02}Z", "k": k, "x": at} for kind, at, k in EVENTS
    ]
    Path("e.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def report(program: str = PROGRAM, *arguments: str) -> str:
    Path("p.cep").write_text(STREAM + program)
    done = CliRunner().invoke(
        cepc, ["run", "p.cep", "--events", str(Path("e.jsonl").resolve()), "--report", "r.html", *arguments]
    )
    assert done.exit_code == 0, done.stderr
    return Path("r.html").read_text()


def plots(page: str) -> dict[str, tuple[str, list[str]]]:
    """Of each query what is said, and the counts of its bars."""
    found = re.findall(r'<div class="history"><p><b>(.*?)</b>: (.*?)</p>(.*?)</div>', page, re.DOTALL)
    return {name: (said, re.findall(r"<title>([^<]*)</title></rect>", plot)) for name, said, plot in found}


@pytest.mark.parametrize("measures", ["COUNT(*) AS n", "FIRST(kind) AS match_end"])
@pytest.mark.parametrize("rows", ["ONE ROW", "ALL ROWS"])
def test_clauses_of_sql_have_rows_and_no_times(measures: str, rows: str) -> None:
    Path("c.csv").write_text("at,kind\n1,A\n2,B\n3,B\n")
    Path("p.sql").write_text(
        "CREATE TABLE t (at INT, kind STRING) USING csv OPTIONS (header 'true') LOCATION 'c.csv';\n"
        f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY at MEASURES {measures} {rows} PER MATCH\n"
        "PATTERN (A B) DEFINE A AS kind = 'A') AS m;"
    )
    done = CliRunner().invoke(cepc, ["run", "p.sql", "--report", "r.html"])
    assert done.exit_code == 0, done.stderr
    assert plots(Path("r.html").read_text()) == {"m": ("2 rows" if rows == "ALL ROWS" else "1 row", [])}


def test_labels_stand_below_the_name_of_their_query() -> None:
    page = report("QUERY q WITH (severity = 'high', owner = '<us>') RETURN COUNT(*) AS n PATTERN A WITHIN 1 MINUTE;")
    assert "<th>q<br>severity: high<br>owner: &lt;us&gt;</th>" in page


def test_matches_are_shown_over_time_and_rows_where_none_are_counted() -> None:
    assert plots(report()) == {
        "counted": ("6 rows; 10 matches in all windows, by the beginning of the window", ["3", "4", "2", "1"]),
        "summed": ("2 rows; by the beginning of the window", ["1", "1"]),
        "listed": ("4 rows; by the time of the last event of each match", ["1", "1", "1", "1"]),
        "all_of_it": ("1 row", []),
        "nothing": ("0 rows", []),
    }  # fmt: skip


def test_every_stage_has_its_time() -> None:
    page = report()
    stages = re.findall(r"<tr><th>([a-z ]+)</th><td[^>]*>.*?<td>([0-9.]+)</td></tr>", page)
    names = ["checking the program", "planning", "reading events", "deciding what to share", "finding matches",
             "sorting rows", "writing rows", "together"]  # fmt: skip
    assert [name for name, _ in stages][: len(names)] == names
    *each, together = [float(seconds) for _, seconds in stages[: len(names)]]
    assert sum(each) == pytest.approx(together, abs=0.01)


def test_the_page_begins_with_what_the_command_says() -> None:
    assert "<p>8 events read from 1 file, none dropped; 13 rows of 5 queries</p>" in report()


def test_what_was_planned_to_be_shared_is_there() -> None:
    two = "QUERY {} RETURN COUNT(*) PATTERN SEQ({}) WITHIN 10 min SLIDE 5 min;"
    page = report(two.format("q", "A, B+, C") + two.format("r", "A, B+"))
    assert re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", page) == [
        ("kept once", "start, A, B", "q, r")
    ]
    assert "one state stands for all: they begin alike" in page  # as the page of `cepc explain` says it
    assert "Nothing is shared: every query is evaluated by itself." in report(two.format("q", "A, B+, C"))


def test_what_was_decided_while_events_were_there_is_counted() -> None:
    from cepc.reporting import as_html
    from cepc_runtime.kernel.run import Effort

    shown = "".join(as_html._done(Effort(1_200, 3_400, 5, 2, 30, 10, 4)))
    assert "a query got columns of its own <b>4</b> times" in shown
    assert "<b>1,200</b> row operations, which changed <b>3,400</b> numbers" in shown
    assert re.findall(
        r"<th>(once[^<]*|for[^<]*)</th>.*?<span>(.*?)</span></td><td>(\d+)</td><td>(\d+)</td>", shown
    ) == [
        ("once for all queries", "75%", "5", "30"),
        ("for each query", "25%", "2", "10"),
    ]
    assert "Runs of events" not in "".join(as_html._done(Effort(1, 1)))


def test_counts_that_grow_exponentially_are_shown_as_logarithms() -> None:
    lines = [
        {"kind": "A", "at": f"2026-01-31T0{hour}:00:{second:02}Z", "k": 1, "x": 1}
        for hour, number in enumerate((2, 5, 30))
        for second in range(number)
    ]
    Path("e.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = report("QUERY q RETURN CAST(COUNT(*) AS STRING) AS n PATTERN A+ WITHIN 1 h;")
    said, counts = plots(page)["q"]
    assert said.endswith("(heights are logarithms)")
    assert counts == ["3", "31", "1.07e+09"]
    heights = [float(h) for h in re.findall(r'height="([0-9.]+)"><title>', page)]
    assert heights[0] < heights[1] < heights[2] < 20 * heights[0]


def test_a_long_time_has_a_limited_number_of_bars() -> None:
    lines = [
        {"kind": "A", "at": f"2026-01-{day + 1:02}T{hour:02}:00:00Z", "k": 1, "x": 1}
        for day in range(30)
        for hour in range(24)
    ]
    Path("e.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    _, counts = plots(report("QUERY q RETURN MATCH A.x PATTERN A WITHIN 1 h;"))["q"]
    assert len(counts) == BARS
    assert sum(map(int, counts)) == 720


@pytest.mark.parametrize(
    ("stream", "row", "first"),
    [("at BIGINT) EVENT TIME at UNIT ms", {"at": 1500}, "1500"), ("at DATE) EVENT TIME at", {"at": "2026-01-31"}, "2026-01-31")],
    ids=["a number", "a date"],
)  # fmt: skip
def test_every_event_time_has_an_axis(stream: str, row: dict[str, object], first: str) -> None:
    Path("d.cep").write_text(f"STREAM d ({stream};\nQUERY q RETURN MATCH d.at PATTERN d WITHIN 1 DAY;")
    Path("d.jsonl").write_text(json.dumps(row) + "\n")
    done = CliRunner().invoke(cepc, ["run", "d.cep", "--events", "d.jsonl", "--report", "r.html"])
    assert done.exit_code == 0, done.stderr
    assert f">{first}</text>" in Path("r.html").read_text()


def test_warnings_are_on_the_page() -> None:
    page = report("QUERY q RETURN COUNT(*) PATTERN A+ WITHIN 1 min;")
    assert "warning[W0401]" in page
    assert '<section class="warnings">' not in report("QUERY q RETURN MATCH A.x PATTERN A WITHIN 1 min;")


class Elements(HTMLParser):
    """Checks that what begins ends, and collects what might be fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta",):
            self.open.append(tag)
        self.fetched += [name for name, _ in attrs if name in ("src", "href")] + [tag] * (
            tag in ("script", "link", "img")
        )

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_fetches_and_runs_nothing() -> None:
    elements = Elements()
    elements.feed(report(PROGRAM.replace("counted", HOSTILE)))
    assert elements.open == []
    assert elements.fetched == []


def test_in_a_browser_a_hostile_name_is_a_name(tmp_path: Path) -> None:
    report(PROGRAM.replace("counted", HOSTILE))
    dom = browsed(tmp_path / "r.html")
    assert "<title>A run of &lt;/title&gt;&lt;script&gt;" in dom
    assert len(re.findall(r"<title>\d+</title></rect>", dom)) == 10


def test_a_page_that_cannot_be_written_is_a_wrong_command() -> None:
    Path("p.cep").write_text(STREAM + PROGRAM)
    done = CliRunner().invoke(
        cepc, ["run", "p.cep", "--events", str(Path("e.jsonl").resolve()), "--report", "no/such/r.html"]
    )
    assert done.exit_code == 2
    assert "no/such/r.html" in done.stderr


@pytest.mark.spark
@pytest.mark.long  # a start of Spark of its own
def test_spark_tells_the_same_and_its_own_stages() -> None:
    here = plots(report())
    page = report(PROGRAM, "--engine", "spark")
    assert plots(page) == here
    for stage in ("planning", "starting Spark", "reading events and finding matches", "sorting rows"):
        assert f"<th>{stage}</th>" in page
    assert "row operations" not in page


def test_bars_are_in_step_with_the_windows() -> None:
    """34 windows in at most 90 bars: each bar is as wide as every other."""
    lines = [
        {"kind": "AB"[i % 2], "at": f"2026-01-31T{i // 60:02}:{i % 60:02}:00Z", "k": 1, "x": 0} for i in range(170)
    ]
    Path("e.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = report("QUERY q RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 5 MINUTES SLIDE 5 MINUTES;")
    bars = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+"><title>', page)
    gaps = {round(float(b) - float(a) - float(width), 0) for (a, width), (b, _) in pairwise(bars)}
    assert (len(bars), gaps) == (34, {1.0})
