"""One group in several parts, each found by itself, and put together: what makes one large group many tasks.

numbers.py      what a part tells: exact numbers, not yet results
partitions.py   parts are partitions: matches lie within them, and the group's numbers are sums over them
panes.py        parts are slices of time: a matrix for each, found by ordinary queries
product.py      panes to windows: matrices multiplied in order
"""
