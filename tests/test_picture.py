"""`cepc explain --format svg|html`: the queries' automata as a picture, and a page around it."""

from __future__ import annotations

import random
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from cepc.api import check_text
from cepc.cli import cepc
from cepc.explaining import as_html, as_svg
from cepc.explaining.explanation import Explanation, explain
from cepc.explaining.graph import Graph, graph_of
from cepc.explaining.layout import APART, HEIGHT, lay_out
from cepc.explaining.panes import MOST, panes
from cepc.sharing import Options, plan_shared
from tests.browser import browsed

if TYPE_CHECKING:
    from cepc.model import CheckedProgram

STREAM = "STREAM s (kind STRING, ts TIMESTAMP, x INT) EVENT TIME ts EVENT TYPE kind;"
Q = "QUERY q RETURN COUNT(*) PATTERN SEQ(A, B+, C) WITHIN 10 min SLIDE 5 min;"
R = "QUERY r RETURN COUNT(*) PATTERN SEQ(A, B+, D) WITHIN 10 min SLIDE 5 min;"
M = "QUERY m RETURN MATCH A.x PATTERN SEQ(A, NOT C, B) WITHIN 10 min;"
HOSTILE = "`</script><script>document.title='out'</script><img src=x onerror=alert(1)>\" & ]]>`"


def explained(text: str) -> tuple[CheckedProgram, Explanation]:
    program = check_text(f"{STREAM}\n{text}", "t.cep").program
    assert program is not None
    (found,) = explain(program, plan_shared(program, Options(seconds=None)))
    return program, found


def drawn(text: str) -> Graph:
    return graph_of(explained(text)[1])


def svg(text: str) -> str:
    return as_svg.to_svg([explained(text)[1]])


def page(text: str) -> str:
    program, found = explained(text)
    return as_html.to_html(program, [found], {"t.cep": text}, "")


def many(number: int) -> str:
    """Queries with common beginnings, repetitions, options and two kinds of windows."""
    draw = random.Random(number)
    queries = []
    for i in range(number):
        tail = ", ".join(name + draw.choice(["", "+", "?"]) for name in draw.sample("DEFGH", draw.randint(1, 3)))
        within = draw.choice(["10 min SLIDE 5 min", "1 h SLIDE 10 min"])
        start = draw.choice(["A, B", "A, SEQ(B, C)+", "B"])
        queries.append(f"QUERY q{i} RETURN TRY_COUNT(*) AS n PATTERN SEQ({start}, {tail}, AND(I, J)) WITHIN {within};")
    return "\n".join(queries)


# ---- the graph


def test_a_state_that_is_kept_once_is_one_node_of_both_queries() -> None:
    nodes = {node.label: node for node in drawn(Q + R).nodes}
    assert len(nodes) == len(drawn(Q + R).nodes) == 7  # start, A, B, C, D and the names of the queries
    assert nodes["B"].queries == (0, 1)
    assert nodes["C"].queries == (0,)
    assert nodes["B"].once is not None
    assert nodes["C"].once is None


def test_an_edge_belongs_to_the_queries_that_go_it() -> None:
    graph = drawn(Q + R)
    ways = {(graph.nodes[e.source].label, graph.nodes[e.target].label): e.queries for e in graph.edges}
    assert ways == {
        ("start", "A"): (0, 1), ("A", "B"): (0, 1), ("B", "B"): (0, 1), ("B", "C"): (0,), ("B", "D"): (1,),
        ("C", "q"): (0,), ("D", "r"): (1,),
    }  # fmt: skip


def test_of_a_query_whose_matches_are_listed_the_places_are_drawn() -> None:
    graph = drawn(M)
    assert [node.label for node in graph.nodes] == ["start", "A", "B", "m"]
    assert all(node.listed for node in graph.nodes)


def test_an_edge_is_labelled_where_its_end_is_called_otherwise() -> None:
    graph = drawn("QUERY q RETURN COUNT(*) PATTERN AND(A, B) WITHIN 1 min;")
    assert {edge.label for edge in graph.edges if edge.ties} <= {"A", "B", "A or B"}
    assert {edge.label for edge in graph.edges if graph.nodes[edge.target].label == "A"} == {""}


