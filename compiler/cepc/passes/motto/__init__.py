"""MOTTO: which sub-queries of match queries are computed once, and which queries are computed from them.

Zhang, Vo, Dahlmeier, He, "Multi-Query Optimization for Complex Event Processing in SAP ESP", 2017. Sections,
definitions, examples and tables are cited by the paper's numbers. `docs/passes/motto.md` is the page to read first.

These modules are the algorithms alone, from values to values: they know letters, rates and conditions, no streams.
"""

from .cost import CostModel, EngineModel, PaperModel, PatternStatistics
from .derivation import Derivation
from .graph import Limits
from .patterns import LeafTest, Pattern, Query, SubQuery, pattern_of
from .plan import MottoBudget, MottoPlan, share

__all__ = [
    "CostModel",
    "Derivation",
    "EngineModel",
    "LeafTest",
    "Limits",
    "MottoBudget",
    "MottoPlan",
    "PaperModel",
    "Pattern",
    "PatternStatistics",
    "Query",
    "SubQuery",
    "pattern_of",
    "share",
]
