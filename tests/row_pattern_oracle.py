"""What SQL:2016 says of row patterns, by brute force over rows of Python's: a matcher that goes through the ways of a
pattern in the order of preference and turns back where a row does not satisfy its variable's definition.

It shares nothing with the compiler, and not even the syntax: a clause is a value, which `as_sql` writes. Three-valued
logic is None for unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from itertools import permutations
from typing import Any

Row = Mapping[str, Any]
Labels = tuple[str, ...]


# ---- patterns --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Var:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Excluded:
    """`{- v -}`: rows of the match that ALL ROWS PER MATCH does not show. They are labelled `v-`."""

    name: str

    def __str__(self) -> str:
        return f"{{- {self.name} -}}"


@dataclass(frozen=True)
class Empty:
    def __str__(self) -> str:
        return "()"


@dataclass(frozen=True)
class Concat:
    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " ".join(f"({p})" if isinstance(p, Alternatives) else str(p) for p in self.parts)


@dataclass(frozen=True)
class Alternatives:
    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return " | ".join(map(str, self.parts))


@dataclass(frozen=True)
class Permute:
    parts: tuple[Pattern, ...]

    def __str__(self) -> str:
        return f"PERMUTE({', '.join(map(str, self.parts))})"


@dataclass(frozen=True)
class Quantified:
    body: Pattern
    least: int
    most: int | None
    reluctant: bool = False

    def __str__(self) -> str:
        body = str(self.body) if isinstance(self.body, Var) else f"({self.body})"
        known = {(0, 1): "?", (0, None): "*", (1, None): "+"}
        shown = known.get((self.least, self.most))
        if shown is None:
            most = "" if self.most is None else str(self.most)
            shown = f"{{{self.least}}}" if self.least == self.most else f"{{{self.least or ''},{most}}}"
            shown = "{0,}" if shown == "{,}" else shown
        return f"{body}{shown}{'?' if self.reluctant else ''}"


Pattern = Var | Excluded | Empty | Concat | Alternatives | Permute | Quantified


def ways(pattern: Pattern, labels: Labels, fits: Callable[[Labels], bool]) -> Iterator[Labels]:
    """The labels with those of a match of the pattern behind them, the preferred ones first; `fits` says whether the
    last label may be given to its row.
    """
    match pattern:
        case Var(name):
            if fits((*labels, name)):
                yield (*labels, name)
        case Excluded(name):
            if fits((*labels, f"{name}-")):
                yield (*labels, f"{name}-")
        case Empty():
            yield labels
        case Concat(parts):
            if not parts:
                yield labels
                return
            for found in ways(parts[0], labels, fits):
                yield from ways(Concat(parts[1:]), found, fits)
        case Alternatives(parts):
            for part in parts:
                yield from ways(part, labels, fits)
        case Permute(parts):
            for order in permutations(parts):
                yield from ways(Concat(order), labels, fits)
        case Quantified():
            yield from iterated(pattern, 0, labels, fits)


def iterated(pattern: Quantified, count: int, labels: Labels, fits: Callable[[Labels], bool]) -> Iterator[Labels]:
    enough = count >= pattern.least
    if enough and pattern.reluctant:
        yield labels
    if pattern.most is None or count < pattern.most:
        for found in ways(pattern.body, labels, fits):
            if found == labels and count + 1 >= pattern.least:
                yield found  # an iteration without a row is the last one, once there are enough
            else:
                yield from iterated(pattern, count + 1, found, fits)
    if enough and not pattern.reluctant:
        yield labels


# ---- expressions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """What a condition or a measure sees: the rows of the partition, where the match begins, and its labels so far."""

    rows: Sequence[Row]
    start: int
    labels: Labels
    number: int
    whole: Seen | None = None  # the whole match, where these labels are of a part of it

    def mapped(self, variables: frozenset[str] | None) -> list[int]:
        return [self.start + i for i, v in enumerate(self.labels) if variables is None or v.rstrip("-") in variables]


@dataclass(frozen=True)
class Clause:
    pattern: Pattern
    definitions: Mapping[str, Expression]
    measures: Mapping[str, Expression]
    unions: Mapping[str, tuple[str, ...]]
    skip: tuple[str, str | None]
    order: tuple[tuple[str, str], ...]  # a column, and what stands behind it
    partition: tuple[str, ...] = ("k",)
    within: int | None = None  # minutes of `at`, as Flink has it
    edges: str = ""  # `^` before the pattern, `$` behind it
    per_match: str = "ONE ROW PER MATCH"

    def of(self, variable: str | None) -> frozenset[str] | None:
        return None if variable is None else frozenset(self.unions.get(variable, (variable,)))


@dataclass(frozen=True)
class Const:
    value: int

    def __str__(self) -> str:
        return str(self.value)

    def of(self, _clause: Clause, _seen: Seen) -> Any:
        return self.value


@dataclass(frozen=True)
class Column:
    """`PREV(LAST(v.column, offset), places)`, in the shortest form."""

    variable: str | None
    column: str
    end: str = "LAST"
    offset: int = 0
    places: int = 0
    plus: int = 0

    def __str__(self) -> str:
        text = self.column if self.variable is None else f"{self.variable}.{self.column}"
        text += f" + {self.plus}" if self.plus else ""
        if self.end == "FIRST" or self.offset or (self.plus and not self.places):
            text = f"{self.end}({text}{f', {self.offset}' if self.offset else ''})"
        if self.places:
            text = f"{'PREV' if self.places < 0 else 'NEXT'}({text}, {abs(self.places)})"
        return text

    def of(self, clause: Clause, seen: Seen) -> Any:
        mapped = seen.mapped(clause.of(self.variable))
        if self.offset >= len(mapped):
            return None
        at = (mapped[self.offset] if self.end == "FIRST" else mapped[-1 - self.offset]) + self.places
        if not 0 <= at < len(seen.rows):
            return None
        value = seen.rows[at][self.column]
        return None if value is None else value + self.plus if self.plus else value


NAME = "CLASSIFIER"
"""In place of a column: the name of the row's variable."""


