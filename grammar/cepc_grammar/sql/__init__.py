"""What cepc reads of a SQL text: MATCH_RECOGNIZE and what it is over. The rest of the text is Spark's."""
