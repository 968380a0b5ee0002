"""What is drawn of a query: its pattern, each of its events one node, AND and SOME one box, a NOT where its gap is; the
conditions at the nodes and between them, the window at the end.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_grammar.pattern import And, Named, Not, Or, Repeat, Selected, Seq, Some, word
from cepc_runtime.cheap_dataclass import dataclass

from .. import model
from .automata import START
from .describe import duration, expression
from .describe import pattern as pattern_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .automata import Drawn

END: Final = ""  # where matches end: no node has this name
LONG: Final = 24  # letters of a part's text in one line
SketchKind = OneOf["start", "state", "not", "box", "large"]


@dataclass(frozen=True, slots=True)
class SketchNode:
    """`lines` are below the label. `covers`: the states of the query's automaton for which the node stands, or the part
    of patterns whose matches it is.
    """

    name: str
    kind: SketchKind
    label: str
    lines: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SketchStep:
    """`label`: what is read where it is not said by the target, how often, or a condition between the two."""

    source: str
    target: str
    label: str = ""
    ties: bool = False
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Sketch:
    """`end`: what is said below the query's name."""

    nodes: tuple[SketchNode, ...]
    steps: tuple[SketchStep, ...]
    end: tuple[str, ...] = ()


def sketch_of_states(drawn: Drawn, end: Sequence[str] = (), last: str = "") -> Sketch:
    """Of an automaton, the places of a pattern, or parts of it, one node for each. `last` is said on the way to the
    end.
    """
    nodes = (_node_of(name) for name in drawn.states)
    labels: defaultdict[tuple[str, str, bool, bool], list[str]] = defaultdict(list)
    for step in drawn.steps:
        labels[step.source, step.target, step.ties, step.moves].append(step.variable)
    steps = (
        SketchStep(source, target, _read(target, variables), ties, moves)
        for (source, target, ties, moves), variables in labels.items()
    )
    ends = (SketchStep(state, END, last) for state in drawn.accepting)
    return Sketch(tuple(nodes), (*steps, *ends), tuple(end))


def _node_of(state: str) -> SketchNode:
    """The text of a long part of patterns is its operator with what it is over below."""
    if state == START:
        return SketchNode(state, "start", state, (), (state,))
    operator, _, inside = state.partition("(")
    if len(state) <= LONG or operator not in ("AND", "SEQ"):
        return SketchNode(state, "state", state, (), (state,))
    depth, operands = 0, [""]
    for character in inside.removesuffix(")"):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            operands.append("")
        else:
            operands[-1] += character
    return SketchNode(state, "state", operator, tuple(text.strip() for text in operands), (state,))


def _read(target: str, variables: Sequence[str]) -> str:
    """What is read, unless the state is called after it."""
    read = " or ".join(variables)
    return "" if target == read or target.removeprefix(f"{read} ").isdigit() else read


def sketch_of_pattern(query: model.Query, stream: model.Stream, automaton: Drawn | None) -> Sketch:
    """Of a query's pattern."""
    drawing = _Drawing(query, stream)
    whole = drawing.part(query.pattern)
    drawing.steps = {(START, name): [] for name in whole.first} | drawing.steps
    drawing.conditions()
    for name in whole.last:
        drawing.step(name, END)
    nodes = (
        SketchNode(START, "start", START, (), (START,)),
        *(drawing.shown(name, automaton) for name in drawing.nodes),
    )
    steps = (SketchStep(a, b, " AND ".join(texts)) for (a, b), texts in drawing.steps.items())
    return Sketch(nodes, tuple(steps), end_of(query, stream))


def end_of(query: model.Query, stream: model.Stream) -> tuple[str, ...]:
    """What holds for a match as a whole."""
    lines = list(query.window.clauses(partial(duration, stream=stream)))
    lines += [f"same {', '.join(query.partition)}"] if query.partition else []
    lines += [f"SELECT {query.select}"] if query.select != "ANY" else []
    return tuple(lines)


def conditions_of(query: model.Query) -> tuple[model.Condition, ...]:
    """Those over several variables, or over the order of one's events."""
    return (*query.conditions, *(c for scope in model.scopes(query.pattern) for c in scope.conditions))


