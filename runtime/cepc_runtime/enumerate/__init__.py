"""Enumeration: the matches of a query one by one, as vectorised range joins over sorted events of all groups at once.

arranged.py     events of one partition, arranged for its queries; timeline.py has their groups, instants and letters
pattern.py      positions of a pattern as tables over edges and states
block.py        partial matches as a tree of blocks; memory.py keeps what conditions will ask of them
extension.py    one event more: ranges of candidates, cut by bounds, guards.py, negation.py and selection.py
checks.py       when conditions are checked; condition.py for which tuples, bound.py over what, evaluation.py how
search.py       depth first through all blocks; derivations.py and shares.py merge those of a match, budget.py limits it
standing.py     which complete matches stand, and windows.py in which windows; forbidden.py has conditional negation
after.py        AFTER MATCH: matches that grow together; walk/ has those that machine code walks through
enumerator.py   all of it put together for a query
matches.py      rows of match queries, with lists.py
measures.py     totals of aggregate queries, with bins.py
joins.py        matches of several queries from matches of shared parts of their patterns
listing.py      from arranged events to tables of rows
"""
