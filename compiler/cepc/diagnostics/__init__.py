"""Diagnostics for people and editors: as text, as JSON, near names, and the pages behind `cepc explain E0102`."""
