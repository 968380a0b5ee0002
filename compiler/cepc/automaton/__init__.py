"""Patterns as automata: one path is one derivation (positions), or one path is one match (deterministic)."""
