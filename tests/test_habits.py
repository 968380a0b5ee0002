"""Words of other event languages, typed into a program: what the message says, and that its cure works.

The last column is the query with the cure typed: it has no errors.
"""

import re
from pathlib import Path

import pyarrow as pa
import pytest

import cepc
from cepc.api import check_text
from cepc_grammar.habits.foreign import FOREIGN

STREAM = """\
STREAM s (at TIMESTAMP, kind STRING, user STRING, price DOUBLE)
EVENT TIME at EVENT TYPE kind IN ('A', 'B', 'C');
"""
A = "RETURN MATCH a.price"
AB = f"{A} PATTERN SEQ(A a, B b)"
SKIP = "SELECT NEXT AFTER MATCH SKIP"
MONTHS = (
    "year(b.at) * 12 + month(b.at) - year(a.at) * 12 - month(a.at)"
    " - if(b.at - date_trunc('MONTH', b.at) < a.at - date_trunc('MONTH', a.at), 1, 0)"
)
ABS = "RETURN MATCH a.price PATTERN SEQ(A a, B{2,} b)"

TYPED = [
    # MATCH_RECOGNIZE of Flink SQL, Trino, Oracle, Snowflake
    (f"{AB} PARTITION BY user, kind WITHIN 1 h", "`WHERE [user, kind]`", f"{AB} WHERE [user, kind] WITHIN 1 h"),
    (f"{AB} ORDER BY at WITHIN 1 h", "remove it: events are in the order of the STREAM's EVENT TIME", f"{AB} WITHIN 1 h"),
    (f"ORDER BY at {AB} WITHIN 1 h", "remove it: events are in the order", f"{AB} WITHIN 1 h"),
    (f"{AB} MEASURES a.price AS p WITHIN 1 h", "`RETURN MATCH v.x AS name`", f"{A} AS p PATTERN SEQ(A a, B b) WITHIN 1 h"),
    (f"{AB} ONE ROW PER MATCH WITHIN 1 h", "remove it", f"{AB} WITHIN 1 h"),
    (f"{A} ONE ROW PER MATCH PATTERN A a WITHIN 1 h", "remove it", f"{A} PATTERN A a WITHIN 1 h"),
    (f"{A} ALL ROWS PER MATCH PATTERN A a WITHIN 1 h", "`RETURN EACH *`", "RETURN EACH * PATTERN A a WITHIN 1 h"),
    (f"{AB} ALL ROWS PER MATCH WITHIN 1 h", "`RETURN EACH …`", "RETURN EACH RUNNING SUM(a.price) AS p PATTERN A+ a WITHIN 1 h"),
    (f"{AB} DEFINE a AS a.price > 3 WITHIN 1 h", "`WHERE v.x > 3`", f"{AB} WHERE a.price > 3 WITHIN 1 h"),
    (
        f"{AB} SELECT NEXT AFTER MATCH SKIP PAST LAST ROW WITHIN 1 h", "write `AFTER MATCH SKIP PAST LAST EVENT`",
        f"{AB} SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 h",
    ),
    (
        f"{AB} AFTER MATCH SKIP TO NEXT ROW WITHIN 1 h", "`AFTER MATCH SKIP TO NEXT EVENT`; it requires SELECT NEXT or",
        f"{AB} SELECT NEXT AFTER MATCH SKIP TO NEXT EVENT WITHIN 1 h",
    ),
    (f"{AB} SKIP PAST LAST ROW WITHIN 1 h", "`AFTER MATCH SKIP PAST LAST EVENT`; it requires", None),
    (f"{AB} SELECT NEXT SKIP TO NEXT ROW WITHIN 1 h", "`AFTER MATCH SKIP TO NEXT EVENT`", None),
    (
        f"{AB} SELECT NEXT AFTER MATCH SKIP TO b WITHIN 1 h", "write `SKIP TO LAST b`, or `SKIP TO FIRST b`",
        f"{AB} SELECT NEXT AFTER MATCH SKIP TO LAST b WITHIN 1 h",
    ),
    (
        f"{AB} SUBSET ab = (a, b) WITHIN 1 h", "`SUM(a.x) + SUM(b.x)`",
        "RETURN MATCH COUNT(a) + COUNT(b) AS n, SUM(a.price) + SUM(b.price) AS p PATTERN SEQ(A a, B b) WITHIN 1 h",
    ),
    ("RETURN MATCH FINAL LAST(a.price) AS p PATTERN A+ a WITHIN 1 h", "leave FINAL out",
     "RETURN MATCH LAST(a.price) AS p PATTERN A+ a WITHIN 1 h"),
    ("RETURN MATCH RUNNING SUM(a.price) AS p PATTERN A+ a WITHIN 1 h", "leave RUNNING out",
     "RETURN MATCH SUM(a.price) AS p PATTERN A+ a WITHIN 1 h"),
    (f"{A} PATTERN PERMUTE(A a, B b) WITHIN 1 h", "write `AND(…)`", f"{A} PATTERN AND(A a, B b) WITHIN 1 h"),
    ("RETURN MATCH A.price PATTERN PERMUTE(A, B) WITHIN 1 h", "write `AND(…)`",
     "RETURN MATCH A.price PATTERN AND(A, B) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, ANY(B, C c)) WITHIN 1 h", "one of several is `OR(B, C c)`; ANY alone is an event of any type",
     f"{A} PATTERN SEQ(A a, OR(B, C)) WITHIN 1 h"),
    (f"{A} PATTERN ^ A a WITHIN 1 h", "leave it out", f"{A} PATTERN A a WITHIN 1 h"),
    (f"{A} PATTERN SEQ({{- A a -}}, B) WITHIN 1 h", "leave `{-` and `-}` out", f"{A} PATTERN SEQ(A a, B) WITHIN 1 h"),
    (f"{AB} WITHIN INTERVAL '5' MINUTE", "write `WITHIN 5 MINUTE`", f"{AB} WITHIN 5 MINUTE"),
    (f"{AB} WITHIN INTERVAL 5 HOURS", "write `WITHIN 5 HOURS`", f"{AB} WITHIN 5 HOURS"),
    (f"{AB} {SKIP} FOR INTERVAL '1' HOUR WITHIN 1 h", "`AFTER MATCH SKIP FOR 1 HOUR`",
     f"{AB} {SKIP} FOR 1 HOUR WITHIN 1 h"),
    (f"{AB} {SKIP} 1 HOUR WITHIN 1 h", "write `SKIP FOR 1 HOUR`", f"{AB} {SKIP} FOR 1 HOUR WITHIN 1 h"),
    (f"{AB} {SKIP} FOR 1 HOUR 30 MINUTES WITHIN 1 h", "write `90 MINUTES`", f"{AB} {SKIP} FOR 90 MINUTES WITHIN 1 h"),
    (f"{AB} {SKIP} FOR -1 HOUR WITHIN 1 h", "a duration is a number and a unit", None),
    (f"{AB} {SKIP} FOR WITHIN 1 h", "a duration is a number and a unit", None),
    (f"{AB} {SKIP} FOR 1 WITHIN 1 h", "write `1 SECONDS`", f"{AB} {SKIP} FOR 1 SECONDS WITHIN 1 h"),
    (f"{AB} WITHIN 1 h OUTPUT FIRST EVERY 2 HOURS", "write `AFTER MATCH SKIP FOR 2 HOURS`; it requires SELECT NEXT or",
     f"{AB} {SKIP} FOR 2 HOURS WITHIN 1 h"),
    (f"{A} PATTERN (A a B+ C) WITHIN 1 h", "`,` is missing", f"{A} PATTERN (A a, B+, C) WITHIN 1 h"),
    (f"{A} PATTERN (A a | B) WITHIN 1 h", "write `OR(A, B)`", "RETURN MATCH * PATTERN OR(A, B) WITHIN 1 h"),
    (f"{A} PATTERN A a MATCH_RECOGNIZE (x) WITHIN 1 h", "are clauses of the query itself", None),
    ("RETURN MATCH MATCH_NUMBER() AS n PATTERN A a WITHIN 1 h", "add `SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT`",
     "RETURN MATCH MATCH_NUMBER() AS n PATTERN A a SELECT NEXT AFTER MATCH SKIP PAST LAST EVENT WITHIN 1 h"),
    ("RETURN MATCH COUNT(*) AS n PATTERN A SELECT CONTIGUOUS HAVING MATCH_NUMBER() = 1 WITHIN 1 h",
     "add `AFTER MATCH SKIP PAST LAST EVENT`",
     "RETURN MATCH COUNT(*) AS n PATTERN A SELECT CONTIGUOUS AFTER MATCH SKIP PAST LAST EVENT HAVING MATCH_NUMBER() = 1 WITHIN 1 h"),
    ("RETURN MATCH CLASSIFIER() AS n PATTERN A a WITHIN 1 h", "it is `VARIABLE()` in `RETURN EACH …`",
     "RETURN EACH VARIABLE() PATTERN A a WITHIN 1 h"),
    ("RETURN MATCH MATCH_ROWTIME() AS n PATTERN A a WITHIN 1 h", "`match_end`", None),
    (f"{ABS} WHERE PREV(b.price, 2) < b.price WITHIN 1 h", "", None),
    ("RETURN MATCH c.price PATTERN SEQ(B+ b, C c) WHERE c.price > LAST(b.price, 1) WITHIN 1 h", "", None),
    ("RETURN MATCH LAST(b.price, 1) AS p PATTERN B{2,} b WITHIN 1 h", "", None),
    (f"{ABS} WHERE PREV(b.price, 0) < b.price WITHIN 1 h", "a whole number from 1 to 100 stands here",
     f"{ABS} WHERE PREV(b, 2).price < b.price WITHIN 1 h"),
    (f"{ABS} WHERE LAST(b.price + 1, 1) < 3 WITHIN 1 h", "compute with what it gives: `LAST(v, 1).x + 1`",
     f"{ABS} WHERE LAST(b, 1).price + 1 < 3 WITHIN 1 h"),
    # PREV beside another variable, which no AND takes apart
    (f"{ABS} WHERE b.price - PREV(b).price > a.price WITHIN 1 h",
     "where both are in one comparison or OR, give events names of their own: `SEQ(E e1, E e2)` and `e2.x - e1.x`",
     "RETURN MATCH a.price PATTERN SEQ(A a, B b1, B b2) WHERE b2.price - b1.price > a.price WITHIN 1 h"),
    (f"{ABS} WHERE (b.price - PREV(b).price > 2 OR b.price > FIRST(a).price) WITHIN 1 h",
     "a condition with PREV(b) mentions `b` alone",
     f"{A} PATTERN SEQ(A a, B b1, B b2) WHERE (b2.price - b1.price > 2 OR b2.price > a.price) WITHIN 1 h"),
    # a running sum
    (f"{ABS} WHERE SUM(b.price) < 30 WITHIN 1 h", "", None),
    (f"{ABS} WHERE RUNNING SUM(b.price) < LAST(b).price WITHIN 1 h", "the event at hand is `b.x`, the first one `FIRST(b).x`",
     f"{ABS} WHERE RUNNING SUM(b.price) < 2 * b.price WITHIN 1 h"),
    (f"{ABS} WHERE STDDEV(b.at) < 30 WITHIN 1 h", "write `HAVING STDDEV(…) …` after the pattern", None),
    (f"{ABS} WHERE COUNT(*) < 30 WITHIN 1 h", "write `COUNT(v)` for the variable `v`, or `HAVING COUNT(*) …`",
     f"{ABS} WHERE COUNT(b) < 30 WITHIN 1 h HAVING COUNT(*) < 30"),
    # a number of events without its least, as in regular expressions
    (f"{A} PATTERN SEQ(A a, B{{,3}}) WITHIN 1 h", "write `B{1,3}`, or `B{0,3}` if there may be none",
     f"{A} PATTERN SEQ(A a, B{{1,3}}) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, (B | C){{,3}}) WITHIN 1 h", "write `OR(A, B)`", None),
    (f"{A} PATTERN SEQ(A a, OR(B, C){{,3}}) WITHIN 1 h", "write `(…){1,3}`, or `(…){0,3}`",
     f"{A} PATTERN SEQ(A a, OR(B, C){{0,3}}) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B b{{2,3}}) WITHIN 1 h", "write `B{2,3} b`, or `B, b{2,3}` for two elements",
     f"{A} PATTERN SEQ(A a, B{{2,3}} b) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B b{{,3}}) WITHIN 1 h", "write `B{1,3} b`, or", f"{A} PATTERN SEQ(A a, B{{1,3}} b) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B b+) WITHIN 1 h", "write `B+ b`, or", f"{A} PATTERN SEQ(A a, B+ b) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B{{-1,2}}) WITHIN 1 h", "a number of events below 0", f"{A} PATTERN SEQ(A a, B{{0,2}}) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A WHERE price > 3, B) WITHIN 1 h", "write it behind the pattern: `WHERE A.x > 3`",
     "RETURN MATCH A.price PATTERN SEQ(A, B) WHERE A.price > 3 WITHIN 1 h"),
    (f"{AB} WHERE a.price > 1,000 WITHIN 1 h", "`1,000` is no number", f"{AB} WHERE a.price > 1000 WITHIN 1 h"),
    (f"{AB} WHERE a.price > 1, b.price > 2 WITHIN 1 h", "conditions are joined by AND",
     f"{AB} WHERE a.price > 1 AND b.price > 2 WITHIN 1 h"),
    (f"{AB} WITHIN 1 h LIMIT 10", "remove it; `cepc run --limit` shows fewer rows", f"{AB} WITHIN 1 h"),
    (f"{A} PATTERN SEQUENCE(A a, B b) WITHIN 1 h", "are written `SEQ(A a, B b)`", f"{AB} WITHIN 1 h"),
    ("RETURN MATCH A.price PATTERN SEQUENCE(A, B) WITHIN 1 h", "events in order are written `SEQ(A, B)`",
     "RETURN MATCH A.price PATTERN SEQ(A, B) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B b WHERE a.price > 3 WITHIN 1 h", "`(` is not closed", f"{AB} WHERE a.price > 3 WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B b WHERE a.price IN (3, 4) WITHIN 1 h", "`)` is missing before WHERE",
     f"{AB} WHERE a.price IN (3, 4) WITHIN 1 h"),
    (f"{AB} WHERE a.price IN 1, 2 AND b.price > 3 WITHIN 1 h", "write `IN (1, 2)`",
     f"{AB} WHERE a.price IN (1, 2) AND b.price > 3 WITHIN 1 h"),
    (
        f'{AB} WHERE a.user = "say "hi"" WITHIN 1 h',
        r'write `"say \"hi\""`',
        rf'{AB} WHERE a.user = "say \"hi\"" WITHIN 1 h',
    ),
    (f"{AB} WHERE a.user = 'it's' WITHIN 1 h", r"write `'it\'s'`", rf"{AB} WHERE a.user = 'it\'s' WITHIN 1 h"),
    (f"{AB} WHERE a.user IN ('x', 'the driver's car') WITHIN 1 h", r"write `'the driver\'s car'`",
     rf"{AB} WHERE a.user IN ('x', 'the driver\'s car') WITHIN 1 h"),
    ("RETURN MATCH COUNT(a.*) AS n PATTERN A+ a WITHIN 1 h", "write `COUNT(a)`",
     "RETURN MATCH COUNT(a) AS n PATTERN A+ a WITHIN 1 h"),
    # what is a name, a text or a time in another place
    (f"{A} PATTERN SEQ(a A, B b) WHERE a.price > b.price WITHIN 1 h", "help: write `A a` 1 error",
     f"{A} PATTERN SEQ(A a, B b) WHERE a.price > b.price WITHIN 1 h"),
    (f"{A} PATTERN A a WHERE a.at > 2026-3-02 WITHIN 1 h", "write `TIMESTAMP '2026-03-02'`",
     f"{A} PATTERN A a WHERE a.at > TIMESTAMP '2026-03-02' WITHIN 1 h"),
    (f"{A} PATTERN A a WHERE CAST(a.at AS DATE) = 2026-03-02 WITHIN 1 h", "write `DATE '2026-03-02'`",
     f"{A} PATTERN A a WHERE CAST(a.at AS DATE) = DATE '2026-03-02' WITHIN 1 h"),
    (f"{A} PATTERN A a WHERE a.at > 2026 WITHIN 1 h", "a duration is an interval", None),
    (f"{A} PATTERN A a WHERE a.price = '' WITHIN 1 h", "`x IS NULL`, or `x IS NOT NULL`",
     f"{A} PATTERN A a WHERE a.price IS NULL WITHIN 1 h"),
    (f"{A} PATTERN A a WHERE a.price = 'many' WITHIN 1 h", "write a number, or make the numbers texts: `CAST(x AS STRING)`",
     f"{A} PATTERN A a WHERE a.price = 5 AND CAST(a.price AS STRING) <> 'many' WITHIN 1 h"),
    ("RETURN COUNT(DISTINCT user) AS n PATTERN A a WITHIN 1 h", "error[E0312]: DISTINCT in an aggregate",
     "RETURN MATCH COUNT(DISTINCT a.user) AS n PATTERN A+ a WITHIN 1 h"),
    # SQL's LIKE of several
    (f"{AB} WHERE a.user LIKE ANY ('x%', 'y') WITHIN 1 h", "write `(a.user LIKE 'x%' OR a.user LIKE 'y')`",
     f"{AB} WHERE (a.user LIKE 'x%' OR a.user LIKE 'y') WITHIN 1 h"),
    (f"{AB} WHERE a.user NOT ILIKE ALL ('x%', 'y') WITHIN 1 h", "write `(a.user NOT ILIKE 'x%' AND a.user NOT ILIKE 'y')`",
     f"{AB} WHERE (a.user NOT ILIKE 'x%' AND a.user NOT ILIKE 'y') WITHIN 1 h"),
    (f"{AB} WHERE UPPER(a.user) LIKE SOME (a.kind, 'Y', 'Z', 'W') WITHIN 1 h",
     "write `(x LIKE … OR x LIKE 'Y' OR x LIKE 'Z' OR …)`", None),
    # functions whose type only Spark knows
    (f"{A} PATTERN A a WHERE SIZE(ARRAY(a.price)) > 1 WITHIN 1 h", "say what it is: `CAST(array(…) AS ARRAY<DOUBLE>)`",
     f"{A} PATTERN A a WHERE SIZE(CAST(ARRAY(a.price) AS ARRAY<DOUBLE>)) > 1 WITHIN 1 h"),
    (f"{A} PATTERN A a WHERE SIZE(MAP(a.user, 'x')) > 1 WITHIN 1 h", "`CAST(map(…) AS MAP<STRING, STRING>)`",
     f"{A} PATTERN A a WHERE SIZE(CAST(MAP(a.user, 'x') AS MAP<STRING, STRING>)) > 1 WITHIN 1 h"),
    # ... where Spark computes nothing
    ("RETURN MATCH SIZE(ARRAY(a.price)) AS n PATTERN A a WITHIN 1 h",
     "add `array_price AS CAST(array(price) AS ARRAY<DOUBLE>)` to the columns of the STREAM, write `a.array_price` here", None),
    ("RETURN MATCH SIZE(SORT_ARRAY(COLLECT(a.price))) AS n PATTERN A+ a WITHIN 1 h", "or call it on the rows that come out",
     None),
    # intervals
    (f"{AB} WHERE b.at - a.at <= 5 SECONDS WITHIN 1 h", "write `INTERVAL 5 SECONDS`",
     f"{AB} WHERE b.at - a.at <= INTERVAL 5 SECONDS WITHIN 1 h"),
    (f"{AB} WHERE b.at - a.at <= 1.5 HOURS WITHIN 1 h", "write `INTERVAL 90 MINUTES`",
     f"{AB} WHERE b.at - a.at <= INTERVAL 90 MINUTES WITHIN 1 h"),
    (f"{AB} WHERE b.at - a.at <= 1.5 s WITHIN 1 h", "write `INTERVAL 1.5 s`",
     f"{AB} WHERE b.at - a.at <= INTERVAL 1.5 s WITHIN 1 h"),
    (f"{AB} WHERE b.at < a.at + 2 min AND a.price > 3 WITHIN 1 h", "write `INTERVAL 2 min`",
     f"{AB} WHERE b.at < a.at + INTERVAL 2 min AND a.price > 3 WITHIN 1 h"),
    ("RETURN MATCH b.at + INTERVAL -1 DAY AS v PATTERN SEQ(A a, B b) WITHIN 1 h", "write `-INTERVAL 1 DAY`",
     "RETURN MATCH b.at + -INTERVAL 1 DAY AS v PATTERN SEQ(A a, B b) WITHIN 1 h"),
    # a quantifier behind two names, of which the second is a type
    (f"{A} PATTERN (A a B+) WITHIN 1 h", "`,` is missing before `B`", f"{A} PATTERN (A a, B+) WITHIN 1 h"),
    ("RETURN MATCH A.price PATTERN (A B+) WITHIN 1 h", "write `A, B+`", "RETURN MATCH A.price PATTERN (A, B+) WITHIN 1 h"),
    ("RETURN MATCH A.price PATTERN (A B+) WITHIN 1 h", "behind the quantifier: `A+ b`",
     "RETURN MATCH * PATTERN (A+ b) WITHIN 1 h"),
    ("RETURN MATCH A.price PATTERN A B+ WITHIN 1 h", "write `SEQ(A, B+)`",
     "RETURN MATCH A.price PATTERN SEQ(A, B+) WITHIN 1 h"),
    ("RETURN MATCH * PATTERN A b+ WITHIN 1 h", "write `A+ b`, or `SEQ(A, b+)`", "RETURN MATCH * PATTERN A+ b WITHIN 1 h"),
    # a clause that broke off, so that the next one's word could be a column
    (f"{A}, PATTERN A a WITHIN 1 h", "nothing follows it but PATTERN, which begins a clause | = help: remove `,`",
     f"{A} PATTERN A a WITHIN 1 h"),
    (f"{A}, PATTERN SEQ(A a, B) WITHIN 1 h", "`,` before PATTERN", f"{A} PATTERN SEQ(A a, B) WITHIN 1 h"),
    (f"{A},\n PATTERN A a WITHIN 1 h", "`,` before PATTERN", f"{A}\n PATTERN A a WITHIN 1 h"),
    (f"{A} + PATTERN A a WITHIN 1 h", "something is missing before PATTERN", f"{A} + 1 AS v PATTERN A a WITHIN 1 h"),
    ("RETURN MATCH a.user AS\nPATTERN A a WITHIN 1 h", "something is missing before PATTERN", f"{A} PATTERN A a WITHIN 1 h"),
    ("RETURN MATCH DISTINCT a.user PATTERN A a WITHIN 1 h", "each match has a row", f"{A} PATTERN A a WITHIN 1 h"),
    ("RETURN DISTINCT user PATTERN A WHERE [user] WITHIN 1 h", "so that equal values are not found = help: remove DISTINCT",
     None),
    ("RETURN each PATTERN A a WITHIN 1 h",
     "`each` requires something after it | = help: in backquotes it is a column of that name: RETURN `each`",
     "RETURN EACH user PATTERN A a WITHIN 1 h"),
    ("RETURN MATCH PATTERN A a WITHIN 1 h", "`MATCH` requires something after it", f"{A} PATTERN A a WITHIN 1 h"),
    (f"{AB} WHERE a.price > 1 AND WITHIN 1 h", "`AND` requires something after it", f"{AB} WHERE a.price > 1 WITHIN 1 h"),
    (f"{AB} WHERE WITHIN 1 h", "`WHERE` requires something after it", None),
    (f"{AB} WHERE a.price > WITHIN 1 h", "`>` requires something after it", f"{AB} WHERE a.price > 3 WITHIN 1 h"),
    ("RETURN user, COUNT(*) AS n PATTERN A GROUP BY user, WITHIN 1 h", "`,` before WITHIN",
     "RETURN user, COUNT(*) AS n PATTERN A GROUP BY user WITHIN 1 h"),
    (f"{A}, pattern p PATTERN A a WITHIN 1 h", "`AS` is missing before `p`", None),
    # AND and OR twice
    (f"{AB} WHERE a.price > 1 AND AND WITHIN 1 h", "remove it, or add the condition that it joins",
     f"{AB} WHERE a.price > 1 WITHIN 1 h"),
    (f"{AB} WHERE a.price > 1 OR or WITHIN 1 h", "remove it, or add the condition that it joins",
     f"{AB} WHERE a.price > 1 OR b.price > 2 WITHIN 1 h"),
    (f"{A}, PATTERN (A a) WITHIN 1 h", "`,` before PATTERN", f"{A} PATTERN (A a) WITHIN 1 h"),
    (f"{A}, PATTERN (A) WITHIN 1 h", "`,` before PATTERN", None),
    (f"{A}, b.price, pattern (A, b) WITHIN 1 h", "remove `,`", None),
    (f"{AB} WHERE a.price > 1 AND AND b.price > 2 WITHIN 1 h", "remove `AND`",
     f"{AB} WHERE a.price > 1 AND b.price > 2 WITHIN 1 h"),
    (f"{AB} WHERE a.price > 1 AND OR NOT b.price > 2 WITHIN 1 h", "remove `OR`",
     f"{AB} WHERE a.price > 1 AND NOT b.price > 2 WITHIN 1 h"),
    (f"{AB} WHERE a.price > 1 AND OR (b.price > 2) WITHIN 1 h", "between two conditions: `a OR b`",
     f"{AB} WHERE a.price > 1 OR (b.price > 2) WITHIN 1 h"),
    (f"{AB} WHERE AND(a.price > 1, b.price > 2) WITHIN 1 h", "between two conditions: `a AND b`",
     f"{AB} WHERE a.price > 1 AND b.price > 2 WITHIN 1 h"),
    (f"{AB} WHERE AND a.price > 1 WITHIN 1 h", "remove `AND`", f"{AB} WHERE a.price > 1 WITHIN 1 h"),
    (f"{AB} WHERE b.at - a.at > INTERVAL '1 25:00:00' DAY TO SECOND WITHIN 1 h", "write `INTERVAL '1 02:03:04' DAY TO SECOND`",
     f"{AB} WHERE b.at - a.at > INTERVAL '1 02:03:04' DAY TO SECOND WITHIN 1 h"),
    (f"{AB} WHERE b.at - a.at > INTERVAL '02:03:04' DAY TO SECOND WITHIN 1 h", "is no interval of DAY TO SECOND", None),
    (f"{AB} WHERE b.at - a.at > INTERVAL '\u0661 02:03' DAY TO MINUTE WITHIN 1 h", "is no interval of DAY TO MINUTE", None),
    (f"{AB} WHERE b.at - a.at > INTERVAL '1 2' WEEK TO DAY WITHIN 1 h", "write `INTERVAL '1 02:03:04' DAY TO SECOND`", None),
    (f"{AB} WHERE b.at - a.at > INTERVAL '1-2' YEAR TO MONTH WITHIN 1 h", "use `add_months(date, n)`", None),
    # forms of Spark's that are no calls with commas
    (f"{AB} WHERE 1 + ! a.price > 1 WITHIN 1 h", "write `(NOT …)` around", f"{AB} WHERE (NOT a.price > 1) WITHIN 1 h"),
    (f"{AB} WHERE upper(a.user FROM 2) = 'X' WITHIN 1 h", "write `upper(…, …)`", None),
    (f"{AB} WHERE position('o' IN a.user) > 1 WITHIN 1 h", "write `position('o', a.user)`",
     f"{AB} WHERE position('o', a.user) > 1 WITHIN 1 h"),
    (f"{AB} WHERE position(lower(b.user) IN upper(a.user) || 'x') > 1 WITHIN 1 h",
     "write `position(lower(b.user), upper(a.user) || 'x')`",
     f"{AB} WHERE position(lower(b.user), upper(a.user) || 'x') > 1 WITHIN 1 h"),
    (f"{AB} WHERE trim(BOTH 'x' FROM a.user) = 'y' WITHIN 1 h", "write `trim('x', a.user)`",
     f"{AB} WHERE trim('x', a.user) = 'y' WITHIN 1 h"),
    (f"{AB} WHERE trim(leading b.user FROM a.user) = 'y' WITHIN 1 h", "write `ltrim(b.user, a.user)`",
     f"{AB} WHERE ltrim(b.user, a.user) = 'y' WITHIN 1 h"),
    (f"{AB} WHERE trim(TRAILING 'xy' || 'z' FROM (a.user)) = 'y' WITHIN 1 h", "write `rtrim('xy' || 'z', (a.user))`",
     f"{AB} WHERE rtrim('xy' || 'z', (a.user)) = 'y' WITHIN 1 h"),
    (f"{AB} WHERE trim(FROM a.user) = 'y' WITHIN 1 h", "write `trim(a.user)`", f"{AB} WHERE trim(a.user) = 'y' WITHIN 1 h"),
    (f"{AB} WHERE overlay(a.user PLACING 'x' FROM 2 FOR 1) = 'y' WITHIN 1 h",
     "write `CAST(overlay(a.user, 'x', 2, 1) AS STRING)`",
     f"{AB} WHERE CAST(overlay(a.user, 'x', 2, 1) AS STRING) = 'y' WITHIN 1 h"),
    (f"{AB} WHERE datediff(DAY, a.at, b.at) > 1 WITHIN 1 h",
     "write `(unix_micros(b.at) - unix_micros(a.at)) DIV 86400000000`",
     f"{AB} WHERE (unix_micros(b.at) - unix_micros(a.at)) DIV 86400000000 > 1 WITHIN 1 h"),
    (f"{AB} WHERE timestampdiff(hour, a.at, b.at) > 1 WITHIN 1 h",
     "write `(unix_micros(b.at) - unix_micros(a.at)) DIV 3600000000`", None),
    (f"{AB} WHERE date_diff(DAY, CAST(a.at AS DATE), '2026-01-31') > 1 WITHIN 1 h",
     "`(unix_micros(CAST('2026-01-31' AS TIMESTAMP)) - unix_micros(CAST(CAST(a.at AS DATE) AS TIMESTAMP))) DIV 86400000000`",
     None),
    (f"{AB} WHERE timestampdiff(MONTH, a.at, b.at) > 1 WITHIN 1 h", f"write `{MONTHS}`", f"{AB} WHERE {MONTHS} > 1 WITHIN 1 h"),
    (f"{AB} WHERE timestampdiff(YEAR, a.at, b.at) > 1 WITHIN 1 h", f"write `({MONTHS}) DIV 12`",
     f"{AB} WHERE ({MONTHS}) DIV 12 > 1 WITHIN 1 h"),
    (f"{AB} WHERE timestampadd(HOUR, 3, a.at) > b.at WITHIN 1 h", "write `a.at + INTERVAL 3 HOURS`",
     f"{AB} WHERE a.at + INTERVAL 3 HOURS > b.at WITHIN 1 h"),
    (f"{AB} WHERE dateadd(DAY, -1, a.at) > b.at WITHIN 1 h", "write `a.at + -1 * INTERVAL 1 DAY`",
     f"{AB} WHERE a.at + -1 * INTERVAL 1 DAY > b.at WITHIN 1 h"),
    (f"{AB} WHERE date_add(MINUTE, a.price + 1, a.at) > b.at WITHIN 1 h", "write `a.at + (a.price + 1) * INTERVAL 1 MINUTE`",
     f"{AB} WHERE a.at + (a.price + 1) * INTERVAL 1 MINUTE > b.at WITHIN 1 h"),
    (f"{AB} WHERE date_add(QUARTER, 2, a.at) > DATE '2026-01-31' WITHIN 1 h", "write `add_months(a.at, 2 * 3)`",
     f"{AB} WHERE add_months(a.at, 2 * 3) > DATE '2026-01-31' WITHIN 1 h"),
    (f"{AB} WHERE timestampdiff(a.at, b.at) > 1 WITHIN 1 h", "`datediff(end, start)`", None),
    (f"{AB} WHERE timestampadd(a.at, 3) > b.at WITHIN 1 h", "`x + INTERVAL 3 HOURS`", None),
    # Flink's CEP library
    (f"{A} PATTERN A.next(B) WITHIN 1 h", "`CONTIGUOUS(A, B)` for this step",
     f"{A} PATTERN CONTIGUOUS(A a, B) WHERE [user] WITHIN 1 h"),
    (f"{A} PATTERN begin('a') WITHIN 1 h", "a pattern begins with its first element", f"{AB} WITHIN 1 h"),
    (f"{A} PATTERN begin(\"a\").next(\"b\") WITHIN 1 h", "`SELECT CONTIGUOUS`",
     f"{AB} WHERE [user] SELECT CONTIGUOUS WITHIN 1 h"),
    (f"{A} PATTERN A.followedBy(B) WITHIN 1 h", "`SELECT NEXT`", f"{AB} SELECT NEXT WITHIN 1 h"),
    (f"{A} PATTERN A.followedByAny(B) WITHIN 1 h", "`SELECT ANY` is the default", f"{AB} SELECT ANY WITHIN 1 h"),
    (f"{A} PATTERN A.notFollowedBy(B) WITHIN 1 h", "`SEQ(A, NOT B, C)`", f"{A} PATTERN SEQ(A a, NOT B, C) WITHIN 1 h"),
    (f"{A} PATTERN A.notNext(B) WITHIN 1 h", "comes near", None),
    (f"{A} PATTERN A.oneOrMore() WITHIN 1 h", "write `A+`", "RETURN MATCH COUNT(A) AS n PATTERN A+ WITHIN 1 h"),
    (f"{A} PATTERN A.times(3) WITHIN 1 h", "write `A{3}`, or `A{2,4}`", "RETURN MATCH * PATTERN A{2,4} WITHIN 1 h"),
    (f"{A} PATTERN A.timesOrMore(3) WITHIN 1 h", "write `A{3,}`", "RETURN MATCH * PATTERN A{3,} WITHIN 1 h"),
    (f"{A} PATTERN A.optional() WITHIN 1 h", "write `A?`", "RETURN MATCH * PATTERN SEQ(A?, B) WITHIN 1 h"),
    (f"{A} PATTERN A.greedy() WITHIN 1 h", "write `SELECT NEXT`", None),
    (f"{A} PATTERN A.consecutive() WITHIN 1 h", "write `CONTIGUOUS(A+)`", "RETURN MATCH * PATTERN CONTIGUOUS(A+) WITHIN 1 h"),
    (f"{A} PATTERN A.allowCombinations() WITHIN 1 h", "`SELECT ANY` is the default", None),
    (f"{A} PATTERN A.until(B) WITHIN 1 h", "write `SEQ(A, SEQ(NOT Stop, B)+)`",
     f"{A} PATTERN SEQ(A a, SEQ(NOT C, B)+) WITHIN 1 h"),
    (f"{A} PATTERN A.where(x) WITHIN 1 h", "conditions stand in WHERE", f"{A} PATTERN A a WHERE a.price > 3 WITHIN 1 h"),
    (f"{A} PATTERN A.subtype(x) WITHIN 1 h", "`EVENT Large AS A WHERE …`", None),
    (f"{A} PATTERN A.within(5) WITHIN 1 h", "WITHIN is a clause", None),
    # between two events
    (f"{A} PATTERN SEQ(A a, B) NOT C WITHIN 1 h", "`SEQ(A, NOT C)`", f"{A} PATTERN SEQ(A a, B, NOT C) WITHIN 1 h"),
    (f"{A} PATTERN A a AND B b WITHIN 1 h", "write `AND(A a, B b)`", f"{A} PATTERN AND(A a, B b) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(C, A+ a OR SEQ(B, C) OR B WHERE x) WITHIN 1 h", "write `OR(A+ a, SEQ(B, C), B)`",
     "RETURN MATCH * PATTERN SEQ(C, OR(A+ a, SEQ(B, C), B)) WITHIN 1 h"),
    (f"{A} PATTERN A a AND B OR C WITHIN 1 h", "write `AND(…, …)`", None),
    # Esper's EPL and Siddhi
    (f"{A} PATTERN every A WITHIN 1 h", "leave EVERY out", f"{A} PATTERN A a WITHIN 1 h"),
    (f"{A} PATTERN SEQ(every A a, B b) WITHIN 1 h", "leave EVERY out", f"{AB} WITHIN 1 h"),
    (f"{A} PATTERN every a=A -> b=B WITHIN 1 h", "leave EVERY out", f"{AB} WITHIN 1 h"),
    (f"{A} PATTERN every (A a -> B b) WITHIN 1 h", "`SELECT NEXT` and `AFTER MATCH` choose",
     f"{AB} SELECT NEXT AFTER MATCH SKIP TO NEXT EVENT WITHIN 1 h"),
    (f"{A} PATTERN A a -> B b WITHIN 1 h", "`SEQ(A, B)`", f"{AB} WITHIN 1 h"),
    (f"{A} PATTERN a=A -> b=B WITHIN 1 h", "an alias follows its event: `A a`", f"{AB} WITHIN 1 h"),
    (f"{A} PATTERN A a followed by B b WITHIN 1 h", "`SEQ(A, B)`", f"{AB} WITHIN 1 h"),
    (f"{A} PATTERN A a followedBy B b WITHIN 1 h", "`SEQ(A, B)` with `SELECT NEXT`", f"{AB} SELECT NEXT WITHIN 1 h"),
    (f"{A} PATTERN A a next B b WITHIN 1 h", "write `CONTIGUOUS(A, B)`", f"{A} PATTERN CONTIGUOUS(A a, B b) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B b until C) WITHIN 1 h", "write `SEQ(A+, B)`", "RETURN MATCH * PATTERN SEQ(A+, B) WITHIN 1 h"),
    (f"{AB} within 5 sec", "", f"{AB} within 5 sec"),
    (f"{AB} where timer:within(5 sec)", "write `WITHIN 5 sec`", f"{AB} WITHIN 5 sec"),
    (f"{A} PATTERN SEQ(A a, timer:interval(5 min)) WITHIN 1 h", "`SEQ(A, NOT B WITHIN 5 min)`",
     f"{A} PATTERN SEQ(A a, NOT B WITHIN 5 min) WITHIN 1 h"),
    (f"{AB} where timer:interval(5 sec) WITHIN 1 h", "`SEQ(A, NOT B WITHIN 5 sec)`", None),
    (f"{AB} where timer:at(0, 8) WITHIN 1 h", "`WITHIN 1 DAY OFFSET 8 HOURS`",
     "RETURN COUNT(*) AS n PATTERN A WITHIN 1 DAY OFFSET 8 HOURS"),
    (f"{A} PATTERN SEQ(A a, not B for 5 min) WITHIN 1 h", "write `WITHIN 5 min`",
     f"{A} PATTERN SEQ(A a, not B WITHIN 5 min) WITHIN 1 h"),
    (f"{A} FROM s#window.time(5 min) PATTERN A a WITHIN 1 h", "`WITHIN 5 min`, or `WITHIN 5 min SLIDE 1 MINUTE`",
     "RETURN COUNT(*) AS n PATTERN A WITHIN 5 min SLIDE 1 MINUTE"),
    (f"{A} FROM s#time(5 min) PATTERN A a WITHIN 1 h", "`WITHIN 5 min`", None),
    (f"{A} FROM s.win:time(5 min) PATTERN A a WITHIN 1 h", "`WITHIN 5 min`", None),
    (f"{A} FROM s#length(5) PATTERN A a WITHIN 1 h", "there are none of a number of events", None),
    ("RETURN COUNT(*) AS n PATTERN A WITHIN 5 EVENTS", "there are none of a number of events", None),
    ("RETURN COUNT(*) AS n FROM s#window.session(5 min) PATTERN A WITHIN 1 h", "`WITHIN SESSION 5 min`",
     "RETURN COUNT(*) AS n PATTERN A WITHIN SESSION 5 min"),
    ("RETURN COUNT(*) AS n PATTERN A GROUP BY user, SESSION_WINDOW(at, '10 minutes') WITHIN 1 h",
     "`WITHIN SESSION 10 MINUTES`", "RETURN COUNT(*) AS n PATTERN A GROUP BY user WITHIN SESSION 10 MINUTES"),
    ("RETURN COUNT(*) AS n PATTERN A WITHIN SESSION(7 MINUTES)", "write `WITHIN SESSION 7 MINUTES`",
     "RETURN COUNT(*) AS n PATTERN A WITHIN SESSION 7 MINUTES"),
    ("RETURN COUNT(*) AS n PATTERN A WITHIN 7 MINUTES SESSION", "write `WITHIN SESSION 7 MINUTES`",
     "RETURN COUNT(*) AS n PATTERN A WITHIN SESSION 7 MINUTES"),
    ("RETURN COUNT(*) AS n PATTERN A TUMBLE 5 MINUTES", "write `WITHIN 5 MINUTES`",
     "RETURN COUNT(*) AS n PATTERN A WITHIN 5 MINUTES"),
    ("RETURN COUNT(*) AS n PATTERN A WINDOW TUMBLING (5 MINUTES)", "write `WITHIN 5 MINUTES`", None),
    ("RETURN COUNT(*) AS n PATTERN A WINDOW HOPPING (5 MINUTES)", "write `WITHIN 5 MINUTES SLIDE 1 MINUTE`",
     "RETURN COUNT(*) AS n PATTERN A WITHIN 5 MINUTES SLIDE 1 MINUTE"),
    ("RETURN COUNT(*) AS n PATTERN A WITHIN 1 h HOP 5 MINUTES", "SLIDE 1 MINUTE", None),
    (f"{AB} INSERT INTO Out WITHIN 1 h", "remove it: where rows go is said on the command line", f"{AB} WITHIN 1 h"),
    (f"{AB} WITHIN 1 h OUTPUT LAST EVERY 5 SECONDS", "remove it", f"{AB} WITHIN 1 h"),
    (f"{AB} WITHIN 1 h EMIT CHANGES", "remove it", f"{AB} WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A<3:5> a, B b) WITHIN 1 h", "write `A{3,5}`", "RETURN MATCH * PATTERN SEQ(A{3,5} a, B b) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A<3:> a, B b) WITHIN 1 h", "write `A{3,}`", "RETURN MATCH * PATTERN SEQ(A{3,} a, B b) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, [3] B) WITHIN 1 h", "write `B{3}`", f"{A} PATTERN SEQ(A a, B{{3}}) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B(price > 3) b) WITHIN 1 h", "write it in WHERE", f"{AB} WHERE b.price > 3 WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B[price > 3] b) WITHIN 1 h", "write it in WHERE", f"{AB} WHERE b.price > 3 WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A[2] a, B b) WITHIN 1 h", "write `A{2} a`", "RETURN MATCH * PATTERN SEQ(A{2} a, B b) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a[2,3], B b) WITHIN 1 h", "write `A{2,3} a`", "RETURN MATCH * PATTERN SEQ(A{2,3} a, B b) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, SEQ(B, C)[2,]) WITHIN 1 h", "write `(…){2,}`", f"{A} PATTERN SEQ(A a, SEQ(B, C){{2,}}) WITHIN 1 h"),
    (f"{A} PATTERN A[2] WITHIN 1 h", "write `A{2}`", "RETURN MATCH * PATTERN A{2} WITHIN 1 h"),
    (f"{A} PATTERN [2] A WITHIN 1 h", "write `A{2}`", "RETURN MATCH * PATTERN A{2} WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B b (price > 3)) WITHIN 1 h", "write it in WHERE", f"{AB} WHERE b.price > 3 WITHIN 1 h"),
    (f"{A} PATTERN A a (a.user = 'x') WITHIN 1 h", "write it in WHERE", f"{A} PATTERN A a WHERE a.user = 'x' WITHIN 1 h"),
    # windows and selections of others
    ("RETURN COUNT(*) AS n PATTERN A WITHIN 5 MINUTES SLIDING 1 MINUTE", "write `SLIDE 1 MINUTE`",
     "RETURN COUNT(*) AS n PATTERN A WITHIN 5 MINUTES SLIDE 1 MINUTE"),
    ("RETURN COUNT(*) AS n PATTERN A WITHIN 5 MINUTES EVERY 1 MINUTE", "write `SLIDE 1 MINUTE`", None),
    (f"{A} PATTERN A OVER 5 MINUTES", "write `WITHIN 5 MINUTES`", "RETURN MATCH * PATTERN A WITHIN 5 MINUTES"),
    (f"{AB} WHERE a.price > 3 OVER 5 MINUTES", "write `WITHIN 5 MINUTES`", f"{AB} WHERE a.price > 3 WITHIN 5 MINUTES"),
    (f"{AB} WHERE SUM(a.price) > 3 OVER WITHIN 1 h", "window functions are not allowed", None),
    (f"{AB} SELECT SKIP TILL NEXT MATCH WITHIN 1 h", "`SKIP TILL NEXT MATCH` is no selection",
     f"{AB} SELECT NEXT WITHIN 1 h"),
    (f"{AB} SELECT skip-till-any-match WITHIN 1 h", "write `SELECT ANY`", f"{AB} SELECT ANY WITHIN 1 h"),
    (f"{AB} SELECT strict WITHIN 1 h", "write `SELECT CONTIGUOUS`", f"{AB} WHERE [user] SELECT CONTIGUOUS WITHIN 1 h"),
    # names that SQL would know, or not have
    ("RETURN COUNT(*) AS n PATTERN SEQ(A a, B b) WHERE n > 3 WITHIN 1 h", "write the condition in HAVING: `HAVING n …`",
     "RETURN COUNT(*) AS n PATTERN SEQ(A a, B b) HAVING n > 3 WITHIN 1 h"),
    ("RETURN MATCH b.price - a.price AS d PATTERN SEQ(A a, B b) WHERE d > 3 WITHIN 1 h", "`HAVING d …`",
     "RETURN MATCH b.price - a.price AS d PATTERN SEQ(A a, B b) HAVING d > 3 WITHIN 1 h"),
    ("RETURN EACH price AS d PATTERN SEQ(A a, B b) WHERE d > 3 WITHIN 1 h", "its columns are", None),
    (f"{AB} WHERE a.kind = A WITHIN 1 h", "its name as a text is in quotes: `'A'`", f"{AB} WHERE a.kind = 'A' WITHIN 1 h"),
    ("RETURN MATCH b.price PATTERN SEQ(A, B b) WHERE b.kind = A WITHIN 1 h",
     "the name of the type as a text is `'A'`", "RETURN MATCH b.price PATTERN SEQ(A, B b) WHERE b.kind = 'A' WITHIN 1 h"),
    (f"{AB} WHERE a.price > ALL (1, 2) WITHIN 1 h", "`x > ALL (a, b)` is `x > GREATEST(a, b)`",
     f"{AB} WHERE a.price > GREATEST(1, 2) WITHIN 1 h"),
    (f"{AB} WHERE a.price > ANY (1, 2) WITHIN 1 h", "`x > ANY (a, b)` is `x > LEAST(a, b)`",
     f"{AB} WHERE a.price > LEAST(1, 2) WITHIN 1 h"),
    (f"{AB} WHERE a.price = SOME (1, 2) WITHIN 1 h", "`x = SOME (a, b)` is `x IN (a, b)`",
     f"{AB} WHERE a.price IN (1, 2) WITHIN 1 h"),
    ("RETURN user, COUNT(*) AS n PATTERN SEQ(A a, B b) WITHIN 1 h SLIDE 1 h",
     "aggregate it, or add `GROUP BY user`: all events of a match then agree on it",
     "RETURN user, COUNT(*) AS n PATTERN SEQ(A a, B b) GROUP BY user WITHIN 1 h SLIDE 1 h"),
    # operators of others, where the operands are no names
    (f"{AB} WHERE UPPER(a.user) CONTAINS 'x' WITHIN 1 h", "write `contains(x, y)`",
     f"{AB} WHERE contains(UPPER(a.user), 'x') WITHIN 1 h"),
    (f"{AB} WHERE a.price ?? ABS(b.price) > 1 WITHIN 1 h", "write `COALESCE(x, y)`",
     f"{AB} WHERE COALESCE(a.price, ABS(b.price)) > 1 WITHIN 1 h"),
    (f"{AB} WHERE a.user !~ 'x.*' WITHIN 1 h", "write `NOT RLIKE`", f"{AB} WHERE a.user NOT RLIKE 'x.*' WITHIN 1 h"),
    (f"{AB} WHERE a.user =~ 'x.*' WITHIN 1 h", "matched by RLIKE: `x RLIKE 'a.*'`", f"{AB} WHERE a.user RLIKE 'x.*' WITHIN 1 h"),
    (f"{AB} WHERE a.user SIMILAR TO 'x%' WITHIN 1 h", "or `LIKE 'a%'`", f"{AB} WHERE a.user LIKE 'x%' WITHIN 1 h"),
    (f"{AB} WHERE a.user NOT CONTAINS 'x' WITHIN 1 h", "write `NOT contains(a.user, 'x')`",
     f"{AB} WHERE NOT contains(a.user, 'x') WITHIN 1 h"),
    (f"{AB} WHERE a.price === 1 WITHIN 1 h", "write `=`", f"{AB} WHERE a.price = 1 WITHIN 1 h"),
    (f"{AB} WHERE a.price !== 1 WITHIN 1 h", "write `<>`", f"{AB} WHERE a.price <> 1 WITHIN 1 h"),
    (f"{AB} WHERE a.price // 2 > 1 WITHIN 1 h", "write `DIV`, or `FLOOR(x / y)` of numbers with a fraction",
     f"{AB} WHERE FLOOR(a.price / 2) > 1 WITHIN 1 h"),
    (f"{AB} WHERE a.price ** 2 > 1 WITHIN 1 h", "write `POWER(a.price, 2)`", f"{AB} WHERE POWER(a.price, 2) > 1 WITHIN 1 h"),
    (f"{AB} WHERE (a.price > 1 ? a.price : MOD(3, 2)) > 3 WITHIN 1 h",
     "write `CASE WHEN a.price > 1 THEN a.price ELSE MOD(3, 2) END`",
     f"{AB} WHERE (CASE WHEN a.price > 1 THEN a.price ELSE MOD(3, 2) END) > 3 WITHIN 1 h"),
    ("RETURN MATCH a.user, a.price > 1 ? 'hi' : 'lo' AS c PATTERN SEQ(A a, B b) WITHIN 1 h",
     "write `CASE WHEN a.price > 1 THEN 'hi' ELSE 'lo' END`",
     "RETURN MATCH a.user, CASE WHEN a.price > 1 THEN 'hi' ELSE 'lo' END AS c PATTERN SEQ(A a, B b) WITHIN 1 h"),
    ("RETURN MATCH a.price > 1 ? 'hi' PATTERN SEQ(A a, B b) WITHIN 1 h", "write `CASE WHEN condition THEN x ELSE y END`", None),
    (f"{AB} WHERE a.price > 1 ? true : false WITHIN 1 h", "write `CASE WHEN condition THEN x ELSE y END`", None),
    # Python and pandas
    (f"{AB} WHERE a.user IS None WITHIN 1 h", "write `NULL`", f"{AB} WHERE a.user IS NULL WITHIN 1 h"),
    (f"{AB} WHERE a.user is not None WITHIN 1 h", "write `NULL`", f"{AB} WHERE a.user is not NULL WITHIN 1 h"),
    (f"{AB} WHERE a.user not in ['x', 'y'] WITHIN 1 h", "write `IN ('x', 'y')`", f"{AB} WHERE a.user not IN ('x', 'y') WITHIN 1 h"),
    (f"{AB} WHERE a.price BETWEEN (1, 1 + 2) WITHIN 1 h", "write `BETWEEN 1 AND 1 + 2`",
     f"{AB} WHERE a.price BETWEEN 1 AND 1 + 2 WITHIN 1 h"),
    (f"{AB} WHERE a.user.isin(['x', 'y']) WITHIN 1 h", "write `a.user IN ('x', 'y')`", f"{AB} WHERE a.user IN ('x', 'y') WITHIN 1 h"),
    (f"{AB} WHERE a.user.isna() WITHIN 1 h", "write `a.user IS NULL`", f"{AB} WHERE a.user IS NULL WITHIN 1 h"),
    (f"{AB} WHERE a.user.str.contains('x') WITHIN 1 h", "write `CONTAINS(a.user, 'x')`",
     f"{AB} WHERE CONTAINS(a.user, 'x') WITHIN 1 h"),
    (f"{AB} WHERE notna(a.user) WITHIN 1 h", "write `x IS NOT NULL`", f"{AB} WHERE a.user IS NOT NULL WITHIN 1 h"),
    (f"{AB} WHERE str(a.price) = '1' WITHIN 1 h", "write `CAST(x AS STRING)`", f"{AB} WHERE CAST(a.price AS STRING) = '1' WITHIN 1 h"),
    ("RETURN MATCH nunique(a.user) AS n PATTERN A+ a WITHIN 1 h", "write `COUNT(DISTINCT v.x)`",
     "RETURN MATCH COUNT(DISTINCT a.user) AS n PATTERN A+ a WITHIN 1 h"),
    ("RETURN MATCH 'hi' if a.price > 1 else 'lo' AS c PATTERN A a WITHIN 1 h",
     "write `CASE WHEN a.price > 1 THEN 'hi' ELSE 'lo' END`",
     "RETURN MATCH CASE WHEN a.price > 1 THEN 'hi' ELSE 'lo' END AS c PATTERN A a WITHIN 1 h"),
    (f"{AB} WHERE (a.price > 1) & (b.price > 1) WITHIN 1 h", "conditions are joined by AND",
     f"{AB} WHERE (a.price > 1) AND (b.price > 1) WITHIN 1 h"),
    (f"{AB} WHERE (a.price > 1) | (b.price > 1) WITHIN 1 h", "conditions are joined by OR",
     f"{AB} WHERE ((a.price > 1) OR (b.price > 1)) WITHIN 1 h"),
    (f"{AB} WHERE ~(a.price > 1) WITHIN 1 h", "write NOT before a condition", f"{AB} WHERE NOT (a.price > 1) WITHIN 1 h"),
    (f"{AB} WHERE (a.price > 1) XOR (b.price > 1) WITHIN 1 h", "write `<>`", f"{AB} WHERE (a.price > 1) <> (b.price > 1) WITHIN 1 h"),
    (f"{AB} WHERE b.at - a.at < '5 minutes' WITHIN 1 h", "a duration is an interval: `INTERVAL 5 MINUTES`",
     f"{AB} WHERE b.at - a.at < INTERVAL 5 MINUTES WITHIN 1 h"),
    # parameters, and names in quotes
    (f"{AB} WHERE a.price > ? WITHIN 1 h", "a program has no parameters | = help: write the value", f"{AB} WHERE a.price > 3 WITHIN 1 h"),
    (f"{AB} WHERE a.price > :limit WITHIN 1 h", "a program has no parameters", None),
    (f"{AB} WHERE a.price > @limit WITHIN 1 h", "a program has no parameters", None),
    (f"{AB} WHERE a.price > ${{limit}} WITHIN 1 h", "a program has no parameters", None),
    (f"{AB} WHERE a.\"user\" = 'x' WITHIN 1 h", "write `user`", f"{AB} WHERE a.user = 'x' WITHIN 1 h"),
    # what is open
    ("RETURN MATCH CASE WHEN a.price > 1 THEN 1 ELSE 0 AS c PATTERN A a WITHIN 1 h", "END is missing",
     "RETURN MATCH CASE WHEN a.price > 1 THEN 1 ELSE 0 END AS c PATTERN A a WITHIN 1 h"),
    (f"{AB} WHERE (CASE WHEN a.price > 1 THEN 1 ELSE 0) = 1 WITHIN 1 h", "write `END` where the last value ends",
     f"{AB} WHERE (CASE WHEN a.price > 1 THEN 1 ELSE 0 END) = 1 WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B b WITHIN 5 s) WITHIN 1 h", "`WHERE b.at < a.at + INTERVAL 5 SECONDS`",
     f"{AB} WHERE b.at < a.at + INTERVAL 5 SECONDS WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, B b\nWITHIN 1 h", "`(` is not closed", f"{AB} WITHIN 1 h"),
    ("RETURN MATCH SIZE(FILTER(COLLECT(a.price), x -> x > 1)) AS n PATTERN A+ a WITHIN 1 h",
     "`COUNT(CASE WHEN v.x > 3 THEN 1 END)`",
     "RETURN MATCH COUNT(CASE WHEN a.price > 1 THEN 1 END) AS n PATTERN A+ a WITHIN 1 h"),
    # aggregates with conditions
    (f"{AB} WHERE EXISTS(b.price) WITHIN 1 h", "`v.x IS NOT NULL` asks whether there is a value, `COUNT(v) > 0`",
     "RETURN MATCH a.price PATTERN SEQ(A a, B? b) WHERE b.price IS NOT NULL AND COUNT(b) > 0 WITHIN 1 h"),
    ("RETURN COUNT(*) FILTER (WHERE A.price > 3) AS n PATTERN A WITHIN 1 h", "`COUNT(CASE WHEN v.x > 3 THEN 1 END)`",
     "RETURN COUNT(CASE WHEN A.price > 3 THEN 1 END) AS n PATTERN A WITHIN 1 h"),
    ("RETURN COUNT_IF(A.price > 3) AS n PATTERN A WITHIN 1 h", "`COUNT(CASE WHEN v.x > 3 THEN 1 END)`", None),
    ("RETURN BOOL_OR(A.price > 3) AS n PATTERN A WITHIN 1 h", "write `MAX(v.x > 3)`", None),
    ("RETURN EVERY(A.price > 3) AS n PATTERN A WITHIN 1 h", "write `MIN(v.x > 3)`", None),
    ("RETURN SUM(A.price > 3) AS n PATTERN A WITHIN 1 h", "write `SUM(CASE WHEN … THEN 1 ELSE 0 END)`",
     "RETURN SUM(CASE WHEN A.price > 3 THEN 1 ELSE 0 END) AS n PATTERN A WITHIN 1 h"),
    ("RETURN COUNT() AS n PATTERN A WITHIN 1 h", "write `COUNT(*)`", "RETURN COUNT(*) AS n PATTERN A WITHIN 1 h"),
    (f"{AB} WHERE a.price > LAG(a.price) OVER (PARTITION BY user) WITHIN 1 h", "leave OVER out",
     f"{AB} WHERE [user] AND a.price > LAG(a.price) WITHIN 1 h"),
    # what may come between two events
    (f"{A} PATTERN SEQ(A a, *, B) WITHIN 1 h", "leave it out: between two events any others may come",
     f"{A} PATTERN SEQ(A a, B) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, .*, B) WITHIN 1 h", "an event of any type is `ANY`", f"{A} PATTERN SEQ(A a, ANY, B) WITHIN 1 h"),
    (f"{A} PATTERN SEQ(A a, ~C, B) WITHIN 1 h", "write NOT", f"{A} PATTERN SEQ(A a, NOT C, B) WITHIN 1 h"),
    ("RETURN MATCH b[0].price AS p PATTERN B+ b WITHIN 1 h", "`FIRST(b).x` and `LAST(b).x`",
     "RETURN MATCH FIRST(b).price AS p PATTERN B+ b WITHIN 1 h"),
    ("RETURN MATCH b[last].price AS p PATTERN B+ b WITHIN 1 h", "`FIRST(b).x` and `LAST(b).x`", None),
    (f"{A} PATTERN A a WHERE PRIOR(1, a.price) > 3 WITHIN 1 h", "`PREV(v).x`", None),
    (f"{A} PATTERN A a WHERE eventTimestamp(a) > 3 WITHIN 1 h", "`v.at`", None),
]  # fmt: skip

