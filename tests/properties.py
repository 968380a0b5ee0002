"""A property over random cases that shows what it compared, and fails where that is nothing.

`hold` makes cases from numbers, so a failure is had again from its number; it is made small before it is shown. Then
the tally is held to what a property has to have seen: rows in most cases, and events that cost a word its match in
many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pprint import pformat
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import settings

from tests.equivalence import Refused
from tests.smaller import smallest
from tests.words import FAILING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.oracle import Answer
    from tests.programs import Case

WITH_ROWS: Final = 0.8
DIFFERING: Final = 0.5
ENOUGH: Final = 12
"""Fewer cases show no shares."""


@dataclass(frozen=True)
class Seen:
    """What a case showed: the answers with which rows were compared, and how words were made that have fewer matches
    than the word they come from.
    """

    answers: Mapping[str, Answer]
    differing: frozenset[str] = frozenset()

    @property
    def rows(self) -> int:
        return sum(len(answer.rows) for answer in self.answers.values())

    @classmethod
    def of(cls, case: Case, answers: Mapping[str, Answer]) -> Seen:
        differing = set()
        for answer in answers.values():
            matches = Counter(case.rows[next(iter(match))[0]].get("word") for match in answer.matches)
            differing |= {
                word.made
                for number, word in enumerate(case.words)
                if word.base is not None and matches[number] < matches[word.base]
            }
        return cls(answers, frozenset(differing))


NOTHING: Final = Seen({})
"""Of a case whose run must fail, so that there are no rows to compare."""


Check = Callable[["Case", Random], Seen]
"""Fails where rows differ, and raises Refused where the program is no program."""


@dataclass
class Tally:
    """What all cases of a property showed."""

    cases: int = 0
    refused: int = 0
    rows: int = 0
    with_rows: int = 0
    differing: Counter[str] = field(default_factory=Counter)

    @property
    def drawn(self) -> int:
        return self.cases + self.refused

    def add(self, seen: Seen) -> None:
        self.cases += 1
        self.rows += seen.rows
        self.with_rows += seen.rows > 0
        failing = seen.differing & {*FAILING}
        self.differing.update(failing)
        self.differing["any"] += bool(failing)

    def plus(self, other: Tally) -> None:
        self.cases += other.cases
        self.refused += other.refused
        self.rows += other.rows
        self.with_rows += other.with_rows
        self.differing.update(other.differing)

    def plain(self) -> dict[str, Any]:
        """As what can be sent from one process to another."""
        return asdict(self) | {"differing": dict(self.differing)}

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> Tally:
        return cls(**(plain | {"differing": Counter(plain["differing"])}))

    def lacking(self, with_rows: float, differing: float) -> list[str]:
        """What the cases do not show, in words."""
        wanted = (
            ("rows", self.with_rows, with_rows),
            ("an event that costs a match", self.differing["any"], differing),
        )
        return [
            f"{name} in {found} of {self.cases} cases, and in {share:.0%} are wanted"
            for name, found, share in wanted
            if found < share * self.cases or not self.cases
        ]


COLUMNS: Final = ("cases", "refused", "with rows", "rows", "differing", *FAILING)


def case_numbers(cases: int | None = None, tested: int | None = None) -> range:
    """The numbers of the cases that a run goes through, of `cases` in all (None: as many as the profile says): `make
    test` has the first, `tested` at most, and `make long` those after them.
    """
    profile, by_profile = settings.get_current_profile_name(), settings().max_examples
    in_test = settings.get_profile("dev").max_examples
    whole = max(in_test, by_profile) if cases is None else cases
    first = min(in_test if tested is None else tested, whole)
    match profile:
        case "dev":
            return range(first)
        case "ci":
            return range(first, whole)
    return range(whole)


def portion(cases: int) -> int:
    """How many of these the profile goes through: all of them in `make long`."""
    return cases * min(settings().max_examples, 25) // 25


def table(tallies: dict[str, Tally]) -> str:
    """A line for each property; of the cases, how many had rows, and in how many which kind of event cost a word its
    match.
    """
    width = max(len(name) for name in tallies)
    lines = [" " * width + "".join(f"{column:>11}" for column in COLUMNS)]
    for name, tally in tallies.items():
        cells = [tally.cases, tally.refused, tally.with_rows, tally.rows, tally.differing["any"]]
        cells += [tally.differing[made] for made in FAILING]
        lines.append(f"{name:<{width}}" + "".join(f"{cell:>11,}" for cell in cells))
    return "\n".join(lines)


TALLIES: dict[str, Tally] = {}
"""Of all properties that this process has checked; reporting.py shows them in the end."""


def hold(
    name: str,
    make: Callable[[Random], Case],
    check: Check,
    *,
    cases: int | None = None,
    tested: int | None = None,
    first: int = 0,
    with_rows: float = WITH_ROWS,
    differing: float = DIFFERING,
) -> Tally:
    """Checks the cases that are this run's turn (`case_numbers`), their numbers counted from `first` on."""
    numbers = case_numbers(cases, tested)
    if not numbers:
        pytest.skip("make test has all of the cases")
    tally = TALLIES[name] = Tally()
    for number in range(first + numbers.start, first + numbers.stop):
        case = make(Random(f"{name} {number}"))
        try:
            tally.add(check(case, Random(number)))
        except Refused:
            tally.refused += 1
        except Exception as error:
            raise AssertionError(f"{name}, number {number}:\n{small_text(check, number, case, error)}") from error
    lacking = tally.lacking(with_rows, differing) if tally.drawn >= ENOUGH else []
    assert not lacking, "\n".join((*lacking, table({name: tally})))
    return tally


def small_text(check: Check, number: int, case: Case, error: Exception) -> str:
    """A smaller case that fails in the same way."""
    small = smallest(case, partial(_fails, check, number, type(error)))
    return f"{small.text}\n{pformat(small.rows, width=160)}"


def _fails(check: Check, number: int, kind: type[Exception], case: Case) -> bool:
    try:
        check(case, Random(number))
    except Refused:
        return False
    except Exception as error:
        return isinstance(error, kind)
    return False