def test_what_a_not_moves_is_drawn_as_such() -> None:
    text = "QUERY q RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B) WHERE A.x > PREV(A).x WITHIN 1 min SLIDE 30 s;"
    graph = drawn(text)
    moves = [(graph.nodes[e.source].label, graph.nodes[e.target].label, e.label) for e in graph.edges if e.moves]
    assert moves == [("A", "A past NOT", "NOT")]
    assert 'class="edge moves"' in svg(text)


JOINED = """QUERY q RETURN MATCH A.x PATTERN SEQ(A, B, C) WITHIN 10 s;
QUERY r RETURN MATCH A.x PATTERN SEQ(A, C) WITHIN 10 s;
QUERY t RETURN MATCH A.x PATTERN SEQ(A, B, C, D) WITHIN 10 s;
QUERY u RETURN MATCH D.x PATTERN SEQ(D, NOT C, B) WITHIN 10 s;"""


def test_of_matches_that_are_found_once_the_parts_are_drawn() -> None:
    graph = drawn(JOINED)
    nodes = {node.label: node for node in graph.nodes if node.kind == "state"}
    assert {label: node.queries for label, node in nodes.items()} == {
        "SEQ(A, C)": (0, 1, 2), "SEQ(A, B, C)": (0, 2), "SEQ(A, B, C, D)": (2,), "D": (3,), "B": (3,)
    }  # fmt: skip
    assert [label for label, node in nodes.items() if node.once is not None] == ["SEQ(A, C)", "SEQ(A, B, C)"]
    ways = {(graph.nodes[e.source].label, graph.nodes[e.target].label, e.label) for e in graph.edges}
    assert ways >= {
        ("start", "SEQ(A, C)", ""), ("SEQ(A, C)", "r", ""), ("SEQ(A, C)", "SEQ(A, B, C)", "with B"), ("SEQ(A, B, C)", "q", ""),
        ("SEQ(A, B, C)", "SEQ(A, B, C, D)", "with D"), ("SEQ(A, B, C, D)", "t", ""),
    }  # fmt: skip
    assert 'class="node state listed found"' in svg(JOINED)


def test_a_large_automaton_is_one_node() -> None:
    graph = drawn("QUERY q RETURN COUNT(*) PATTERN A{100} WITHIN 1 min;")
    assert [node.kind for node in graph.nodes] == ["large", "query"]
    assert re.fullmatch(r"\d+ states", graph.nodes[0].label)


# ---- windows

SLIDING = "QUERY {} RETURN TRY_COUNT(*) AS n PATTERN SEQ(A, B+, {}) WITHIN {};"
WINDOWS = {
    "one kind": (["20 min SLIDE 5 min"] * 2, [(0, 5, 10, 15, 20)]),
    "two slides": (["20 min SLIDE 5 min", "20 min SLIDE 4 min"], [(0, 4, 5, 8, 10, 12, 15, 16, 20)]),
    "a window that is no multiple of the slide": (["12 min SLIDE 5 min"] * 2, [(0, 2, 5, 7, 10, 12)]),
    "without overlap": (["5 min"] * 2, [(0, 5)]),
    "two windows": (["10 min SLIDE 5 min", "20 min SLIDE 5 min"], [(0, 5, 10, 15, 20)]),
    "too many": (["2 h SLIDE 1 min"] * 2, [tuple(range(MOST + 1))]),
}