@dataclass(frozen=True)
class Aggregate:
    """Of a column, or of that times another."""

    name: str
    variable: str | None
    column: str | None
    distinct: bool = False
    times: str | None = None

    def __str__(self) -> str:
        of = "*" if self.variable is None else f"{self.variable}.*"
        if self.column is not None:
            of = " * ".join(_written(self.variable, c) for c in (self.column, self.times) if c is not None)
        return f"{self.name}({'DISTINCT ' if self.distinct else ''}{of})"

    def of(self, clause: Clause, seen: Seen) -> Any:
        mapped = seen.mapped(clause.of(self.variable))
        if self.column is None:
            return len(mapped)
        every = [_of_row(seen, at, self.column) for at in mapped]
        if self.times is not None:
            others = [_of_row(seen, at, self.times) for at in mapped]
            every = [
                None if one is None or other is None else one * other for one, other in zip(every, others, strict=True)
            ]
        every = list(dict.fromkeys(every)) if self.distinct else every
        if self.name == "COLLECT":
            return tuple(every)
        values = [value for value in every if value is not None]
        if self.name == "COUNT":
            return len(values)
        if not values:
            return None
        if self.name == "AVG":
            return sum(values) / len(values)
        if self.name == "VAR_POP":
            mean = Fraction(sum(values), len(values))
            return float(sum((value - mean) ** 2 for value in values) / len(values))
        return sum(values) if self.name == "SUM" else min(values) if self.name == "MIN" else max(values)


@dataclass(frozen=True)
class By:
    """MAX_BY or MIN_BY: of the first row with the greatest or least `by`."""

    name: str
    variable: str | None
    column: str
    by: str

    def __str__(self) -> str:
        return f"{self.name}({_written(self.variable, self.column)}, {_written(self.variable, self.by)})"

    def of(self, clause: Clause, seen: Seen) -> Any:
        known = [at for at in seen.mapped(clause.of(self.variable)) if seen.rows[at][self.by] is not None]
        if not known:
            return None
        best = (max if self.name == "MAX_BY" else min)(seen.rows[at][self.by] for at in known)
        return next(_of_row(seen, at, self.column) for at in known if seen.rows[at][self.by] == best)


def _written(variable: str | None, column: str) -> str:
    if column == NAME:
        return f"{NAME}({variable or ''})"
    return column if variable is None else f"{variable}.{column}"


def _of_row(seen: Seen, at: int, column: str) -> Any:
    return seen.labels[at - seen.start].rstrip("-") if column == NAME else seen.rows[at][column]


