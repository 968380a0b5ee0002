"""What a stream's state is of, in words that do not depend on how a program was compiled: queries by name and a digest
of what their rows depend on, letters by type and condition, the numbers of panes by the steps that they count. Plans
number all of these, and other statements of a program may change the numbers.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ..cheap_dataclass import dataclass
from ..events.letter_words import words_of
from ..plan.after import SkipFor
from ..plan.as_json import to_data
from ..plan.query import numbers_matches
from ..plan.windows import Sessions
from ..sql.expression import Field
from ..sql.spark_sql import to_sql

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..panes.between_states import Shape
    from ..panes.shared_panes import Family, Number
    from ..parts.classes import Class
    from ..plan.lags import Lag
    from ..plan.physical import PhysicalPlan
    from ..plan.stream import Letter
    from ..sql.expression import Aggregate, Expression

    _Label = tuple[str, bool, int, int, int]
    _Around = tuple[int, list[_Label], list[_Label]]
    _Bound = tuple[int, list[_Label]]
    LetterName = tuple[str | None, str]  # the raw type, and the condition as SQL
    NumberName = tuple[object, ...]

ROWS_DEPEND_ON: Final = (
    "kind", "partition", "group_by", "window", "variables", "lists", "positions", "conditions", "outputs", "having",
    "returns_events", "each", "select", "after",
)  # fmt: skip
"""Of a query. How its rows are found is the engine's affair."""

STREAM: Final = ("name", "time_column", "unit", "order_by", "type_column", "single_type")
"""Of a stream. The columns that a plan reads are those that its queries read."""

WAYS: Final = "ways"


# ---- names -----------------------------------------------------------------------------------------------------------


def letter_names(letters: Iterable[Letter]) -> tuple[LetterName, ...]:
    """Of a plan in which letters are conditions; a job's has bits instead, and the conditions apart."""
    return tuple((letter.raw_type, _condition(letter)) for letter in letters)


def _condition(letter: Letter) -> str:
    tests = [_sql(condition) for condition in letter.conditions]
    tests += [f"NOT COALESCE(({' AND '.join(map(_sql, some))}), FALSE)" for some in letter.excluded]
    return " AND ".join(tests) or "TRUE"


def _sql(expression: Expression) -> str:
    return to_sql(expression, _column)


def _column(leaf: Field | Aggregate) -> str:
    assert isinstance(leaf, Field)
    return leaf.column


def query_digests(plan: PhysicalPlan, letters: Sequence[LetterName]) -> dict[str, str]:
    """By name of a query: equal where its rows are, and what is kept for them."""
    records = to_data(plan)["queries"]
    found = {}
    for query, record in zip(plan.queries, records, strict=True):
        _name_letters(record["positions"], letters)
        if isinstance(query.window, Sessions):
            record["window"]["letters"] = sorted(json.dumps(letters[letter]) for letter in query.window.letters)
        record["select"] = query.select.word  # the rest of it follows from the pattern
        record["outputs"], record["having"] = _without_labels(record["outputs"]), _without_labels(record["having"])
        found[query.name] = digest({name: record[name] for name in ROWS_DEPEND_ON if name in record})
    return found


def _without_labels(data: Any) -> Any:
    """Expressions as they are whatever labels say: `LABEL(name)` is its name."""
    match data:
        case {"literal": _, "label": label}:
            return {"label": label}
        case dict():
            return {name: _without_labels(part) for name, part in data.items()}
        case list():
            return [_without_labels(part) for part in data]
    return data


def _name_letters(positions: dict[str, Any], letters: Sequence[LetterName]) -> None:
    for edge in positions["edges"]:
        edge["letter"] = letters[edge["letter"]]
    for negation in positions.get("negations", []):
        _name_letters(negation["positions"], letters)


def digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:32]


def changes(old: Mapping[str, str], new: Mapping[str, str], left_out: Collection[str] = ()) -> list[str]:
    """What is to be said of queries that have other digests, in a user's words; `left_out` are in the program, and not
    among those that it is run with.
    """
    found = [f"query {name} is new" for name in new if name not in old]
    gone = [name for name in old if name not in new]
    found += [f"query {name} is {'not among those of --queries' if name in left_out else 'gone'}" for name in gone]
    return found + [f"query {name} is not what it was" for name in new if name in old and old[name] != new[name]]


