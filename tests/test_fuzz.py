"""Whatever the text, there are diagnostics: never an exception, never a hang.

`CEPC_FUZZ` is the number of examples in all, else the profile says it; the seeds are fixed; outside CI there is
one run more, whose seed is printed. By hand:
`CEPC_FUZZ=1000000 CEPC_FUZZ_SEED=7 pytest tests/test_fuzz.py -n 2`.
"""

from __future__ import annotations

import os
import re
import signal
import time
import traceback
from functools import partial
from random import Random, SystemRandom
from typing import TYPE_CHECKING

import pytest

from cepc.api import check_sources
from cepc.diagnostics.render import as_text, render
from cepc.files.read import decode
from cepc_grammar import ast
from cepc_grammar.formatter import format_source
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from tests.fuzz import MAKERS, smallest

if TYPE_CHECKING:
    from types import FrameType

    from cepc.checked import Checked

OF_PROFILE = {"dev": 1_000}
EXAMPLES = int(os.environ.get("CEPC_FUZZ", OF_PROFILE.get(os.environ.get("HYPOTHESIS_PROFILE", "dev"), 10_000)))
SEED = os.environ.get("CEPC_FUZZ_SEED", "fixed")
PARTS = 8  # so that several workers share the examples
SHARES = {"bytes": 0.15, "soup": 0.3, "broken": 0.54, "deep": 0.01}
LIMIT = 10  # seconds of the processor for one example; the slowest, of 4,000 levels, take four


def answer(example: str | bytes) -> Checked | None:
    """Everything that `cepc check` and `cepc fmt` do with a text, and what was checked of it, if anything was. Raises
    AssertionError if the answer is no good.
    """
    checked = None
    data = example if isinstance(example, bytes) else example.encode(errors="replace")
    source, problem = decode("fuzz.cep", data)
    if problem is not None:
        as_text(render([problem], {"fuzz.cep": source} if source else {}))
    if source is not None and problem is None:
        checked = answer_source(source)
    if isinstance(example, str) and (source is None or source.text != example):
        checked = answer_source(Source("fuzz.cep", example))  # what no file can hold: NUL, half a surrogate pair
    return checked


def answer_source(source: Source) -> Checked:
    checked = check_sources((source,))
    for diagnostic in checked.diagnostics:
        assert re.fullmatch(r"[EW]\d{4}", diagnostic.code)
        assert diagnostic.title
        if diagnostic.span.source == source.name:
            assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(source.text)
    checked.text()
    if checked.program is not None:
        written = [s.name.text for s in parse(source).program.statements if isinstance(s, ast.Query)]
        assert [query.name for query in checked.program.queries] == written  # none that is not run without a word
    formatted = format_source(source)
    if isinstance(formatted, str):
        assert parse(Source(source.name, formatted)).program == parse(source).program
    else:
        assert formatted
    return checked


class HangError(Exception):
    """An example took too long."""


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise HangError


def failure(example: str | bytes) -> str | None:
    """The traceback if the example is answered badly."""
    signal.signal(signal.SIGPROF, _hang)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        answer(example)
    except Exception:
        return traceback.format_exc(limit=-4)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def fails_like(found: str, text: str) -> bool:
    return (failure(text) or "").splitlines()[-1:] == found.splitlines()[-1:]


def run(kind: str, seed: str, count: int) -> None:
    random = Random(f"{kind} {seed}")
    started = time.monotonic()
    for number in range(count):
        example = MAKERS[kind](random)
        if (found := failure(example)) is not None:
            if isinstance(example, str) and "HangError" not in found:
                example = smallest(example, partial(fails_like, found))
            pytest.fail(f"example {number} of `{kind} {seed}`:\n{example!r}\n{found}", pytrace=False)
    print(f"{count} examples of `{kind} {seed}` in {time.monotonic() - started:.1f} s")


@pytest.mark.property
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", MAKERS)
def test_any_text_is_answered_by_diagnostics(kind: str, part: int) -> None:
    run(kind, f"{SEED} {part}", max(1, round(EXAMPLES * SHARES[kind] / PARTS)))


@pytest.mark.skipif("CI" in os.environ, reason="in CI, a red run means a changed program")
@pytest.mark.parametrize("kind", MAKERS)
def test_any_text_is_answered_by_diagnostics_with_a_seed_of_today(kind: str) -> None:
    seed = str(SystemRandom().randrange(10**9))
    print(f"seed {seed}")
    run(kind, seed, max(1, round(0.05 * EXAMPLES * SHARES[kind])))
