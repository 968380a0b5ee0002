"""What a planner knows about a stream: measured in a sample (`cepc analyze`), written by hand, or assumed.

`Statistics()` knows nothing and answers with the defaults; `measure` makes them from events, `read_statistics` from a
file. Only `measure` needs numpy and pyarrow.
"""

from .statistics import Grouping, Statistics, TypeStatistics

__all__ = ["Grouping", "Statistics", "TypeStatistics"]
