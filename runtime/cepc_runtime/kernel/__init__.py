"""The counting kernel: how many matches, and sums and extremes over them, by linear algebra instead of enumeration.

planes.py    measures → what is kept for a state and a window
values.py    arguments → numbers of each event
program.py   an automaton and a set of letters → row operations in place
tables.py    all queries of a sharing class → arrays
loop.py      the pass over events; compiled.py compiles it
run.py       events and queries → emissions
exact.py     the same for one window, in Python integers
"""
