"""Weave's edge counts, F1 collapsed against the bit set, as ratios in one run; then the grouping of many queries.

Both counters get the same windows and must give the same number. Where the composite slide has more ticks than
`--ticks` the bit set is left out, as it would need a bit for each. The bit set here is one big integer marked by
doubling, much faster than marking bit by bit. The groupings follow the paper's experiments 1 (any slides) and 2 (prime
slides), without the skew, whose generator it does not give.

    python bench/weave.py [--queries N] [--slide N] [--ticks N] [--rounds N]
"""

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm

from tests.weave_baselines import bitset_edges

from cepc.passes.weave.edges import TooManyTerms, count, edges_of
from cepc.passes.weave.share import PaperModel, share, unshared
from cepc.passes.weave.windows import PeriodicWindow


def windows(queries: int, slides: Sequence[int], fragments: bool, seed: int = 0) -> list[PeriodicWindow]:
    """Windows of random slides, over one to ten of them, or over a part more with fragments."""
    chance = random.Random(seed)
    made = []
    for _ in range(queries):
        slide = chance.choice(slides)
        made.append(
            PeriodicWindow(slide * chance.randint(1, 10) + (chance.randrange(slide) if fragments else 0), slide)
        )
    return made


def primes(below: int) -> list[int]:
    return [n for n in range(2, below) if all(n % d for d in range(2, int(n**0.5) + 1))]


def median_seconds(run: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def counting(ticks: int, rounds: int) -> list[str]:
    """One line for each set of windows: its composite slide and the bit set's time as a multiple of F1's."""
    lines = [f"{'windows':<28}{'n':>5}{'composite slide':>18}{'F1 ms':>10}{'bit set / F1':>14}"]
    sets = {
        "slides 1 to n": [[PeriodicWindow(s, s) for s in range(2, n)] for n in (10, 14, 17, 40)],
        "primes": [[PeriodicWindow(p, p) for p in primes(n)] for n in (12, 18, 20, 1000)],
        "any, with fragments": [windows(n, range(2, 40), fragments=True) for n in (2, 4, 6)],
    }
    for name, choices in sets.items():
        for chosen in choices:
            lines.append(f"{name:<28}{len(chosen):>5}" + _counted(chosen, ticks, rounds))
    return lines


def _counted(chosen: list[PeriodicWindow], ticks: int, rounds: int) -> str:
    length = lcm(*(w.slide for w in chosen))
    shown = f"{length:>18}" if length < 10**15 else f"{f'10^{len(str(length)) - 1}':>18}"
    try:
        quick = median_seconds(lambda: edges_of(chosen), rounds)
    except TooManyTerms:
        return f"{shown}{'too many terms':>24}"
    if length > ticks:
        return f"{shown}{quick * 1000:>10.2f}{'no memory':>14}"
    if bitset_edges(chosen) != (count(edges_of(chosen)), length):
        raise SystemExit(f"F1 and the bit set differ on {chosen}")
    return f"{shown}{quick * 1000:>10.2f}{median_seconds(lambda: bitset_edges(chosen), rounds) / quick:>13.1f}x"


def grouping(queries: int, slide: int) -> list[str]:
    """One line for each workload: seconds, trees, and the shared cost as a part of the unshared."""
    lines = [f"{'grouping':<28}{'queries':>9}{'trees':>8}{'unknown':>9}{'cost':>8}{'seconds':>9}"]
    workloads = {
        "any slides, λ = 0.002": (range(1, slide), Fraction(2, 1000)),
        "prime slides, λ = 1": (primes(slide), Fraction(1)),
    }
    for name, (slides, rate) in workloads.items():
        for n in (queries // 1000, queries // 10, queries):
            chosen, model = windows(n, slides, fragments=False), PaperModel(rate)
            start = time.perf_counter()
            plan = share(chosen, model)
            elapsed = time.perf_counter() - start
            apart = sum(times * unshared([w], model).cost for w, times in Counter(chosen).items())
            part = float(plan.cost / apart)
            lines.append(f"{name:<28}{n:>9}{len(plan.trees):>8}{plan.unknown:>9}{part:>8.4f}{elapsed:>9.1f}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="F1 against the bit set, and WeaveShare on many queries")
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--slide", type=int, default=200, help="the largest slide of the groupings (the paper: 1000)")
    parser.add_argument("--ticks", type=int, default=2**24, help="the longest bit set")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print("\n".join(counting(arguments.ticks, arguments.rounds)), flush=True)
    print("\n".join(grouping(arguments.queries, arguments.slide)))


if __name__ == "__main__":
    main()