STATEMENTS = [
    (
        "SELECT a.price FROM s MATCH_RECOGNIZE (PARTITION BY user PATTERN (A B))",
        "`QUERY name RETURN … PATTERN … WITHIN …`",
    ),
    ("SELECT * FROM PATTERN [every a=A -> b=B]", "`QUERY name RETURN … PATTERN … WITHIN …`"),
    ("FROM every a=A -> b=B WITHIN 5 min SELECT a.price INSERT INTO Out", "`QUERY name RETURN … PATTERN … WITHIN …`"),
    ("INSERT INTO Out SELECT * FROM s", "where rows go is said on the command line"),
    ("partition with (user of s) begin", "`WHERE [user]`"),
    ("define stream t (at long, user string)", "`STREAM name (column TYPE, …) EVENT TIME column`"),
    ("EVENT Big AS A WHERE price > PREV(A).price", "PREV is not allowed in a condition on one event"),
    ("EVENT Big AS A WHERE price > PREV(A).price", "conditions on several events stand in WHERE of a query"),
    (
        "STREAM t (at TIMESTAMP NOT NULL, x INT) EVENT TIME at",
        "a column of events may always be null | = help: remove `NOT NULL`",
    ),
    ("STREAM t (at TIMESTAMP, x INT NOT NULL) EVENT TIME at", "remove `NOT NULL`"),
    ("STREAM t (at TIMESTAMP, x INT NULL) EVENT TIME at", "remove `NULL`"),
    ("STREAM t (at TIMESTAMP, x INT PRIMARY KEY, y INT) EVENT TIME at", "remove `PRIMARY KEY`"),
    ("STREAM t (at TIMESTAMP, x INT PRIMARY KEY, y INT) EVENT TIME at", "a column has a name and a type"),
    ("STREAM t (at TIMESTAMP, x INT DEFAULT 0) EVENT TIME at", "remove `DEFAULT 0`"),
    ("STREAM t (at TIMESTAMP, x INT UNIQUE) EVENT TIME at", "remove `UNIQUE`"),
    ("STREAM t (at TIMESTAMP, x INT COMMENT 'how much') EVENT TIME at", "a comment begins with `--`"),
    ("STREAM t (at: TIMESTAMP, x: INT) EVENT TIME at", "write `at TIMESTAMP`"),
    ("STREAM t (at TIMESTAMP, x DOUBLE PRECISION) EVENT TIME at", "write `DOUBLE`"),
    ("STREAM t (at TIMESTAMP, x INT[]) EVENT TIME at", "write `ARRAY<INT>`"),
    ("STREAM t (at TIMESTAMP, x DECIMAL(9, 2)[]) EVENT TIME at", "write `ARRAY<DECIMAL(9, 2)>`"),
    ("STREAM t (at TIMESTAMP, k STRING) EVENT TIME at EVENT TYPE k IN (B-1, 'E')", "write `IN ('B-1', 'E')`"),
    ("STREAM t (at TIMESTAMP, INT x) EVENT TIME at", "write the name first, and `INT` behind it"),
    ("STREAM t (at TIMESTAMP, date DATE, int INT, x ITN) EVENT TIME at", "unknown type `ITN`"),
    ("STREAM t (at TIMESTAMP, event time STRING) EVENT TIME at", "write `event time`, in backquotes"),
    ("STREAM t (at TIMESTAMP, x STRING y INT) EVENT TIME at", "`,` is missing before `y`"),
    ("STREAM t (at TIMESTAMP, k STRING) EVENT TIME at EVENT TYPE k IN (D, E)", "write `IN ('D', 'E')`"),
    (
        "STREAM t (at TIMESTAMP, x INTERVAL DAY TO SECOND) EVENT TIME at",
        "write `INTERVAL`, which is of days to seconds",
    ),
    ("STREAM t (at TIMESTAMP, x INTERVAL HOUR) EVENT TIME at", "write it in backquotes: `INTERVAL HOUR`"),
    ("STREAM t (at TIMESTAMP, x `INTERVAL HOUR`) EVENT TIME at", ""),
    ("STREAM t (at TIMESTAMP) EVENT TIME at FROM 'in/data.csv'", "write `FROM CSV 'in/data.csv'`"),
    ("STREAM t (at TIMESTAMP) EVENT TIME at FROM 'data'", "write `FROM PARQUET 'data'`"),
    ("STREAM t (at TIMESTAMP) EVENT TIME at FROM data.jsonl", "a path is in quotes: `FROM JSON 'data.jsonl'`"),
    ("FUNCTION f(x DOUBLE, y) AS x + y", "parameters have names alone | = help: remove `DOUBLE`"),
    ("FUNCTION f(x DECIMAL(10, 2), y) AS x + y", "remove `DECIMAL(10, 2)`"),
    ("FUNCTION f(x) RETURNS DOUBLE AS x + 1", "the type follows from the expression | = help: remove `RETURNS DOUBLE`"),
    ("FUNCTION f(x) { RETURN x + 1 }", "a function is one expression | = help: write `AS x + 1`"),
    ("FUNCTION f(x) RETURN x + 1", "write `AS x + 1`"),
    ("QUERY my-query RETURN MATCH *", "write `my_query`, or the name in backquotes: `my-query`"),
    ("EVENT Big AS A WHERE kind = A", "its name as a text is in quotes: `'A'`"),
    ("EVENT Big AS SELECT * FROM B WHERE price > 3", "SELECT in an EVENT"),
    ("EVENT Big AS SELECT * FROM B WHERE price > 3", "write `EVENT Big AS B WHERE …`"),
    (
        "STREAM t (at TIMESTAMP) EVENT TIME at WITH ('connector' = 'kafka', 'topic' = 'x')",
        "write `FROM KAFKA 'x'`, and behind it Spark's options if there are any: `OPTIONS (name = 'value')`",
    ),
    ("STREAM t (at TIMESTAMP) EVENT TIME at FROM KAFKA 'x' OPTIONS (name = 'value')", ""),
    (
        "SELECT * FROM s MATCH_RECOGNIZE (ORDER BY at PATTERN (A B) DEFINE A AS A.price > 1)",
        "MATCH_RECOGNIZE stands in a text of SQL: `cepc run queries.sql`, or `cepc.sql(spark, text)` in Python",
    ),
    ("CREATE SCHEMA Order (id int)", "`STREAM name (column TYPE, …) EVENT TIME column`"),
]


