"""The records of the kernel's table, and what changes while it runs: what stands where.

A record is given by where it starts in the table, its fields by their offsets, below. `X` and `X_END` say where the records of a list
start and end. One array instead of many, because each array that a compiled function is handed costs time, to compile it and to call
it.
"""

from __future__ import annotations

from typing import Final

from .basis import OWN

# The blocks of kind k are from table[k] to table[k + 1].
COMPONENT: Final = 0
GATE: Final = 1  # where it is in the state; NONE with a single unit, which is asked itself
UNIT: Final = 2  # the single one, or the first
STARTS: Final = 3  # it does something to a unit of which only start rows are not empty
OTHERS: Final = 4  # all units of a gated block, the first one too
OTHERS_END: Final = 5
OPERATIONS: Final = 6  # in an instant of one event
OPERATIONS_END: Final = 7
NUMBERS: Final = 8  # that they change
RUNS: Final = 9  # what it means for runs on basis columns
RUNS_END: Final = 10
TIED: Final = 11  # in an instant of several
TIED_END: Final = 12
TIED_NUMBERS: Final = 13
SETTLED: Final = 14  # at its end
SETTLED_END: Final = 15
SETTLED_NUMBERS: Final = 16
SEEN: Final = 17  # the letters of negations that the kind has
SEEN_END: Final = 18
KILLED_UNITS: Final = 19
KILLED_UNITS_END: Final = 20
COST_OF_ALL: Final = 21
BLOCK: Final = 22

OTHER_UNIT: Final = 0
OTHER_STARTS: Final = 1
ALONE: Final = 2  # what it does to this unit alone
ALONE_END: Final = 3
ALONE_NUMBERS: Final = 4
COST_ALONE: Final = 5
OTHER: Final = 6

WAITING: Final = 0  # where it is in the state; SETTLING follows
GUARDED: Final = 1  # units with negations
GUARDED_END: Final = 2
ALL_BASES: Final = 3
ALL_BASES_END: Final = 4
COMPONENT_RECORD: Final = 5

PROGRESS: Final = 0  # where its progress is in the state
WITHIN: Final = 1
SLIDE: Final = 2  # 0: one window over everything
SLOTS: Final = 3
ZEROS: Final = 4  # its additive sections, as progressions
ZEROS_END: Final = 5
INFINITES: Final = 6  # its minimum sections
INFINITES_END: Final = 7
START_ROWS: Final = 8
START_ROWS_END: Final = 9
OUTPUTS: Final = 10
OUTPUTS_END: Final = 11
BASES: Final = 12  # of its lanes
BASES_END: Final = 13
NEGATIONS: Final = 14
NEGATIONS_END: Final = 15
MERGES: Final = 16  # what instants add, into what stands
MERGES_END: Final = 17
MERGES_NUMBERS: Final = 18
UNIT_RECORD: Final = 19

FIRST: Final = 0
STEP: Final = 1
TIMES: Final = 2
PROGRESSION: Final = 3

QUERY: Final = 0
ACCEPTING: Final = 1  # how many states
PLANES: Final = 2
ADDITIVE: Final = 3
PLACES: Final = 4  # for each plane, where it stands of each accepting state
OUTPUT: Final = 5

BITS: Final = 1  # after where its letters are in the state
LETTERS: Final = 2

MOVES: Final = 1  # after where the letters seen are in the state
MOVES_END: Final = 2
NEGATION: Final = 3

WHEN: Final = 0  # the letters of the negation
NEW: Final = 1  # applies to what the instant added
TAKE: Final = 2  # for what stands, or for what the instant added: into the third memory
TAKE_END: Final = 3
PUT: Final = 4  # from there
PUT_END: Final = 5
MOVE: Final = 6

RUN: Final = 0  # where it is in the state
AHEAD: Final = 1  # for each kind: INSIDE, NONE if it ends a run, 0 if it does not matter
RESET: Final = 2
RESET_END: Final = 3
RESET_NUMBERS: Final = 4
ONES: Final = 5
ONES_END: Final = 6
APPLICATION: Final = 7
APPLICATION_END: Final = 8
COST: Final = 9
SECTIONS: Final = 10  # of the common basis columns
SECTIONS_END: Final = 11
SHIFT: Final = 12  # from them to the first lane's own, from these to the next
STASH: Final = 13
ROOM: Final = 14
LANES: Final = 15

PIECES_END: Final = 1  # after the pieces of a lane that has columns of its own
OWN_APPLICATION: Final = 2
OWN_APPLICATION_END: Final = 3
LANE: Final = 4

PIECE_WIDTH: Final = 1  # after where it is
PIECE: Final = 2

INSIDE: Final = 1  # after the basis; NONE: ends the run
MEANING: Final = 2

DIRECT: Final = 0
DIRECT_END: Final = 1
DIRECT_NUMBERS: Final = 2
SHARED: Final = 3
SHARED_END: Final = 4
SHARED_NUMBERS: Final = 5
WIDE: Final = 6  # the common basis columns and all of lanes' own
WIDE_END: Final = 7
WIDE_NUMBERS: Final = 8
DIFFERING: Final = 9  # lanes in which the event does something else
DIFFERING_END: Final = 10
GAIN: Final = 11

DIFFERING_LANE: Final = 0
OWN_SHARED: Final = 1  # on the common basis columns
OWN_SHARED_END: Final = 2
OWN_SHARED_NUMBERS: Final = 3
DIFFERENCE: Final = 4

# ---- the state: counters, then the progress of units and components in the group at hand, gates, runs, letters seen
GROUP: Final = 0
LAST_TOUCHED: Final = 1  # a list of the units touched in the group, NONE at its end
DONE: Final = 2  # operations
CHANGED: Final = 3  # numbers
EMITTED: Final = 4  # rows in the buffer
EMITTED_VALUES: Final = 5
RUNS_SHARED: Final = 6
RUNS_SPLIT: Final = 7
EVENTS_SHARED: Final = 8
EVENTS_SPLIT: Final = 9
OWN_COLUMNS: Final = 10
COUNTERS: Final = 11

TOUCHED: Final = 0
TOUCHED_BEFORE: Final = 1  # the unit before it in the list
OPEN: Final = 2  # the first open window
OPEN_END: Final = 3
CHANGE: Final = 4  # the first tick at which other windows are open
KILLED: Final = 5
UNIT_PROGRESS: Final = 6

SETTLING: Final = 1  # events of the instant after which to settle
COMPONENT_PROGRESS: Final = 2  # WAITING comes first: minus the events of the instant at hand that are to come

GATE_GROUP: Final = 0  # for which it was passed, from 1 on
GATE_UNTIL: Final = 1  # the first tick at which it has to be asked again
GATE_PROGRESS: Final = 2

GOING: Final = 0
DIRECT_UNTIL: Final = 1  # the first event for which it is to be decided again
USED: Final = 2  # lanes with columns of their own
LANES_USED: Final = 3  # which ones
RUN_PROGRESS: Final = 3 + OWN

NONE: Final = -1
