"""SQL's MATCH_RECOGNIZE as a query of ours: each clause is lowered to a program over the rows of its table, numbered in
the clause's order, which the engines run like any other.

lower(clauses) -> Lowered(program, clauses, diagnostics)

tables       the columns of what a clause is over
shape        SQL's pattern as one of ours over places, one for each mention of a variable
paths        what is known of the rows before a place, whichever way a match takes
spread       the pattern with alternatives written out, so that more is known
navigation   which row a column is of: LAST, FIRST, PREV, NEXT
define       DEFINE: conditions of WHERE, for each place
measures     MEASURES: columns of RETURN
skipping     AFTER MATCH SKIP, and what it is an error for
lower        all of it
"""
