"""`cepc why`: what is behind a row, or what stopped it.

constraints.py  what a query asks beyond its bare pattern, and the query without some of it
scope.py        which group and window are asked about, and which events lie there
finder.py       matches of a query, or of a query that asks less, among some events
row.py          a row that is there: its matches, and its conditions with their values
missing.py      a row that is not: the least that stopped the nearest match
spoilers.py     which events a match does not stand beside
furthest.py     where nothing completes the bare pattern: how far it came
values.py       events, conditions and their values as text
report.py       all of it put together

The engine itself answers: a row is missing because of a constraint if the enumerator finds a match once the query does
without it. So no rule of the language is written down a second time here.
"""
