"""A plan as JSON, which is how a generated job carries it and how it travels to the workers.

Every record becomes an object with its fields' names; fields that have their default are left out, and those that
take no part in equality, which are for people. Types travel as their SQL, expressions as `expression.to_data` has them.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Final

from ..cheap_dataclass import dataclass
from ..events.letter_words import bit_letter, word_of
from ..sql.aggregate_functions import aggregate_named
from ..sql.expression import from_data as expression_from
from ..sql.expression import to_data as expression_to
from ..sql.types import from_text
from .after import SkipFor, SkipPastLast, SkipTo, SkipToNext
from .automaton import Automaton, Move, Step
from .physical import Need, Needs, PhysicalPlan
from .positions import Acceptance, ConditionPlan, Edge, Guard, Negation, Positions
from .query import Measure, OutputPlan
from .select import SelectAny, SelectContiguous, SelectNext
from .sharing import JoinEvents, JoinMatches, LeafCondition, MatchAnswer, MatchPart, Member, SharedMatches, SharedStates
from .strategy import AdjacentCondition, Count, CountNeighbours, Join, List, QueryBy
from .stream import Beside, Letter, StreamPlan
from .windows import MatchBound, Sessions, Sliding, Unbounded

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION: Final = 7
"""Of the format. A runtime reads the plans of its own version alone; a job and its runtime come from one compiler."""


class PlanVersionError(ValueError):
    """The plan was written by a compiler of another version than this runtime."""


def to_text(plan: PhysicalPlan) -> str:
    """The plan as one line of ASCII: equal plans, equal text."""
    return json.dumps(to_data(plan), separators=(",", ":"), ensure_ascii=True)


def from_text_of_plan(text: str) -> PhysicalPlan:
    """The plan that `to_text` wrote. Raises PlanVersionError."""
    return from_data(json.loads(text))


def to_data(plan: PhysicalPlan) -> dict[str, Any]:
    """The plan as JSON-able data; the inverse of `from_data`."""
    return {"version": VERSION, **_record(PhysicalPlan).encode(plan)}


def from_data(data: dict[str, Any]) -> PhysicalPlan:
    """The plan that `to_data` gave. Raises PlanVersionError."""
    found = data.get("version")
    if found != VERSION:
        raise PlanVersionError(
            f"the plan has format {found}, and this runtime reads format {VERSION}: compile the job again"
        )
    plan = _record(PhysicalPlan).decode({name: value for name, value in data.items() if name != "version"})
    assert isinstance(plan, PhysicalPlan)
    return plan


# ---- codecs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Codec:
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def _thawed(value: Any) -> Any:
    return [_thawed(v) for v in value] if isinstance(value, tuple) else value


def _frozen(value: Any) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value


_PLAIN: Final = _Codec(_thawed, _frozen)  # numbers, strings, None, and tuples of them
_EXPRESSION: Final = _Codec(expression_to, expression_from)
_AGGREGATE: Final = _Codec(lambda function: function.name, aggregate_named)
_TYPE: Final = _Codec(lambda type_: type_.sql, from_text)
_COLUMN: Final = _Codec(lambda column: [column[0], column[1].sql], lambda data: (data[0], from_text(data[1])))


def _many(codec: _Codec) -> _Codec:
    return _Codec(lambda values: [codec.encode(v) for v in values], lambda data: tuple(codec.decode(d) for d in data))


def _optional(codec: _Codec) -> _Codec:
    return _Codec(
        lambda value: None if value is None else codec.encode(value),
        lambda data: None if data is None else codec.decode(data),
    )


def _record(cls: type[Any]) -> _Codec:
    def encode(record: Any) -> dict[str, Any]:
        codecs = _FIELDS.get(cls, {})
        found = {}
        for field in fields(cls):
            value = getattr(record, field.name)
            if field.compare and (field.default is MISSING or value != field.default):
                found[field.name] = codecs.get(field.name, _PLAIN).encode(value)
        return found

    def decode(data: dict[str, Any]) -> Any:
        codecs = _FIELDS.get(cls, {})
        return cls(**{name: codecs.get(name, _PLAIN).decode(value) for name, value in data.items()})

    return _Codec(encode, decode)


def _letter_to(letter: Letter) -> dict[str, Any]:
    """A bit of a word of letters is said in short: a job's plan has no others."""
    word = word_of(letter)
    return {"column": word[0], "mask": word[1]} if word is not None else _record(Letter).encode(letter)


