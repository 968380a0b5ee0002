"""Streams of rows in a stream of Spark's (docs/streaming.md, "Rows as events"). A chain is a stream with those of its
queries' rows, one after the other in one streaming query: each is a link, and has an operator of its own.

A link tells its rows in the micro-batch in which they are known, and the links behind it have them in the same one.
None of them is late: how far the rows to come may be behind the watermark is known of a query, and so far the watermark
of the next link is behind that of the one before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...streaming.decision import rows_behind
from ..rows import result_columns
from ..schema import JobError
from .blobs import Taking
from .operator import ChainLink
from .query import continuous

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..schema import Stream
    from .query import Continuous, Streamed


def chains(streams: Sequence[Streamed]) -> list[list[Streamed]]:
    """The streams in chains; each comes after those that make its events, as it does in a program."""
    found: list[list[Streamed]] = []
    for one in streams:
        made_by = {source.query for source in one.stream.sources} - {None}
        before = [chain for chain in found if any(made_by.intersection(link.stream.queries) for link in chain)]
        found = [chain for chain in found if chain not in before]
        found.append([*(link for chain in before for link in chain), one])
    return [sorted(chain, key=streams.index) for chain in found]


def chain_of_each(streams: Sequence[Streamed]) -> dict[str, str]:
    """By query the name of its chain, which is that of the first link: so its part of a checkpoint is called."""
    return {query: name for name, queries in by_chain(streams).items() for query in queries}


def chained(
    chain: Sequence[Streamed], needed: Collection[str], written: Collection[str], buckets: int, ahead: int
) -> Continuous:
    """The chain as it runs: of its queries those that are `needed`, of which some are `written` and the others make
    events alone. Raises JobError where a query cannot be a stream.
    """
    links: list[Continuous] = []
    for number, streamed in enumerate(chain):
        own = continuous(streamed, needed, buckets, ahead)
        taken = [_taking(source, links) for source in streamed.stream.sources if source.query is not None]
        taking, behind = tuple(one for one, _ in taken), max((behind for _, behind in taken), default=0)
        made = {source.query for one in chain for source in one.stream.sources}
        events = frozenset(name for name in own.queries if name in made)
        unwritten = frozenset(name for name in own.queries if name not in written)
        links.append(replace(own, link=ChainLink(number, behind, events, unwritten), taking=taking))
    return replace(links[0], later=tuple(_passed_on(links)[1:]))


def _taking(source: Stream, links: Sequence[Continuous]) -> tuple[Taking, int]:
    """What a stream of rows takes of the links before, and how far it is behind the watermark."""
    maker = next(link for link in links if source.query in link.queries)
    number = maker.queries.index(str(source.query))
    query, time = maker.plan.queries[number], source.required[0]
    columns = result_columns(query, maker.plan.stream)
    behind = rows_behind(query, time)
    if behind is None:
        raise JobError(
            f"stream {source.name} has {time} of the rows of query {query.name} as its event time, and nothing says how"
            f" early it may be, so as a stream it would wait for ever: write EVENT TIME {columns[-1][0]}, or run it in"
            " a batch"
        )
    return Taking(source.name, query.name, maker.link.number, number, columns), maker.link.behind + behind


def _passed_on(links: Sequence[Continuous]) -> list[Continuous]:
    """The same, each knowing of the rows that it takes whether they are taken again."""
    later: set[tuple[int, int]] = set()
    found: list[Continuous] = []
    for link in reversed(links):
        taking: list[Taking] = []
        for one in reversed(link.taking):
            taking.insert(0, replace(one, again=(one.link, one.number) in later))
            later.add((one.link, one.number))
        found.insert(0, replace(link, taking=tuple(taking)))
    return found


def by_chain(streams: Sequence[Streamed]) -> dict[str, tuple[str, ...]]:
    """The queries of each chain, by its name."""
    return {
        chain[0].stream.name: tuple(query for link in chain for query in link.stream.queries)
        for chain in chains(streams)
    }