@pytest.mark.parametrize(("typed", "part", "cured"), TYPED, ids=[f"{i}: {t[0]}" for i, t in enumerate(TYPED)])
def test_a_word_of_another_language_is_translated(typed: str, part: str, cured: str | None) -> None:
    checked = check_text(f"{STREAM}QUERY q {typed};", "q.cep")
    assert checked.ok is (part == "")
    assert part in " ".join(checked.text().split()), checked.text()
    if cured is not None:
        assert (right := check_text(f"{STREAM}QUERY q {cured};", "q.cep")).ok, right.text()


@pytest.mark.parametrize(
    ("first", "second", "months"),
    [
        ("2026-01-31", "2026-02-28", 0),
        ("2026-01-31", "2026-03-31", 2),
        ("2025-12-15 10:00:00", "2026-02-15 09:59:59", 1),
        ("2024-05-06 10:00:00", "2026-05-06 10:00:00", 24),
    ],
)
def test_months_between_two_times_are_the_whole_ones(first: str, second: str, months: int) -> None:
    counted = cepc.compile(f"{STREAM}QUERY q RETURN MATCH {MONTHS} AS n PATTERN SEQ(A a, B b) WITHIN 1000 DAYS;")
    times = pa.array([first, second]).cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))
    events = pa.table({"at": times, "kind": ["A", "B"], "user": ["x", "x"], "price": [1.0, 2.0]})
    assert counted.run(events)["q"]["n"].to_pylist() == [months]


