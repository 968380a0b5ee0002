"""`cepc explain --format svg|html`: the queries' automata as a picture, and a page around it."""

from __future__ import annotations

import json
import random
import re
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from cepc.api import check_text
from cepc.cli import cepc
from cepc.explaining import as_dot, as_html, as_svg, vendor
from cepc.explaining.elements import elements
from cepc.explaining.explanation import Explanation, explain
from cepc.explaining.graph import Graph, graph_of
from cepc.explaining.layout import APART, HEIGHT, lay_out
from cepc.explaining.panes import MOST, panes
from cepc.shared_plans import Options, plan_shared
from tests.browser import browsed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc.explaining.graph import View
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


def drawn(text: str, view: View = "pattern") -> Graph:
    return graph_of(explained(text)[1], view)


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


def test_of_a_query_whose_matches_are_listed_the_pattern_is_drawn() -> None:
    graph = drawn(M)
    assert [node.label for node in graph.nodes] == ["start", "A", "NOT C", "B", "m"]
    assert all(node.listed for node in graph.nodes)
    assert [node.label for node in drawn(M, "states").nodes] == ["start", "A", "B", "m"]


def test_a_step_of_an_automaton_is_labelled_where_its_end_is_called_otherwise() -> None:
    graph = drawn("QUERY q RETURN COUNT(*) PATTERN AND(A, B) WITHIN 1 min;", "states")
    assert {edge.label for edge in graph.edges if edge.ties}
    assert {edge.label for edge in graph.edges if edge.ties} <= {"A", "B", "A or B"}
    assert {edge.label for edge in graph.edges if graph.nodes[edge.target].label == "A"} == {""}


MOVED = "QUERY q RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B) WHERE A.x > PREV(A).x WITHIN 1 min SLIDE 30 s;"


def test_what_a_not_moves_is_drawn_as_such_in_the_automaton() -> None:
    graph = drawn(MOVED, "states")
    moves = [(graph.nodes[e.source].label, graph.nodes[e.target].label, e.label) for e in graph.edges if e.moves]
    assert moves == [("A", "A past NOT", "NOT")]
    moved = [one["classes"] for one in elements(explained(MOVED)[1], 0, "states")]
    assert "moves half first" in moved


def ways(text: str) -> set[tuple[str, str, str]]:
    """The edges of what is drawn, by the labels of their ends, with their own."""
    graph = drawn(text)
    return {(graph.nodes[e.source].label, graph.nodes[e.target].label, e.label) for e in graph.edges}


