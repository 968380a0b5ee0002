"""One group cut in time: each pane is a matrix, found by itself, and a window is the product of its panes.

A pane's matrix has a row for each state that a match may be in before the pane and a column for each state after it; its entries are
what a query aggregates over all ways from one to the other. Panes need nothing of each other, so they are found in parallel, by
ordinary queries (queries.py); multiplying them in order is little work (product.py).
"""
