"""SQL's MATCH_RECOGNIZE as a query of ours: each clause is lowered to a program over the rows of its table, numbered in
the clause's order, which the engines run like any other.

program_of(clauses) -> ClauseProgram(checked program, what each clause became, what each stream is made of)

tables, naming
             the columns of what a clause is over; its variables
shape        SQL's pattern as one of ours over places, one for each mention of a variable
paths        what is known of the rows before a place, whichever way a match takes
spread       the pattern with alternatives written out, so that more is known
navigation   which row a column is of: LAST, FIRST, PREV, NEXT
define       which rows a condition of DEFINE means at a place
binding      places where it means the same become a variable of ours
conditions, edges
             conditions of WHERE: DEFINE; `^`, `$` and WITHIN
aggregating  aggregates over rows of several variables: of all at once, in DEFINE of each and then together
measures     MEASURES: columns of RETURN; each_row: those of ALL ROWS PER MATCH, of RETURN EACH
skipping     AFTER MATCH SKIP, and what it is an error for
lower        all of it: one clause to a query, and to what its rows are made of (columns, numbered)
program      the queries of all clauses as one program
number_table, number_frame
             rows numbered, here and by Spark; what an engine gives for them, as SQL has it (results)
texts, reading, selecting
             SQL texts without Spark; on_spark: with it
"""
