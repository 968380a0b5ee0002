"""Gloria: which transitions of which queries are shared, also in flat and nested Kleene sub-patterns.

Ma, Lei, Poppe, Rundensteiner, "Gloria: Graph-based Sharing Optimizer for Event Trend Aggregation", 2022. Definitions,
lemmas and examples are cited by the paper's numbers; where the code departs from them, a comment at the place says why.
`docs/passes/gloria.md` is the page to read first.

These modules are the algorithms alone, from values to values: they know patterns over letters and rates, no streams.
"""

from .alignment import Alignment, alignments
from .cost import BasisColumns, CostModel, EngineModel, PaperModel
from .graph import GloriaBudget
from .nodes import PAPER, Breadth
from .plan import GloriaPlan, Optimizer, SharedTransition, share
from .query import Query, Type, WrittenPlace

__all__ = [
    "PAPER",
    "Alignment",
    "BasisColumns",
    "Breadth",
    "CostModel",
    "EngineModel",
    "GloriaBudget",
    "GloriaPlan",
    "Optimizer",
    "PaperModel",
    "Query",
    "SharedTransition",
    "Type",
    "WrittenPlace",
    "alignments",
    "share",
]
