"""Results as people and programs read them: tables at a terminal, JSON lines, CSV, Parquet."""
