"""What is looked at to say why a query has no rows: the events, and which of them each place of the pattern takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.events.grouped import Reading, arrange, read
from cepc_runtime.events.letters import Kinds, classify
from cepc_runtime.sql.evaluate.errors import EvaluationError

from ..planning import plan_program
from ..running.local import LOOKED_AT
from .constraints import Local, constraints_of, without
from .finder import Finder
from .reach import Reach, reach

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cepc_runtime.numbers.columns import Bools
    from cepc_runtime.plan.positions import Positions
    from cepc_runtime.plan.stream import Letter

    from .. import model
    from ..reading.read import Read

PARTIAL_MATCHES: Final = 20_000
"""So many partial matches, where matches have to be listed."""


@dataclass(frozen=True)
class LookedAt:
    """A query and the events that it may look at. `positions` and `letters` are of its pattern with conditions on
    single events alone; `kinds` says which letters each event of `reading` satisfies.
    """

    query: model.Query
    stream: model.Stream
    read: Read
    finder: Finder
    positions: Positions
    letters: tuple[Letter, ...]
    kinds: Kinds

    @property
    def reading(self) -> Reading:
        return self.finder.reading

    @property
    def among(self) -> str:
        """What a sentence is about, where that is not all events."""
        return f" among the first {LOOKED_AT:,} events" if self.read.table.num_rows > LOOKED_AT else ""

    def satisfying(self, letters: Collection[int]) -> Bools:
        """The events of the reading that satisfy one of the letters."""
        return self.kinds.satisfying(letters)

    def reach(self, partition: Sequence[str]) -> Reach:
        """How far the pattern comes where events must agree on these columns."""
        events = arrange(self.reading, self.finder.stream, tuple(sorted(partition)))
        asked = sorted({edge.letter for edge in self.positions.edges})
        return reach(self.positions, events, {letter: self.satisfying({letter})[events.order] for letter in asked})


def look_at(program: model.CheckedProgram, query: model.Query, given: Read) -> LookedAt | None:
    """None where the pattern is too large without some of its conditions, or one of them has no value."""
    (plan,) = plan_program(replace(program, queries=(query,))).plans
    table = given.table.select([name for name, _ in plan.stream.given]).slice(0, LOOKED_AT)
    finder = Finder(program, plan.stream, read(table, plan.stream), PARTIAL_MATCHES)
    bare = without(query, [c for c in constraints_of(query) if not isinstance(c, Local)])
    bare_plan = finder.plan(replace(bare, select="ANY"))
    if bare_plan is None:
        return None
    try:
        kinds = classify(finder.reading, bare_plan.letters)
    except EvaluationError:
        return None
    positions = bare_plan.queries[0].positions
    return LookedAt(query, program.stream(query.stream), given, finder, positions, bare_plan.letters, kinds)
