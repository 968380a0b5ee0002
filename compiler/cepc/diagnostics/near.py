"""Names near a mistyped one; the grammar has them too, for keywords."""

from cepc_grammar.near import did_you_mean, distance, nearest, replacement

__all__ = ["did_you_mean", "distance", "nearest", "replacement"]