CURED = [
    *(
        (f"QUERY q {typed} WITHIN 1 h", f"QUERY q {cured} WITHIN 1 h")
        for typed, cured in [
            (f"{AB} WHERE a.price > 1,5", f"{AB} WHERE a.price > 1.5"),
            (f"{AB} WHERE a.price > 1,000,000", f"{AB} WHERE a.price > 1000000"),
            (f"{AB} WHERE a.user.startswith('x')", f"{AB} WHERE STARTSWITH(a.user, 'x')"),
            (f"{AB} WHERE a.user.upper() = 'X'", f"{AB} WHERE UPPER(a.user) = 'X'"),
            ("RETURN MATCH * PATTERN SEQ(A[2] a, B b)", "RETURN MATCH * PATTERN SEQ(A{2} a, B b)"),
            (f"{AB} WHERE a.price > 1_000_000", f"{AB} WHERE a.price > 1000000"),
            (f"{AB} WHERE a.user ~ '^x'", f"{AB} WHERE a.user RLIKE '^x'"),
            (f"{AB} WHERE a.user MATCHES '^x'", f"{AB} WHERE a.user RLIKE '^x'"),
            (f"{AB} WHERE a.user CONTAINS 'x'", f"{AB} WHERE contains(a.user, 'x')"),
            (f"{AB} WHERE a.user STARTSWITH b.user", f"{AB} WHERE startswith(a.user, b.user)"),
            (f"{AB} WHERE a.user IN 'x'", f"{AB} WHERE a.user IN ('x')"),
            (f"{AB} WHERE a.price ?? 0 > 1", f"{AB} WHERE COALESCE(a.price, 0) > 1"),
            (f"{AB} WHERE a.price ?: b.price > 1", f"{AB} WHERE COALESCE(a.price, b.price) > 1"),
            (f"{AB} SELECT SKIP TILL NEXT MATCH", f"{AB} SELECT NEXT"),
            ("RETURN MATCH a.price AS 'p' PATTERN A a", "RETURN MATCH a.price AS p PATTERN A a"),
            ("RETURN MATCH a.price AS 'the price' PATTERN A a", "RETURN MATCH a.price AS `the price` PATTERN A a"),
            (f"{AB} WHERE a.price =< 3", f"{AB} WHERE a.price <= 3"),
            (f"{AB} WHERE a.price => 3", f"{AB} WHERE a.price >= 3"),
            (f"{AB} WHERE a.price MOD 2 = 0", f"{AB} WHERE a.price % 2 = 0"),
            (f"{A} PATTERN SEQ{{A a, B b}}", AB),
            (f"{A} PATTERN SEQ[A a, B b]", AB),
            (f"{A} PATTERN SEQ(A a, B{{2..3}})", f"{A} PATTERN SEQ(A a, B{{2,3}})"),
            (f"{A} PATTERN SEQ(A a, B{{2-3}})", f"{A} PATTERN SEQ(A a, B{{2,3}})"),
            (f"{A} PATTERN SEQ(A a, B{{2 TO 3}})", f"{A} PATTERN SEQ(A a, B{{2,3}})"),
            (f"{AB} SELECT CONTIGIOUS", f"{AB} SELECT CONTIGUOUS"),
            (f"{AB} WEHRE [user]", f"{AB} WHERE [user]"),
            (f"{AB} WHERE a.price ≥ 3", f"{AB} WHERE a.price >= 3"),
            (f"{AB} WHERE a.price IN 1, 2 OR b.price = 1", f"{AB} WHERE a.price IN (1, 2) OR b.price = 1"),
            ("RETURN MATCH COUNT(a.*) AS n PATTERN A+ a", "RETURN MATCH COUNT(a) AS n PATTERN A+ a"),
        ]
    ),
    (f"QUERY q {AB} WITHIN 1 HOUR 30 MINUTES", f"QUERY q {AB} WITHIN 90 MINUTES"),
    (f"QUERY q {AB} WITHIN 1 h\u037e", f"QUERY q {AB} WITHIN 1 h;"),
    (f"QUERY q {A} PATTERN SEQ(A a, ANY(B, C)) WITHIN 1 h", f"QUERY q {A} PATTERN SEQ(A a, OR(B, C)) WITHIN 1 h"),
    (f"QUERY q {A} PATTERN A a OVER 5 MINUTES", f"QUERY q {A} PATTERN A a WITHIN 5 MINUTES"),
    (
        "QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 5 MINUTES EVERY 1 MINUTE",
        "QUERY q RETURN COUNT(*) AS n PATTERN A WITHIN 5 MINUTES SLIDE 1 MINUTE",
    ),
    (f"QUERY my-query-2 {AB} WITHIN 1 h", f"QUERY my_query_2 {AB} WITHIN 1 h"),
    ("STREAM t (at TIMESTAMP, user-id INT) EVENT TIME at", "STREAM t (at TIMESTAMP, user_id INT) EVENT TIME at"),
    ("EVENT Big AS A(price > 3)", "EVENT Big AS A WHERE price > 3"),
    ("EVENT Big AS A [price > 3 AND user = 'x']", "EVENT Big AS A WHERE price > 3 AND user = 'x'"),
    ("QUERY q RETURN MATCH DISTINCT a.price PATTERN A a WITHIN 1 h", None),
    (
        "STREAM t (at TIMESTAMP, x INT PRIMARY KEY, y INT) EVENT TIME at",
        "STREAM t (at TIMESTAMP, x INT , y INT) EVENT TIME at",
    ),
    ("STREAM t (at TIMESTAMP, x INT DEFAULT 0) EVENT TIME at", "STREAM t (at TIMESTAMP, x INT ) EVENT TIME at"),
    ("STREAM t (at TIMESTAMP, x DOUBLE PRECISION) EVENT TIME at", "STREAM t (at TIMESTAMP, x DOUBLE) EVENT TIME at"),
    ("STREAM t (at TIMESTAMP WITH TIME ZONE, x INT) EVENT TIME at", "STREAM t (at TIMESTAMP, x INT) EVENT TIME at"),
    ("STREAM t (at TIMESTAMP WITHOUT TIME ZONE) EVENT TIME at", "STREAM t (at TIMESTAMP_NTZ) EVENT TIME at"),
    (
        "STREAM t (at TIMESTAMP, x CHARACTER VARYING(9)) EVENT TIME at",
        "STREAM t (at TIMESTAMP, x STRING) EVENT TIME at",
    ),
    ("STREAM t (at TIMESTAMP, x INT UNSIGNED) EVENT TIME at", "STREAM t (at TIMESTAMP, x BIGINT) EVENT TIME at"),
    (
        "STREAM t (at TIMESTAMP, x int[], y INT) EVENT TIME at",
        "STREAM t (at TIMESTAMP, x ARRAY<INT>, y INT) EVENT TIME at",
    ),
    (
        "STREAM t (at TIMESTAMP, x MAP<STRING, ARRAY<INT>>[], y INT) EVENT TIME at",
        "STREAM t (at TIMESTAMP, x ARRAY<MAP<STRING, ARRAY<INT>>>, y INT) EVENT TIME at",
    ),
    (
        "STREAM t (at TIMESTAMP, x DECIMAL(9, 2)[]) EVENT TIME at",
        "STREAM t (at TIMESTAMP, x ARRAY<DECIMAL(9, 2)>) EVENT TIME at",
    ),
    ("STREAM t (at TIMESTAMP(3) WITH TIME ZONE, x INT) EVENT TIME at", "STREAM t (at TIMESTAMP, x INT) EVENT TIME at"),
    (
        "STREAM t (at TIMESTAMP, k STRING) EVENT TIME at EVENT TYPE k IN (Big-One, in two, B)",
        "STREAM t (at TIMESTAMP, k STRING) EVENT TIME at EVENT TYPE k IN ('Big-One', 'in two', 'B')",
    ),
    (
        "STREAM t (at TIMESTAMP, event time STRING) EVENT TIME at",
        "STREAM t (at TIMESTAMP, `event time` STRING) EVENT TIME at",
    ),
    (
        "STREAM t (at TIMESTAMP, time of birth DECIMAL(9, 2), y INT) EVENT TIME at",
        "STREAM t (at TIMESTAMP, `time of birth` DECIMAL(9, 2), y INT) EVENT TIME at",
    ),
    (
        "STREAM t (at TIMESTAMP, k STRING) EVENT TIME at EVENT TYPE k IN (D, 'E', F)",
        "STREAM t (at TIMESTAMP, k STRING) EVENT TIME at EVENT TYPE k IN ('D', 'E', 'F')",
    ),
    ("FUNCTION f(x DOUBLE) AS x + 1", "FUNCTION f(x ) AS x + 1"),
    ("FUNCTION f(x) RETURNS MAP<STRING, INT> AS x", "FUNCTION f(x)  AS x"),
    ("FUNCTION f(x) { RETURN x + 1 }", "FUNCTION f(x) AS x + 1"),
    ("FUNCTION f(x) RETURN x + 1", "FUNCTION f(x) AS x + 1"),
]