@pytest.mark.parametrize(("windows", "expected"), WINDOWS.values(), ids=WINDOWS)
def test_windows_of_queries_that_share_cut_the_time_into_panes(
    windows: list[str], expected: list[tuple[int, ...]]
) -> None:
    text = "\n".join(SLIDING.format(f"q{i}", end, w) for i, (w, end) in enumerate(zip(windows, "CD", strict=True)))
    found = panes(explained(text)[1])
    minute = 60_000_000
    assert [tuple(edge // minute for edge in one.edges) for one in found] == expected
    assert [one.whole for one in found] == [len(expected[0]) <= MOST]
    assert {q for one in found for row in one.rows for q in row.queries} == {0, 1}


UNBOUNDED = (Q + R).replace("10 min SLIDE 5 min", "UNBOUNDED")


@pytest.mark.parametrize("text", [Q, JOINED, UNBOUNDED], ids=["one query", "matches listed", "one window"])
def test_without_windows_that_are_shared_there_are_no_panes(text: str) -> None:
    assert panes(explained(text)[1]) == ()


def test_windows_are_drawn_below_the_automata_inside_the_picture() -> None:
    root = ElementTree.fromstring(svg(Q + R))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "windows, and 2 panes in the longest" in texts
    assert "10 minutes sliding by 5 minutes: q, r" in texts
    boxes = [
        (e.attrib["height"], float(e.attrib["y"]))
        for e in root.iter("{http://www.w3.org/2000/svg}rect")
        if "y" in e.attrib
    ]
    states, windows = ([y for height, y in boxes if height == wanted] for wanted in ("30", "5"))
    assert len(windows) == 2
    assert max(states) < min(windows) < float(root.attrib["height"]) - 30


# ---- where it stands

PROGRAMS = {"one query": Q, "two": Q + R, "matches listed": M + Q, "a hundred": many(100)}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_no_node_lies_on_another(text: str) -> None:
    graph = drawn(text)
    layout = lay_out(graph)
    for layer in set(layout.layers):
        boxes = [box for box, at in zip(layout.boxes, layout.layers, strict=True) if at == layer]
        rows = sorted(box.y for box in boxes)
        assert all(below - above >= APART - 0.01 for above, below in pairwise(rows))
    columns = [
        [box for box, at in zip(layout.boxes, layout.layers, strict=True) if at == layer]
        for layer in sorted(set(layout.layers))
    ]
    for left, right in pairwise(columns):
        assert max(box.x + box.width / 2 for box in left) < min(box.x - box.width / 2 for box in right)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_all_nodes_lie_in_the_picture(text: str) -> None:
    layout = lay_out(drawn(text))
    assert all(box.x - box.width / 2 > 0 and box.x + box.width / 2 < layout.width for box in layout.boxes)
    assert all(HEIGHT / 2 < box.y < layout.height - HEIGHT / 2 for box in layout.boxes)


def test_queries_with_a_common_beginning_are_neighbours() -> None:
    other = "QUERY other RETURN COUNT(*) PATTERN SEQ(E, F) WITHIN 10 min SLIDE 5 min;"
    lanes = drawn(Q + other + R).lanes
    assert abs(lanes.index(0) - lanes.index(2)) == 1


# ---- as SVG


@pytest.mark.parametrize(
    "text", [Q + R, M, Q.replace("q", HOSTILE, 1), many(30)], ids=["shared", "listed", "hostile", "30"]
)
def test_a_picture_is_well_formed(text: str) -> None:
    root = ElementTree.fromstring(svg(text))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [e for e in root.iter() if e.tag.endswith(("script", "img"))]


def test_the_same_program_has_the_same_picture() -> None:
    assert svg(many(10)) == svg(many(10))


# ---- as a page


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_a_page_asks_nothing_of_a_network() -> None:
    found = Elements(page(Q + R + M)).found
    assert not [name for _, attributes in found for name in attributes if name in ("src", "href", "action")]
    assert not re.search(r"url\((?!#)|@import|https?:(?!//www\.w3\.org)", page(Q + R + M))


def test_names_cannot_leave_their_place() -> None:
    harmless, hostile = (Elements(page(text)).found for text in (Q, Q.replace("q", HOSTILE, 1)))
    assert [tag for tag, _ in hostile] == [tag for tag, _ in harmless]
    assert not [name for _, attributes in hostile for name in attributes if name.startswith("on")]


SHARED_MATCHES = (
    "QUERY m RETURN MATCH a.x PATTERN SEQ(A a, B b, C c) WHERE [x] WITHIN 10 min;"
    "QUERY m2 RETURN MATCH a.x PATTERN SEQ(A a, B b, D d) WHERE [x] WITHIN 10 min;"
)
SAID = [
    ("Sharing is expected to leave <strong>62%</strong> of the work", Q + R),
    ("counted by an automaton of 4 states", Q),
    ("its matches are listed one by one, along the places of its pattern", M),
    ("<dt>windows open</dt><dd>2 at once</dd>", Q),
    ("<dt>kept once</dt><dd>start, A, B: with r</dd>", Q + R),
    ("<h3>Could be</h3><ul><li>r2 would share all with q if its window were", Q + Q.replace(" q ", " r2 ").replace("5 min", "2 min")),
    ("Nothing is shared", Q),
    ("<td>SEQ(A, B)</td><td>m, m2</td>", SHARED_MATCHES),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "text"), SAID, ids=[sentence[:30] for sentence, _ in SAID])
def test_a_page_says(sentence: str, text: str) -> None:
    assert sentence in page(text)


# ---- in a browser


def lit(dom: str) -> list[str]:
    """The first words of what is said about the nodes that stand out."""
    return re.findall(r'<g class="node[^"]* on"[^>]*><title>([^,<\n]*)', dom)


def test_in_a_browser_an_address_shows_a_query(tmp_path: Path) -> None:
    (tmp_path / "plan.html").write_text(page(Q + R))
    dom = browsed(tmp_path / "plan.html", "r")
    assert lit(dom) == ["start", "A", "B", "D", "query r"]
    assert '<details class="query once on" data-query="0-1" open="">' in dom


CLICKED = {
    "a state that is kept once": ("picture.querySelectorAll('.node')[2]", ["start", "A", "B", "C", "query q", "D", "query r"]),
    "a query's name": ("picture.querySelector('.node.query')", ["start", "A", "B", "C", "query q"]),
    "a part": ("document.querySelector('[data-part]')", ["start", "A", "B"]),
}  # fmt: skip


@pytest.mark.parametrize(("element", "expected"), CLICKED.values(), ids=CLICKED)
def test_in_a_browser_a_click_shows(element: str, expected: list[str], tmp_path: Path) -> None:
    click = f"const picture = document.querySelector('.picture'); {element}.dispatchEvent(new MouseEvent('click'))"
    text = re.sub(r"<meta http-equiv[^>]*>", "", page(Q + R)).replace("</body>", f"<script>{click}</script></body>")
    (tmp_path / "plan.html").write_text(text)
    assert lit(browsed(tmp_path / "plan.html")) == expected


def test_in_a_browser_a_hostile_name_is_a_name(tmp_path: Path) -> None:
    text = page(Q.replace("q", HOSTILE, 1))
    (tmp_path / "plan.html").write_text(text)
    dom = browsed(tmp_path / "plan.html", HOSTILE.strip("`"))
    assert "<title>t.cep</title>" in dom
    assert len(lit(dom)) == 5


def test_the_policy_lets_no_other_script_run(tmp_path: Path) -> None:
    text = page(Q).replace("</body>", "<script>document.title = 'out'</script></body>")
    (tmp_path / "plan.html").write_text(text)
    assert "<title>t.cep</title>" in browsed(tmp_path / "plan.html")


# ---- the command


def test_the_picture_in_the_readme_is_the_one_that_is_drawn(tmp_path: Path) -> None:
    root = Path(__file__).parent.parent
    arguments = ["explain", str(root / "examples/food_delivery/queries.cep"), "-o", str(tmp_path / "p.svg")]
    assert CliRunner().invoke(cepc, arguments).exit_code == 0
    recorded = root / "docs/pictures/food_delivery.svg"
    assert recorded.read_text() == (tmp_path / "p.svg").read_text(), "make pictures"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.cep").write_text(STREAM + Q + R)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "start"),
    [("p.html", "<!doctype html>"), ("p.svg", "<svg"), ("p.json", "{"), ("p.dot", "digraph"), ("p.txt", "stream s")],
)
def test_the_format_is_what_the_name_of_the_output_ends_with(name: str, start: str, program: Path) -> None:
    result = CliRunner().invoke(cepc, ["explain", "p.cep", "-o", name])
    assert (result.exit_code, result.stdout) == (0, "")
    assert (program / name).read_text().startswith(start)


def test_a_format_goes_before_the_name(program: Path) -> None:
    assert CliRunner().invoke(cepc, ["explain", "p.cep", "--format", "svg", "-o", "p.html"]).exit_code == 0
    assert (program / "p.html").read_text().startswith("<svg")


@pytest.mark.parametrize("arguments", [["E0102", "-o", "x"], ["p.cep", "-o", "no/such/place.html"]])
def test_an_output_that_cannot_be_is_a_wrong_command(arguments: list[str], program: Path) -> None:
    assert CliRunner().invoke(cepc, ["explain", *arguments]).exit_code == 2
    assert not (program / "x").exists()