def is_of_query(change: str) -> bool:
    """Whether that is of a query, and not of the stream."""
    return change.startswith("query ")


# ---- the numbers of panes --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CanonicalShape:
    """A shape whose states and variables are numbered by what its letters are called. `variables[v]` is the number of
    variable v.
    """

    steps: tuple[tuple[int, int, int, int, bool], ...]
    end: int
    variables: tuple[int, ...]

    def named(self, letters: Sequence[LetterName]) -> tuple[object, ...]:
        return tuple((s, t, letters[letter], v, tie) for s, t, letter, v, tie in self.steps), self.end


def canonical(shape: Shape, letters: Sequence[LetterName]) -> CanonicalShape:
    """Equal for equal shapes, whatever their letters are numbered. States are told apart by what leads to them and from
    them; those that are not can change places.
    """
    names = [json.dumps(name) for name in letters]
    states = _ranks({s: (s == 0, s == shape.end) for step in shape.steps for s in step[:2]})
    variables, count = dict.fromkeys((step[3] for step in shape.steps), 0), 0
    while len({*states.values()}) + len({*variables.values()}) > count:
        count = len({*states.values()}) + len({*variables.values()})
        labels = [(names[of], tie, variables[v], states[s], states[t]) for s, t, of, v, tie in shape.steps]
        around: dict[int, _Around] = {state: (states[state], [], []) for state in states}
        bound: dict[int, _Bound] = {variable: (variables[variable], []) for variable in variables}
        for (source, target, _, variable, _), label in zip(shape.steps, labels, strict=True):
            around[source][1].append(label)
            around[target][2].append(label)
            bound[variable][1].append(label)
        states = _ranks({s: (own, sorted(out), sorted(into)) for s, (own, out, into) in around.items()})
        variables = _ranks({v: (own, sorted(where)) for v, (own, where) in bound.items()})
    steps = sorted(shape.steps, key=lambda step: (names[step[2]], step[4], variables[step[3]], states[step[1]]))
    return _walked(shape, steps, names)


def _ranks(keys: dict[int, Any]) -> dict[int, int]:
    places = {repr(key): 0 for key in keys.values()}
    places = {text: place for place, text in enumerate(sorted(places))}
    return {of: places[repr(key)] for of, key in keys.items()}


def _walked(shape: Shape, steps: Sequence[tuple[int, int, int, int, bool]], names: Sequence[str]) -> CanonicalShape:
    """States and variables in the order of a walk from the start."""
    numbers, variables, waiting = {0: 0}, dict[int, int](), [0]
    for state in waiting:  # which grows
        for source, target, _, variable, _ in steps:
            if source == state:
                variables.setdefault(variable, len(variables))
                if target not in numbers:
                    numbers[target] = len(numbers)
                    waiting.append(target)
    renumbered = ((numbers[s], numbers[t], letter, variables[v], tie) for s, t, letter, v, tie in shape.steps)
    ordered = sorted(renumbered, key=lambda step: (step[0], step[1], names[step[2]], step[3], step[4]))
    return CanonicalShape(tuple(ordered), numbers[shape.end], tuple(variables[v] for v in range(len(variables))))


def number_names(family: Family, letters: Sequence[LetterName]) -> tuple[NumberName, ...]:
    """What each number of the family is, in names alone."""
    shapes = {shape: canonical(shape, letters) for shape in {number.shape for number in family.numbers}}
    return tuple((*shapes[n.shape].named(letters), *_gathered(n, shapes[n.shape])) for n in family.numbers)


def _gathered(number: Number, shape: CanonicalShape) -> tuple[object, ...]:
    """What is gathered on the ways: of which of the shape's variables, the expression as SQL, and its type."""
    variable = -1 if number.role is None else shape.variables[number.variable]
    argument = number.argument
    return number.role or WAYS, variable, argument and _sql(argument), argument and argument.type.sql