@pytest.mark.parametrize(("typed", "cured"), CURED)
def test_an_edit_offered_makes_the_program_right(typed: str, cured: str | None) -> None:
    program = f"{STREAM}{typed};"
    (first,) = (d for d in check_text(program, "q.cep").diagnostics if d.severity == "error")
    assert first.replacement is not None
    changed = program[: first.span.start] + first.replacement + program[first.span.end :]
    assert cured is None or changed == f"{STREAM}{cured};"
    assert (right := check_text(changed, "q.cep")).ok, right.text()


@pytest.mark.parametrize(
    "typed",
    [
        f"{AB} WHERE a.price = ANY (1, 2) AND b.price > 1",
        f"{AB} WHERE a.price ANY b.price > 1",
        f"{AB} WHERE a.user IS ('x', 'y')",
        f"{AB} WHERE a.price IN NULL",
    ],
)
def test_a_keyword_in_the_wrong_place_is_not_said_to_be_none(typed: str) -> None:
    text = check_text(f"{STREAM}QUERY q {typed} WITHIN 1 h;", "q.cep").text()
    assert "is no keyword" not in text


@pytest.mark.parametrize(("typed", "part"), STATEMENTS)
def test_a_statement_of_another_language_is_translated(typed: str, part: str) -> None:
    checked = check_text(f"{STREAM}{typed};", "q.cep")
    assert part in " ".join(checked.text().split()), checked.text()


