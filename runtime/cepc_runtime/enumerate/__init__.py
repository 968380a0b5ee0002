"""Enumeration: the matches of a query one by one, as vectorised range joins over sorted events of all groups at once.

timeline.py     sorted events as positions: instants, groups, letters, bounds pattern.py      positions of a pattern as
tables over edges and states block.py        partial matches as a tree of blocks; memory.py what they keep in mind for
conditions extension.py    one event more: ranges of candidates, cut by bounds, guards (guards.py, negation.py),
selection (selection.py) checks.py       when conditions are checked; condition.py for which tuples; bound.py over what
is bound; evaluation.py how search.py       depth first through all blocks; derivations.py merges the derivations of one
match; budget.py limits it standing.py     which complete matches stand, and in which windows (windows.py); forbidden.py
conditional negation after.py        AFTER MATCH enumerator.py   all of it put together for a query matches.py      rows
of match queries, with lists.py; measures.py totals of aggregate queries, with bins.py joins.py        matches of
several queries from matches of shared parts of their patterns run.py          from events to result tables
"""
