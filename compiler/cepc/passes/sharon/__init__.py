"""Sharon: which contiguous sub-patterns of sequence queries are aggregated once for several queries.

Poppe, Rozet, Lei, Rundensteiner, Maier, "Sharon: Shared Online Event Sequence Aggregation", 2018. Definitions,
equations and algorithms are cited by the paper's numbers; where the code departs from them, a comment at the place says
why. `docs/passes/sharon.md` is the page to read first.

These modules are the algorithms alone, from values to values: they know names, event types and rates, no streams.
"""

from .benefit import CostModel, PaperModel
from .candidates import Candidate, Occurrence, Pattern, Query
from .plan import SharingPlan, SharonBudget, share

__all__ = [
    "Candidate",
    "CostModel",
    "Occurrence",
    "PaperModel",
    "Pattern",
    "Query",
    "SharingPlan",
    "SharonBudget",
    "share",
]
