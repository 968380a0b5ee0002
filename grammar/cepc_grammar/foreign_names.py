"""Names of functions and patterns of other event languages, each with what is written for it here: those that the
compiler finds where it does not know them. Words at which the grammar stops are in `habits/foreign.py`.

Apart from the habits, which only a program with a mistake needs.
"""

from __future__ import annotations

from typing import Final

EVERY: Final = "leave EVERY out: every match is found; `SELECT NEXT` and `AFTER MATCH` choose among them"

FUNCTIONS: Final = {
    "MATCH_SEQUENCE_NUMBER": "in `RETURN EACH …` it is `RUNNING COUNT(*)`",
    "CLASSIFIER": "it is `VARIABLE()` in `RETURN EACH …`, which has a row for each event of each match",
    "MATCH_ROWTIME": "each row of a match query has `match_end`, the time of its last event",
    "MATCH_PROCTIME": "time is the events' own; each row of a match query has `match_end`",
    "EVENTTIMESTAMP": "the event time is a column like others: `v.at`, say",
    "AND": "it stands once, between two conditions: `a AND b`",
    "OR": "it stands once, between two conditions: `a OR b`",
    "TIMESTAMPDIFF": "write `datediff(end, start)` for days, `(unix_micros(end) - unix_micros(start)) DIV 3600000000` "
    "for hours",
    "TIMESTAMPADD": "write `x + INTERVAL 3 HOURS`",
    "ALL": "`x > ALL (a, b)` is `x > GREATEST(a, b)`, and `x < ALL (a, b)` is `x < LEAST(a, b)`",
    "ANY": "`x = ANY (a, b)` is `x IN (a, b)`, `x > ANY (a, b)` is `x > LEAST(a, b)`",
    "SOME": "`x = SOME (a, b)` is `x IN (a, b)`, `x > SOME (a, b)` is `x > LEAST(a, b)`",
    "EXISTS": "`v.x IS NOT NULL` asks whether there is a value, `COUNT(v) > 0` whether the match has an event of v",
    "ISNA": "write `x IS NULL`",
    "NOTNA": "write `x IS NOT NULL`",
    "NOTNULL": "write `x IS NOT NULL`",
    "STR": "write `CAST(x AS STRING)`",
    "NUNIQUE": "write `COUNT(DISTINCT v.x)`, in `RETURN MATCH …`",
    "COUNT_IF": "write `COUNT(CASE WHEN v.x > 3 THEN 1 END)`",
    "COUNTIF": "write `COUNT(CASE WHEN v.x > 3 THEN 1 END)`",
    "BOOL_OR": "false is less than true: write `MAX(v.x > 3)`",
    "BOOL_AND": "false is less than true: write `MIN(v.x > 3)`",
    "EVERY": "false is less than true: write `MIN(v.x > 3)`",
    "PRIOR": "the event before is `LAG(v.x)`, that of the same variable `PREV(v).x`, in WHERE",
}
"""By the name in upper case."""

PATTERNS: Final = {
    "EVERY": EVERY,
    "PERMUTE": "write `AND(…)`: a match of each, in any order",
    "SEQUENCE": "events in order are written `SEQ(A, B)`",
    "THEN": "events in order are written `SEQ(A, B)`",
    "BEGIN": "a pattern begins with its first element: `PATTERN SEQ(A, B)`",
}
