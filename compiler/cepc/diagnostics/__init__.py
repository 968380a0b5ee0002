"""Diagnostics for people and editors: drawing as text, JSON, near names, and the catalogue of codes behind `cepc explain`."""
