"""Matches of queries from matches of parts of their patterns, which several may share (`plan.SharedMatches`), as range
joins.

Parts are evaluated over a *portion* of the events at a time: whole groups, or a stretch of one. The matches of a part
that others use are held while the portion lasts; those of a part that only answers queries go out batch by batch. Where
what is held becomes too much, the portion is halved; where nothing is left to be halved, the queries are searched one
by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..cheap_dataclass import dataclass
from ..numbers.sorting import order_of
from ..plan.sharing import JoinEvents, part_inputs
from ..sql.evaluate.errors import about
from .condition import Condition
from .extension import Sources
from .ragged import expand, slices
from .standing import Matches

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from ..numbers.columns import Bools, Ints
    from ..plan.query import QueryPlan
    from ..plan.sharing import JoinStep, MatchAnswer, MatchPart, SharedMatches
    from ..sql.expression import Aggregate
    from .budget import MatchBudget
    from .evaluation import Evaluator
    from .search import SearchMeans
    from .timeline import Timeline

PORTION = 1 << 19
"""Events in a portion, where groups are that large."""
HELD = 1 << 23
"""Events of matches that are held at once."""


@dataclass(frozen=True, slots=True)
class _Portion:
    """Matches that begin from `low` to before `stop`, and end before `high`."""

    low: int
    stop: int
    high: int


@dataclass(frozen=True)
class _Rows:
    """Partial matches: for each leaf that is bound the position of its event, and the first and last of them."""

    events: Mapping[int, Ints]
    first: Ints
    last: Ints

    def __len__(self) -> int:
        return len(self.first)

    @property
    def size(self) -> int:
        return len(self.first) * (len(self.events) + 2)

    def take(self, rows: Ints | Bools | slice) -> _Rows:
        # In a SEQ the first and the last event are those at two leaves, the very arrays: they are taken once.
        columns = {id(at): at for at in (*self.events.values(), self.first, self.last)}
        taken = {key: at[rows] for key, at in columns.items()}
        events = {leaf: taken[id(at)] for leaf, at in self.events.items()}
        return _Rows(events, taken[id(self.first)], taken[id(self.last)])

    @staticmethod
    def of(events: Mapping[int, Ints]) -> _Rows:
        columns = list(events.values())
        return _Rows(events, _least(columns), _most(columns))

    @staticmethod
    def joined(several: Sequence[_Rows]) -> _Rows:
        """All of them, in the order of their first events."""
        if len(several) == 1:
            found, first = several[0], several[0].first
        else:
            first = np.concatenate([rows.first for rows in several])
            events = {leaf: np.concatenate([rows.events[leaf] for rows in several]) for leaf in several[0].events}
            found = _Rows(events, first, np.concatenate([rows.last for rows in several]))
        return found if np.all(first[1:] >= first[:-1]) else found.take(order_of([first]))


def _least(columns: Sequence[Ints]) -> Ints:
    return columns[0] if len(columns) == 1 else np.minimum.reduce(columns)


def _most(columns: Sequence[Ints]) -> Ints:
    return columns[0] if len(columns) == 1 else np.maximum.reduce(columns)


class _Bound:
    """The events that variables are bound to, for conditions: each to one."""

    def __init__(self, events: Mapping[str, Ints], some: Ints) -> None:
        self._events, self._some = events, some
        self.count = len(some)

    def one(self, variable: str) -> Ints:
        return self._events[variable]

    def first(self, variable: str, places: int = 0) -> Ints:
        return np.full(self.count, -1, dtype=np.int64) if places else self._events[variable]

    last = first

    def before(self, variable: str, places: int = 0) -> Ints:  # noqa: ARG002
        return np.full(self.count, -1, dtype=np.int64)  # nothing precedes the only event of its variable

    def every(self, variable: str) -> tuple[Ints, Ints]:
        return np.ones(self.count, dtype=np.int64), self._events[variable]

    def newest(self) -> None:
        """Every event is looked at."""

    def any_event(self) -> Ints:
        return self._some

    def aggregate(self, aggregate: Aggregate) -> None:
        """Nobody keeps it."""


@dataclass(frozen=True)
class _Test:
    condition: Condition
    leaf: Mapping[str, int]  # of each variable


class _Part:
    """A part, with the conditions that each of its steps decides: before the first join, and after each join."""

    def __init__(self, part: MatchPart, budget: MatchBudget) -> None:
        self.plan, self.budget = part, budget
        known = set(part.places)
        bound = [set(known)]
        for join in part.joins:
            known |= set(join.leaves)
            bound.append(set(known))
        self.tests: list[list[_Test]] = [[] for _ in bound]
        for given in part.conditions:
            step = next(i for i, leaves in enumerate(bound) if leaves and leaves >= set(given.leaves))
            names = dict(zip(given.condition.variables, given.leaves, strict=True))
            self.tests[step].append(_Test(Condition(given.condition), names))


@dataclass(frozen=True, slots=True)
class JoinRoom:
    """How many numbers may be held, and how many events a portion has, at first."""

    held: int = HELD
    portion: int = PORTION


class Joins:
    """Answers the queries of one `SharedMatches` over the events of their partition.

    `search` gives the matches of a query that begin within a stretch of positions by other means. `means` are told how
    many queries are done, with the part of those at hand.
    """

    def __init__(
        self,
        shared: SharedMatches,
        queries: Sequence[QueryPlan],
        timeline: Timeline,
        evaluator: Evaluator,
        search: Callable[[str, Sources], Iterator[Matches]],
        means: SearchMeans,
        room: JoinRoom | None = None,
    ) -> None:
        room = room or JoinRoom()
        self._shared, self._timeline, self._evaluator = shared, timeline, evaluator
        self._search, self._means = search, means
        self._held, self._size = room.held, room.portion
        self._queries = {query.name: query for query in queries}
        self._reaches: dict[int | None, Ints] = {}
        self._sinces: dict[int | None, Ints] = {}
        self._schedules: dict[frozenset[int], list[tuple[int, int]]] = {}
        self._failed = False  # has a condition failed to evaluate on some row?
        self._inputs = [part_inputs(part) for part in shared.parts]
        self._wanted = tuple(answer for answer in shared.answers if answer.query in self._queries)
        budgets = self._budgets()
        self._parts = {number: _Part(shared.parts[number], budget) for number, budget in budgets.items()}
        spans = [part.within for part in shared.parts]
        self._span = None if None in spans else max(s for s in spans if s is not None)

    def matches(self) -> Iterator[tuple[str, Matches]]:
        """The matches of the queries that were given, each in batches of matches of one length."""
        for portion in self._portions():
            yield from self._answered(portion, self._wanted)

    # ---- portions ----------------------------------------------------------------------------------------------------

    def _portions(self) -> Iterator[_Portion]:
        """All events, in portions that end with a group where they reach that far."""
        starts, low = self._timeline.group_starts, 0
        while low < self._timeline.length:
            end = low + self._size
            whole = int(starts[np.searchsorted(starts, end, side="right") - 1])
            stop = whole if whole > low else end
            yield self._portion(low, stop)
            low = stop

    def _portion(self, low: int, stop: int) -> _Portion:
        """`high` is as far as a match that begins in the portion can reach."""
        return _Portion(low, stop, int(self._timeline.reach(np.array([stop - 1]), self._span)[0]))

    def _halves(self, portion: _Portion) -> list[_Portion]:
        """Between two groups where it has several."""
        starts = self._timeline.group_starts
        middle = (portion.low + portion.stop) // 2
        inside = starts[(starts > portion.low) & (starts < portion.stop)]
        if len(inside):
            middle = int(inside[np.argmin(np.abs(inside - middle))])
        return [self._portion(portion.low, middle), self._portion(middle, portion.stop)]

    def _answered(self, portion: _Portion, wanted: Sequence[MatchAnswer]) -> Iterator[tuple[str, Matches]]:
        left = yield from self._whole(portion, wanted)
        if left:  # nothing is held any more
            yield from self._smaller(portion, left)

    def _whole(
        self, portion: _Portion, wanted: Sequence[MatchAnswer]
    ) -> Generator[tuple[str, Matches], None, list[MatchAnswer]]:
        """The portion's matches, until there are too many to hold; the answers for which this leaves them to be
        found.
        """
        left = list(wanted)
        tables: dict[int, _Rows] = {}
        needed = self._needed(wanted)
        for done, (number, last_use) in enumerate(needed):
            self._tell(portion, done / len(needed))
            if last_use > number:
                table = self._table(number, tables, portion)
                if table is None:
                    return left
                tables[number] = table
            answers = [answer for answer in left if answer.part == number]
            if answers:
                found = iter([tables[number]]) if number in tables else self._rows(number, tables, portion, last=True)
                for rows in found:
                    if not len(rows):
                        continue
                    within = (rows.first[-1] - portion.low) / (portion.high - portion.low)
                    self._tell(portion, (done + within) / len(needed))
                    wanted_rows = rows if portion.stop == portion.high else rows.take(rows.first < portion.stop)
                    for answer in answers:
                        yield from self._out(answer, wanted_rows)
                left = [answer for answer in left if answer.part != number]
            for over in [held for held, last in needed if last <= number and held in tables]:
                del tables[over]
        return left

    def _tell(self, portion: _Portion, part: float) -> None:
        """So much of the portion is done."""
        events = portion.low + part * (portion.stop - portion.low)
        self._means.reached(len(self._queries) * events / self._timeline.length)

    def _smaller(self, portion: _Portion, wanted: Sequence[MatchAnswer]) -> Iterator[tuple[str, Matches]]:
        if portion.stop - portion.low > 1:
            self._size = min(self._size, (portion.stop - portion.low + 1) // 2)  # the next will be no better
            for half in self._halves(portion):
                yield from self._answered(half, wanted)
            return
        end = self._timeline.group_end[portion.low]
        sources = Sources(np.array([portion.low]), np.array([portion.stop]), np.array([end]))
        for answer in wanted:
            for matches in self._search(answer.query, sources):
                yield answer.query, matches

    def _budgets(self) -> dict[int, MatchBudget]:
        """By part: each in the name of the first query that needs it."""
        queries: dict[int, str] = {}
        for answer in self._wanted:
            for number in self._all_needed(frozenset({answer.part})):
                queries.setdefault(number, answer.query)
        return {number: self._means.budget.part(number, query) for number, query in queries.items()}

    # ---- which parts -------------------------------------------------------------------------------------------------

    def _needed(self, wanted: Sequence[MatchAnswer]) -> list[tuple[int, int]]:
        """The parts that the answers are made of, in order, each with the last part that uses it."""
        asked = frozenset(answer.part for answer in wanted)
        if asked not in self._schedules:
            needed = sorted(self._all_needed(asked))
            last = {number: number for number in needed}
            for user in needed:
                last |= dict.fromkeys(self._inputs[user], user)
            self._schedules[asked] = list(last.items())
        return self._schedules[asked]

    def _all_needed(self, asked: frozenset[int]) -> frozenset[int]:
        found, waiting = set(asked), list(asked)
        while waiting:
            more = [number for number in self._inputs[waiting.pop()] if number not in found]
            found |= set(more)
            waiting += more
        return frozenset(found)

    # ---- matches of a part -------------------------------------------------------------------------------------------

    def _table(self, number: int, tables: Mapping[int, _Rows], portion: _Portion) -> _Rows | None:
        """All matches of a part that begin in the portion or after it, and end before its end; None if they are too
        many to hold.
        """
        room = self._held - sum(table.size for table in tables.values())
        found: list[_Rows] = []
        for rows in self._rows(number, tables, portion, last=False):
            found.append(rows)
            room -= rows.size
            if room < 0:
                return None
        if found:
            return _Rows.joined(found)
        empty = np.empty(0, dtype=np.int64)
        return _Rows(dict.fromkeys(range(self._parts[number].plan.leaves), empty), empty, empty)

    def _rows(self, number: int, tables: Mapping[int, _Rows], portion: _Portion, *, last: bool) -> Iterator[_Rows]:
        """The matches of a part, batch by batch; of its `last` use only those are wanted that begin in the portion."""
        part = self._parts[number]
        plan = part.plan
        joins = [(join, part.tests[i + 1]) for i, join in enumerate(plan.joins)]
        stop = portion.stop if last and plan.leads else portion.high
        if plan.source is None:
            (join, tests), *joins = joins
            begins = self._begun(join, tables, portion.low, stop)
        else:
            source, tests = tables[plan.source], part.tests[0]
            begins = _Rows({plan.places[i]: at for i, at in source.events.items()}, source.first, source.last)
            if stop < portion.high and 0 in begins.events:
                begins = begins.take(begins.events[0] < stop)
            begins = self._filtered(begins, plan, self._shared.parts[plan.source].within)
        for rows in self._grown(self._tested(begins, tests), joins, part, tables, portion):
            kept = rows if not plan.absent else rows.take(self._lacking(rows, plan))
            if len(kept):
                part.budget.spend(tried=0, partial=len(kept))
                yield kept

    def _begun(self, join: JoinStep, tables: Mapping[int, _Rows], low: int, stop: int) -> _Rows:
        if isinstance(join, JoinEvents):
            events = self._timeline.events_of(join.letter)
            events = events[np.searchsorted(events, low) : np.searchsorted(events, stop)]
            return _Rows.of({join.leaves[0]: events})
        table = tables[join.part]
        rows = table.take(slice(*np.searchsorted(table.first, [low, stop]).tolist()))
        return _Rows({join.leaves[i]: at for i, at in rows.events.items()}, rows.first, rows.last)

    def _filtered(self, rows: _Rows, plan: MatchPart, within: int | None) -> _Rows:
        keep = np.ones(len(rows), dtype=np.bool_)
        for earlier, later in plan.order:
            keep &= self._timeline.instant_end[rows.events[earlier]] <= rows.events[later]
        if plan.within != within:
            keep &= rows.last < self._reach(plan.within)[rows.first]
        return rows if keep.all() else rows.take(keep)

    def _grown(
        self,
        rows: _Rows,
        joins: Sequence[tuple[JoinStep, Sequence[_Test]]],
        part: _Part,
        tables: Mapping[int, _Rows],
        portion: _Portion,
    ) -> Iterator[_Rows]:
        """The rows with all that is to be joined, depth first, so that few are held."""
        if not len(rows):
            return
        if not joins:
            yield rows
            return
        (join, tests), *more = joins
        low, high = self._range(rows, join, part.plan.within, portion)
        if isinstance(join, JoinEvents):
            rank = self._timeline.rank(join.letter)
            start, count = rank[low], rank[high] - rank[low]
        else:
            start = np.searchsorted(tables[join.part].first, low)
            count = np.searchsorted(tables[join.part].first, high) - start
        for begin, end in slices(count, self._means.block):
            which, place = expand(count[begin:end])
            if len(which):
                part.budget.spend(tried=len(which), partial=0)
                found = self._extended(rows, which + begin, start[begin:end][which] + place, high, join, tables)
                yield from self._grown(self._tested(found, tests), more, part, tables, portion)

    def _range(self, rows: _Rows, join: JoinStep, within: int | None, portion: _Portion) -> tuple[Ints, Ints]:
        """From where to before where the joined events may lie, for each row."""
        high = np.minimum(self._reach(within)[rows.first], portion.high)
        if join.before:
            first = _least([rows.events[leaf] for leaf in join.before])
            high = np.minimum(high, self._timeline.instant_start[first])
        if join.after:
            low = self._timeline.instant_end[_most([rows.events[leaf] for leaf in join.after])]
        else:
            low = np.maximum(self._since(within)[rows.last], portion.low)
        return np.minimum(low, high), high

    def _extended(
        self, rows: _Rows, above: Ints, chosen: Ints, high: Ints, join: JoinStep, tables: Mapping[int, _Rows]
    ) -> _Rows:
        """Rows `above` with the events, or the matches, number `chosen` of what is joined, where these fit."""
        if isinstance(join, JoinEvents):
            at = self._timeline.events_of(join.letter)[chosen]
            new, first, last = {join.leaves[0]: at}, at, at
        else:
            table = tables[join.part]
            fits = table.last[chosen] < high[above]
            above, chosen = above[fits], chosen[fits]
            inner = table.take(chosen)
            new = {join.leaves[i]: at for i, at in inner.events.items()}
            first, last = inner.first, inner.last
        found = rows.take(above)
        if join.after:  # then nothing precedes those that are there
            first = found.first
        elif not join.before:
            first = np.minimum(found.first, first)
        if join.before:
            last = found.last
        elif not join.after:
            last = np.maximum(found.last, last)
        together = _Rows({**found.events, **new}, first, last)
        if not join.apart:
            return together
        same = [new[leaf] == found.events[other] for leaf in join.leaves for other in join.apart]
        return together.take(~np.logical_or.reduce(same))

    def _tested(self, rows: _Rows, tests: Sequence[_Test]) -> _Rows:
        for test in tests:
            if not len(rows):
                break
            bound = _Bound({name: rows.events[leaf] for name, leaf in test.leaf.items()}, rows.first)
            verdict = test.condition.judge(bound, self._timeline.instant_start, self._evaluator)
            self._failed = self._failed or bool(verdict.undecided.any())
            if not verdict.holds.all():
                rows = rows.take(verdict.holds)
        return rows

    def _lacking(self, rows: _Rows, plan: MatchPart) -> Bools:
        """The rows in whose window there is no event of an absent letter."""
        low, high = self._since(plan.within)[rows.last], self._reach(plan.within)[rows.first]
        lacks = np.ones(len(rows), dtype=np.bool_)
        for letter in plan.absent:
            rank = self._timeline.rank(letter)
            lacks &= rank[low] >= rank[high]
        return lacks

    def _reach(self, within: int | None) -> Ints:
        """For each event to before where events are within the span after it."""
        if within not in self._reaches:
            self._reaches[within] = self._timeline.reach(np.arange(self._timeline.length), within)
        return self._reaches[within]

    def _since(self, within: int | None) -> Ints:
        """For each event since where events are within the span before it."""
        if within not in self._sinces:
            self._sinces[within] = self._timeline.since(np.arange(self._timeline.length), within)
        return self._sinces[within]

    # ---- answers -----------------------------------------------------------------------------------------------------

    def _out(self, answer: MatchAnswer, rows: _Rows) -> Iterator[tuple[str, Matches]]:
        """The rows as matches of a query, in portions."""
        for start in range(0, len(rows), self._means.block):
            some = rows if len(rows) <= self._means.block else rows.take(slice(start, start + self._means.block))
            if self._failed:
                with about(answer.query):
                    some = self._decided(answer, some)
            positions = np.array([some.events[leaf] for leaf in range(len(answer.variables))])
            variables = np.broadcast_to(np.arange(len(positions), dtype=np.int32)[:, None], positions.shape)
            if np.any(positions[1:] < positions[:-1]):
                order = np.argsort(positions, axis=0, kind="stable")
                positions = np.take_along_axis(positions, order, axis=0)
                variables = order.astype(np.int32)
            if len(some):
                yield answer.query, Matches(answer.variables, positions, variables)

    def _decided(self, answer: MatchAnswer, rows: _Rows) -> _Rows:
        """The rows for which all conditions of the query hold. One that cannot be evaluated for them is an error."""
        conditions = [Condition(plan) for plan in self._queries[answer.query].conditions]
        names = {name: leaf for leaf, name in enumerate(answer.variables)}
        failing: list[Condition] = []
        for condition in conditions:
            bound = _Bound({name: rows.events[leaf] for name, leaf in names.items()}, rows.first)
            verdict = condition.judge(bound, self._timeline.instant_start, self._evaluator)
            failing += [condition] if verdict.undecided.any() else []
            rows = rows.take(verdict.holds)
        for condition in failing:
            bound = _Bound({name: rows.events[leaf] for name, leaf in names.items()}, rows.first)
            condition.demand(bound, self._timeline.instant_start, self._evaluator)
        return rows
