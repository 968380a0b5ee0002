"""Which queries of different windows share one sequence of panes (F1, CIKM 2015); `docs/passes/weave.md` tells the
whole.
"""

from .weave import weave

__all__ = ["weave"]
