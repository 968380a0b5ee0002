"""How many edges a composite slide has: the formula F1 (section 3), collapsed.

F1 is inclusion and exclusion over groups of windows, so it has 2^n terms. But a group counts only through the ticks
that all of it shares, which is again a progression, (least common multiple, residue), or nothing where the overlap
check fails. Groups with the same progression are added up in a signed map, and many cancel: a slide that is a multiple
of another disappears by itself.

Kept is the map of the ticks that are *no* edge, `1 - F1`, because that is a product over the windows: adding one
multiplies by `1 - window`, and slides without a common factor are independent (Chinese remainder theorem), so they stay
in separate factors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import reduce
from math import gcd, lcm, prod

from cepc.passes.weave.windows import PeriodicWindow, Progression, pane_edges
from cepc_runtime.cheap_dataclass import dataclass

SumOfProgressions = Mapping[Progression, int]

EVERY_TICK = Progression(1, 0)
TERM_LIMIT = 2000  # a factor beyond it is refused; a pair of trees with more is never worth the time of finding out
WORK_PER_TERM = 64  # multiplying two factors may touch this many pairs for each term of the limit


class TooManyTerms(Exception):  # noqa: N818 - what was found, not that something broke
    """The slides have too many distinct least common multiples to count their edges."""


@dataclass(frozen=True, slots=True)
class Factor:
    """The ticks free of edges, as a signed sum of progressions whose slides all divide `slide`."""

    slide: int
    free: SumOfProgressions


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of a set of windows: factors with pairwise coprime slides, by increasing slide. `Edges()` has none.

    `slide` is the composite slide, LCM_n of equation 2, of all the windows, also of those that add no edge. How the
    free ticks fall into factors can depend on the order of the windows; `rate` and `slide` cannot.
    """

    factors: tuple[Factor, ...] = ()
    slide: int = 1


ALL_EDGES = (Factor(1, {}),)  # of a slide of one tick: no tick is free


def common(a: Progression, b: Progression) -> Progression | None:
    """The ticks of both, by the overlap check (equation 4): none unless the shifts agree modulo the slides' divisor.

    >>> common(Progression(3, 0), Progression(6, 3))  # example 5
    Progression(slide=6, residue=3)
    >>> common(Progression(3, 0), Progression(6, 2))
    """
    divisor = gcd(a.slide, b.slide)
    steps, rest = divmod(b.residue - a.residue, divisor)
    if rest:
        return None
    cofactor = b.slide // divisor
    steps = steps * pow(a.slide // divisor, -1, cofactor) % cofactor
    return Progression(a.slide * cofactor, a.residue + a.slide * steps)


def edges_of(windows: Iterable[PeriodicWindow]) -> Edges:
    """The edges of all the windows; their order does not matter.

    >>> count(edges_of([PeriodicWindow(s, s) for s in (2, 3, 4, 5, 6)]))  # example 3
    44
    """
    return reduce(add, sorted(set(windows)), Edges())


def add(edges: Edges, window: PeriodicWindow) -> Edges:
    """The edges with one more window's.

    >>> count(add(edges_of([PeriodicWindow(3, 3)]), PeriodicWindow(6, 6)))
    2
    """
    return reduce(_with_progression, pane_edges(window), edges)


def union(a: Edges, b: Edges) -> Edges:
    """The edges of both.

    >>> two, three = PeriodicWindow(2, 2), PeriodicWindow(3, 3)
    >>> union(edges_of([two]), edges_of([three])) == edges_of([two, three])
    True
    """
    return Edges(reduce(_with_factor, b.factors, a.factors), lcm(a.slide, b.slide))


def rate(edges: Edges) -> Fraction:
    """Edges per tick.

    >>> rate(edges_of([PeriodicWindow(2, 2), PeriodicWindow(3, 3)]))
    Fraction(2, 3)
    """
    return 1 - prod((_density(f) for f in edges.factors), start=Fraction(1))


def count(edges: Edges) -> int:
    """Edges in one composite slide (equations 2 and 5).

    >>> windows = [PeriodicWindow(*w) for w in ((3, 3), (5, 4), (10, 6), (9, 9))]  # examples 4 and 6
    >>> count(edges_of(windows))
    27
    """
    return int(rate(edges) * edges.slide)


def _density(factor: Factor) -> Fraction:
    # One division for the whole sum: adding fractions one by one would reduce each of them.
    free = sum(coefficient * (factor.slide // p.slide) for p, coefficient in factor.free.items())
    return Fraction(free, factor.slide)


def _with_progression(edges: Edges, progression: Progression) -> Edges:
    slide = lcm(edges.slide, progression.slide)
    if progression.slide == 1:
        return Edges(ALL_EDGES, slide)
    return Edges(_with_factor(edges.factors, Factor(progression.slide, {EVERY_TICK: 1, progression: -1})), slide)


def _with_factor(factors: tuple[Factor, ...], factor: Factor) -> tuple[Factor, ...]:
    """Multiply with the factors that share a divisor with this one; the others are independent of it."""
    if ALL_EDGES in (factors, (factor,)):
        return ALL_EDGES
    merged = reduce(_product, (f for f in factors if gcd(f.slide, factor.slide) > 1), factor)
    apart = [f for f in factors if gcd(f.slide, factor.slide) == 1]
    return tuple(sorted([*apart, merged], key=lambda f: f.slide))


def _product(a: Factor, b: Factor) -> Factor:
    """Groups of the one with groups of the other, like progressions added up."""
    if len(a.free) * len(b.free) > WORK_PER_TERM * TERM_LIMIT:
        raise TooManyTerms
    free: dict[Progression, int] = defaultdict(int)
    for p, first in a.free.items():
        for q, second in b.free.items():
            shared = common(p, q)
            if shared is not None:
                free[shared] += first * second
    kept = {p: free[p] for p in sorted(free) if free[p]}
    if len(kept) > TERM_LIMIT:
        raise TooManyTerms
    return Factor(lcm(*(p.slide for p in kept)), kept)
