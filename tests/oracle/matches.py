"""The matches of a query: docs/language.md, "Patterns", "Conditions" and "Windows" put together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from cepc_grammar import ast

from .conditions import Bindings, Condition, agree, by_variable, merged
from .derivations import Bound, Gap, Part, Writing, bindings_of
from .errors import Unsupported
from .expressions import conjuncts
from .patterns import leaves, negated, of_streams, resolved, variables
from .preference import preferred
from .stream import Event, Events, duration, offset
from .typed import order_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Match = frozenset[tuple[Event, str]]

AGGREGATES = (
    "COUNT", "SUM", "AVG", "MIN", "MAX", "TRY_COUNT", "TRY_SUM", "VARIANCE", "VAR_POP", "STDDEV", "STDDEV_POP"
)  # fmt: skip


@dataclass(frozen=True, order=True)
class Window:
    """Microseconds `start` up to, not including, `end`. None: without an edge."""

    start: int | None
    end: int | None

    def holds(self, time: int) -> bool:
        return (self.start is None or self.start <= time) and (self.end is None or time < self.end)


EVERYTHING = Window(None, None)


@dataclass(frozen=True)
class Found:
    """A match, with the windows in which it stands (just one without edges, in a match query)."""

    match: Match
    windows: tuple[Window, ...]
    number: int = 0  # with AFTER MATCH that of the match in its partition, from 1 on


def is_match_query(query: ast.Query) -> bool:
    """`RETURN MATCH …`, or a RETURN without aggregates."""
    return query.returns.match or not any(_has_aggregate(item.expression) for item in query.returns.items)


def _has_aggregate(node: object) -> bool:
    match node:
        case ast.Call(function=function) if function.text.upper() in AGGREGATES:
            return True
        case tuple():
            return any(_has_aggregate(part) for part in node)
        case _ if hasattr(node, "__dataclass_fields__"):
            return any(_has_aggregate(getattr(node, name)) for name in node.__dataclass_fields__ if name != "span")
    return False


def group_attributes(query: ast.Query, events: Events) -> tuple[str, ...]:
    """The attributes of GROUP BY; `T.a` is `a`, and `a.b` a field of the column a."""
    return tuple(
        ".".join(p.text for p in item.parts) if item.parts[0].text in events.columns else item.parts[-1].text
        for item in query.group_by
    )


def equivalent_attributes(parts: Iterable[ast.Expression]) -> tuple[str, ...]:
    """The attributes of `[ ]` among the parts of a condition."""
    named = (name for part in parts if isinstance(part, ast.Equivalence) for name in part.attributes)
    return tuple(n.text if isinstance(n, ast.Name) else ".".join(p.text for p in n.parts) for n in named)


class Finder:
    """Finds the matches of one query over one stream."""

    def __init__(
        self, program: ast.Program, query: ast.Query, events: Events, owners: Mapping[str, str] | None = None
    ) -> None:
        self.query = query
        self.pattern = resolved(program, query.pattern)
        if owners:  # of several streams
            if events.merged is not None:
                of = {leaf.variable: owners.get(leaf.type or "") for leaf in leaves(self.pattern)}
                events.merged.variables = {name: stream for name, stream in of.items() if stream is not None}
            self.pattern = of_streams(self.pattern, owners, apart=events.merged is not None)
        self.variables, self.negated = variables(self.pattern), negated(self.pattern)
        self.mentioned = frozenset(leaf.type for leaf in leaves(self.pattern))
        self.of_matches = is_match_query(query)
        parts = conjuncts(query.where)
        self.equivalent = equivalent_attributes(parts)
        self.attributes = self.equivalent + group_attributes(query, events)
        self.events = events = events.partitioned(self.attributes)
        conditions = [part for part in parts if not isinstance(part, ast.Equivalence)]
        self.conditions = [Condition(part, self.variables, "", events) for part in conditions]
        self.gap = duration(query.within.gap) if isinstance(query.within, ast.Session) else None
        self.bound = None if query.window is None else duration(query.within)  # type: ignore[arg-type]
        within = query.within if query.window is None else query.window
        self.length = duration(within) if isinstance(within, ast.Duration) else None
        self.slide = self.length if query.slide is None else duration(query.slide)
        self.offset = 0 if query.offset is None else offset(query.offset)
        self._sessions: dict[tuple[object, ...], list[Window]] = {}

    def found(self) -> list[Found]:
        """All matches, partition by partition."""
        return [found for partition in self._partitions() for found in _Partition(self, partition).found()]

    def _partitions(self) -> Iterable[list[Event]]:
        """The events that agree on `[ ]` and GROUP BY."""
        return self.events.by(self.attributes)

    def sessions(self, event: Event) -> list[Window]:
        """The sessions of the event's group: of its events that have a type that the query mentions, each less than the
        gap after the one before.
        """
        key = self._group(event)
        if key not in self._sessions:  # asked for each match
            self._sessions[key] = self._sessions_of(self._groups[key])
        return self._sessions[key]

    def _sessions_of(self, events: list[Event]) -> list[Window]:
        assert self.gap is not None
        found = list[Window]()
        for event in events:
            if None in self.mentioned or self.mentioned & self.events.types[event]:
                time = self.events.time[event]
                if found and found[-1].holds(time):
                    found[-1] = Window(found[-1].start, time + self.gap)
                else:
                    found.append(Window(time, time + self.gap))
        return found

    @cached_property
    def _groups(self) -> dict[tuple[object, ...], list[Event]]:
        """All events, by their group, in their order."""
        groups: dict[tuple[object, ...], list[Event]] = {}
        for event in self.events.all():
            groups.setdefault(self._group(event), []).append(event)
        return groups

    def _group(self, event: Event) -> tuple[object, ...]:
        return tuple(order_key(self.events.attribute(event, a)) for a in group_attributes(self.query, self.events))

    def windows(self, first: int, last: int, event: Event) -> Iterator[Window]:
        """The windows [k·s + o, k·s + o + d), for every integer k, that hold both times, or the sessions of the event's
        group; a match query has just one without edges. None for a match that takes too long.
        """
        if self.bound is not None and last - first >= self.bound:
            return
        if self.gap is not None:
            yield from (window for window in self.sessions(event) if window.holds(first) and window.holds(last))
            return
        if self.length is None or self.slide is None or self.of_matches:
            yield EVERYTHING
            return
        k = (last - self.offset - self.length) // self.slide + 1  # the first that ends after the last event
        while (start := k * self.slide + self.offset) <= first:
            yield Window(start, start + self.length)
            k += 1


class _Partition:
    """The search within one partition."""

    def __init__(self, finder: Finder, members: list[Event]) -> None:
        self.finder, self.events, self.members = finder, finder.events, members
        local = [(c.local, c) for c in finder.conditions if c.local]
        admitted: dict[tuple[str, Event], bool] = {}
        self._asked = [c for c in finder.conditions if not c.mentions & finder.negated]
        self._asked_begun = [c for c in self._asked if not c.waits]

        def admits(variable: str, event: Event) -> bool:
            """A local condition is asked of each event once; what it excludes can be in no match."""
            key = (variable, event)
            if key not in admitted:
                admitted[key] = all(c.holds({variable: (event,)}) for about, c in local if about == variable)
            return admitted[key]

        self.matched = Writing(self.events, members, admits, finder.query.after_match is not None, finder.length)
        self.other = Writing(self.events, members, admits, False, None)  # what is negated: WITHIN is not its
        self.begun = Writing(self.events, members, admits, False, None, begun=True)  # nor is it of prefixes

    def found(self) -> list[Found]:
        ways = self._ways()
        if self.finder.query.after_match is not None:
            chosen = enumerate(self._after_match(ways), start=1)
            return [Found(match, (EVERYTHING,), number) for number, match in chosen]
        results = []
        for match, parts in ways.items():
            times = [self.events.time[event] for event, _ in match]
            windows = self.finder.windows(min(times), max(times), min(event for event, _ in match))
            standing = tuple(w for w in windows if any(self._stands(part, match, w) for part in parts))
            if standing:
                results.append(Found(match, standing))
        return results

    def _ways(self) -> dict[Match, list[Part]]:
        """The matches that conditions, selection and length allow, and the derivations of each."""
        ways: dict[Match, list[Part]] = {}
        for part in self.matched.derivations(self.finder.pattern):
            if part.bound:
                ways.setdefault(frozenset((b.event, b.variable) for b in part.bound), []).append(part.closed())
        return {
            m: parts
            for m, parts in ways.items()
            if self._short_enough(m) and self._conditions_hold(m) and self._selected(m)
        }

    def _short_enough(self, match: Match) -> bool:
        times = [self.events.time[event] for event, _ in match]
        return self.finder.length is None or max(times) - min(times) < self.finder.length

    def _conditions_hold(self, match: Match, *, begun: bool = False) -> bool:
        """Of a match that is only `begun`, those that wait for all of it are not asked. What NOT forbids is no part of a
        match.
        """
        asked = self._asked_begun if begun else self._asked
        if not asked:
            return True
        bindings = by_variable(match)
        return all(c.holds(bindings) for c in asked)

    # ---- selection ---------------------------------------------------------------------------------------------------

    def _selected(self, match: Match) -> bool:
        if self.finder.query.select == "ANY":
            return True
        rank = self.events.rank
        ranks = sorted({rank[event] for event, _ in match})
        skipped = [(low, x) for low, high in pairwise(ranks) for x in self.members if low < rank[x] < high]
        if self.finder.query.select == "CONTIGUOUS":
            return not skipped
        return not any(self._extends(frozenset(b for b in match if rank[b[0]] <= low), x) for low, x in skipped)

    def _extends(self, prefix: Match, event: Event) -> bool:
        """Whether the prefix with the event bound to some variable is a prefix of the pattern, its conditions true."""
        return any(prefix | {(event, leaf.variable)} in self._prefixes() for leaf in leaves(self.finder.pattern))

    def _prefixes(self) -> frozenset[Match]:
        if not hasattr(self, "_all_prefixes"):
            parts = self.begun.prefixes(self.finder.pattern)
            found = {frozenset((b.event, b.variable) for b in part.bound) for part in parts}
            self._all_prefixes = frozenset(prefix for prefix in found if self._conditions_hold(prefix, begun=True))
        return self._all_prefixes

    # ---- negation ----------------------------------------------------------------------------------------------------

    def _stands(self, part: Part, match: Match, window: Window) -> bool:
        return not any(self._forbidden(gap, match, window) for gap in part.gaps)

    def _forbidden(self, gap: Gap, match: Match, window: Window) -> bool:
        """Whether a match of what is negated lies in the gap, and its conditions are true."""
        candidates = self.other.derivations(gap.mark.negation.body)
        return any(self._lies_in(gap, c, match, window) and self._forbids(gap, c, match) for c in candidates)

    def _lies_in(self, gap: Gap, negated: Part, match: Match, window: Window) -> bool:
        rank, time = self.events.rank, self.events.time
        if gap.after is not None and rank[negated.first] <= rank[gap.after]:
            return False
        if gap.before is not None and rank[negated.last] >= rank[gap.before]:
            return False
        within = gap.mark.negation.within
        if within is not None:  # the gap ends `within` after the event before it, whatever the window
            if gap.after is None:
                raise Unsupported("NOT … WITHIN with nothing before it")
            return time[negated.last] < time[gap.after] + within
        if self.finder.of_matches:
            times = [time[event] for event, _ in match] + [time[negated.first], time[negated.last]]
            return self.finder.length is None or max(times) - min(times) < self.finder.length
        return window.holds(time[negated.first]) and window.holds(time[negated.last])

    def _forbids(self, gap: Gap, negated: Part, match: Match) -> bool:
        """Every conjunct that mentions its variables holds, in the query and in each named pattern around the NOT."""
        mine = bindings_of(negated.bound)
        names = variables(gap.mark.negation.body)
        if not _all_hold(self.finder.conditions, names, merged(by_variable(match), mine)):
            return False
        for scope, bound in gap.mark.contexts:
            conditions, attributes = self.other.conditions(scope)
            if not _all_hold(conditions, names, merged(bindings_of(bound), mine)):
                return False
            if not agree(self.events, attributes, (b.event for b in (*bound, *negated.bound))):
                return False
        return True

    # ---- after a match -----------------------------------------------------------------------------------------------

    def _after_match(self, ways: dict[Match, list[Part]]) -> Iterator[Match]:
        """One match for each first event, in canonical order: the preferred one; then on as AFTER MATCH says."""
        standing = [(m, part) for m, parts in ways.items() for part in parts if self._stands(part, m, EVERYTHING)]
        resume_event, resume_rank = (
            -1,
            -1,
        )  # the next first event is not before the one, and strictly later than the other
        for first in self.members:
            if first < resume_event or self.events.rank[first] <= resume_rank:
                continue
            ways_from = [part.bound for match, part in standing if min(event for event, _ in match) == first]
            if ways_from:
                chosen = preferred(self.finder.pattern, ways_from)
                resume_event, resume_rank = self._resume(first, chosen)
                yield frozenset((b.event, b.variable) for b in chosen)

    def _resume(self, first: Event, chosen: Iterable[Bound]) -> tuple[Event, int]:
        """Events strictly later than the first one; for PAST LAST EVENT than the last; for TO FIRST and TO LAST from
        that event on; for FOR from the first one that is so much later than the last.
        """
        after, rank = self.finder.query.after_match, self.events.rank
        if after is None or after.skip == "TO NEXT EVENT":
            return -1, rank[first]
        if after.skip == "PAST LAST EVENT":
            return -1, max(rank[b.event] for b in chosen)
        if after.duration is not None:
            time = self.events.time
            quiet_until = max(time[b.event] for b in chosen) + duration(after.duration)
            return min((event for event in self.members if time[event] >= quiet_until), default=len(time)), rank[first]
        variables = {".".join(part.text for part in variable.parts) for variable in after.variables}
        bound = [b.event for b in chosen if b.variable in variables]
        target = (min(bound) if after.skip == "TO FIRST" else max(bound)) if bound else -1
        return target, rank[first]


def _all_hold(conditions: Iterable[Condition], names: frozenset[str], bindings: Bindings) -> bool:
    return all(condition.holds(bindings) for condition in conditions if condition.mentions & names)
