"""Gloria: which transitions of which queries are shared, also in flat and nested Kleene sub-patterns.

Ma, Lei, Poppe, Rundensteiner, "Gloria: Graph-based Sharing Optimizer for Event Trend Aggregation", 2022. Definitions,
lemmas and examples are cited by the paper's numbers; where the code departs from them, a comment at the place says why.
`docs/passes/gloria.md` is the page to read first.

These modules are the algorithms alone, from values to values: they know patterns over letters and rates, no streams.
"""

from .alignment import Alignment, alignments
from .cost import Basis, CostModel, EngineModel, PaperModel
from .graph import Budget
from .nodes import PAPER, Breadth
from .plan import GloriaPlan, Optimizer, Shared, share
from .query import Place, Query, Type

__all__ = [
    "PAPER",
    "Alignment",
    "Basis",
    "Breadth",
    "Budget",
    "CostModel",
    "EngineModel",
    "GloriaPlan",
    "Optimizer",
    "PaperModel",
    "Place",
    "Query",
    "Shared",
    "Type",
    "alignments",
    "share",
]
