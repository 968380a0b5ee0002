"""Random patterns that mean something: trees that know which variables they bind and how often, so that nearly every
one is right.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TYPES = ("A", "B", "C", "D")
MANY = 99
NEGATED = "_n"
"""What the names of patterns that are negated end with; their variables are `c` and `d`."""


@dataclass(frozen=True)
class Tree:
    """A pattern as text, with how often at most it binds each variable, and the fewest seconds from its first event to
    its last.
    """

    text: str
    counts: Counter[str] = field(default_factory=Counter)
    least: int = 0
    nothing: bool = False  # can it match nothing?
    negated: tuple[str, ...] = ()
    edge_not: bool = False  # does it begin or end with NOT?
    places: int = 1  # events in the pattern written out with every repetition at its least, but one


@dataclass(frozen=True)
class Allowed:
    """What may stand in a pattern: SOME not with AFTER MATCH, reluctant marks only there, and `named` patterns by how
    they are written.

    `fresh` numbers the aliases of named patterns that negate: a negated variable has a name of its own.
    """

    negation: bool = True
    some: bool = True
    reluctant: bool = False
    named: tuple[tuple[str, Tree], ...] = ()
    negatable: tuple[str, ...] = ()
    fresh: Iterator[int] = field(default_factory=count, compare=False)


def atom(chance: Random, allowed: Allowed) -> Tree:
    if allowed.named and chance.random() < 0.4:
        return _named(chance, allowed)
    kind = chance.choice(("A", "A", "B", "B", "C", "D", "Big", "Odd", "ANY"))
    if kind == "ANY":
        return Tree("ANY e", Counter(("e",)))
    alias = chance.choice(("", "", "1", "2"))
    name = f"{kind.lower()}{alias}" if alias else kind
    return Tree(f"{kind} {name}" if alias else kind, Counter((name,)))


def _named(chance: Random, allowed: Allowed) -> Tree:
    """A named pattern in place: its variables are the query's, or with an alias the alias's."""
    name, tree = chance.choice(allowed.named)
    alias = f"m{next(allowed.fresh)}" if tree.negated else chance.choice(("", "v", "w"))
    if not alias:
        return replace(tree, text=name)
    counts = Counter({f"{alias}.{v}": n for v, n in tree.counts.items()})
    return replace(tree, text=f"{name} {alias}", counts=counts, negated=tuple(f"{alias}.{v}" for v in tree.negated))


# ---- operators -------------------------------------------------------------------------------------------------------


def tree(chance: Random, allowed: Allowed, depth: int) -> Tree:
    """A pattern that is not only negation."""
    if depth == 0:
        return atom(chance, allowed)
    form = chance.choice(("atom", "seq", "seq", "seq", "plus", "repeat", "or", "and", "some"))
    if form == "some" and not allowed.some:
        form = "and"
    if form == "atom":
        return atom(chance, allowed)
    if form in ("plus", "repeat"):
        quantifier = chance.choice(QUANTIFIERS if form == "repeat" else QUANTIFIERS[:1])
        return _perhaps_selected(_repeated(chance, tree(chance, allowed, depth - 1), allowed, quantifier), allowed)
    parts = [tree(chance, allowed, depth - 1) for _ in range(chance.choice((2, 2, 3)) if form == "seq" else 2)]
    match form:
        case "or":
            return _joined("OR", parts)
        case "and" | "some":
            plain = replace(allowed, named=())
            parts = [atom(chance, plain) if part.edge_not else part for part in parts]
            return _perhaps_selected(_joined(form.upper(), parts), allowed)
    return _perhaps_selected(_sequence(chance, parts, allowed), allowed)


def _perhaps_selected(part: Tree, allowed: Allowed) -> Tree:
    """With a selection of its own, by a chance of its own, which leaves other draws as they are."""
    chance = Random(part.text)
    if not allowed.negation or chance.random() >= 0.15:
        return part
    inside = part.text.removeprefix("SEQ") if part.text.startswith("SEQ(") else f"({part.text})"
    return replace(part, text=f"{chance.choice(('CONTIGUOUS', 'NEXT'))}{inside}")


@dataclass(frozen=True)
class Quantifier:
    sign: str
    least: int
    most: int


QUANTIFIERS = (
    Quantifier("+", 1, MANY),
    Quantifier("*", 0, MANY),
    Quantifier("?", 0, 1),
    Quantifier("{2}", 2, 2),
    Quantifier("{1,2}", 1, 2),
    Quantifier("{1,3}", 1, 3),
    Quantifier("{0,2}", 0, 2),
    Quantifier("{2,}", 2, MANY),
)


def _repeated(chance: Random, body: Tree, allowed: Allowed, quantifier: Quantifier) -> Tree:
    counts = Counter({v: n * quantifier.most for v, n in body.counts.items()})
    text = body.text if body.text.endswith(")") else f"({body.text})"
    mark = "?" if allowed.reluctant and chance.random() < 0.5 else ""
    times = max(1, quantifier.least)
    return replace(
        body,
        text=f"{text}{quantifier.sign}{mark}",
        counts=counts,
        least=times * (body.least + 1) - 1,
        nothing=body.nothing or quantifier.least == 0,
        places=times * body.places,
    )


def _joined(word: str, parts: Sequence[Tree]) -> Tree:
    """The operator with these operands."""
    either, edges = word in ("OR", "SOME"), (parts[0], parts[-1]) if word == "SEQ" else parts
    least = [part.least for part in parts]
    places = sum(part.places for part in parts)
    return Tree(
        f"{word}({', '.join(part.text for part in parts)})",
        _most(parts) if word == "OR" else _sum(parts),
        min(least) if either else sum(least) + len(parts) - 1 if word == "SEQ" else max(least),
        any(part.nothing for part in parts) if either else all(part.nothing for part in parts),
        tuple(v for part in parts for v in part.negated),
        any(part.edge_not for part in edges),
        2 * places if word == "SOME" else places,
    )


def _sum(parts: Sequence[Tree]) -> Counter[str]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part.counts)
    return total


def _most(parts: Sequence[Tree]) -> Counter[str]:
    total: Counter[str] = Counter()
    for part in parts:
        total |= part.counts
    return total


def _sequence(chance: Random, parts: list[Tree], allowed: Allowed) -> Tree:
    whole = _joined("SEQ", parts)
    if not allowed.negation or chance.random() < 0.6:
        return whole
    at = chance.choice((0, *range(1, len(parts)), *range(1, len(parts)), len(parts)))
    forbidden = negated(chance, allowed, after_event=at > 0 and not parts[0].nothing)
    texts = [part.text for part in parts]
    texts.insert(at, forbidden)
    edge = whole.edge_not or at in (0, len(parts)) or whole.nothing
    return replace(whole, text=f"SEQ({', '.join(texts)})", edge_not=edge)


def negated(chance: Random, allowed: Allowed, after_event: bool) -> str:
    """A NOT. Its variables are called @ and numbered in the end: a negated variable has a name of its own."""
    within = chance.choice(("", "", " WITHIN 2 s")) if after_event else ""
    if allowed.negatable and chance.random() < 0.5:
        return f"NOT {chance.choice(allowed.negatable)} @{within}"
    atoms = [f"{chance.choice(TYPES)} @" for _ in range(chance.choice((1, 1, 2)))]
    form = chance.choice(("OR", "SEQ"))
    return f"NOT {atoms[0]}{within}" if len(atoms) == 1 else f"NOT {form}({', '.join(atoms)}){within}"


# ---- whole patterns --------------------------------------------------------------------------------------------------


def pattern(chance: Random, allowed: Allowed) -> Tree:
    """The pattern of a query, or a named one, with names for what it negates."""
    whole = _unnumbered(chance, allowed)
    text, names = numbered(whole.text)
    return replace(whole, text=text, negated=(*whole.negated, *names))


def numbered(text: str) -> tuple[str, tuple[str, ...]]:
    """The pattern with names for what it negates, and the variables that these make."""
    pieces = text.split("@")
    found, names = pieces[0], []
    for number, piece in enumerate(pieces[1:]):
        names += [f"n{number}.c", f"n{number}.d"] if found.endswith(f"{NEGATED} ") else [f"n{number}"]
        found += f"n{number}{piece}"
    return found, tuple(names)


def _unnumbered(chance: Random, allowed: Allowed) -> Tree:
    whole = tree(chance, allowed, chance.choice((1, 1, 2, 2, 2, 3)))
    for _ in range(8):
        if whole.places <= 8:
            break
        whole = tree(chance, allowed, chance.choice((1, 2)))
    plain = replace(allowed, named=())
    if whole.nothing:
        whole = _joined("SEQ", [whole, atom(chance, plain)])
    if allowed.negation and chance.random() < 0.12:
        return _outermost_and(chance, allowed, whole, atom(chance, plain))
    return whole


def beside_a_test(chance: Random, whole: Tree, name: str) -> tuple[Tree, str] | None:
    """The pattern before or after a named one of a variable that it has, and that variable: events bound to it may have
    to pass one test or another. None if it has no variable that is called like its type.
    """
    kinds = [variable for variable in whole.counts if variable in TYPES]
    if not kinds:
        return None
    variable = chance.choice(kinds)
    parts = [whole, Tree(name, Counter((variable,)))]
    return _joined("SEQ", parts if chance.random() < 0.5 else parts[::-1]), variable


def _outermost_and(chance: Random, allowed: Allowed, one: Tree, other: Tree) -> Tree:
    """An AND whose operands may begin and end with NOT, or one with NOT itself as an operand, whose gap is the whole
    window.
    """
    if chance.random() < 0.5:
        forbidden, at_the_end = negated(chance, allowed, after_event=False), chance.random() < 0.5
        texts = (other.text, forbidden) if at_the_end else (forbidden, other.text)
        both = _joined("AND", [one, replace(other, text=f"SEQ({', '.join(texts)})")])
        return replace(both, edge_not=True)
    kinds = [kind for kind in TYPES if kind not in one.text + other.text] or list(TYPES)
    both = _joined("AND", [one, other])
    return replace(both, text=f"{both.text[:-1]}, NOT {chance.choice(kinds)} @)", edge_not=True)
