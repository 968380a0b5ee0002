"""The records of the kernel's table, and what changes while it runs: what stands where.

A record is given by where it starts in the table, and a field by its offset: `t[block + BLOCK.unit]`. `x` and `x_end`
say where the records of a list start and end. One array instead of many, because each array that a compiled function is
handed costs time, to compile it and to call it. The offsets are constants of the compiled code, and so is `len(BLOCK)`,
how many fields a record has.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .basis import OWN

NONE: Final = -1


class KindRecord(NamedTuple):
    """Where the blocks and the sections of a kind begin; they end where those of the next kind begin. The table begins
    with these.
    """

    blocks: int
    sections: int


KIND: Final = KindRecord(*range(len(KindRecord._fields)))


class SectionRecord(NamedTuple):
    """Blocks of a kind, one after the other: each about a unit of one band, or all about units without a band."""

    band: int  # NONE: each by itself
    blocks: int
    blocks_end: int
    together: int  # what all the blocks do, in batches
    together_end: int
    operations: int  # how many these are
    numbers: int  # that they change


SECTION: Final = SectionRecord(*range(len(SectionRecord._fields)))


class BatchRecord(NamedTuple):
    """Operations that differ only in their target and source, which follow, pair by pair."""

    code: int
    width: int
    value: int
    pairs_end: int


BATCH: Final = BatchRecord(*range(len(BatchRecord._fields)))


class BlockRecord(NamedTuple):
    """What a kind of event does to a component, as far as most events need it: a line of a processor's cache."""

    gate: int  # where it is in the state; NONE with a single unit, which is asked itself
    unit: int  # the single one, or the first
    progress: int  # the unit's, in the state
    starts: int  # it does something to a unit of which only start rows are not empty
    operations: int  # in an instant of one event
    operations_end: int
    numbers: int  # that they change
    rest: int


BLOCK: Final = BlockRecord(*range(len(BlockRecord._fields)))


class RestRecord(NamedTuple):
    """The rest of a block."""

    component: int
    others: int  # all units of a gated block, the first one too
    others_end: int
    runs: int  # what it means for runs on basis columns; the block is gated
    runs_end: int
    tied: int  # in an instant of several
    tied_end: int
    tied_numbers: int
    settled: int  # at its end
    settled_end: int
    settled_numbers: int
    seen: int  # the letters of negations that the kind has
    seen_end: int
    killed_units: int
    killed_units_end: int
    cost_of_all: int


REST: Final = RestRecord(*range(len(RestRecord._fields)))


class OperationsRecord(NamedTuple):
    """Where operations are listed, as three fields of another record: of Block, say, from `operations` on."""

    begin: int
    end: int
    numbers: int  # that they change


OPERATIONS: Final = OperationsRecord(*range(len(OperationsRecord._fields)))


class OtherUnit(NamedTuple):
    """A unit of a gated block."""

    unit: int
    starts: int
    alone: int  # what it does to this unit alone
    alone_end: int
    alone_numbers: int
    cost_alone: int


OTHER: Final = OtherUnit(*range(len(OtherUnit._fields)))


class ComponentRecord(NamedTuple):
    """A component: the units that an event brings to the time at hand together."""

    waiting: int  # where it is in the state; SETTLING follows
    guarded: int  # units with negations
    guarded_end: int
    all_bases: int
    all_bases_end: int


COMPONENT: Final = ComponentRecord(*range(len(ComponentRecord._fields)))


class UnitRecord(NamedTuple):
    """A unit: what goes from window to window together."""

    progress: int  # where its progress is in the state
    begin: int  # of window 0; window k lies k slides after it
    end: int
    slide: int  # 0: one window over everything
    slots: int
    zeros: int  # its additive sections, as progressions
    zeros_end: int
    infinites: int  # its minimum sections
    infinites_end: int
    start_rows: int
    start_rows_end: int
    outputs: int
    outputs_end: int
    bases: int  # of its lanes
    bases_end: int
    negations: int
    negations_end: int
    merges: int  # what instants add, into what stands
    merges_end: int
    merges_numbers: int


UNIT: Final = UnitRecord(*range(len(UnitRecord._fields)))


class BandRecord(NamedTuple):
    """Units with the same windows, each alone in its component."""

    progress: int  # where the band's is in the state
    unit: int  # all of them as one
    members: int
    members_end: int


BAND: Final = BandRecord(*range(len(BandRecord._fields)))


class ProgressionRecord(NamedTuple):
    """Places in memory: the first, the step, how many."""

    first: int
    step: int
    times: int


PROGRESSION: Final = ProgressionRecord(*range(len(ProgressionRecord._fields)))


class OutputRecord(NamedTuple):
    """What is emitted for a query."""

    query: int
    accepting: int  # how many states
    planes: int
    additive: int
    fewest: int  # matches that a window has of which a row is asked for
    places: int  # for each plane, where it stands of each accepting state


OUTPUT: Final = OutputRecord(*range(len(OutputRecord._fields)))


