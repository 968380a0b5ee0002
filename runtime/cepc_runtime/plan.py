"""The plan: what the runtime executes, as plain data. The compiler writes it, a generated job carries it, the engines
read it.

Times are whole ticks of the event-time column (`StreamPlan.unit`). Events are ordered by partition, then time and ORDER
BY columns (an *instant*: events of one instant tie), then canonically (docs/language.md, "Time").

A pattern comes in two forms. `Positions` is nondeterministic: one path is one *derivation*; it knows negation in full,
the scopes of named patterns and MATCH_RECOGNIZE's preference, and drives enumeration. `Automaton` is deterministic: one
path is one *match*; it drives the counting kernel. In both, an edge is a *step*, to an event of a strictly later
instant than the last event read, or a *tie*, to an event of the same instant that is canonically later; ties occur only
inside AND.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, Generic, TypeGuard, TypeVar
from typing import Literal as OneOf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .aggregate_functions import AggregateFunction
    from .expression import Expression
    from .types import DataType
    from .windows import Sliding, Window


Unit = OneOf["us", "ms", "s", "day"]
"""What a tick is."""

DROPPED: Final = -1
"""Instead of a state to which something moves."""


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """The columns that the plan reads, in the stream's order, and how events are ordered and typed.

    `unit` is what a tick is: us (TIMESTAMP, TIMESTAMP_NTZ), day (DATE), or the unit of an integer column. `raw_types`
    lists all types that some letter asks for; None when every event is needed (ANY, CONTIGUOUS). `single_type`: a
    stream without a type column.
    """

    name: str
    columns: tuple[tuple[str, DataType], ...]
    all_columns: tuple[str, ...]  # of the stream as declared; canonical order compares them all
    time_column: str
    unit: Unit
    order_by: tuple[str, ...]
    type_column: str | None
    single_type: str | None
    raw_types: tuple[str, ...] | None

    @property
    def shown(self) -> tuple[tuple[str, DataType], ...]:
        """The columns of an event as queries see it: without fields that queries group by."""
        return tuple(column for column in self.columns if column[0] in self.all_columns)


@dataclass(frozen=True, slots=True)
class Letter:
    """A class of events: those of `raw_type` (None: any) for which all `conditions` are true and, of each of
    `excluded`, not all are.

    Conditions are over columns of the event at hand, `Field(None, …)`.
    """

    raw_type: str | None
    conditions: tuple[Expression, ...] = ()
    excluded: tuple[tuple[Expression, ...], ...] = ()


# ---- the nondeterministic form ---------------------------------------------------------------------------------------


Instance = OneOf["current", "next", "none"]
"""Of a scope, seen from the event that ends a gap: the one begun before it, the one that it begins, or one without
events.
"""


@dataclass(frozen=True, slots=True)
class Guard:
    """No match of negation `negation` in the gap of `track` that the edge (or the acceptance) ends.

    The gap of a track begins after the last event read on that track (with the window if there is none). Track 0 is the
    whole match; an AND operand with a NOT inside has a track of its own. `scopes` are those in which the NOT stands and
    that have conditions on what it negates, each with the instance that it belongs to.
    """

    negation: int
    track: int = 0
    scopes: tuple[tuple[int, Instance], ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """Read an event of `letter`, bound to `variable`. `enters` are the scopes of which a new instance begins with this
    event; `tracks` those that the event belongs to; `rank` orders the edges (and the acceptance) of a state by
    preference, 0 first.
    """

    source: int
    target: int
    letter: int
    variable: str
    tie: bool = False
    guards: tuple[Guard, ...] = ()
    tracks: tuple[int, ...] = (0,)
    scopes: tuple[int, ...] = ()  # all scopes that the event stands in
    enters: tuple[int, ...] = ()
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The match may end in `state` if no guard is violated. A state can have several, with different guards."""

    state: int
    guards: tuple[Guard, ...] = ()
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Negation:
    """What a guard forbids.

    A match of `positions`, in which every variable is negated. `within` ends the gap early (ticks).
    """

    positions: Positions
    within: int | None = None
    window_wide: bool = False  # NOT in the outermost AND: nowhere in the window


@dataclass(frozen=True, slots=True)
class Positions:
    """State 0 is the start. `tracks` counts them. `ambiguous` says that a match can have several derivations."""

    states: int
    edges: tuple[Edge, ...]
    acceptances: tuple[Acceptance, ...]
    tracks: int = 1
    ambiguous: bool = False
    negations: tuple[Negation, ...] = ()


@dataclass(frozen=True, slots=True)
class ConditionPlan:
    """A condition over several variables or several events of one. `scope` is None for one of the query's own WHERE.

    `negation` is the negation whose variables it mentions, if any: then it narrows what that negation forbids.
    """

    expression: Expression
    variables: tuple[str, ...]
    scope: int | None
    negation: int | None
    text: str


