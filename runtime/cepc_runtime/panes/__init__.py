"""Panes: events of a stretch of time folded into numbers, which are put together to the numbers of windows. In a batch
that makes one large group many tasks; in a stream it keeps state small. Both do the same.

cutting.py          which queries have panes, and how long these are
between_states.py   what leads from state to state, the same in several queries
shared_panes.py     queries that have panes in common, and the numbers of a pane
products.py         which numbers of two panes those of both together are made of
arithmetic.py       the same done: in float64, or in integers of any size
folded.py           events folded into numbers, and panes put together
windows.py          the numbers of windows, from those of panes
tables.py           folded panes as tables of Arrow
"""