class LettersRecord(NamedTuple):
    """Which letters of a negation a kind has, and where in the state they are kept."""

    letters: int  # where they are in the state
    bits: int  # after where its letters are in the state


LETTERS: Final = LettersRecord(*range(len(LettersRecord._fields)))


class NegationRecord(NamedTuple):
    """A negation of a query, with its moves."""

    letters: int  # where the letters seen are in the state
    moves: int
    moves_end: int


NEGATION: Final = NegationRecord(*range(len(NegationRecord._fields)))


class MoveRecord(NamedTuple):
    """What moves when an instant has certain letters."""

    when: int  # the letters of the negation
    new: int  # applies to what the instant added
    take: int  # for what stands, or for what the instant added: into the third memory
    take_end: int
    put: int  # from there
    put_end: int


MOVE: Final = MoveRecord(*range(len(MoveRecord._fields)))


class BasisRecord(NamedTuple):
    """Basis columns of a region, and the runs on them."""

    run: int  # where it is in the state
    ahead: int  # for each kind: INSIDE, NONE if it ends a run, 0 if it does not matter
    reset: int
    reset_end: int
    reset_numbers: int
    ones: int
    ones_end: int
    application: int
    application_end: int
    cost: int
    sections: int  # of the common basis columns
    sections_end: int
    shift: int  # from them to the first lane's own, from these to the next
    stash: int
    room: int
    lanes: int


BASIS: Final = BasisRecord(*range(len(BasisRecord._fields)))


class LaneRecord(NamedTuple):
    """A lane that may have basis columns of its own."""

    pieces: int  # of a lane that has columns of its own
    pieces_end: int
    own_application: int
    own_application_end: int


LANE: Final = LaneRecord(*range(len(LaneRecord._fields)))


class PieceRecord(NamedTuple):
    """Places side by side."""

    place: int
    width: int  # after where it is


PIECE: Final = PieceRecord(*range(len(PieceRecord._fields)))


class MeaningRecord(NamedTuple):
    """What a kind of event means for a run on basis columns."""

    basis: int  # a basis
    inside: int  # NONE: ends the run


MEANING: Final = MeaningRecord(*range(len(MeaningRecord._fields)))


class InsideRecord(NamedTuple):
    """What an event does that a run goes on with."""

    direct: int
    direct_end: int
    direct_numbers: int
    shared: int
    shared_end: int
    shared_numbers: int
    wide: int  # the common basis columns and all of lanes' own
    wide_end: int
    wide_numbers: int
    differing: int  # lanes in which the event does something else
    differing_end: int
    gain: int


INSIDE_RUN: Final = InsideRecord(*range(len(InsideRecord._fields)))


class DifferenceRecord(NamedTuple):
    """A lane in which the event does something else."""

    lane: int
    own_shared: int  # on the common basis columns
    own_shared_end: int
    own_shared_numbers: int


DIFFERENCE: Final = DifferenceRecord(*range(len(DifferenceRecord._fields)))


# ---- the state: counters, then the progress of units and components in the group at hand, gates, runs, letters seen --


class Counters(NamedTuple):
    """What is counted over the whole run, at the beginning of the state."""

    group: int
    last_touched: int  # a list of the units touched in the group, NONE at its end
    done: int  # operations
    changed: int  # numbers
    emitted: int  # rows in the buffer
    emitted_values: int
    runs_shared: int
    runs_split: int
    events_shared: int
    events_split: int
    own_columns: int
    events_joined: int


COUNTER: Final = Counters(*range(len(Counters._fields)))


class UnitProgress(NamedTuple):
    """How far a unit has come in the group at hand."""

    touched: int
    touched_before: int  # the unit before it in the list
    open: int  # the first open window
    open_end: int
    change: int  # the first tick at which other windows are open
    killed: int


PROGRESS: Final = UnitProgress(*range(len(UnitProgress._fields)))


class BandProgress(NamedTuple):
    """How far a band has come in the group at hand."""

    group: int  # in which all this holds, from 1 on
    joined: int  # its units go from window to window as one
    change: int  # the first tick at which other windows are open
    instants: int  # since the last change


TOGETHER: Final = BandProgress(*range(len(BandProgress._fields)))


class ComponentProgress(NamedTuple):
    """How far a component has come in the instant at hand."""

    waiting: int  # minus the events of the instant at hand that are to come
    settling: int  # events of the instant after which to settle


AT_INSTANT: Final = ComponentProgress(*range(len(ComponentProgress._fields)))


class GateProgress(NamedTuple):
    """When a gate was last passed."""

    group: int  # for which it was passed, from 1 on
    until: int  # the first tick at which it has to be asked again


GATE: Final = GateProgress(*range(len(GateProgress._fields)))


class RunProgress(NamedTuple):
    """Whether a run is going on, and on which columns."""

    going: int
    direct_until: int  # the first event for which it is to be decided again
    used: int  # lanes with columns of their own
    lanes_used: int  # which ones


RUN: Final = RunProgress(*range(len(RunProgress._fields)))
RUN_PROGRESS: Final = RUN.lanes_used + OWN
