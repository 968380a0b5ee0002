"""One pair, and ten: counts of `SEQ(A, B)` by account and hour, against what a person would write by hand.

__main__.py    the one command: python -m bench.pairs
events.py      seeded events, and which pairs are counted
by_duckdb.py   SQL, a statement for each count or one for all
by_polars.py   expressions over a sorted table
by_numpy.py    arrays
"""
