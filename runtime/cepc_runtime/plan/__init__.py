"""What the runtime executes, as plain data: streams, patterns in two forms, queries, strategies, what is shared."""