def _letter_from(data: dict[str, Any]) -> Letter:
    found = bit_letter(data["column"], data["mask"]) if "column" in data else _record(Letter).decode(data)
    assert isinstance(found, Letter)
    return found


def _one_of(kinds: dict[str, type[Any]]) -> _Codec:
    """A record of one of several types, whose `kind` says which."""

    def encode(record: Any) -> dict[str, Any]:
        kind = next(name for name, cls in kinds.items() if isinstance(record, cls))
        return {"kind": kind, **_record(type(record)).encode(record)}

    def decode(data: dict[str, Any]) -> Any:
        return _record(kinds[data["kind"]]).decode({name: value for name, value in data.items() if name != "kind"})

    return _Codec(encode, decode)


_WINDOWS: Final[dict[str, type[Any]]] = {
    "sliding": Sliding,
    "bound of a match": MatchBound,
    "unbounded": Unbounded,
    "sessions": Sessions,
}
_SELECTS: Final[dict[str, type[Any]]] = {"any": SelectAny, "contiguous": SelectContiguous, "next": SelectNext}
_AFTER: Final[dict[str, type[Any]]] = {"to next": SkipToNext, "past last": SkipPastLast, "to": SkipTo, "for": SkipFor}
_STRATEGIES: Final[dict[str, type[Any]]] = {
    "count": Count,
    "count neighbours": CountNeighbours,
    "list": List,
    "join": Join,
}

_JOIN: Final = _Codec(
    lambda join: _record(type(join)).encode(join),
    lambda data: _record(JoinMatches if "part" in data else JoinEvents).decode(data),
)
_STEPS: Final = _many(_record(Step))
_MOVES: Final = _many(_record(Move))
_GUARDS: Final = _many(_record(Guard))

_FIELDS: Final[dict[type[Any], dict[str, _Codec]]] = {
    PhysicalPlan: {
        "stream": _record(StreamPlan),
        "letters": _many(_Codec(_letter_to, _letter_from)),
        "queries": _many(_record(QueryBy)),
        "sharing": _many(_record(SharedStates)),
        "shared_matches": _many(_record(SharedMatches)),
        "needs": _many(_record(Needs)),
    },
    Needs: {"of": _many(_record(Need))},
    SharedStates: {"members": _many(_record(Member))},
    SharedMatches: {"parts": _many(_record(MatchPart)), "answers": _many(_record(MatchAnswer))},
    MatchPart: {"joins": _many(_JOIN), "conditions": _many(_record(LeafCondition))},
    LeafCondition: {"condition": _record(ConditionPlan)},
    StreamPlan: {"columns": _many(_COLUMN), "beside": _many(_record(Beside))},
    Beside: {"type": _TYPE},
    Letter: {"conditions": _many(_EXPRESSION), "excluded": _many(_many(_EXPRESSION))},
    Edge: {"guards": _GUARDS},
    Acceptance: {"guards": _GUARDS},
    Negation: {"positions": _record(Positions)},
    Positions: {
        "edges": _many(_record(Edge)),
        "acceptances": _many(_record(Acceptance)),
        "negations": _many(_record(Negation)),
    },
    ConditionPlan: {"expression": _EXPRESSION},
    Automaton: {"steps": _STEPS, "ties": _STEPS, "moves": _MOVES, "new_moves": _MOVES},
    Measure: {"function": _AGGREGATE, "argument": _optional(_EXPRESSION)},
    OutputPlan: {"expression": _EXPRESSION},
    SelectNext: {"prefixes": _record(Automaton)},
    AdjacentCondition: {"expression": _EXPRESSION},
    Count: {"automaton": _record(Automaton)},
    CountNeighbours: {
        "automaton": _record(Automaton),
        "conditions": _many(_record(AdjacentCondition)),
    },
    QueryBy: {
        "window": _one_of(_WINDOWS),
        "positions": _record(Positions),
        "conditions": _many(_record(ConditionPlan)),
        "strategy": _one_of(_STRATEGIES),
        "measures": _many(_record(Measure)),
        "outputs": _many(_record(OutputPlan)),
        "having": _optional(_EXPRESSION),
        "select": _one_of(_SELECTS),
        "after": _optional(_one_of(_AFTER)),
    },
}
"""The fields that are not plain."""
