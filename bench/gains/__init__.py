"""What shared execution gains: a table and a picture for each kind of workload, shared beside unshared in one run.

measured.py   programs at several levels of sharing, side by side; the rows are compared
report.py     a table and its picture, printed or put into docs/benchmarks.md and docs/pictures
sharon.py     sequences with a common middle, in windows of 200,000 events and more
gloria.py     sequences and nested Kleene, six to one
hamlet.py     bursts, some queries with predicates of their own; always, never and adaptively shared
motto.py      match queries: seven kinds of sharing
windows.py    queries that differ in their windows; many small groups
"""