@dataclass(frozen=True)
class Named:
    """CLASSIFIER() or MATCH_NUMBER()."""

    name: str
    variable: str | None = None

    def __str__(self) -> str:
        return f"{self.name}({self.variable or ''})"

    def of(self, clause: Clause, seen: Seen) -> Any:
        if self.name == "MATCH_NUMBER":
            return seen.number
        mapped = seen.mapped(clause.of(self.variable))
        return seen.labels[mapped[-1] - seen.start].rstrip("-") if mapped else None


@dataclass(frozen=True)
class Final:
    """FINAL f(x): of the whole match, whatever the row at hand."""

    operand: Column | Aggregate | By | Named

    def __str__(self) -> str:
        return f"FINAL {self.operand}"

    def of(self, clause: Clause, seen: Seen) -> Any:
        return self.operand.of(clause, seen.whole or seen)


@dataclass(frozen=True)
class Compare:
    left: Expression
    sign: str
    right: Expression

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"

    def of(self, clause: Clause, seen: Seen) -> bool | None:
        left, right = self.left.of(clause, seen), self.right.of(clause, seen)
        if left is None or right is None:
            return None
        return {"<": left < right, "<=": left <= right, "=": left == right, ">": left > right, "<>": left != right}[
            self.sign
        ]


@dataclass(frozen=True)
class IsNull:
    operand: Expression

    def __str__(self) -> str:
        return f"{self.operand} IS NULL"

    def of(self, clause: Clause, seen: Seen) -> bool:
        return self.operand.of(clause, seen) is None


@dataclass(frozen=True)
class Joined:
    """AND or OR."""

    word: str
    left: Expression
    right: Expression

    def __str__(self) -> str:
        return f"({self.left}) {self.word} ({self.right})"

    def of(self, clause: Clause, seen: Seen) -> bool | None:
        found = {self.left.of(clause, seen), self.right.of(clause, seen)}
        decisive = self.word == "OR"
        return decisive if decisive in found else None if None in found else not decisive


@dataclass(frozen=True)
class Negated:
    operand: Expression

    def __str__(self) -> str:
        return f"NOT ({self.operand})"

    def of(self, clause: Clause, seen: Seen) -> bool | None:
        found = self.operand.of(clause, seen)
        return None if found is None else not found


@dataclass(frozen=True)
class Otherwise:
    """COALESCE."""

    operand: Expression
    value: int

    def __str__(self) -> str:
        return f"COALESCE({self.operand}, {self.value})"

    def of(self, clause: Clause, seen: Seen) -> Any:
        found = self.operand.of(clause, seen)
        return self.value if found is None else found


Expression = Const | Column | Aggregate | By | Named | Final | Compare | IsNull | Joined | Negated | Otherwise


# ---- matching --------------------------------------------------------------------------------------------------------


COLUMNS = ("k", "t", "o", "a", "b", "at")
"""Of the table, in its order."""


class SkipError(Exception):
    """There is no row to skip to, or it is the first one of the match."""


def rows_of(clause: Clause, table: Sequence[Row]) -> list[tuple[Any, ...]]:
    """The rows of the result. Raises SkipError."""
    found: list[tuple[Any, ...]] = []
    for rows in partitions(clause, table):
        at, number, alone = 0, 0, set(range(len(rows)))
        while at < len(rows):
            labels = first_match(clause, rows, at)
            if labels is None:
                at += 1
                continue
            number += 1
            alone -= set(range(at, at + max(len(labels), 1)))
            seen = Seen(rows, at, labels, number)
            found += all_rows(clause, seen) if clause.per_match.startswith("ALL") else [one_row(clause, seen)]
            at = following(clause, seen)
        if "UNMATCHED" in clause.per_match:
            found += (unmatched_row(clause, rows[at]) for at in sorted(alone))
    return found


def one_row(clause: Clause, seen: Seen) -> tuple[Any, ...]:
    """Partition columns and measures."""
    keys = tuple(seen.rows[seen.start][column] for column in clause.partition)
    return (*keys, *(measure.of(clause, seen) for measure in clause.measures.values()))


