"""Workloads shaped like those of Gloria's evaluation (§8.1), from a seed: SEQ, Kleene and mixed.

A query of the SEQ workload is a private head, a part of one sequence of rare types that the queries share, and a
private tail. A query of the Kleene workload has before its part of the sequence a Kleene sub-pattern that all share, of
2 to 10 types and 1 to 5 operators deep. The mixed workload has six SEQ queries for each Kleene query. Windows last 5 to
20 minutes and slide by 5, as in the authors' files; `text` gives a workload in the form of these files.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cepc.passes.gloria import Query
from cepc.passes.pattern import Event, PlannedPattern
from cepc_grammar.pattern import Repeat, Seq

SHARED = 4  # types in the shared sequence
SEQ_TO_KLEENE = 6
RARE, FREQUENT = (1, 10), (20, 100)  # rates of shared and of private types


@dataclass(frozen=True)
class Made:
    """A query and its window in minutes; the window slides by 5."""

    name: str
    pattern: PlannedPattern
    kleene: bool
    minutes: int

    @property
    def query(self) -> Query:
        return Query(self.name, self.pattern, self.minutes // 5)

    @property
    def text(self) -> str:
        """The query as it stands in the authors' files. Events are stock prices, their types company names."""
        return "\n".join(
            [
                self.name,
                "RETURN COUNT(*)",
                f"PATTERN {written(self.pattern)}",
                f"WITHIN {self.minutes} min SLIDE 5 min",
            ]
        )


@dataclass(frozen=True)
class Workload:
    made: tuple[Made, ...]
    rates: dict[int, float]
    shared: tuple[int, ...]
    """The letters of the shared sequence and of the Kleene sub-pattern."""

    @property
    def queries(self) -> list[Query]:
        return [m.query for m in self.made]

    @property
    def text(self) -> str:
        return "\n\n".join(m.text for m in self.made) + "\n"


def workload(
    queries: int,
    kleene_every: int = 0,
    seed: int = 0,
    *,
    length: int = 3,
    nesting: int = 1,
    shared: int = SHARED,
    whole: bool = True,
) -> Workload:
    """Every `kleene_every`th query has the Kleene sub-pattern, of `length` types under `nesting` operators; 0: none.

    `shared` is the length of the shared sequence. Not `whole`: queries have different parts of it, of two types at
    least, which is what makes sharing them a question.
    """
    if not 1 <= nesting <= length:
        raise ValueError("each Kleene operator needs a type of its own")
    chance = random.Random(seed)
    sequence = list(range(shared))
    inner = list(range(shared, shared + length))
    rates = {letter: float(chance.randint(*RARE)) for letter in (*sequence, *inner)}
    made = []
    for number in range(queries):
        is_kleene = kleene_every > 0 and number % kleene_every == kleene_every - 1
        first = 0 if whole else chance.randint(0, shared - 2)
        last = shared if whole else chance.randint(first + 2, shared)
        common: list[PlannedPattern] = [kleene(inner, nesting)] if is_kleene else []
        common += events(sequence[first:last])
        private = []
        for _ in range(2):
            letters = range(len(rates), len(rates) + chance.randint(1, 3))
            rates |= {letter: float(chance.randint(*FREQUENT)) for letter in letters}
            private.append(list(events(letters)))
        pattern = Seq((*private[0], *common, *private[1]))
        made.append(Made(f"q{number}", pattern, is_kleene, 5 * chance.randint(1, 4)))
    return Workload(tuple(made), rates, (*sequence, *inner))


def mixed(queries: int, seed: int = 0, *, length: int = 3, nesting: int = 1) -> Workload:
    """SEQ to Kleene 6:1."""
    return workload(queries, SEQ_TO_KLEENE + 1, seed, length=length, nesting=nesting)


def kleene(letters: Sequence[int], nesting: int) -> PlannedPattern:
    """`SEQ(T0, SEQ(T1, SEQ(T2, T3)+)+)+`: each outer operator adds a type in front."""
    if nesting == 1:
        return Repeat(Seq(tuple(events(letters))) if len(letters) > 1 else event(letters[0]), 1, None)
    return Repeat(Seq((event(letters[0]), kleene(letters[1:], nesting - 1))), 1, None)


def events(letters: Sequence[int]) -> Iterator[Event]:
    return map(event, letters)


def event(letter: int) -> Event:
    return Event(letter, f"T{letter}")


def written(pattern: PlannedPattern) -> str:
    """The pattern as text, of the forms that occur here."""
    match pattern:
        case Event(_, variable):
            return variable
        case Seq(elements):
            return f"SEQ({', '.join(map(written, elements))})"
        case Repeat(body, 1, None):
            return f"{written(body)}+"
    raise ValueError(f"not a pattern of these workloads: {pattern}")
