"""Random clauses for the oracle of row patterns, and random rows in which they have matches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from . import row_pattern_oracle as sql
from .row_pattern_oracle import Clause, Expression, Pattern

if TYPE_CHECKING:
    from random import Random

QUANTIFIERS = [(1, None), (0, None), (0, 1), (2, 2), (1, 2), (0, 2), (2, None), (3, 4)]
SIGNS = ["<", "<=", "=", ">", "<>"]
NUMBERS = ["a", "b"]


def _many(body: Pattern, least: int, most: int | None, reluctant: bool = False) -> Pattern:
    return sql.Quantified(body, least, most, reluctant)


A, B, C = (sql.Var(name) for name in "ABC")
ABOUT_OTHERS = [
    sql.Concat((A, _many(B, 0, 1), C)), sql.Concat((A, _many(B, 0, 1, True), _many(C, 1, None))),
    sql.Concat((_many(A, 0, None), B)), sql.Concat((_many(A, 0, None, True), B, C)),
    sql.Concat((_many(A, 0, 1, True), _many(B, 0, 1, True), C)), sql.Concat((_many(A, 2, None), _many(B, 1, None))),
    sql.Concat((sql.Alternatives((A, B)), C)), sql.Concat((_many(sql.Alternatives((B, A)), 1, 2), C)),
    _many(sql.Concat((A, B)), 1, None), _many(sql.Concat((A, _many(B, 1, 2))), 1, None),
    sql.Concat((_many(sql.Concat((A, B)), 0, 1, True), C)), _many(sql.Concat((A, _many(B, 0, 1))), 1, None),
    sql.Concat((_many(A, 1, None, True), _many(B, 0, None), C)), _many(A, 2, 4, True), _many(A, 1, None),
]  # fmt: skip
"""Patterns with variables that may have rows or not, before those that are compared with them."""


def rows(random: Random, count: int = 14) -> list[dict[str, Any]]:
    """`t` tells all rows apart; the others repeat, and are null now and then."""
    times = random.sample(range(100), count)
    return [
        {
            "k": random.choice(["x", "x", "y", None]),
            "t": t,
            "at": datetime(2026, 3, 2, tzinfo=UTC) + timedelta(minutes=t),
            "o": random.choice([None, 1, 2, 3]),
            "a": random.choice([None, *range(6)]),
            "b": random.randrange(4),
        }
        for t in times
    ]


def clause(random: Random) -> Clause:
    of_others = random.random() < 0.4
    found = random.choice(ABOUT_OTHERS) if of_others else pattern(random, random.randrange(1, 4), "ABCD")
    variables = sorted(set(mentioned(found)))
    unions = {"U": tuple(random.sample(variables, 2))} if len(variables) > 1 and random.random() < 0.3 else {}
    named: list[str | None] = [None, *variables, *unions]
    define = compared if of_others else condition
    definitions = {v: define(random, v, named) for v in variables if random.random() < 0.6}
    measures = {f"m{i}": measure(random, named) for i in range(random.randrange(1, 5))}
    skip = random.choice(["PAST LAST ROW", "PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST"])
    target = random.choice([*variables, *unions]) if skip in ("TO FIRST", "TO LAST") else None
    order = random.choice(
        [(("t", ""),), (("t", "DESC"),), (("o", ""), ("t", "")), (("o", "DESC NULLS FIRST"), ("t", "DESC")),
         (("o", "ASC NULLS LAST"), ("t", ""))]
    )  # fmt: skip
    partition = random.choice([("k",), ("k",), ()])
    within = random.choice([10, 25, 60]) if random.random() < 0.15 else None
    order = order if within is None else (("at", ""),)
    edges = random.choice(["^", "$", "$", "^$"]) if random.random() < 0.1 else ""
    return Clause(found, definitions, measures, unions, (skip, target), order, partition, within, edges)


def pattern(random: Random, depth: int, letters: str) -> Pattern:
    kind = random.random()
    if depth == 0 or kind < 0.2:
        return sql.Var(random.choice(letters))
    if kind < 0.6:
        return sql.Concat(tuple(pattern(random, depth - 1, letters) for _ in range(random.randrange(2, 4))))
    if kind < 0.72:
        parts = [pattern(random, depth - 1, letters) for _ in range(random.randrange(2, 4))]
        return sql.Alternatives((*parts, sql.Empty()) if random.random() < 0.1 else tuple(parts))
    if kind < 0.76:
        return sql.Permute(tuple(sql.Var(v) for v in random.sample(letters, random.randrange(2, 4))))
    least, most = random.choice(QUANTIFIERS)
    return sql.Quantified(pattern(random, depth - 1, letters), least, most, random.random() < 0.25)


def mentioned(found: Pattern) -> list[str]:
    match found:
        case sql.Var(name) | sql.Excluded(name):
            return [name]
        case sql.Quantified(body):
            return mentioned(body)
        case sql.Empty():
            return []
    return [name for part in found.parts for name in mentioned(part)]


def condition(random: Random, own: str, named: list[str | None], depth: int = 1) -> Expression:
    kind = random.random()
    if depth and kind < 0.25:
        word = random.choice(["AND", "AND", "OR"])
        return sql.Joined(word, condition(random, own, named, 0), condition(random, own, named, 0))
    if kind < 0.3:
        return sql.Negated(condition(random, own, named, 0))
    if kind < 0.36:
        return sql.IsNull(value(random, own, named))
    if kind < 0.42:
        name = random.choice(["SUM", "COUNT", "MAX", "MIN"])
        return sql.Compare(sql.Aggregate(name, own, random.choice(NUMBERS)), "<", sql.Const(random.randrange(3, 12)))
    if kind < 0.6:
        return sql.Compare(
            sql.Column(own, random.choice(NUMBERS)), random.choice(SIGNS), sql.Const(random.randrange(5))
        )
    return sql.Compare(value(random, own, named), random.choice(SIGNS), value(random, own, named))


def compared(random: Random, own: str, named: list[str | None]) -> Expression:
    """A row of the variable with one that another has, or has not."""
    column, other = random.choice(NUMBERS), random.choice(named)
    end, offset = ("LAST", random.choice([0, 0, 1])) if other == own else (random.choice(["LAST", "LAST", "FIRST"]), 0)
    found: Expression = sql.Column(other, column, end, offset, random.choice([0, 0, 0, -1]), random.choice([0, 0, 1]))
    missing = sql.IsNull(sql.Column(other, "b", end, offset))
    found = sql.Otherwise(found, 2) if random.random() < 0.2 else found
    comparison = sql.Compare(sql.Column(own, column), random.choice(["<", "<=", ">", "<>"]), found)
    return sql.Joined("OR", missing, comparison) if random.random() < 0.4 else comparison


def value(random: Random, own: str, named: list[str | None]) -> Expression:
    column, kind = random.choice(NUMBERS), random.random()
    if kind < 0.3:
        return sql.Column(random.choice([own, None]), column)
    if kind < 0.5:
        return sql.Column(random.choice([own, None]), column, places=random.choice([-1, -1, 1, -2]))
    if kind < 0.6:
        return sql.Column(random.choice([own, own, None]), column, offset=1)
    if kind < 0.7:
        return sql.Column(random.choice(named), column, "FIRST", plus=random.choice([0, 1]))
    found = sql.Column(random.choice(named), column, places=random.choice([0, 0, 0, -1]))
    return sql.Otherwise(found, random.randrange(4)) if kind > 0.93 else found


def measure(random: Random, named: list[str | None]) -> Expression:
    variable, column, kind = random.choice(named), random.choice([*NUMBERS, "t"]), random.random()
    if kind < 0.5:
        end, places = random.choice(["FIRST", "LAST"]), random.choice([0, 0, 0, -1, 1])
        found = sql.Column(variable, column, end, 0, places, random.choice([0, 0, 0, 2]))
        return sql.Otherwise(found, 7) if random.random() < 0.1 else found
    if kind < 0.65:
        return sql.Named("CLASSIFIER", variable)
    if kind < 0.75:
        return sql.Named("MATCH_NUMBER")
    name = random.choice(["COUNT", "COUNT", "SUM", "MIN", "MAX", "AVG"])
    return sql.Aggregate(name, variable, None if name == "COUNT" and random.random() < 0.6 else column)


# ---- rows further back -----------------------------------------------------------------------------------------------

FURTHER = [
    _many(A, 1, None), _many(A, 3, 5, True), sql.Concat((_many(A, 1, None), B)),
    sql.Concat((_many(A, 2, None), _many(B, 1, None))), sql.Concat((_many(A, 0, None), _many(B, 1, None, True), C)),
    _many(sql.Concat((A, _many(B, 1, None))), 1, None), _many(sql.Concat((A, _many(B, 1, 2))), 1, None),
    _many(sql.Alternatives((A, B)), 2, None), _many(sql.Alternatives((A, sql.Concat((B, C)))), 1, None),
    sql.Concat((A, _many(sql.Alternatives((A, B)), 0, None), C)), sql.Concat((_many(A, 0, 1), B, _many(A, 1, None))),
    sql.Concat((B, _many(A, 2, None), _many(sql.Concat((B, A)), 0, None))),
]  # fmt: skip
"""Patterns in which it is not always known how many rows away the last row but one of a variable is."""


def further(random: Random) -> Clause:
    """A clause with FIRST(v.x, n) and LAST(v.x, n)."""
    found = random.choice(FURTHER)
    variables = sorted(set(mentioned(found)))
    unions = {"U": tuple(random.sample(variables, 2))} if len(variables) > 1 and random.random() < 0.3 else {}
    named: list[str | None] = [None, *variables, *unions]
    definitions = {v: _further_condition(random, v, named) for v in variables if random.random() < 0.7}
    measures: dict[str, Expression] = {f"m{i}": _further_row(random, random.choice(named)) for i in range(3)}
    skip = random.choice(["PAST LAST ROW", "TO NEXT ROW"])
    return Clause(found, definitions, measures, unions, (skip, None), (("t", ""),), random.choice([("k",), ()]))


def _further_row(random: Random, variable: str | None) -> Expression:
    offset, places = random.choice([1, 1, 1, 2, 2, 3, 6]), random.choice([0, 0, 0, -1, 1])
    column, end = random.choice(NUMBERS), random.choice(["FIRST", "LAST", "LAST"])
    found = sql.Column(variable, column, end, offset, places, random.choice([0, 0, 1]))
    return sql.Otherwise(found, 2) if random.random() < 0.2 else found


def _further_condition(random: Random, own: str, named: list[str | None]) -> Expression:
    other = _further_row(random, random.choice([own, own, own, *named]))
    if random.random() < 0.2:
        other = sql.Otherwise(other, 1)
    sign = random.choice(["<=", "<=", ">", "<>"])
    left: Expression = sql.Column(own, random.choice(NUMBERS))
    if random.random() < 0.15:
        left = _further_row(random, own)
    found: Expression = sql.Compare(left, sign, other)
    if random.random() < 0.7:
        found = sql.Joined("OR", sql.IsNull(other), found)
    if random.random() < 0.25:
        about = sql.Aggregate(random.choice(["SUM", "COUNT"]), own, "b")
        found = sql.Joined("AND", found, sql.Compare(about, "<", sql.Const(random.randrange(4, 12))))
    return found


# ---- aggregates of other rows ----------------------------------------------------------------------------------------

ABOUT_MANY = [
    sql.Concat((_many(A, 1, None), B)), sql.Concat((_many(A, 1, None), _many(B, 1, None))),
    sql.Concat((_many(A, 0, None), _many(B, 0, None, True), C)), _many(sql.Concat((A, _many(B, 1, None))), 1, None),
    sql.Concat((_many(sql.Alternatives((A, B)), 1, None), C)), sql.Concat((A, _many(B, 1, None, True), _many(C, 1, 2))),
    sql.Concat((sql.Permute((A, _many(B, 1, None))), C)), _many(sql.Alternatives((A, B)), 1, 6), _many(A, 2, None),
    sql.Concat((_many(A, 0, 1), B, _many(A, 1, None))), sql.Concat((_many(sql.Concat((A, B)), 1, None), _many(C, 1, None))),
]  # fmt: skip
"""Patterns with rows that are complete before others, and with rows that are not."""


def aggregated(random: Random) -> Clause:
    """A clause with aggregates of any rows, in DEFINE as well."""
    found = random.choice(ABOUT_MANY)
    variables = sorted(set(mentioned(found)))
    unions = {"U": tuple(random.sample(variables, 2))} if len(variables) > 1 and random.random() < 0.4 else {}
    named: list[str | None] = [None, *variables, *unions]
    definitions = {v: _of_many(random, v, named) for v in variables if random.random() < 0.7}
    measures = {f"m{i}": _measure_of_many(random, variables, named) for i in range(3)}
    skip = random.choice(["PAST LAST ROW", "TO NEXT ROW"])
    return Clause(found, definitions, measures, unions, (skip, None), (("t", ""),), random.choice([("k",), ()]))


def _of_many(random: Random, own: str, named: list[str | None], depth: int = 1) -> Expression:
    if depth and random.random() < 0.2:
        word = random.choice(["AND", "OR"])
        return sql.Joined(word, _of_many(random, own, named, 0), _of_many(random, own, named, 0))
    variable = random.choice([*named, *(v for v in named if v is not None and v < own), own])
    name = random.choice(["COUNT", "COUNT", "SUM", "MIN", "MAX", "AVG"])
    column = None if name == "COUNT" and random.random() < 0.6 else random.choice(NUMBERS)
    about: Expression = sql.Aggregate(name, variable, column)
    if random.random() < 0.5:
        return sql.Compare(about, random.choice(SIGNS), sql.Const(random.randrange(1, 8)))
    compared: Expression = sql.Compare(sql.Column(own, random.choice(NUMBERS)), random.choice(["<=", ">", "<>"]), about)
    return sql.Joined("OR", sql.IsNull(about), compared) if random.random() < 0.5 else compared


def _measure_of_many(random: Random, variables: list[str], named: list[str | None]) -> Expression:
    """Of one variable, several or all rows."""
    kind, variable = random.random(), random.choice([*variables, *named])
    if kind < 0.2:
        return _by(random, variable)
    if kind < 0.4:
        return sql.Aggregate(random.choice(["COLLECT", "COUNT", "MIN"]), variable, sql.NAME, random.random() < 0.4)
    name = random.choice(["COUNT", "SUM", "AVG", "MAX", "VAR_POP", "COLLECT"])
    times = random.choice(NUMBERS) if random.random() < 0.3 else None
    return sql.Aggregate(name, variable, random.choice(NUMBERS), random.random() < 0.3, times)


def _by(random: Random, variable: str | None) -> sql.By:
    return sql.By(
        random.choice(["MAX_BY", "MIN_BY"]), variable, random.choice(["a", "b", "t", sql.NAME]), random.choice("ab")
    )


def numbered_rows(random: Random) -> Clause:
    """A clause whose conditions ask how many rows the match has up to the one at hand, which may begin in many ways."""
    found = random.choice([pattern(random, 2, "ABC"), *ABOUT_OTHERS, *ABOUT_MANY])
    variables = sorted(set(mentioned(found)))
    definitions = {v: _of_count(random, v) for v in variables if random.random() < 0.8}
    measures: dict[str, Expression] = {"n": sql.Aggregate("COUNT", None, None), "of": sql.Named("CLASSIFIER")}
    skip = random.choice(["PAST LAST ROW", "TO NEXT ROW"])
    return Clause(found, definitions, measures, {}, (skip, None), (("t", ""),), random.choice([("k",), ()]))


def _of_count(random: Random, own: str) -> Expression:
    count, number = sql.Aggregate("COUNT", None, None), sql.Const(random.randrange(1, 6))
    found: Expression = sql.Compare(count, random.choice(["<", "<=", "<>", ">"]), number)
    if random.random() < 0.2:
        found = sql.Compare(sql.Column(own, random.choice(NUMBERS)), random.choice(["<=", ">"]), count)
    if random.random() < 0.4:
        found = sql.Joined(random.choice(["AND", "OR"]), found, condition(random, own, [own], 0))
    return found


# ---- all rows per match ----------------------------------------------------------------------------------------------


def every_row(random: Random) -> Clause:
    """A clause with ALL ROWS PER MATCH."""
    found = random.choice([*FURTHER, *ABOUT_MANY, *ABOUT_OTHERS, pattern(random, 2, "ABC"), _many(A, 0, None)])
    found = _with_excluded(random, found) if random.random() < 0.3 else found
    variables = sorted(set(mentioned(found)))
    unions = {"U": tuple(random.sample(variables, 2))} if len(variables) > 1 and random.random() < 0.4 else {}
    named: list[str | None] = [None, *variables, *unions]
    definitions = {v: condition(random, v, [v]) for v in variables if random.random() < 0.6}
    measures = {f"m{i}": _running(random, named) for i in range(4)}
    skip = random.choice(["PAST LAST ROW", "PAST LAST ROW", "TO NEXT ROW", "TO LAST"])
    target = random.choice([*variables, *unions]) if skip == "TO LAST" else None
    shown = random.choice(["", " SHOW EMPTY MATCHES", " OMIT EMPTY MATCHES"])
    order = random.choice([(("t", ""),), (("t", "DESC"),), (("o", ""), ("t", ""))])
    return Clause(
        found, definitions, measures, unions, (skip, target), order, random.choice([("k",), ()]), None, "",
        f"ALL ROWS PER MATCH{shown}",
    )  # fmt: skip


def with_unmatched(random: Random) -> Clause:
    """A clause with the rows, too, that no match has."""
    found = random.choice([*FURTHER, *ABOUT_MANY, *ABOUT_OTHERS, pattern(random, 2, "ABC"), _many(A, 0, None)])
    variables = sorted(set(mentioned(found)))
    named: list[str | None] = [None, *variables]
    definitions = {v: condition(random, v, [v]) for v in variables if random.random() < 0.8}
    measures = {f"m{i}": _running(random, named) for i in range(3)}
    edges = random.choice(["^", "$"]) if random.random() < 0.1 else ""
    within = random.choice([10, 25, 60]) if random.random() < 0.2 else None
    order = (("t", random.choice(["", "DESC"])),) if within is None else (("at", ""),)
    return Clause(
        found, definitions, measures, {}, ("PAST LAST ROW", None), order, random.choice([("k",), ()]), within, edges,
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
    )  # fmt: skip


def perhaps_empty(random: Random) -> Clause:
    """A clause whose pattern can match no row, which it prefers to some of the rest now and then."""
    found = _perhaps_empty(random, random.randrange(1, 4))
    variables = sorted(set(mentioned(found))) or ["A"]
    found = found if mentioned(found) else sql.Alternatives((A, found))
    definitions = {v: condition(random, v, [v]) for v in variables if random.random() < 0.8}
    measures: dict[str, Expression] = {"n": sql.Aggregate("COUNT", None, None), "of": sql.Named("CLASSIFIER")}
    measures |= {f"m{i}": sql.Column(random.choice(variables), "t", random.choice(["FIRST", "LAST"])) for i in range(2)}
    edges = random.choice(["", "", "", "$", "^"])
    skip = random.choice(["PAST LAST ROW", "PAST LAST ROW", "TO NEXT ROW"])
    shown = random.choice(["ONE ROW PER MATCH", "ONE ROW PER MATCH", "ALL ROWS PER MATCH"])
    return Clause(
        found, definitions, measures, {}, (skip, None), (("t", ""),), random.choice([("k",), ()]), None, edges, shown
    )


def _perhaps_empty(random: Random, depth: int) -> Pattern:
    kind = random.random()
    if depth == 0 or kind < 0.1:
        return random.choice([A, A, B, C, sql.Empty(), _many(A, 0, 1), _many(B, 0, 1, True)])
    if kind < 0.35:
        return sql.Concat(tuple(_perhaps_empty(random, depth - 1) for _ in range(2)))
    if kind < 0.75:
        return sql.Alternatives(tuple(_perhaps_empty(random, depth - 1) for _ in range(random.randrange(2, 4))))
    least, most = random.choice([(0, 1), (0, None), (1, None), (0, 2), (1, 2), (2, 2), (2, 3)])
    return sql.Quantified(_perhaps_empty(random, depth - 1), least, most, random.random() < 0.25)


def _with_excluded(random: Random, found: Pattern) -> Pattern:
    match found:
        case sql.Var(name):
            return sql.Excluded(name) if random.random() < 0.4 else found
        case sql.Quantified():
            return sql.Quantified(_with_excluded(random, found.body), found.least, found.most, found.reluctant)
        case sql.Concat() | sql.Alternatives() | sql.Permute():
            return type(found)(tuple(_with_excluded(random, part) for part in found.parts))
    return found


def _running(random: Random, named: list[str | None]) -> Expression:
    variable, column, kind = random.choice(named), random.choice([*NUMBERS, "t"]), random.random()
    found: sql.Column | sql.Aggregate | sql.By | sql.Named
    if kind < 0.45:
        end, places = random.choice(["FIRST", "LAST", "LAST", "LAST"]), random.choice([0, 0, 0, -1, 1])
        found = sql.Column(variable, column, end, random.choice([0, 0, 0, 1, 2]), places, random.choice([0, 0, 0, 2]))
    elif kind < 0.7:
        found = sql.Named("CLASSIFIER", variable if random.random() < 0.6 else None)
    elif kind < 0.75:
        return sql.Named("MATCH_NUMBER")
    elif kind < 0.8:
        found = _by(random, variable)
    elif kind < 0.85:
        return sql.Final(sql.Aggregate("COLLECT", variable, random.choice([column, sql.NAME]), random.random() < 0.3))
    else:
        name = random.choice(["COUNT", "COUNT", "SUM", "MIN", "MAX", "AVG"])
        times = random.choice(NUMBERS) if name != "COUNT" and random.random() < 0.3 else None
        found = sql.Aggregate(
            name, variable, None if name == "COUNT" and random.random() < 0.6 else column, times=times
        )
    if (
        random.random() < 0.25
        and not str(found)[0].islower()
        and "(" in str(found)
        and "." not in str(found).split("(")[0]
    ):
        return sql.Final(found)
    return sql.Otherwise(found, 7) if isinstance(found, sql.Column) and random.random() < 0.1 else found
