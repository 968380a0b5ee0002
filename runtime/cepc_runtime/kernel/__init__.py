"""The counting kernel: how many matches, and sums and extremes over them, by linear algebra instead of enumeration.

planes.py        measures → what is kept for a state and a window
values.py        arguments → numbers of each event
shared_lanes.py  what queries share → which states lie together
lanes.py         where the numbers of a state stand in memory
effects.py       an automaton and a set of letters → what is added to what, and in which order
operations.py    what can be done with runs of numbers in memory
joint.py         what an event does to all queries of a component → operations
basis.py         runs of events on basis columns → operations
tables.py        all queries of a partition class → arrays
table_cache.py   tables that were built before
loop.py          the pass over events, with windows.py and numbers.py, made machine code by machine_code.py
by_query.py      emitted rows → those of each query; scatter.py is its loop
run.py           events and queries → emissions
modulo.py        the same for whole planes, in integers modulo 2**64
exact.py         the same for one window, in Python integers
long.py          the same for one window, in numbers of many digits; digits.py is its loop
"""
