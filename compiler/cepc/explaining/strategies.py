"""By which strategy each query is executed, and why, as data and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.plan.strategy import Count, CountNeighbours, Join, List, Native, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_runtime.plan.strategy import PhysicalQuery

    from .describe import Fact

StrategyName = OneOf["count", "count neighbours", "list", "join", "native"]


@dataclass(frozen=True, slots=True)
class StrategyExplanation:
    """A query's strategy, and why it has this one."""

    way: StrategyName
    reason: Reason


def explained(query: PhysicalQuery) -> StrategyExplanation:
    """The strategy that a plan has for the query."""
    match query.strategy:
        case Count(reason=reason):
            return StrategyExplanation("count", reason)
        case CountNeighbours(reason=reason):
            return StrategyExplanation("count neighbours", reason)
        case List(reason=reason):
            return StrategyExplanation("list", reason)
        case Join(reason=reason):
            return StrategyExplanation("join", reason)
        case Native(reason=reason):
            return StrategyExplanation("native", reason)


def strategy_facts(strategy: StrategyExplanation, batch: StrategyExplanation) -> Iterator[Fact]:
    """By which strategy a query is executed, and why; and by which in a batch of Spark's, if that is another."""
    yield "strategy", strategy_text(strategy)
    if batch != strategy:
        yield "in Spark's batch", strategy_text(batch)


def strategy_text(strategy: StrategyExplanation) -> str:
    """
    >>> from cepc_runtime.plan.strategy import Reason
    >>> from cepc.explaining.strategies import StrategyExplanation
    >>> strategy_text(StrategyExplanation("list", Reason("no neighbours", "A.x < C.x")))
    'its matches are listed one by one, because A.x < C.x is between no neighbours'
    >>> strategy_text(StrategyExplanation("join", Reason("joins", "q, r")))
    'its matches are joined, with q, r, from those of parts of their patterns'
    """
    reason = _REASONS[strategy.reason.kind].format(strategy.reason.text)
    if strategy.reason == Reason("joins"):
        reason = "part by part"
    return f"{_WAYS[strategy.way]}{reason}"


_WAYS: Final[dict[StrategyName, str]] = {
    "count": "its matches are counted, and none is made",
    "count neighbours": "its matches are counted, and none is made",
    "list": "its matches are listed one by one",
    "join": "its matches are joined, ",
    "native": "Spark's own functions aggregate its events",
}

_REASONS: Final = {
    "single events": ": its conditions are on single events",
    "neighbours": ": {} is between neighbours",
    "match query": "",
    "bound": ", because WITHIN bounds them inside their windows",
    "no neighbours": ", because {} is between no neighbours",
    "running": ", because {} is of all events of a variable up to one",
    "whole": ", because {} is of all events of a variable",
    "negated": ", because {} is about what NOT forbids",
    "NEXT": ", because {} decides which events SELECT NEXT may skip",
    "NOT": ", because a NOT cannot be watched while counting: {}",
    "undecided": ", because one event may stand in two places that ask for different conditions",
    "states": ", because an automaton of its pattern under SELECT would be too large",
    "letters": ", because its NOTs forbid too many kinds of events beside conditions between neighbours",
    "joins": "with {}, from those of parts of their patterns",
    "native": ": a match is a single event, and the results are the same to the last bit",
}