def test_every_word_of_the_table_is_typed() -> None:
    typed = " ".join([*(t for t, _, _ in TYPED), *(t for t, _ in STATEMENTS)]).upper()
    known = "".join(typed.split())
    missing = [word.words for word in FOREIGN if not re.search(_pattern(word.words), known)]
    assert missing == []


def _pattern(words: str) -> str:
    return "".join(r"\w+?" if word == "_" else re.escape(word) for word in words.split())


@pytest.mark.parametrize(
    "query",
    [
        "RETURN MATCH every.price AS final, COUNT(final) AS running PATTERN SEQ(A every, B+ final) WITHIN 1 h",
        "RETURN MATCH next.price AS until PATTERN SEQ(A next, B permute) WHERE next.price > 5 WITHIN 1 h",
        "RETURN MATCH define.price AS subset, define.user AS output PATTERN A define WITHIN 1 h",
        "RETURN MATCH hop.price AS s, hop.user AS hours PATTERN A hop WHERE hop.price > 5 AND hop.user = 'x' WITHIN 1 h",
    ],
)
def test_the_words_are_names_where_names_can_stand(query: str) -> None:
    checked = check_text(f"{STREAM}QUERY q {query};", "q.cep")
    assert checked.ok, checked.text()


@pytest.mark.parametrize(
    "query",
    [
        "RETURN MATCH running, final.price x y PATTERN A final WITHIN 1 h",
        "RETURN MATCH running.price AS every PATTERN SEQ(A running B b) WITHIN 1 h",
    ],
)
def test_a_mistake_beside_such_a_name_is_told_as_what_it_is(query: str) -> None:
    checked = check_text(f"{STREAM}QUERY q {query};", "q.cep")
    assert not checked.ok
    assert "said in another way" not in checked.text()


