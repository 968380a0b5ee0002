"""Counting where edges have conditions between an event and the one read just before it.

A state then keeps one number per event and not only their sum, window by window: each window of a group is a *slice* of
events and is counted by itself. A single inequality takes a prefix of a Fenwick tree, an equality one cell, anything
else a scan. Where NOT or SELECT CONTIGUOUS move what stands in a state, the numbers of its events move one by one: what
NOT has seen only grows, so each moves a few times at most.

    slices.py    windows as ranges of events
    tests.py     conditions → comparisons of ranks, or pairs of events found out before
    moves.py     between which states values move
    tables.py    the automaton as records
    loop.py      the pass over slices
    run.py       a query → emissions
"""
