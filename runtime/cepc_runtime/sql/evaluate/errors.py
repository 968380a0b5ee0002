"""What an evaluation fails with."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, TypeVar

from ..expression import Aggregate
from ..spark_sql import describe
from ..types import STRING, is_numeric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..expression import Call, Expression

    Found = TypeVar("Found")
    Asking = TypeVar("Asking", bound="HasName")


class EvaluationError(Exception):
    """An expression that has no value for some row, as ANSI SQL has it: `division by zero in a / b`.

    `reason` in words, `function` as in the catalogue, `expression` the text of the part that failed, `hint` how to have
    null instead. `query` is what it was evaluated for, once that is known.
    """

    def __init__(self, reason: str, function: str, expression: str = "", hint: str = "", query: str = "") -> None:
        self.reason = reason
        self.function = function
        self.expression = expression
        self.hint = hint
        self.query = query
        super().__init__(str(self))

    def __str__(self) -> str:
        where = f" in `{self.expression}`" if self.expression else ""
        return f"{self.reason}{where}" + (f"; {self.hint}" if self.hint else "")

    def __reduce__(self) -> tuple[type[EvaluationError], tuple[str, str, str, str, str]]:
        return type(self), (self.reason, self.function, self.expression, self.hint, self.query)


class SparkOnlyError(EvaluationError):
    """A function, or a pattern, that only Spark knows, whatever the values are."""


@contextmanager
def about(query: str) -> Iterator[None]:
    """What fails inside is about this query, unless it is known to be about another."""
    try:
        yield
    except EvaluationError as error:
        error.query = error.query or query
        raise


class HasName(Protocol):
    """A query."""

    @property
    def name(self) -> str: ...


def naming(queries: Sequence[Asking], evaluate: Callable[[Sequence[Asking]], Found]) -> Found:
    """What is evaluated for several queries at once. An error is about the first of them that fails by itself."""
    try:
        return evaluate(queries)
    except EvaluationError:
        for query in queries:
            with about(query.name):
                evaluate([query])
        raise


_HINTS = {
    "+": "`try_add` gives null there",
    "-": "`try_subtract` gives null there",
    "*": "`try_multiply` gives null there",
    "/": "`try_divide` gives null there",
    "%": "`try_mod` gives null there",
    "cast": "TRY_CAST gives null there",
    "to_timestamp": "`try_to_timestamp` gives null there",
}


def fail(call: Call, reason: str) -> NoReturn:
    """Fails on behalf of a call."""
    match call.arguments[:1]:
        case (Aggregate() as written,) if written.target == STRING and is_numeric(call.type):  # read as a number again
            text = describe(written)
            hint = f"{text.removesuffix('STRING)')}DOUBLE) is a number, approximate at any size"
            raise EvaluationError(reason, call.function, text, hint)
    raise EvaluationError(reason, call.function, describe(call), _HINTS.get(call.function, ""))


def unsupported(expression: Expression, what: str, reason: str = "") -> NoReturn:
    """Fails on a function that only Spark computes, or for another reason why it is computed there only."""
    hint = (
        "run it there: `cepc run --engine spark`, `compiled.spark(events)` in Python, or the job that `cepc compile` "
        "writes; `cepc functions` lists the functions that every engine has"
    )
    alone = (
        f"only Spark knows the pattern of `{what}`" if what in _OF_PATTERNS else f"only Spark has the function `{what}`"
    )
    raise SparkOnlyError(reason or f"{alone}, called", what, describe(expression), hint)


_OF_PATTERNS: Final = ("rlike", "to_timestamp", "try_to_timestamp")
"""Functions of every engine, but not with any pattern."""