# ---- imports


@pytest.mark.parametrize(
    ("program", "codes", "part"),
    [
        (
            f"QUERY q {AB} WHERE hours_between(a.at, b.at) > 1 WITHIN 1 h;",
            ["E0301"],
            "write `IMPORT std.scalars;` first",
        ),
        (
            f"QUERY q {AB} WHERE Hours_Between(a.at, b.at) > 1 WITHIN 1 h;",
            ["E0301"],
            "write `IMPORT std.scalars;` first",
        ),
        ("QUERY q RETURN MATCH * PATTERN rise(A, price) WITHIN 1 h;", ["E0202"], "write `IMPORT std.shapes;` first"),
        ("IMPORT std.shape; QUERY q RETURN MATCH * PATTERN rise(A, price) WITHIN 1 h;", ["E0209"], "`std.shapes`"),
        (
            f"IMPORT std.scalar; QUERY q {AB} WHERE hours_between(a.at, b.at) > 1 WITHIN 1 h;",
            ["E0209"],
            "`std.scalars`",
        ),
        (f"IMPORT './none.cep'; QUERY q {AB} WHERE mine(a.at) > 1 WITHIN 1 h;", ["E0209"], "no file `none.cep`"),
        ("IMPORT './none.cep'; QUERY q RETURN MATCH * PATTERN SEQ(A, Mine) WITHIN 1 h;", ["E0209"], "no file"),
        ("IMPORT mine.cep;", ["E0209"], "write `IMPORT './mine.cep'`"),
        ("IMPORT lib.mine.cep;", ["E0209"], "write `IMPORT './lib/mine.cep'`"),
        ("IMPORT ./mine.cep;", ["E0101"], "write `'./mine.cep'`"),
        ("IMPORT 'std.time';", ["E0209"], "write `IMPORT std.time`"),
        ("IMPORT std.*;", ["E0101"], "name each module in an IMPORT of its own: `IMPORT std.shapes;`"),
        ("IMPORT std;", ["E0209"], "the modules are `std.finance`"),
    ],
)
def test_what_is_to_be_imported_is_told_and_not_what_follows_from_it(program: str, codes: list[str], part: str) -> None:
    checked = check_text(f"{STREAM}{program}", "q.cep")
    assert [d.code for d in checked.diagnostics] == codes, checked.text()
    assert part in " ".join(checked.text().split()), checked.text()


