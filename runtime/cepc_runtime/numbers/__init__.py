"""Numbers in columns: equality and order, exact integers of any size, sums of doubles that are rounded once."""