@dataclass(frozen=True, slots=True)
class _Ends:
    """The nodes with which a part begins and ends; `empty`: it may be passed over."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    empty: bool


@dataclass(slots=True)
class _Node:
    kind: SketchKind
    label: str
    variables: frozenset[str]  # those whose events it takes, or which it forbids
    lines: list[str]


@dataclass(slots=True)
class _Drawing:
    query: model.Query
    stream: model.Stream
    nodes: dict[str, _Node] = field(default_factory=dict)
    steps: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def step(self, source: str, target: str, label: str = "") -> None:
        texts = self.steps.setdefault((source, target), [])
        if label and label not in texts:
            texts.append(label)

    def part(self, node: model.Pattern) -> _Ends:
        match node:
            case model.Event(variable):
                return self._node(variable, _Node("state", self._named(variable), frozenset((variable,)), []))
            case Named(body):
                return self.part(body)
            case Not():
                return self._not((node,))
            case Seq(parts):
                return self._sequence(parts)
            case Or(parts):
                found = [self.part(one) for one in parts]
                first = tuple(name for one in found for name in one.first)
                last = tuple(name for one in found for name in one.last)
                return _Ends(first, last, any(f.empty for f in found))
            case And(parts) | Some(parts):
                variables = frozenset(e.variable for e in model.events(node))
                lines = [self._text(one, tests=True) for one in parts]
                return self._node(word(node), _Node("box", word(node), variables, lines))
            case Repeat(body, least, most):
                return self._repeat(self.part(body), least, most)
            case Selected(body):
                before = set(self.steps)
                ends = self.part(body)
                for source, target in [step for step in self.steps if step not in before]:
                    self.step(source, target, word(node))
                return ends

    def _sequence(self, parts: Sequence[model.Pattern]) -> _Ends:
        first: tuple[str, ...] = ()
        last: tuple[str, ...] = ()
        empty = True
        for is_not, group in groupby(parts, lambda part: isinstance(part, Not)):
            together = tuple(group)
            for ends in [self._not(together)] if is_not else (self.part(one) for one in together):
                for source in last:
                    for target in ends.first:
                        self.step(source, target)
                first += ends.first if empty else ()
                last = (*ends.last, *last) if ends.empty else ends.last
                empty = empty and ends.empty
        return _Ends(first, last, empty)

    def _not(self, parts: Sequence[model.Pattern]) -> _Ends:
        """The NOTs of one gap."""
        variables = frozenset(e.variable for part in parts for e in model.events(part))
        label, *lines = [self._text(part) for part in parts]
        return self._node("NOT", _Node("not", label, variables, lines))

    def _repeat(self, body: _Ends, least: int, most: int | None) -> _Ends:
        if most is None or most > 1:
            number = _times(least, most)
            if body.first == body.last and len(body.first) == 1:  # a line to itself has no room for words
                (name,) = body.first
                self.nodes[name].lines += [number] if number else []
                self.step(name, name)
            else:
                for source in body.last:
                    for target in body.first:
                        self.step(source, target, number)
        return replace(body, empty=body.empty or least == 0)

    def _node(self, name: str, node: _Node) -> _Ends:
        number = 1
        while (found := name if number == 1 else f"{name} {number}") in self.nodes:
            number += 1
        self.nodes[found] = node
        if node.kind == "state":
            node.lines += self._tests(name)
        return _Ends((found,), (found,), False)

    def conditions(self) -> None:
        """Each where its last event is read: on the way from the one before, in the box that has all, or at the node;
        those on what NOT forbids at the NOT.
        """
        forbidden = {variable.name for variable in self.query.variables if variable.negated}
        for node in self.nodes.values():
            if node.kind == "not":
                node.lines += (test for variable in sorted(node.variables) for test in self._tests(variable))
        for condition in conditions_of(self.query):
            negated = [v for v in condition.variables if v in forbidden]
            places = self._with(negated[-1]) if negated else self._last(condition.variables)
            others = {n for v in condition.variables for n in self._with(v)}
            for name in places:
                between = [(a, b) for a, b in self.steps if b == name and a in others and a != b]
                if between and not negated and len(condition.variables) == 2:
                    for a, b in between:
                        self.step(a, b, condition.text)
                else:
                    self.nodes[name].lines.append(condition.text)

    def _last(self, variables: Sequence[str]) -> list[str]:
        """Of the variables' nodes those of the one that comes last in the pattern."""
        order = list(self.nodes)
        return max((self._with(v) for v in variables), key=lambda names: [order.index(n) for n in names[-1:]])

    def _with(self, variable: str) -> list[str]:
        return [name for name, node in self.nodes.items() if variable in node.variables]

    def shown(self, name: str, automaton: Drawn | None) -> SketchNode:
        node = self.nodes[name]
        arrivals = () if automaton is None or node.kind == "not" else automaton.steps
        covers = dict.fromkeys(s.target for s in arrivals if not s.moves and s.variable in node.variables)
        return SketchNode(name, node.kind, node.label, tuple(dict.fromkeys(node.lines)), tuple(covers))

    def _named(self, variable: str) -> str:
        found = self.query.variable(variable)
        return variable if variable == found.type else f"{found.type} {variable}"

    def _tests(self, variable: str) -> list[str]:
        """What each event has to be, unless the name of a derived type says it."""
        found = self.query.variable(variable)
        plain = found.test.raw_type is None or found.type == found.test.raw_type
        return [expression(test) for test in found.test.conditions] if plain else []

    def _text(self, pattern: model.Pattern, *, tests: bool = False) -> str:
        """In one line, with the types of events."""

        def event(variable: str) -> str:
            asked = " AND ".join(self._tests(variable)) if tests else ""
            return self._named(variable) + (f" WHERE {asked}" if asked else "")

        return pattern_text(pattern, self.stream, event)


def _times(least: int, most: int | None) -> str:
    """Nothing for a `+` or `*`: a line back says it.

    >>> [_times(least, most) for least, most in ((0, None), (3, None), (2, 2), (2, 5), (0, 4))]
    ['', '3 or more times', '2 times', '2 to 5 times', '0 to 4 times']
    """
    if most is None:
        return "" if least < 2 else f"{least} or more times"
    return f"{least} times" if least == most else f"{least} to {most} times"