def test_a_pattern_of_the_program_hides_one_of_the_library() -> None:
    declared = "PATTERN rise(T, x) AS T+ r WHERE r.x > 3;"
    assert check_text(f"{STREAM}{declared} QUERY q RETURN MATCH * PATTERN rise(A, price) WITHIN 1 h;", "q.cep").ok


# ---- streams


def test_a_stream_without_event_type_is_told_how_to_have_types() -> None:
    stream, query = (
        "STREAM s (at TIMESTAMP, kind STRING) EVENT TIME at",
        "QUERY q RETURN MATCH A.at PATTERN SEQ(A, B) WITHIN 1 h;",
    )
    text = " ".join(check_text(f"{stream}; {query}", "q.cep").text().split())
    assert "write `EVENT TYPE column` in the STREAM, or declare the type: `EVENT A AS s WHERE …`" in text
    assert check_text(f"{stream} EVENT TYPE kind; {query}", "q.cep").ok
    declared = "EVENT A AS s WHERE kind = 'A'; EVENT B AS s WHERE kind = 'B';"
    assert check_text(f"{stream}; {declared} {query}", "q.cep").ok


@pytest.mark.parametrize(("value", "unit"), [("1700000000", "s"), ("1700000000123", "ms"), ("1700000000123456", "us")])
@pytest.mark.parametrize("name", ["e.csv", "e.jsonl"])
def test_numbers_in_a_column_of_times_are_told_their_unit(name: str, value: str, unit: str, tmp_path: Path) -> None:
    events = tmp_path / name
    events.write_text(f"at\n{value}\n" if name == "e.csv" else f'{{"at": {value}}}\n')
    query = "QUERY q RETURN MATCH s.at PATTERN s WITHIN 1 h;"
    with pytest.raises(cepc.DataError) as wrong:
        cepc.compile(f"STREAM s (at TIMESTAMP) EVENT TIME at; {query}").run(events)
    assert f"declare `at BIGINT`, and `EVENT TIME at UNIT {unit}` if it is the event time" in str(wrong.value)
    rows = cepc.compile(f"STREAM s (at BIGINT) EVENT TIME at UNIT {unit}; {query}").run(events)
    assert rows["q"].column("at").to_pylist() == [int(value)]
