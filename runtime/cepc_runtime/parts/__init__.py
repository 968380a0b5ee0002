"""One group in several parts, each found by itself, and put together: what makes one large group many tasks, and state small.

numbers.py      what a part tells: exact numbers, not yet results
told.py         what parts have told, as columns
partitions.py   parts are partitions: matches lie within them, and the group's numbers are sums over them
panes.py        parts are slices of time: a matrix for each, found by ordinary queries
product.py      panes to windows, in a batch
ways.py         entries of matrices that are the same in several queries
families.py     queries that have panes in common, and the numbers of a pane
folded.py       events folded into these numbers, panes put together, windows from them
matrices.py     matrices multiplied in order
"""
