"""Other queries on a checkpoint (docs/streaming.md, "Other queries on the same checkpoint"): those that are the same go
on, and those that are new begin at one instant, which is after all events that were read before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...cheap_dataclass import dataclass
from ...panes.shared_panes import PaneGroup, families_of
from ...parts.classes import classes_of
from ...plan.columns_read import shows_canonical_order
from ...plan.windows import TimeParts
from .declaration import declaration, declared_otherwise
from .time import first_after

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .query import Continuous

    Columns = list[list[str]]
    """Of a declaration: their names, and what they are."""
    Groups = list[list[Any]]
    """Families as JSON: the length of a pane, where the first begins, and the names of the queries."""


@dataclass(frozen=True)
class Begun:
    """What a checkpoint says, beside its program, of how it was come by: `since` when queries see events, if not from
    the beginning; which queries have `panes` together; and the longest WATERMARK that it has been read with, in
    milliseconds. The last two are None in a checkpoint of before.
    """

    since: Mapping[str, int]
    panes: Groups | None
    delay: int | None

    @property
    def data(self) -> dict[str, Any]:
        return {"since": dict(self.since), "panes": self.panes, "delay": self.delay}

    def read_by(self, what: Continuous) -> Begun:
        """The same, when these queries have gone on with it."""
        panes = groups_of(what) if self.panes is None else self.panes
        return Begun(self.since, panes, max(self.delay or 0, what.delay))

    def of(self, what: Continuous) -> Continuous:
        """The queries as they run on the checkpoint."""
        groups = [PaneGroup(TimeParts(length, begin), tuple(names)) for length, begin, names in self.panes or ()]
        panes = tuple(group for group in groups if not set(group.queries).isdisjoint(what.queries))
        later = tuple(self.of(link) for link in what.later)
        return replace(what, since=tuple(self.since.items()), panes=panes, later=later)


def begin(what: Continuous) -> Begun:
    """Of a new checkpoint."""
    return Begun({}, groups_of(what), what.delay)


def groups_of(what: Continuous) -> Groups:
    """The queries that have panes together where they all are new, of all links."""
    return [
        [family.times.length, family.times.begin, [query.name for _, query in family.queries]]
        for queries in (link.plan.queries for link in what.links)
        for one in classes_of(queries)
        for family in families_of((q, queries[q]) for q in one.queries)
    ]


@dataclass(frozen=True)
class Change:
    """From the queries of a checkpoint to others, by name: one that is another than it was is gone and new."""

    kept: tuple[str, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]

    @classmethod
    def between(cls, old: Mapping[str, str], new: Mapping[str, str]) -> Change:
        """Of their digests."""
        kept = tuple(name for name in new if old.get(name) == new[name])
        gone, come = (tuple(name for name in of if name not in kept) for of in (old, new))
        return cls(kept, gone, come)

    def otherwise(self, old: Mapping[str, Any], what: Continuous) -> list[str]:
        """What the queries that are kept would read that is not what it was, in a user's words. `old` is the
        `declaration` of before.
        """
        kept = what.with_queries(self.kept)
        new = declaration(kept)
        columns = [column for link in kept.links for column in _still_read(old["columns"], link, kept, new["columns"])]
        was = {"clauses": old["clauses"], "columns": columns}
        return [] if was == new else declared_otherwise(was, new)

    def of_new(self, what: Continuous, was: Begun, watermark: int) -> Begun:
        """What the checkpoint says from now on, whose last commit has this `watermark` of Spark's. What it says of
        WATERMARK and panes it knows.
        """
        start = first_after(what.plan.stream, watermark, was.delay or 0)
        since = {name: tick for name, tick in was.since.items() if name in self.kept}
        panes = [*_among(was.panes or [], self.kept), *_among(groups_of(what), self.new)]
        return Begun({**since, **dict.fromkeys(self.new, start)}, panes, was.delay).read_by(what)


def _among(groups: Groups, names: Collection[str]) -> Groups:
    """What is left of the groups with these queries alone."""
    left = [[length, begin, [name for name in own if name in names]] for length, begin, own in groups]
    return [group for group in left if group[2]]


def _still_read(before: Columns, link: Continuous, kept: Continuous, new: Columns) -> Columns:
    """Of the columns that a chain was declared with those of a link: where its queries that are kept do not see in
    which order events stand, the ones that are still read, in the order that they have now.
    """
    later = [one.streamed.stream.name for one in kept.later]
    own = link.streamed.stream.name if link.link.number else None
    found = [column for column in before if next((n for n in later if column[0].startswith(f"{n}.")), None) == own]
    if link.lagging or any(map(shows_canonical_order, link.plan.queries)):
        return found
    names = [name for name, _ in new]
    return sorted((column for column in found if column[0] in names), key=lambda one: names.index(one[0]))
