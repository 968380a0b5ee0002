"""What a walk knows of where it is: numbers of one array, which a run is given again to go on."""

from __future__ import annotations

from typing import Final

# these, then numbers of each state
GROUP: Final = 0
AT: Final = 1  # the next event that may begin a match
GROUP_END: Final = 2
LOW: Final = 3
STOP: Final = 4
HIGH: Final = 5
KNOWN: Final = 6  # `ends` and `nexts` are known from here on
REACH: Final = 7  # what is before it fits in a match with the last first event
MATCHES: Final = 8
WRITTEN: Final = 9
WORK: Final = 10
MOST: Final = 11  # work after which it ends, wherever it is
PATIENCE: Final = 12  # work after which it ends, between two matches
COUNTERS: Final = 13

# of a state: the next instant with an event that it may not skip; of the instant that was looked at last the beginning
# and what was found; and from which to which event of its loop no match goes on that begins with DEAD
NEXT: Final = 0
SEEN: Final = 1
FOUND: Final = 2
DEAD: Final = 3
DEAD_FROM: Final = 4
DEAD_TO: Final = 5
MEMORY: Final = 6
