"""cepc against what a user would pick instead: Flink SQL's MATCH_RECOGNIZE, and PySpark written by hand.

__main__.py    the one command: python -m bench.comparison --flink FOLDER
events.py      seeded events: ticks, and NEXMark's shape
queries.py     queries that both languages say exactly, in both
flink.py       the side that runs in Flink's own environment
sides.py       the sides that run in this one
by_tables.py   the sides of DuckDB and polars, which say two of the three shapes
by_hand.py     the matches of the queries as a person would find them in Python
"""