def all_rows(clause: Clause, seen: Seen) -> Iterator[tuple[Any, ...]]:
    """Partition columns, those of the order, measures of the rows up to each, and the rest of the row; an empty match has
    the row where it is.
    """
    first = dict.fromkeys((*clause.partition, *(column for column, _ in clause.order)))
    shown = [at for at, label in enumerate(seen.labels) if not label.endswith("-")]
    if not seen.labels:
        shown = [] if "OMIT" in clause.per_match else [0]
    for at in shown:
        row = seen.rows[seen.start + at]
        so_far = Seen(seen.rows, seen.start, seen.labels[: at + 1], seen.number, seen)
        measures = (measure.of(clause, so_far) for measure in clause.measures.values())
        yield (
            *(row[column] for column in first),
            *measures,
            *(row[column] for column in COLUMNS if column not in first),
        )


def unmatched_row(clause: Clause, row: Row) -> tuple[Any, ...]:
    """A row that no match has, and at which no empty one is: its measures are null."""
    first = dict.fromkeys((*clause.partition, *(column for column, _ in clause.order)))
    others = (row[column] for column in COLUMNS if column not in first)
    return (*(row[column] for column in first), *(None for _ in clause.measures), *others)


def first_match(clause: Clause, rows: Sequence[Row], start: int) -> Labels | None:
    def fits(labels: Labels) -> bool:
        at = start + len(labels) - 1
        if at >= len(rows):
            return False
        if clause.within is not None and rows[at]["at"] - rows[start]["at"] >= timedelta(minutes=clause.within):
            return False
        condition = clause.definitions.get(labels[-1].rstrip("-"))
        return condition is None or condition.of(clause, Seen(rows, start, labels, 0)) is True

    if "^" in clause.edges and start > 0:
        return None
    ends = (w for w in ways(clause.pattern, (), fits) if "$" not in clause.edges or start + len(w) == len(rows))
    return next(ends, None)


def following(clause: Clause, seen: Seen) -> int:
    mode, variable = clause.skip
    if not seen.labels or mode == "TO NEXT ROW":
        return seen.start + 1
    if mode == "PAST LAST ROW":
        return seen.start + len(seen.labels)
    mapped = seen.mapped(clause.of(variable))
    landing = None if not mapped else mapped[0] if mode == "TO FIRST" else mapped[-1]
    if landing is None or landing == seen.start:
        raise SkipError
    return landing


def partitions(clause: Clause, table: Sequence[Row]) -> list[list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in table:
        groups.setdefault(tuple(row[column] for column in clause.partition), []).append(row)
    for rows in groups.values():
        for column, how in reversed(clause.order):
            descending = how.startswith("DESC")
            nulls_last = how.endswith("LAST") or (descending and "NULLS" not in how)
            rows.sort(key=lambda row: row[column] or 0, reverse=descending)
            rows.sort(key=lambda row: (row[column] is None) == nulls_last)
    return list(groups.values())


# ---- as text ---------------------------------------------------------------------------------------------------------


def _at_edges(clause: Clause) -> str:
    before, behind = ("^ " if "^" in clause.edges else ""), (" $" if "$" in clause.edges else "")
    body = f"({clause.pattern})" if clause.edges and isinstance(clause.pattern, Alternatives) else clause.pattern
    return f"{before}{body}{behind}"


def as_sql(clause: Clause) -> str:
    unions = [f"{union} = ({', '.join(members)})" for union, members in clause.unions.items()]
    lines = [
        f"PARTITION BY {', '.join(clause.partition)}" if clause.partition else "",
        f"ORDER BY {', '.join(f'{column} {how}'.strip() for column, how in clause.order)}",
        f"MEASURES {', '.join(f'{measure} AS {name}' for name, measure in clause.measures.items())}",
        clause.per_match,
        f"AFTER MATCH SKIP {clause.skip[0]}{f' {clause.skip[1]}' if clause.skip[1] else ''}",
        f"PATTERN ({_at_edges(clause)})",
        "" if clause.within is None else f"WITHIN INTERVAL '{clause.within}' MINUTE",
        f"SUBSET {', '.join(unions)}" if unions else "",
        f"DEFINE {', '.join(f'{v} AS {c}' for v, c in clause.definitions.items())}" if clause.definitions else "",
    ]
    return "MATCH_RECOGNIZE (\n  " + "\n  ".join(line for line in lines if line) + "\n)"
