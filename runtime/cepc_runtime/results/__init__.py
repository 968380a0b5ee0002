"""From what was counted to rows: totals of groups, aggregates as columns, HAVING."""