NOTS = {
    "at the end, with a bound": (
        "QUERY q RETURN MATCH A.x PATTERN SEQ(A, NOT P WITHIN 30 min) WITHIN 1 day;",
        {("start", "A", ""), ("A", "NOT P WITHIN 30 minutes", ""), ("NOT P WITHIN 30 minutes", "q", "")},
    ),
    "in a gap": (
        "QUERY q RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B) WITHIN 1 min SLIDE 30 s;",
        {("start", "A", ""), ("A", "A", ""), ("A", "NOT C", ""), ("NOT C", "B", ""), ("B", "q", "")},
    ),
    "at the beginning": (
        "QUERY q RETURN COUNT(*) PATTERN SEQ(NOT C, A) WITHIN 1 min SLIDE 30 s;",
        {("start", "NOT C", ""), ("NOT C", "A", ""), ("A", "q", "")},
    ),
    "before what may be absent": (
        "QUERY q RETURN COUNT(*) PATTERN SEQ(A, NOT C, B?, D) WITHIN 1 min SLIDE 30 s;",
        {("start", "A", ""), ("A", "NOT C", ""), ("NOT C", "B", ""), ("NOT C", "D", ""), ("B", "D", ""), ("D", "q", "")},
    ),
    "between alternatives": (
        "QUERY q RETURN COUNT(*) PATTERN SEQ(OR(A, B), NOT SEQ(C, D), E) WITHIN 1 min SLIDE 30 s;",
        {
            ("start", "A", ""), ("start", "B", ""), ("A", "NOT SEQ(C, D)", ""), ("B", "NOT SEQ(C, D)", ""),
            ("NOT SEQ(C, D)", "E", ""), ("E", "q", ""),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), NOTS.values(), ids=NOTS)
def test_a_not_is_drawn_in_its_gap(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert ways(text) == expected
    (forbidden,) = (node.label for node in drawn(text).nodes if node.kind == "not")
    assert f">{forbidden}</text>" in svg(text)
    assert f'label="{forbidden}", style="dashed"' in as_dot.to_dot([explained(text)[1]])
    assert [one["data"]["label"] for one in element_data(text).values() if "not" in one["classes"].split()] == [
        forbidden
    ]
    assert "what must not happen there" in page(text)


def test_two_nots_of_one_gap_are_one_node() -> None:
    (node,) = (
        n
        for n in drawn("QUERY q RETURN MATCH A.x PATTERN SEQ(A, NOT C, NOT D, B) WITHIN 1 min;").nodes
        if n.kind == "not"
    )
    assert (node.label, node.lines) == ("NOT C", ("NOT D",))


def test_a_not_between_states_that_are_kept_once_is_kept_once() -> None:
    text = "".join(
        f"QUERY {q} RETURN COUNT(*) PATTERN SEQ(A, NOT C, B, {end}) WITHIN 10 min SLIDE 5 min;"
        for q, end in (("q", "D"), ("r", "E"))
    )
    nodes = [(node.label, node.queries) for node in drawn(text).nodes if node.kind != "query"]
    assert nodes == [("start", (0, 1)), ("A", (0, 1)), ("NOT C", (0, 1)), ("B", (0, 1)), ("D", (0,)), ("E", (1,))]


THREE = "QUERY q RETURN {} PATTERN AND(A, B, C) WITHIN 1 min;"


@pytest.mark.parametrize("answer", ["COUNT(*)", "MATCH A.x"])
def test_and_is_one_box_with_its_operands(answer: str) -> None:
    text = THREE.format(answer)
    nodes = drawn(text).nodes
    assert [(node.kind, node.label, node.lines) for node in nodes[:2]] == [
        ("start", "start", ()), ("box", "AND", ("A", "B", "C")),
    ]  # fmt: skip
    assert len(nodes) == 3
    assert len(drawn(text, "states").nodes) > 8
    assert page(text).count('<script type="application/json">') == 2
    assert "The automata" in page(text)


def test_where_the_automaton_has_no_more_than_the_pattern_it_is_not_offered() -> None:
    assert page(Q + R).count('<script type="application/json">') == 1
    assert "<button data-view" not in page(Q + R)


def test_and_and_some_are_two_boxes_even_if_their_states_are_kept_once() -> None:
    two = THREE.format("COUNT(*)") + THREE.format("COUNT(*)").replace("AND", "SOME").replace("q", "r")
    assert [(n.label, n.queries) for n in drawn(two).nodes if n.kind == "box"] == [("AND", (0,)), ("SOME", (1,))]


def test_equal_boxes_that_are_kept_once_are_one() -> None:
    text = THREE.format("COUNT(*)") + THREE.format("SUM(A.x) AS s").replace("q", "r")
    assert [(n.label, n.queries) for n in drawn(text).nodes if n.kind == "box"] == [("AND", (0, 1))]


def lines(text: str) -> dict[str, tuple[str, ...]]:
    """What is below the labels of nodes."""
    return {node.label: node.lines for node in drawn(text).nodes if node.lines}


def test_conditions_stand_where_they_are_tested() -> None:
    text = """QUERY q RETURN MATCH a.x PATTERN SEQ(A a, B b, NOT D d, C+ c, AND(E e, F f))
        WHERE a.x < b.x AND b.ts - a.ts <= INTERVAL 5 MINUTES AND c.x > PREV(c).x AND c.x > a.x AND d.x = a.x AND e.x < f.x
          AND b.x > 3 AND e.x > 4 WITHIN 10 min SELECT NEXT;"""
    text = text.replace(" WITHIN 10 min SELECT NEXT", " SELECT NEXT WITHIN 10 min")
    assert ("A a", "B b", "a.x < b.x AND b.ts - a.ts <= INTERVAL 5 MINUTES") in ways(text)
    found = lines(text)
    assert set(found["C c"]) == {"c.x > PREV(c).x", "c.x > a.x"}
    assert found["B b"] == ("x > 3",)
    assert found["NOT D d"] == ("d.x = a.x",)
    assert found["AND"] == ("E e WHERE x > 4", "F f", "e.x < f.x")
    assert found["q"] == ("WITHIN 10 minutes", "SELECT NEXT")


def test_a_long_condition_is_short_in_the_picture_and_whole_beside_it() -> None:
    text = M.replace("NOT C, ", "").replace("WITHIN", "WHERE A.x + 1000000 < B.x - 1000000 - 2000000 WITHIN")
    (label,) = (one["data"] for one in element_data(text).values() if one["classes"] == "read")
    assert label["label"].endswith("…")
    assert label["tip"] == "A.x + 1000000 < B.x - 1000000 - 2000000"
    assert "<dd>A.x + 1000000 &lt; B.x - 1000000 - 2000000" in page(text)


def test_windows_and_what_events_agree_on_stand_at_the_query() -> None:
    assert lines(Q.replace("WITHIN", "WHERE [x] WITHIN"))["q"] == ("WITHIN 10 minutes", "SLIDE 5 minutes", "same x")
    assert lines(UNBOUNDED)["r"] == ("WITHIN UNBOUNDED",)


REPEATED = {
    "a single event": ("A{3,}", {("start", "A", ""), ("A", "A", ""), ("A", "q", "")}, ("3 or more times",)),
    "a sequence": ("SEQ(A, B){2,3}", {("start", "A", ""), ("A", "B", ""), ("B", "A", "2 to 3 times"), ("B", "q", "")}, ()),
    "an option": ("SEQ(A, B?)", {("start", "A", ""), ("A", "B", ""), ("A", "q", ""), ("B", "q", "")}, ()),
    "one in another": ("SEQ(A, B+)+", {("start", "A", ""), ("A", "B", ""), ("B", "B", ""), ("B", "A", ""), ("B", "q", "")}, ()),
}  # fmt: skip


@pytest.mark.parametrize(("pattern", "expected", "below"), REPEATED.values(), ids=REPEATED)
def test_repetition_is_a_line_back(pattern: str, expected: set[tuple[str, str, str]], below: tuple[str, ...]) -> None:
    text = f"QUERY q RETURN TRY_COUNT(*) AS n PATTERN {pattern} WITHIN 10 min;"
    assert ways(text) == expected
    assert lines(text).get("A", ()) == below


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
    assert 'class="node state listed found accepting"' in svg(JOINED)


DERIVED = """EVENT Large AS A WHERE x > 5;
QUERY q RETURN MATCH Large.x PATTERN SEQ(Large, B, C) WITHIN 10 s;
QUERY r RETURN MATCH l.x PATTERN SEQ(Large l, B, C, Departure) WHERE l.x < Departure.x WITHIN 10 s;"""


def test_parts_are_called_by_the_types_of_the_program() -> None:
    program, found = explained(DERIVED)
    parts = [part.states for part in found.parts if part.how == "found once"]
    assert ("SEQ(Large, B, C)",) in parts
    assert "find SEQ(Large, B, C) once" in [note.text for note in found.notes]
    assert "<td>SEQ(Large, B, C)</td><td>q, r</td>" in as_html.to_html(program, [found], {}, "")


def test_a_long_part_is_its_operator_with_its_operands_and_what_else_is_asked_stands_behind_it() -> None:
    assert {edge for edge in ways(DERIVED) if edge[1] == "r"} == {("SEQ", "r", "l.x < Departure.x")}
    assert lines(DERIVED)["SEQ"] == ("Large", "B", "C", "Departure")


def test_a_large_automaton_is_one_node() -> None:
    text = "QUERY q RETURN COUNT(*) PATTERN A{100} WITHIN 1 min;"
    assert lines(text)["A"] == ("100 times",)
    graph = drawn(text, "states")
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
    "one offset": (["20 min SLIDE 5 min OFFSET 2 min"] * 2, [(0, 5, 10, 15, 20)]),
    "two offsets": (
        ["20 min SLIDE 5 min OFFSET 1 min", "20 min SLIDE 5 min OFFSET 3 min"],
        [(0, 2, 5, 7, 10, 12, 15, 17, 20)],
    ),
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


@pytest.mark.unhurried
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


@pytest.mark.unhurried
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
    text = page(Q + R + M)
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" in text
    assert not [
        name for _, attributes in Elements(text).found for name in attributes if name in ("src", "href", "action")
    ]
    ours = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"url\((?!#)|@import|https?:(?!//www\.w3\.org)", ours)


def test_the_scripts_of_others_are_those_of_their_packages_and_bring_their_licences() -> None:
    folder = Path(vendor.__file__).parent
    text = page(Q)
    for name, digest in {
        "cytoscape.min.js": "081591ab735b2b6a3b31a3c60f8f3a3e2fee8c92939e0c7820ad1208571b6cd8",
        "dagre.min.js": "54a503e346f93ca0bb10abe7999587e037262935687aca45eb4e4b0f64bbb578",
    }.items():
        assert sha256((folder / name).read_bytes()).hexdigest() == digest
    assert text.count("Permission is hereby granted, free of charge") == 3  # cytoscape's is in its script, too
    assert "sourceMappingURL" not in text
    assert not re.search(r"[^\n\x20-\ufffd]", text)


def test_a_page_without_a_script_has_the_picture() -> None:
    (still,) = re.findall(r"<noscript>(.*?)</noscript>", page(Q + R), flags=re.DOTALL)
    assert [e.get("class") for e in ElementTree.fromstring(still).iter() if e.get("class") == "node query"] == [
        "node query"
    ] * 2


def element_data(text: str) -> dict[str, dict[str, Any]]:
    """Of the elements that Cytoscape is given, by id."""
    return {one["data"]["id"]: one for one in elements(explained(text)[1], 0)}


def test_the_elements_of_a_page_are_those_of_the_graph() -> None:
    found = element_data(Q + R)
    by_label = {one["data"]["label"]: one for one in found.values() if "source" not in one["data"]}
    assert set(by_label) == {"", "A", "B", "C", "D", "q", "r"}
    assert by_label["B"]["data"]["queries"] == ["0-0", "0-1"]
    assert by_label["D"]["data"]["queries"] == ["0-1"]
    assert by_label["B"]["classes"].split() == ["state"]
    assert {"fill", "line"} <= by_label["B"]["data"].keys()
    assert not {"fill", "line"} & by_label["D"]["data"].keys()


def test_the_label_of_an_edge_is_an_element_between_its_halves() -> None:
    found = element_data("QUERY q RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x < B.x WITHIN 1 min;")
    labels = [name for name, one in found.items() if one["classes"] == "read"]
    assert labels
    for label in labels:
        halves = [
            one["classes"].split()
            for one in found.values()
            if label in (one["data"].get("source"), one["data"].get("target"))
        ]
        assert ["half" in classes for classes in halves] == [True, True]
        assert ["first" in classes for classes in halves] == [True, False]


def test_edges_to_and_fro_are_told_from_others() -> None:
    classes = [
        one["classes"]
        for one in element_data("QUERY q RETURN COUNT(*) PATTERN SEQ(SEQ(A, B)+, C+) WITHIN 1 min;").values()
    ]
    assert [classes.count(name) for name in ("there", "back", "loop")] == [1, 1, 1]


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
    ("<dt>automaton</dt><dd>of 4 states", Q),
    ("<dt>strategy</dt><dd>its matches are listed one by one", M),
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


TELLING = """
const graph = document.querySelector(".graph");
const cy = graph._cyreg.cy;
const tell = () => {
  const said = (selector) => cy.nodes(selector).not(".read").map((node) => node.data("tip").split(/[,\\n]/)[0]);
  const [seen, {x1, y1, x2, y2}] = [cy.extent(), cy.nodes().boundingBox()];
  document.body.dataset.told = JSON.stringify({
    on: said(".on"), away: said(".away"), at: said(".at"), output: document.querySelector("output").textContent,
    sight: x1 >= seen.x1 && y1 >= seen.y1 && x2 <= seen.x2,
    window: innerWidth, wide: [...document.querySelectorAll("body *")].filter((one) => {
      if (one.closest("pre, svg, table, .graph, .canvas") !== (one.matches("pre, table, .graph, .canvas") ? one : null)) return false;
      return one.getBoundingClientRect().right > innerWidth + 0.5;
    }).map((one) => one.outerHTML.slice(0, 60)),
    boxes: cy.nodes().map((node) => node.boundingBox({includeOverlays: false})).map((box) => [box.x1, box.y1, box.x2, box.y2]),
  });
};
const place = (node) => {
  const [{x, y}, box] = [node.renderedPosition(), graph.getBoundingClientRect()];
  return {clientX: box.x + x, clientY: box.y + y};
};
const corner = () => graph.getBoundingClientRect();
const press = (at) => {
  const canvas = graph.querySelector("canvas");
  for (const kind of ["mousemove", "mousedown", "mouseup"]) {
    canvas.dispatchEvent(new MouseEvent(kind, {...at, bubbles: true, button: 0, buttons: 1}));
  }
};
const click = (node) => press(place(node));
const key = (name) => graph.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
"""


def told(text: str, folder: Path, act: str = "", fragment: str = "", width: int = 800) -> dict[str, Any]:
    """What the page's graph shows after `act`: nodes by the first words of what is said about them."""
    page_ = re.sub(r"<meta http-equiv[^>]*>", "", page(text))
    script = f"<script>{TELLING}{act}; setTimeout(tell, 800)</script>"
    (folder / "plan.html").write_text(page_.replace("</body>", f"{script}</body>"), encoding="utf-8")
    dom = Elements(browsed(folder / "plan.html", fragment, width)).found
    found: dict[str, Any] = json.loads(next(a["data-told"] or "" for _, a in dom if "data-told" in a))
    return found


def test_in_a_browser_an_address_shows_a_query(tmp_path: Path) -> None:
    assert told(Q + R, tmp_path, fragment="r")["on"] == ["start", "A", "B", "D", "query r"]
    assert '<details class="query once on" data-query="0-1" open="">' in browsed(tmp_path / "plan.html", "r")


def test_in_a_browser_the_automata_are_drawn_on_demand(tmp_path: Path) -> None:
    text = THREE.format("COUNT(*)")
    boxes = told(text, tmp_path)["boxes"]
    press = "document.querySelector('[data-view]').click();"
    assert len(boxes) == 3 < len(told(text, tmp_path, press)["boxes"])
    assert told(text, tmp_path, press + press)["boxes"] == boxes


def first_of(cases: Mapping[str, Any], number: int = 1) -> list[Any]:
    """Cases by name, of which so many are not `long`: a browser takes two seconds to start."""
    marks = [()] * number + [(pytest.mark.long,)] * (len(cases) - number)
    given = (case if isinstance(case, tuple) else (case,) for case in cases.values())
    return [pytest.param(*case, id=name, marks=of) for name, case, of in zip(cases, given, marks, strict=True)]


ON_A_PHONE = {
    "joined matches": JOINED,
    "states in common": Q + R,
    "counted and listed": M + MOVED.replace("q", "v"),
    "operands": THREE.format("COUNT(*)"),
}


@pytest.mark.parametrize("text", first_of(ON_A_PHONE))
def test_in_a_browser_a_page_is_as_wide_as_a_phone(text: str, tmp_path: Path) -> None:
    found = told(
        text, tmp_path, "document.querySelectorAll('details').forEach((one) => { one.open = true; })", width=420
    )
    assert found["window"] <= 500  # Chromium's least
    assert found["wide"] == []


ALL = ["start", "A", "B", "C", "query q", "D", "query r"]
ACTS = {
    "a click on a state that is kept once": ("click(cy.nodes()[2])", "on", ALL),
    "a click on a query's end": ("click(cy.nodes('.query')[0])", "on", ["start", "A", "B", "C", "query q"]),
    "a click on a part": ("document.querySelector('[data-part]').click()", "on", ["start", "A", "B"]),
    "a click beside all": (
        "click(cy.nodes()[2]); setTimeout(() => press({clientX: corner().left + 3, clientY: corner().bottom - 3}), 400)",
        "on", [],
    ),
    "only what is picked": ("click(cy.nodes('.query')[0]); document.querySelector('[data-only]').click()", "away", ["D", "query r"]),
    "all again": (
        "click(cy.nodes('.query')[0]); document.querySelector('[data-only]').click(); document.querySelector('[data-clear]').click()",
        "away", [],
    ),
    "an arrow key": ("graph.focus(); key('ArrowRight'); key('ArrowRight'); key('ArrowRight')", "at", ["B"]),
    "the key to pick": ("graph.focus(); key('ArrowRight'); key('ArrowRight'); key('Enter')", "on", ALL),
    "the key to pick nothing": ("click(cy.nodes()[2]); key('Escape')", "on", []),
}  # fmt: skip


@pytest.mark.parametrize(("act", "shown", "expected"), first_of(ACTS, 2))
def test_in_a_browser_is_shown(act: str, shown: str, expected: list[str], tmp_path: Path) -> None:
    assert told(Q + R, tmp_path, act)[shown] == expected


@pytest.mark.parametrize("text", first_of(PROGRAMS))
def test_in_a_browser_no_node_and_no_label_lies_on_another(text: str, tmp_path: Path) -> None:
    found = told(text, tmp_path)
    assert found["sight"]
    boxes = sorted(found["boxes"])
    over = [
        (a, b)
        for i, a in enumerate(boxes)
        for b in takewhile(lambda b, a=a: b[0] < a[2], boxes[i + 1 :])  # type: ignore[misc]
        if a[1] < b[3] and b[1] < a[3]
    ]
    assert over == []


def test_in_a_browser_a_hostile_name_is_a_name(tmp_path: Path) -> None:
    found = told(Q.replace("q", HOSTILE, 1), tmp_path, fragment=HOSTILE.strip("`"))
    assert found["on"][:4] == ["start", "A", "B", "C"]
    assert found["on"][4].startswith("query </script><script>document.title='out'")
    (tmp_path / "plan.html").write_text(page(Q.replace("q", HOSTILE, 1)))
    assert "<title>t.cep</title>" in browsed(tmp_path / "plan.html")


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


@pytest.mark.parametrize(
    "arguments", [["E0102", "-o", "x"], ["p.cep", "-o", "no/such/place.html"], ["p.cep", "-o", "x.pdf"]]
)
def test_an_output_that_cannot_be_is_a_wrong_command(arguments: list[str], program: Path) -> None:
    assert CliRunner().invoke(cepc, ["explain", *arguments]).exit_code == 2
    assert not (program / "x").exists()
    assert not (program / "x.pdf").exists()


@pytest.mark.usefixtures("program")
def test_an_ending_that_says_no_format_is_told_those_there_are() -> None:
    said = CliRunner().invoke(cepc, ["explain", "p.cep", "-o", "x.pdf"]).stderr
    assert "known are `.json`, `.dot`, `.svg`, `.html` and `.txt`" in " ".join(said.replace("│", "").split())
    assert CliRunner().invoke(cepc, ["explain", "p.cep", "--format", "text", "-o", "x.pdf"]).exit_code == 0