# ---- the whole -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StateDescription:
    """Of a program, as JSON-able data: see docs/state-format.md. `families` are those of each class, `marked` the
    numbers of the queries that have marks, `letters` what the plan's are called, and `lags` what each class asks of
    events before.
    """

    plan: PhysicalPlan
    classes: tuple[Class, ...]
    families: tuple[tuple[Family, ...], ...]
    marked: frozenset[int]
    letters: tuple[LetterName, ...]
    lags: tuple[tuple[Lag, ...], ...]

    @cached_property
    def silencing(self) -> tuple[tuple[int, ...], ...]:
        """For each class its queries with AFTER MATCH SKIP FOR."""
        queries = self.plan.queries
        return tuple(tuple(q for q in one.queries if isinstance(queries[q].after, SkipFor)) for one in self.classes)

    @cached_property
    def numbering(self) -> tuple[tuple[int, ...], ...]:
        """For each class its queries with MATCH_NUMBER()."""
        queries = self.plan.queries
        return tuple(tuple(q for q in one.queries if numbers_matches(queries[q])) for one in self.classes)

    @cached_property
    def data(self) -> dict[str, Any]:
        plan, letters = self.plan, self.letters
        stream = {name: value for name, value in to_data(plan)["stream"].items() if name in STREAM}
        digests = query_digests(plan, letters)
        return {
            "stream": {**stream, "columns": [[name, type_.sql] for name, type_ in plan.stream.columns]},
            "letters": [list(name) for name in letters],
            "words": list(words(plan)),
            "queries": [[query.name, digests[query.name]] for query in plan.queries],
            "classes": [self._of_class(number) for number in range(len(self.classes))],
        }

    @cached_property
    def packed(self) -> bytes:
        return zlib.compress(json.dumps(self.data, separators=(",", ":")).encode())

    def _of_class(self, number: int) -> dict[str, Any]:
        one = self.classes[number]
        names = [query.name for query in self.plan.queries]
        return {
            "keys": list(one.keys),
            **({} if one.since is None else {"since": one.since}),
            "queries": [names[q] for q in one.queries],
            "marks": [names[q] for q in one.queries if q in self.marked],
            "families": [self._of_family(family) for family in self.families[number]],
            **({"quiet": [names[q] for q in self.silencing[number]]} if self.silencing[number] else {}),
            **({"numbered": [names[q] for q in self.numbering[number]]} if self.numbering[number] else {}),
            **({"lags": [_of_lag(lag) for lag in self.lags[number]]} if self.lags[number] else {}),
        }

    def _of_family(self, family: Family) -> dict[str, Any]:
        shapes = {shape: canonical(shape, self.letters) for shape in dict.fromkeys(n.shape for n in family.numbers)}
        places = {shape: place for place, shape in enumerate(shapes)}
        return {
            "partition": list(family.partition),
            "length": family.times.length,
            **({"begin": family.times.begin} if family.times.begin else {}),
            "queries": [query.name for _, query in family.queries],
            "shapes": [[[list(step) for step in shape.steps], shape.end] for shape in shapes.values()],
            "numbers": [[places[n.shape], *_gathered(n, shapes[n.shape])] for n in family.numbers],
        }


def _of_lag(lag: Lag) -> dict[str, Any]:
    return {"partition": list(lag.partition), "places": lag.places, "columns": list(lag.kept)}


def described_queries(about: Mapping[str, Any]) -> dict[str, tuple[str, int | None]]:
    """By name of what was described: the digest of each query, and since when it sees events."""
    since = {name: one.get("since") for one in about["classes"] for name in one["queries"]}
    return {name: (digest, since.get(name)) for name, digest in about["queries"]}


def words(plan: PhysicalPlan) -> tuple[str, ...]:
    """The columns of an event whose bits say which letters it has; none where letters are found from the others."""
    return tuple(dict.fromkeys(column for column, _ in words_of(plan.letters) or ()))


def described_numbers(family: Mapping[str, Any], letters: Sequence[LetterName]) -> tuple[NumberName, ...]:
    """`number_names` of a family that was described, with the letters of the description."""
    shapes = [
        (tuple((s, t, letters[letter], v, tie) for s, t, letter, v, tie in steps), end)
        for steps, end in family["shapes"]
    ]
    return tuple((*shapes[shape], *gathered) for shape, *gathered in family["numbers"])
