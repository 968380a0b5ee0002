"""`cepc why`: what is behind a row, or what stopped it.

constraints.py  what a query asks beyond its bare pattern, and the query without some of it
scope.py        which group and window are asked about, and which events lie there
finder.py       matches of a query, or of a query that asks less, among some events
row.py          a row that is there: its matches, and its conditions with their values
missing.py      a row that is not: the least that stopped the nearest match
spoilers.py     which events a match does not stand beside
furthest.py     where nothing completes the bare pattern: how far it came
looked_at.py    the events among which it is looked for why a query has no rows at all
unsatisfied.py  places of the pattern that none of them can take
event_times.py  times that were meant in another unit
reach.py        how far the pattern comes from each beginning
empty.py        why a query has no rows, in a few sentences
no_rows.py      these of all queries of a run
values.py       events, conditions and their values as text
report.py       all of it put together

The engine itself answers: a row is missing because of a constraint if the enumerator finds a match once the query does
without it. So no rule of the language is written down a second time here.
"""
