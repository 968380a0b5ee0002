"""A plan made ready to be advanced."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ..cheap_dataclass import dataclass
from ..enumerate.budget import PARTIAL_MATCHES
from ..panes.shared_panes import families_of
from ..plan.lags import lags_of
from ..plan.physical import PhysicalPlan
from ..plan.query import numbers_matches
from ..plan.stream import Letter
from ..plan.windows import Unbounded
from ..sql.expression import Aggregate, Call, Field, rewrite
from ..sql.types import BIGINT, BOOLEAN
from .decision import Decision, SessionEnds, Windows, decision_of
from .description import StateDescription, letter_names
from .lags import asking_letters
from .size import fold_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..panes.shared_panes import Family, PaneGroup
    from ..parts.classes import Class
    from ..plan.lags import Lag
    from ..plan.positions import Positions
    from ..plan.row_numbers import RowNumbers
    from ..plan.strategy import PhysicalQuery
    from ..sql.expression import Expression
    from .description import LetterName
    from .translation import ClassTranslation, NewClass

FREE: Final = "_free"
ROW: Final = "_row"
SO_FAR: Final = "\0matches so far"
WAIT: Final = 128
"""Folding costs for each number of a pane, however few events are folded, about what it costs to hold so many events.
"""
STEP: Final = 32
"""What it costs beside its numbers, in numbers."""


class UnboundedError(ValueError):
    """A query has a window without an end: as a stream it would never give a row, and keep every event."""

    def __init__(self, queries: Sequence[str]) -> None:
        super().__init__(
            f"query {queries[0]} has WITHIN UNBOUNDED, which is for batches alone: as a stream it would keep all"
            " events and never"
            " end; give it a window, or leave it out with --queries"
        )
        self.queries = tuple(queries)


@dataclass(frozen=True)
class Program:
    """The queries of a plan in classes."""

    plan: PhysicalPlan
    classes: tuple[Class, ...]
    fold_from: int | None = None
    """How many events of a pane are folded at least; None is as many as take twice the room of the pane."""

    wait: int | None = None
    """How many events, over all panes of a family in a bucket, are enough to be folded; None is as its numbers say."""

    most: int = PARTIAL_MATCHES
    """How many partial matches of a query are listed in one step."""

    letters: tuple[LetterName, ...] | None = None
    """What the plan's letters are called; None is by their conditions, which a job's have not."""

    panes: tuple[PaneGroup, ...] = ()
    """Queries that have panes together, whatever others there are now."""

    left: tuple[Letter, ...] = ()
    """Of letters in words, for each what is left to ask of an event that has it, as soon as it has its LAGs."""

    numbers: RowNumbers | None = None
    """Where the rows of partitions are numbered, as those of SQL's MATCH_RECOGNIZE are."""

    def __post_init__(self) -> None:
        if unbounded := [q.name for q in self.plan.queries if isinstance(q.window, Unbounded)]:
            raise UnboundedError(unbounded)

    @cached_property
    def decisions(self) -> tuple[Windows | SessionEnds | Decision, ...]:
        """For each query of the plan."""
        since = {query: one.since for one in self.classes for query in one.queries}
        return tuple(decision_of(query, since.get(n)) for n, query in enumerate(self.plan.queries))

    @cached_property
    def forgetting_early(self) -> tuple[bool, ...]:
        """For each class, whether its queries need no event before the first with which a match may still begin."""
        decisions = self.decisions
        return tuple(
            all(isinstance(d, Decision) and d.forgets_early for d in (decisions[q] for q in one.queries))
            for one in self.classes
        )

    @cached_property
    def beginning(self) -> dict[int, PhysicalPlan]:
        """For each query with AFTER MATCH a plan of it alone, in which a match begins only with events where the column
        FREE, which its events have besides, is true; another says their ROW, and one how many matches their partition
        has had SO_FAR, where these are numbered.
        """
        return {n: _beginning(self.plan, q) for n, q in enumerate(self.plan.queries) if q.after is not None}

    @cached_property
    def families(self) -> tuple[tuple[Family, ...], ...]:
        """For each class, of the queries whose events can be folded."""
        return tuple(families_of(((q, self.plan.queries[q]) for q in one.queries), self.panes) for one in self.classes)

    @cached_property
    def lags(self) -> tuple[tuple[Lag, ...], ...]:
        """For each class, what its queries ask of events before."""
        plan, letters = self.plan, self.left or self.plan.letters
        return tuple(
            lags_of([plan.queries[q] for q in one.queries], letters, plan.stream.beside) for one in self.classes
        )

    @cached_property
    def asking(self) -> tuple[tuple[tuple[int, Letter], ...], ...]:
        """For each class the letters, by number, of which something is left to ask."""
        return tuple(asking_letters([self.plan.queries[q] for q in one.queries], self.left) for one in self.classes)

    @cached_property
    def letter_names(self) -> tuple[LetterName, ...]:
        return letter_names(self.plan.letters) if self.letters is None else self.letters

    @cached_property
    def description(self) -> StateDescription:
        marked = frozenset(self.beginning)
        return StateDescription(self.plan, self.classes, self.families, marked, self.letter_names, self.lags)

    @cached_property
    def translations(self) -> dict[bytes, tuple[ClassTranslation | NewClass, ...]]:
        """By packed description, how state of that is read; what was once found is kept here."""
        return {}

    def least(self, family: Family) -> int:
        """So many events of a pane are folded."""
        return fold_from(self.plan, family) if self.fold_from is None else self.fold_from

    def enough(self, family: Family) -> int:
        """With so many events none waits."""
        return WAIT * (STEP + len(family.numbers)) if self.wait is None else self.wait

    def needed_from(self, number: int, watermark: int) -> int:
        """The time before which class `number` needs no events."""
        return min(self.decisions[q].needed_from(watermark) for q in self.classes[number].queries)


def _beginning(plan: PhysicalPlan, query: PhysicalQuery) -> PhysicalPlan:
    letters = list(plan.letters)
    renamed: dict[int, int] = {}
    for letter in dict.fromkeys(edge.letter for edge in query.positions.edges if edge.source == 0):
        renamed[letter] = len(letters)
        old = plan.letters[letter]
        letters.append(Letter(old.raw_type, (*old.conditions, Field(None, FREE, "each", BOOLEAN)), old.excluded))
    free = replace(query, positions=_positions(query.positions, renamed))
    if numbers_matches(query):
        outputs = tuple(replace(o, expression=rewrite(o.expression, _from_so_far)) for o in query.outputs)
        having = None if query.having is None else rewrite(query.having, _from_so_far)
        free = replace(free, outputs=outputs, having=having)
    return PhysicalPlan(plan.stream, tuple(letters), (free,))


def _from_so_far(node: Expression) -> Expression:
    """MATCH_NUMBER() where matches before these were counted by SO_FAR."""
    if isinstance(node, Aggregate) and node.function.numbers:
        return Call("+", (node, Field(None, SO_FAR, "each", BIGINT)), BIGINT)
    return node


def _positions(positions: Positions, renamed: dict[int, int]) -> Positions:
    edges = (replace(e, letter=renamed[e.letter]) if e.source == 0 else e for e in positions.edges)
    return replace(positions, edges=tuple(edges))
