"""What is where in the table, an array of integers: the states of a walk as records, and what they point to."""

from __future__ import annotations

from typing import Final

# the table: these, then the records of states, then what they point to
STATES: Final = 0
CONTIGUOUS: Final = 1
SPAN: Final = 2  # ticks, or NONE
SKIP: Final = 3
TICKS: Final = 4  # of SKIP FOR
NAMED: Final = 5  # the variables that SKIP TO names
NAMED_END: Final = 6
INITIAL: Final = 7  # one of these letters has each first event
LINKED: Final = 8  # whether some test is of the first event, or of one that is held, or there are formulas
RECORDS: Final = 9

# SKIP
TO_NEXT: Final = 0
PAST_LAST: Final = 1
TO_FIRST: Final = 2
TO_LAST: Final = 3
FOR: Final = 4

# of a state; letters are bits of masks
OPTIONS: Final = 0
OPTIONS_END: Final = 1
WAYS: Final = 2  # with tests or formulas; options without a target
WAYS_END: Final = 3
ENTERING: Final = 4  # one of these letters has each event that leads here
FREE: Final = 5  # an event with one of these may not be skipped
LOOKED: Final = 6  # nor perhaps one with one of these
PLAIN: Final = 7  # whether what comes next depends on the instant alone, the first event, and those that are held
LOOSE: Final = 8  # whether more of the match than the event before says which may be skipped
ACCEPTING: Final = 9
LOOP: Final = 10  # the option that leads to the state itself, or NONE, if it is not gone round event by event
STATE: Final = 11

TARGET: Final = 0  # NONE: the match ends
LETTERS: Final = 1  # an event has all of these
BOUND: Final = 2  # the variable
TESTS: Final = 3
TESTS_END: Final = 4
GAP: Final = 5  # where the event must lie before, or NONE
KEEPS: Final = 6  # what it changes of what the match keeps
KEEPS_END: Final = 7
FORMULAS: Final = 8  # what is computed, and must be true then
FORMULAS_END: Final = 9
OPTION: Final = 10

OPERATOR: Final = 0
LATER: Final = 1  # rows of numbers
OTHER: Final = 2
OF: Final = 3  # the other event is the one before, the first, or that which is held in a slot
TEST: Final = 4

# how a slot of what a match keeps changes
KIND: Final = 0
SLOT: Final = 1
ROW: Final = 2  # of integers
KEEP: Final = 3

# KIND
HOLD: Final = 0  # it is the event from then on
HOLD_FIRST: Final = 1  # if there is none yet
COUNT: Final = 2
ADD: Final = 3
LEAST: Final = 4
GREATEST: Final = 5

# of formulas: instructions, whose results are registers of integers or of reals
DO: Final = 0
TO: Final = 1
A: Final = 2
B: Final = 3
C: Final = 4
D: Final = 5
INSTRUCTION: Final = 6

# OF
BEFORE: Final = 0
FIRST: Final = 1
PLACES: Final = 2  # of those that are held, from here on
THIS: Final = -1  # of instructions alone: the event itself

NONE: Final = -1
