"""Very many random programs in every way of running them, by hand: `make long-run` or `python -m tests.long_run
--programs 100000`.

Cases have numbers, so that a run can be repeated and gone on with (`--first`). A case that fails is made small and
printed as one for REGRESSIONS in test_equivalence.py; the run goes on. In the end stand what each property compared,
and the pairs of constructs that were compared together. Exits with 1 if anything failed, or if a long run (LONG
programs) has never met a pair that may stand together.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from dataclasses import dataclass, field
from itertools import count, islice
from multiprocessing import get_context
from random import Random
from typing import TYPE_CHECKING, Final

from tests import (
    test_changed_programs,
    test_changed_queries,
    test_equivalence,
    test_memory,
    test_motto_pass,
    test_panes,
    test_passes,
    test_rows_as_events,
    test_rows_as_events_streams,
    test_segments,
    test_shared_states,
    test_slices,
    test_state,
    test_stream_lags,
    test_stream_operator,
    test_streaming,
    test_threads,
)
from tests.changed_programs import program
from tests.constructs import Pairs, constructs
from tests.equivalence import Refused, compile_text
from tests.programs import Make, cases, crowded, overlapping, streamed
from tests.properties import Check, Seen, Tally, small_text, table
from tests.rows_as_events import rows_as_events
from tests.test_equivalence import compare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.programs import Case

BATCH: Final = 25
LONG: Final = 20_000
MOST_FAILURES: Final = 10


@dataclass(frozen=True)
class Property:
    """Cases, a check of them, and the way of running that it is about. Constructs are not counted of programs of several
    streams.
    """

    way: str
    make: Make
    check: Check
    of_one_stream: bool = True


def _engine(interpreted: bool) -> Check:
    return lambda case, _chance: compare(case, interpreted=interpreted)


def _streaming() -> Iterator[tuple[str, Property]]:
    for kind, make in test_streaming.KINDS.items():
        yield f"stream: {kind}", Property("as a stream", streamed(make), test_streaming.check)
    for kind, make in test_stream_lags.KINDS.items():
        yield f"stream: {kind}", Property("as a stream", make, test_streaming.check)
        yield (
            f"stream: Spark's operator: {kind}",
            Property("through Spark's operator", make, test_stream_lags.through_the_operator),
        )


def _rows_as_events() -> Iterator[tuple[str, Property]]:
    for kind, make in test_rows_as_events.KINDS.items():
        rows = rows_as_events(make)
        yield f"rows as events: {kind}", Property("rows as events", rows, test_rows_as_events.compare, False)
        known = test_rows_as_events_streams.with_known_times(streamed(rows))
        yield f"stream of rows: {kind}", Property("as a stream", known, test_rows_as_events_streams.check, False)


PROPERTIES: Final[dict[str, Property]] = {
    **{f"{kind}": Property("interpreted", make, _engine(True)) for kind, make in test_equivalence.KINDS.items()},
    **{
        f"{kind}, compiled": Property("compiled", make, _engine(False)) for kind, make in test_equivalence.KINDS.items()
    },
    **dict(_streaming()),
    **dict(_rows_as_events()),
    "stream: crowded panes": Property("as a stream", streamed(crowded), test_streaming.check),
    "stream: shared matches": Property("as a stream", streamed(test_motto_pass.programs), test_streaming.check_sharing),
    "stream: Spark's operator": Property(
        "through Spark's operator", streamed(cases(size=3)), test_stream_operator.through_the_operator
    ),
    "stream: a changed program": Property("as a stream", streamed(program), test_changed_programs.check),
    "stream: other queries": Property(
        "as a stream", streamed(test_changed_queries.program), test_changed_queries.check
    ),
    "stream: other queries with panes": Property(
        "as a stream", test_changed_queries.folded, test_changed_queries.check
    ),
    "stream: programs take turns": Property("as a stream", streamed(cases(size=3)), test_state.reordered),
    "shared in every way: any": Property("shared at every level", cases(size=3), test_passes.unchanged),
    "shared in every way: in common": Property("shared at every level", overlapping(), test_passes.unchanged),
    "any states side by side": Property(
        "states side by side", test_shared_states.counted_programs, test_shared_states.whatever_is_shared
    ),
    "shared matches": Property("matches joined", test_motto_pass.programs, test_motto_pass.check),
    "panes": Property("in panes", test_panes.without_negation, test_panes.cut_in_time),
    "partitions": Property("by partitions", test_panes.partitioned, test_panes.by_partitions),
    "segments": Property("in segments", test_segments.counted, test_segments.in_segments),
    "slices": Property("in slices", test_slices.counted, test_slices.in_slices),
    **{
        f"large groups: SELECT {select}": Property(
            "large groups in pieces", cases(size=3, select=select), test_slices.with_large_groups
        )
        for select in ("ANY", "NEXT", "CONTIGUOUS")
    },
    "threads": Property("on threads", test_threads.mixed, test_threads.on_threads),
    "threads: cut by time": Property("on threads", test_threads.in_a_line, test_threads.in_pieces_of_time),
    "memory": Property("in parts on disk", test_threads.mixed, test_memory.in_parts),
    "memory: cut by time": Property("in parts on disk", test_threads.in_a_line, test_memory.in_parts),
}


@dataclass(frozen=True)
class Batch:
    name: str
    first: int


@dataclass
class Outcome:
    batch: Batch
    tally: Tally = field(default_factory=Tally)
    pairs: Pairs = field(default_factory=Pairs)
    failures: list[str] = field(default_factory=list)


def batches(names: list[str], first: int) -> Iterator[Batch]:
    for number in count(first, BATCH):
        for name in names:
            yield Batch(name, number)


def run(batch: Batch) -> Outcome:
    found, given = Outcome(batch), PROPERTIES[batch.name]
    for number in range(batch.first, batch.first + BATCH):
        case = given.make(Random(f"{batch.name} {number}"))
        try:
            seen = given.check(case, Random(number))
        except Refused:
            found.tally.refused += 1
        except Exception as error:
            again = f"python -m tests.long_run --property {batch.name!r} --first {number} --programs 1"
            small = small_text(given.check, number, case, error)
            found.failures.append(f"FAILED: {batch.name}, number {number}: {error!r}\n  again: {again}\n{small}")
        else:
            found.tally.add(seen)
            if given.of_one_stream:
                _count(found.pairs, given.way, case, seen)
    return found


def _count(pairs: Pairs, way: str, case: Case, seen: Seen) -> None:
    compiled = compile_text(case.text)
    for name, answer in seen.answers.items():
        if answer.rows:
            pairs.add(constructs(case, compiled, name, answer) | {way})


def main() -> int:
    parser = argparse.ArgumentParser(description="Random programs, every way of running them against the oracle.")
    parser.add_argument("--programs", type=int, default=100_000, help="stop after about so many (default 100,000)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many minutes")
    parser.add_argument("--first", type=int, default=1000, help="the number of the first case of each property")
    parser.add_argument("--property", choices=list(PROPERTIES), action="append", help="only this one (repeatable)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    given = parser.parse_args()
    names = given.property or list(PROPERTIES)
    begun = shown = time.monotonic()
    tallies, pairs, failures = {name: Tally() for name in names}, Pairs(), 0
    wanted = islice(batches(names, given.first), -(-given.programs // BATCH))
    pool = get_context("spawn").Pool(given.workers, maxtasksperchild=50)
    with pool, contextlib.suppress(KeyboardInterrupt):  # which ends it with what there is
        for outcome in pool.imap_unordered(run, wanted):
            tallies[outcome.batch.name].plus(outcome.tally)
            pairs.plus(outcome.pairs)
            failures += len(outcome.failures)
            print(*outcome.failures, sep="\n", end="\n" * bool(outcome.failures), flush=True)
            now = time.monotonic()
            if now - begun > given.minutes * 60 or failures >= MOST_FAILURES:
                break
            if now - shown > 60:
                shown = now
                print(table(tallies), flush=True)
    total = Tally()
    for tally in tallies.values():
        total.plus(tally)
    print(pairs.text())
    print(table({**tallies, f"all, in {(time.monotonic() - begun) / 60:.1f} min": total}))
    print(f"{failures} failed")
    met = not pairs.missing() and not pairs.impossible()
    return 1 if failures or not (met or total.cases < LONG or given.property) else 0


if __name__ == "__main__":
    sys.exit(main())