# ---- the deterministic form ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """Reading an event of `letter`, a value in `source` adds to `target`.

    `variable` is the index of the variable bound.
    """

    source: int
    target: int
    letter: int
    variable: int


@dataclass(frozen=True, slots=True)
class Move:
    """When an instant has events of exactly the letters `letters` among those of negation `negation`, what is in
    `source` moves to `target`, or is DROPPED.
    """

    negation: int
    letters: tuple[int, ...]
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Automaton:
    """State 0 is the start: it holds 1 when a window opens. One match is one accepted word.

    In an instant, `steps` read what stood before it, `ties` what canonically earlier events of the same instant have
    added. Then `moves` apply to what stood before the instant and `new_moves` to what it added. `kills`: letters of
    window-wide negations; an instant with one empties everything of every window it lies in, for good. No step leads
    into state 0.
    """

    states: int
    variables: tuple[str, ...]
    steps: tuple[Step, ...]
    accepting: tuple[int, ...]
    ties: tuple[Step, ...] = ()
    moves: tuple[Move, ...] = ()
    new_moves: tuple[Move, ...] = ()
    kills: tuple[int, ...] = ()

    @property
    def negation_letters(self) -> dict[int, frozenset[int]]:
        """For each negation, the letters that some move of it mentions."""
        found: dict[int, frozenset[int]] = {}
        for move in (*self.moves, *self.new_moves):
            found[move.negation] = found.get(move.negation, frozenset()) | set(move.letters)
        return found

    @property
    def letters(self) -> frozenset[int]:
        """All letters that something mentions."""
        moves = (letter for move in (*self.moves, *self.new_moves) for letter in move.letters)
        return frozenset([*(step.letter for step in (*self.steps, *self.ties)), *moves, *self.kills])


# ---- which events a match may skip -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SelectAny:
    """Whichever it likes."""

    @property
    def word(self) -> OneOf["ANY"]:
        return "ANY"


@dataclass(frozen=True, slots=True)
class SelectContiguous:
    """None of the partition, of whatever type."""

    @property
    def word(self) -> OneOf["CONTIGUOUS"]:
        return "CONTIGUOUS"


@dataclass(frozen=True, slots=True)
class SelectNext:
    """None that could have come next. `prefixes`: which words are prefixes of the pattern, whatever NOT says."""

    prefixes: Automaton

    @property
    def word(self) -> OneOf["NEXT"]:
        return "NEXT"


Select = SelectAny | SelectContiguous | SelectNext


# ---- queries ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measure:
    """One aggregate of a query: of `argument` over the events bound to `variable`; COUNT(*) has neither, COUNT(E) no
    argument.

    `exact`: DOUBLE targets alone may be computed approximately (`CAST(COUNT(*) AS DOUBLE)`); what is DOUBLE by nature
    always is.
    """

    function: AggregateFunction
    variable: str | None
    argument: Expression | None
    exact: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether it is computed from integers alone."""
        return self.function.is_whole(None if self.argument is None else self.argument.type)


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """A result column: an expression over `Field(None, attribute)` and Aggregates."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What one query asks, and nothing of how it is executed. `lists` names the list variables. `after` is (skip,
    variable).
    """

    name: str
    kind: OneOf["aggregate", "match"]
    partition: tuple[str, ...]
    group_by: tuple[str, ...]
    window: Window
    variables: tuple[str, ...]
    lists: tuple[str, ...]
    positions: Positions
    conditions: tuple[ConditionPlan, ...]
    measures: tuple[Measure, ...]
    outputs: tuple[OutputPlan, ...]
    having: Expression | None
    returns_events: bool
    select: Select
    after: tuple[str, str | None] | None


@dataclass(frozen=True, slots=True)
class AdjacentCondition:
    """A condition between an event and the event read just before it, on the edges where `step` indexes
    `Automaton.steps`.

    In `expression` the earlier event's fields are of variable "earlier", the later one's of "later". Where it is a
    plain comparison `later.x OP earlier.y`, the engine may use an order-statistics tree.
    """

    steps: tuple[int, ...]
    expression: Expression


