"""Very many random programs, engine against oracle, by hand: `make long-run` or `python -m tests.long_run --programs 100000`.

Draws batches of every kind of program in turn, each batch from a seed of its own, so that a run can be repeated and
gone on with (`--seed`). A failure is shrunk and printed as a case for REGRESSIONS in test_equivalence.py; the run goes
on. Every second round of kinds runs the compiled kernel instead of the interpreted one. Exits with 1 if anything failed.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pprint import pformat
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import UnsatisfiedAssumption

from tests.programs import Case, cases
from tests.test_equivalence import KINDS, check_case

if TYPE_CHECKING:
    from collections.abc import Iterator

ALL_KINDS = {**KINDS, "several queries of one program": cases(size=3)}
BATCH = 100
MOST_FAILURES = 10


@dataclass(frozen=True)
class Batch:
    kind: str
    seed: int
    interpreted: bool


@dataclass(frozen=True)
class Outcome:
    """`counts`: programs compared, those whose run must fail ("failing"), and those the compiler refused."""

    batch: Batch
    counts: Counter[str]
    failure: str | None


def batches(kinds: list[str], first_seed: int) -> Iterator[Batch]:
    number = first_seed
    while True:
        for kind in kinds:
            yield Batch(kind, number, interpreted=number % 2 == 0)
        number += 1


def run(batch: Batch) -> Outcome:
    counts: Counter[str] = Counter()
    failing: list[Case] = []

    @seed(batch.seed)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(ALL_KINDS[batch.kind])
    def compare(case: Case) -> None:
        outcome = "refused"
        try:
            outcome = "compared" if check_case(case, interpreted=batch.interpreted or None) else "failing"
        except UnsatisfiedAssumption:
            raise
        except Exception:
            failing.append(case)
            raise
        finally:
            if not failing:  # what shrinking runs is not counted
                counts[outcome] += 1

    try:
        compare()
    except Exception as error:
        return Outcome(batch, counts, _report(batch, failing[-1], error))
    return Outcome(batch, counts, None)


def _report(batch: Batch, case: Case, error: Exception) -> str:
    """The last case that failed is the smallest: Hypothesis runs it again in the end."""
    return "\n".join((
        f"FAILED: {batch.kind}, seed {batch.seed}",
        f"  again: python -m tests.long_run --kind {batch.kind!r} --seed {batch.seed} --programs {BATCH}",
        case.text,
        pformat(case.rows, width=200),
        "".join(traceback.format_exception(error)),
    ))  # fmt: skip


def _table(counts: dict[str, Counter[str]], seconds: float) -> str:
    columns = ("compared", "failing", "refused", "wrong")
    lines = [f"{'kind':<52}" + "".join(f"{c:>10}" for c in columns)]
    lines += [f"{kind:<52}" + "".join(f"{found[c]:>10,}" for c in columns) for kind, found in counts.items()]
    total = sum(counts.values(), Counter())
    lines.append(f"{f'all, in {seconds / 60:.1f} min':<52}" + "".join(f"{total[c]:>10,}" for c in columns))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Random programs, engine against oracle.")
    parser.add_argument("--programs", type=int, default=100_000, help="stop after about so many (default 100,000)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many minutes")
    parser.add_argument("--seed", type=int, default=0, help="of the first batch of each kind")
    parser.add_argument("--kind", choices=list(ALL_KINDS), action="append", help="only this one (repeatable)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    given_options = parser.parse_args()
    kinds = given_options.kind or list(ALL_KINDS)
    begun = shown = time.monotonic()
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    failures = 0
    wanted = islice(batches(kinds, given_options.seed), -(-given_options.programs // BATCH))
    with get_context("spawn").Pool(given_options.workers, maxtasksperchild=50) as pool:
        for outcome in pool.imap_unordered(run, wanted):
            counts[outcome.batch.kind] += outcome.counts
            if outcome.failure:
                failures += 1
                counts[outcome.batch.kind]["wrong"] += 1
                print(outcome.failure, flush=True)
            now = time.monotonic()
            if now - begun > given_options.minutes * 60 or failures >= MOST_FAILURES:
                break
            if now - shown > 60:
                shown = now
                print(_table(counts, now - begun), flush=True)
    print(_table(counts, time.monotonic() - begun), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