# ---- strategies: how a query's rows are found ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a query has its strategy. `text` is the condition, or the NOT, that decides it, if one does; of joins the
    queries with which parts are shared. It is for people: strategies are equal without it, and no engine sees it.
    """

    kind: OneOf[
        "single events", "neighbours",
        "match query", "no neighbours", "negated", "NEXT", "NOT", "undecided", "states", "letters",
        "joins", "native",
    ]  # fmt: skip
    text: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """The kernel counts matches: values move between the states of the automaton, and no match is ever made."""

    automaton: Automaton
    reason: Reason = field(default=Reason("single events"), compare=False)


@dataclass(frozen=True, slots=True)
class CountNeighbours:
    """The same with conditions between an event and the one read just before it, which are checked on the automaton's
    steps.
    """

    automaton: Automaton
    conditions: tuple[AdjacentCondition, ...]
    reason: Reason = field(default=Reason("neighbours"), compare=False)


@dataclass(frozen=True, slots=True)
class List:
    """Matches are listed over the positions, and aggregated afterwards in an aggregate query."""

    reason: Reason = field(default=Reason("match query"), compare=False)


@dataclass(frozen=True, slots=True)
class Join:
    """Matches are joined from those of parts of the pattern: `shared` is the place in `shared_matches` of the plan that
    says how.
    """

    shared: int
    reason: Reason = field(default=Reason("joins"), compare=False)


@dataclass(frozen=True, slots=True)
class Fitting:
    """The type that a value has to fit, and what is said where it does not; nothing is said where it is null then."""

    type: str
    said: str | None
    cure: str


@dataclass(frozen=True, slots=True)
class NativeAggregate:
    """An aggregate as Spark computes it: of the events of a pane, then of the panes of a window, then in its type."""

    name: str
    of_events: str
    of_panes: str
    fitting: Fitting | None


@dataclass(frozen=True, slots=True)
class Native:
    """Spark aggregates the events of a letter alone, by its own functions: in panes, then in windows, all in its SQL.
    `windows` is None where panes are the windows; `edges` are a window's. A job has it as text, and its plan never
    holds it.
    """

    letter: int
    pane: str
    windows: Sliding | None
    edges: tuple[str, str]
    aggregates: tuple[NativeAggregate, ...]
    having: str | None
    outputs: tuple[tuple[str, str], ...]
    reason: Reason = field(default=Reason("native"), compare=False)


Counting = Count | CountNeighbours
Strategy = Count | CountNeighbours | List | Join | Native
S = TypeVar("S", bound=Strategy)
S_co = TypeVar("S_co", bound=Strategy, covariant=True)
Q = TypeVar("Q", bound=QueryPlan)


@dataclass(frozen=True, slots=True)
class QueryBy(QueryPlan, Generic[S_co]):
    """A query with the strategy by which it is executed."""

    strategy: S_co

    @property
    def automaton(self: QueryBy[Counting]) -> Automaton:
        """Of a query that is counted."""
        return self.strategy.automaton


PhysicalQuery = QueryBy[Strategy]
CountedQuery = QueryBy[Counting]
NeighboursQuery = QueryBy[CountNeighbours]
NativeQuery = QueryBy[Native]


def executed(query: QueryPlan, strategy: S) -> QueryBy[S]:
    """What a query asks, by the strategy."""
    asked: dict[str, Any] = {field.name: getattr(query, field.name) for field in fields(QueryPlan)}
    return QueryBy(**asked, strategy=strategy)


def is_counted(query: PhysicalQuery) -> TypeGuard[CountedQuery]:
    return isinstance(query.strategy, Count | CountNeighbours)


def is_native(query: PhysicalQuery) -> TypeGuard[NativeQuery]:
    return isinstance(query.strategy, Native)


def has_neighbours(query: PhysicalQuery) -> TypeGuard[NeighboursQuery]:
    return isinstance(query.strategy, CountNeighbours)


def letters_read(query: PhysicalQuery) -> frozenset[int]:
    """The letters that its executor asks events for, negated ones too."""
    match query.strategy:
        case Count(automaton) | CountNeighbours(automaton):
            return automaton.letters
        case Native(letter):
            return frozenset((letter,))
        case List() | Join():
            return letters_listed(query)


def letters_listed(query: QueryPlan) -> frozenset[int]:
    """The letters of which events are needed to list its matches, however it is executed. Under SELECT NEXT these are
    told apart by more letters: a variable with several tests has one for each combination of them.
    """
    found = frozenset(pattern_letters(query.positions))
    return found | query.select.prefixes.letters if isinstance(query.select, SelectNext) else found


def pattern_letters(positions: Positions) -> Iterator[int]:
    """The letters along which matches of a pattern are listed, negated ones too."""
    yield from (edge.letter for edge in positions.edges)
    for negation in positions.negations:
        yield from pattern_letters(negation.positions)


def counted_queries(queries: Iterable[PhysicalQuery]) -> list[CountedQuery]:
    return [query for query in queries if is_counted(query)]


# ---- what queries share ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Member:
    """States of the automaton of a query, in an order of their own."""

    query: str
    states: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SharedStates:
    """State i of each member corresponds to state i of the others: the kernel keeps them side by side.

    Any correspondence gives the right rows; it pays where the members' steps between these states are alike, as each is
    then one operation for all. `equal` is a promise that corresponding states hold the same in every window, so that
    they are kept once: the members' queries have the same windows, and what leads to a state is the same in each.
    `basis` says that a run of events may be propagated once, on basis columns (the papers' snapshots), instead of on
    each member's own.
    """

    members: tuple[Member, ...]
    equal: bool = False
    basis: bool = False

    def __post_init__(self) -> None:
        if len({len(member.states) for member in self.members}) != 1:
            raise ValueError("members with different numbers of states")

    @property
    def places(self) -> Iterator[tuple[str, int]]:
        """Every query and state of the part."""
        return ((member.query, state) for member in self.members for state in member.states)


@dataclass(frozen=True, slots=True)
class LeafCondition:
    """A condition in which the variable `condition.variables[i]` stands for the event at leaf `leaves[i]`."""

    condition: ConditionPlan
    leaves: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JoinStep:
    """The events of `letter`, or the matches of part number `part`, become the leaves `leaves`: after the events at the
    leaves `after`, before those at `before`, and none of those at `apart`.
    """

    leaves: tuple[int, ...]
    letter: int | None = None
    part: int | None = None
    after: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchPart:
    """A pattern of `leaves` single events, and how its matches are found: from those of part `source`, whose leaf i is
    leaf `places[i]` here, or from nothing; then join by join.

    Of the source's matches those stay in which the events at each pair of `order` follow one another and that fit in
    `within`. `conditions` are those that the inputs have not been asked for. No event of the letters `absent` lies
    anywhere in the window of a match. `leads`: the event at leaf 0 precedes all others.
    """

    leaves: int
    within: int | None
    joins: tuple[JoinStep, ...]
    source: int | None = None
    places: tuple[int, ...] = ()
    order: tuple[tuple[int, int], ...] = ()
    conditions: tuple[LeafCondition, ...] = ()
    absent: tuple[int, ...] = ()
    leads: bool = False


@dataclass(frozen=True, slots=True)
class MatchAnswer:
    """The matches of a query are those of a part, with these variables at its leaves."""

    query: str
    part: int
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SharedMatches:
    """Match queries of one partition that are answered by joins, and share the matches of parts of their patterns if
    they are several. A part uses earlier parts alone.
    """

    parts: tuple[MatchPart, ...]
    answers: tuple[MatchAnswer, ...]

    def __post_init__(self) -> None:
        for number, part in enumerate(self.parts):
            if any(used >= number for used in part_inputs(part)):
                raise ValueError(f"part {number} uses a part that comes later")


def part_inputs(part: MatchPart) -> tuple[int, ...]:
    """The parts whose matches it uses."""
    found = (part.source, *(join.part for join in part.joins))
    return tuple(dict.fromkeys(number for number in found if number is not None))


# ---- what a match needs ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Need:
    """So many events that satisfy one of the letters."""

    letters: tuple[int, ...]
    events: int = 1


@dataclass(frozen=True, slots=True)
class Needs:
    """What every match of a query has, in letters that its executor asks for: a partition that lacks one of these has
    no match of it.
    """

    query: str
    of: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """All queries of a program over one stream, by which strategy each is executed, what they share, and what a
    partition needs to be looked at for them. Of a query that `needs` does not name every partition is looked at.

    A state of a query is in one part of `sharing` that is `equal` at most, and in one other at most; there, the first
    member of the equal part stands for all its members.
    """

    stream: StreamPlan
    letters: tuple[Letter, ...]
    queries: tuple[PhysicalQuery, ...]
    sharing: tuple[SharedStates, ...] = ()
    shared_matches: tuple[SharedMatches, ...] = ()
    needs: tuple[Needs, ...] = ()

    def __post_init__(self) -> None:
        check_shared_once(self.sharing)


def check_shared_once(sharing: Sequence[SharedStates]) -> None:
    """Raises ValueError where a state is in more parts than it may be."""
    for equal in (True, False):
        shared = Counter(place for part in sharing if part.equal == equal for place in part.places)
        if twice := [place for place, times in shared.items() if times > 1]:
            raise ValueError(f"state {twice[0][1]} of query {twice[0][0]} is shared twice")
    follow = {(m.query, state) for part in sharing if part.equal for m in part.members[1:] for state in m.states}
    for query, state in (place for part in sharing if not part.equal for place in part.places):
        if (query, state) in follow:
            raise ValueError(f"state {state} of query {query} is kept with another, which has to stand for it")


def by_partition(queries: Iterable[Q]) -> list[list[Q]]:
    """The queries with equal partition attributes together, in the order of first occurrence."""
    found: dict[tuple[str, ...], list[Q]] = {}
    for query in queries:
        found.setdefault(tuple(sorted(query.partition)), []).append(query)
    return list(found.values())
