"""From the events of a stream to the rows of its queries, as streaming DataFrames."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from functools import cached_property, reduce
from operator import and_
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from ...cheap_dataclass import dataclass
from ...events.letter_words import words_needed
from ...parts.classes import classes_of
from ...plan.as_json import from_text_of_plan, to_text
from ...plan.columns_read import beside_read
from ...plan.windows import Unbounded
from ...sql.functions.portable import spark_only
from ...sql.types import quote_name, to_arrow
from ...streaming.lags import asking_letters
from .. import settings
from ..computed import computable, with_computed
from ..encoding import encoded
from ..events import CLASS, absent, copies, has_letter
from ..events import letters as letter_words
from ..merging import in_columns_of_all
from ..rows import Packing, ddl, layout_of, of_queries, row_schema, with_columns_of
from ..schema import JobError, OtherColumn, Stream, sources_of
from . import spread
from .blobs import AHEAD, BLOB, BUCKET, KIND, PACKED, PASSING, event_schema, pack, packed_for_all, taken
from .operator import ALONE, Answering
from .records import MALFORMED, PASSED, apart_in
from .tells import KEPT_BY_SPARK, handed_on
from .time import is_ahead, timed
from .told import unpack

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

    from ...panes.shared_panes import PaneGroup
    from ...parts.classes import Class
    from ...plan.physical import PhysicalPlan
    from ...plan.query import QueryPlan
    from ...plan.row_numbers import RowNumbers
    from ...plan.strategy import PhysicalQuery
    from ...plan.stream import Beside, Letter
    from .blobs import Taking
    from .operator import ChainLink
    from .tells import Aside


@dataclass(frozen=True)
class LagLetters:
    """How letters with LAG are decided: what Spark evaluates of each as an event comes, `known`, and what is `left`
    when the events before are known, in a plan as JSON that has no queries but all columns.
    """

    left: str
    known: tuple[tuple[str | None, str], ...]


@dataclass(frozen=True)
class Streamed:
    """A stream of a job as it runs continuously.

    `plans` are those of its queries as JSON, `letters` the conditions that Spark evaluates, `watermark` how many
    milliseconds late an event may be. Of the columns that are of other events, `beside`, a stream has those with LAG,
    as `lags` says.
    """

    stream: Stream
    plans: tuple[str, ...]
    letters: tuple[tuple[str | None, str], ...]
    watermark: int
    beside: tuple[OtherColumn, ...] = ()
    lags: LagLetters | None = None

    @cached_property
    def _later(self) -> PhysicalPlan | None:
        return None if self.lags is None else from_text_of_plan(self.lags.left)

    def asked(self, query: QueryPlan) -> tuple[Beside, ...]:
        """The columns of events before that it asks for."""
        return () if self._later is None else beside_read(query, self._later.letters, self._later.stream.beside)

    def of_spark_alone(self, query: PhysicalQuery) -> tuple[str, ...]:
        """The functions that would be asked when the events before are known, and cannot."""
        left = asking_letters([query], self.left) if self.asked(query) else ()
        return tuple(name for _, letter in left for e in letter.expressions for name in spark_only(e))

    @property
    def looking_ahead(self) -> frozenset[str]:
        """The queries that ask for columns of events behind one, which `lags` does not have."""
        known = set() if self._later is None else {column.name for column in self._later.stream.beside}
        return frozenset(query for column in self.beside if column.name not in known for query in column.queries)

    @property
    def left(self) -> tuple[Letter, ...]:
        """For each letter what is asked when the events before are known."""
        return () if self._later is None else self._later.letters

    def plan(self, queries: Collection[str]) -> PhysicalPlan:
        """Of these queries, in the order of the program."""
        plans = [from_text_of_plan(text) for text in self.plans]
        known = {query.name: query for plan in plans for query in plan.queries}
        chosen = tuple(known[name] for name in self.stream.queries if name in queries)
        stream, asked = plans[0].stream, {column for query in chosen for column in self.asked(query)}
        if self._later is not None and asked:
            own = self._later.stream
            beside = tuple(column for column in own.beside if column in asked)
            columns = (*own.given, *((column.name, column.type) for column in beside))
            stream = replace(own, columns=columns, beside=beside)
        return replace(plans[0], stream=stream, queries=chosen)


@dataclass(frozen=True)
class InJob:
    """The stream has a watermark of ours, and tells its driver what it finds. An event so many milliseconds `ahead` of
    the clock is dropped.
    """

    ahead: int


@dataclass(frozen=True)
class InFrame:
    """The same of a stream whose rows are those of a DataFrame."""

    ahead: int


@dataclass(frozen=True)
class OverTable:
    """Events are rows of a table that comes with a watermark of the user's, and `numbers` says how they are numbered;
    their queries' rows are those of a DataFrame.
    """

    numbers: RowNumbers


@dataclass(frozen=True)
class Continuous:
    """Some queries of a stream, ready to be run: `buckets` and how it is `run` are the user's. `since` says of those
    that came to a checkpoint later from which tick on they see events, and `panes` which have panes together.

    It is a `link` of a chain, by itself or with those that come after it, `later`, whose events are rows of links
    before, as `taking` says.
    """

    streamed: Streamed
    queries: tuple[str, ...]
    buckets: int
    run: InJob | InFrame | OverTable
    since: tuple[tuple[str, int], ...] = ()
    panes: tuple[PaneGroup, ...] = ()
    link: ChainLink = ALONE
    taking: tuple[Taking, ...] = ()
    later: tuple[Continuous, ...] = ()

    @property
    def links(self) -> tuple[Continuous, ...]:
        """All of the chain that begins with it."""
        return (self, *self.later)

    @property
    def written(self) -> list[str]:
        """The queries whose rows are not events alone."""
        return [name for name in self.queries if name not in self.link.unwritten]

    def with_queries(self, queries: Collection[str]) -> Continuous:
        """With these of its queries alone, in all links."""
        later = tuple(link.with_queries(queries) for link in self.later)
        return replace(self, queries=tuple(name for name in self.queries if name in queries), later=later)

    @property
    def sources(self) -> tuple[Stream, ...]:
        """What is read for all links, each once, in the order in which Spark meets it."""
        return sources_of(link.streamed.stream for link in self.links)

    @cached_property
    def plan(self) -> PhysicalPlan:
        return self.streamed.plan(self.queries)

    @property
    def left_out(self) -> list[str]:
        """The other queries of the stream."""
        return [name for name in self.streamed.stream.queries if name not in self.queries]

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        return classes_of(self.plan.queries, since=dict(self.since), lagging=self.lagging)

    @cached_property
    def lagging(self) -> frozenset[str]:
        """The queries with LAG."""
        return frozenset(query.name for query in self.plan.queries if self.streamed.asked(query))

    @property
    def left(self) -> tuple[Letter, ...]:
        """For each letter what is asked when the events before are known, if some query has LAG."""
        return self.streamed.left if self.lagging else ()

    @property
    def delay(self) -> int:
        """How many milliseconds late an event may be, of any stream that is read."""
        members = (member for link in self.links for member in link.streamed.stream.members)
        return max(0, *(link.streamed.watermark for link in self.links), *(member.watermark for member in members))

    @cached_property
    def plan_text(self) -> str:
        return to_text(self.plan)

    def answering(self, aside: Aside = KEPT_BY_SPARK) -> Answering:
        letters, most = self.streamed.letters, settings.most()
        found = Answering(self.plan_text, self.classes, letters, most, aside, self.panes, self.left, self.link)
        match self.run:
            case InJob():
                return replace(found, told=handed_on(self.buckets))
            case InFrame():
                return replace(found, told=sys.maxsize)
            case OverTable(numbers):
                return replace(found, told=sys.maxsize, shift=0, numbers=numbers)

    def unpacked(self, blobs: DataFrame) -> DataFrame:
        """What of the rows of this link is kept."""
        layout = layout_of(self.plan)
        return blobs.mapInArrow(unpack(Packing.of(layout), self.link.number), row_schema(layout))

    def told(self, events: Mapping[str, DataFrame], set_apart: bool = False, aside: Aside = KEPT_BY_SPARK) -> DataFrame:
        """What the buckets of all links tell, rows, late events and metrics, in one DataFrame: a read, a shuffle and an
        operator for each link. `events` are those of each stream that is read.

        Records that are no events are among it if they shall be `set_apart`, and else fail the job.
        """
        from .processor import Buckets

        found: DataFrame | None = None
        read = dict(events)
        for link in self.links:
            buckets = link.packed(read, found, set_apart).groupBy(BUCKET)
            found = buckets.transformWithStateInPandas(Buckets(link.answering(aside)), BLOB, "append", "eventTime")
            if self.later:  # records that are no events are told of once
                own = sources_of([link.streamed.stream])
                read |= {one.name: _without_malformed(read[one.name]) for one in own}
        assert found is not None
        return found

    def packed(self, events: Mapping[str, DataFrame], before: DataFrame | None, set_apart: bool) -> DataFrame:
        """The events of a link: those that are read, and rows of links before among what these have told; the rest of
        that is passed on.
        """
        parts: list[DataFrame] = []
        if before is not None:
            parts.append(self.rows_packed(before))
        if reads := sources_of([self.streamed.stream]):
            parts.append(
                self._packed(self._timed({one.name: events[one.name] for one in reads}, set_apart), self._dropped)
            )
        return reduce(lambda one, other: one.unionAll(other), parts)

    def rows_packed(self, before: DataFrame) -> DataFrame:
        """Rows of links before as events of this one, and the rest of what these have told."""
        key = F.lit(0) if self.taking else self._any_bucket(F.col("blob"))
        found = before.select(key.alias(BUCKET), F.lit(PASSING).alias(KIND), F.col("blob"))
        for taking in self.taking:
            found = self._packed(self._rows(found, taking), f"{self._dropped}: {taking.stream}")
        return found

    def _rows(self, found: DataFrame, taking: Taking) -> DataFrame:
        """The rows that it takes of what is packed, with their computed columns; the rest is PASSED."""
        stream = self.streamed.stream
        slots = [(f"_r{number}", type_) for number, (_, type_) in enumerate(taking.columns)]
        schema = pa.schema([*((name, to_arrow(type_)) for name, type_ in slots), (PASSED, pa.binary())])
        as_sql = ddl([*((name, type_.sql) for name, type_ in slots), (PASSED, "BINARY")])
        rows = found.mapInArrow(taken(taking, schema), as_sql).toDF(*(name for name, _ in taking.columns), PASSED)
        own = next(one for one in stream.sources if one.name == taking.stream)
        declared = (F.col(quote_name(field.name)).cast(field.dataType) for field in own.schema.fields)
        events = _computed(rows.select(*declared, PASSED), own, set_apart=False)
        if stream.members:
            member = next(one for one in stream.members if one.stream.name == taking.stream)
            events = in_columns_of_all(events, member, F.col(PASSED))
        return events

    def _packed(self, events: DataFrame, dropped: str) -> DataFrame:
        apart, count = apart_in(events.columns), len(self.streamed.letters)
        is_apart = None if apart is None else F.col(apart).isNotNull()
        found = self._looked_at(events, apart, dropped)
        several = len(self.classes) > 1
        if several:
            found = copies(found, self.classes, count, apart=is_apart)
        words = [f"_letters_{i}" for i in range(words_needed(count))]
        names = [name for name, _ in self.plan.stream.given] + words
        bucket = self._bucket()
        if apart == PASSED:
            bucket = F.when(F.col(PASSED).isNull(), bucket).otherwise(self._any_bucket(F.col(PASSED)))
        looked_at = found.select(
            bucket.alias(BUCKET),
            AHEAD,
            *([] if apart is None else [apart]),
            *([CLASS] if several else []),
            *map(quote_name, names),
        )
        if isinstance(self.run, InJob):
            return encoded(looked_at).mapInArrow(pack, PACKED)
        schema = event_schema(self.plan.stream, words, several)
        return encoded(looked_at).mapInArrow(packed_for_all(spread.keys(self.buckets), schema), PACKED)

    def _timed(self, events: Mapping[str, DataFrame], set_apart: bool) -> DataFrame:
        """The events that are read, with their computed columns and a watermark. Of several streams each has its own,
        and Spark takes the least.
        """
        stream, plan = self.streamed.stream, self.plan.stream
        if not stream.members:
            own = _computed(events[stream.name], stream, set_apart)
            match self.run:
                case InJob(ahead) | InFrame(ahead):
                    return timed(own, plan, self.streamed.watermark, ahead)
                case OverTable():
                    return own
        parts = []
        for member in stream.members:
            if member.stream.query is not None:
                continue
            own = _computed(events[member.stream.name], member.stream, set_apart)
            more = [F.col(MALFORMED)] if MALFORMED in own.columns else []
            assert not isinstance(self.run, OverTable), "a table is one stream"
            parts.append(timed(in_columns_of_all(own, member, *more), plan, member.watermark, self.run.ahead))
        return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)

    def _looked_at(self, events: DataFrame, apart: str | None, dropped: str) -> DataFrame:
        """The events that some query looks at, with their letters; others without a time or a type are counted. Rows
        of which the column `apart` says that they are no events stay.
        """
        (time, *types), letters = self.streamed.stream.required, self.streamed.letters
        if self.streamed.lags is not None:
            letters = self.streamed.lags.known
        kept = F.lit(False) if apart is None else F.col(apart).isNotNull()
        type_ = types[0] if types else None
        found = events
        if isinstance(self.run, InJob):
            found = events.observe(dropped, *absent(time, type_, None if apart is None else ~kept))
        known = reduce(and_, (F.col(quote_name(name)).isNotNull() for name in self.streamed.stream.required))
        columns = [quote_name(name) for name, _ in self.plan.stream.given]
        of_type = None if type_ is None else f"CAST({quote_name(type_)} AS STRING)"
        has_time = apart != PASSED and not isinstance(self.run, OverTable)
        ahead = is_ahead() if has_time else F.lit(False)
        others = [] if apart is None else [apart]
        found = found.where(kept | known).select(*columns, ahead.alias(AHEAD), *letter_words(of_type, letters), *others)
        if any(one.letters is None for one in self.classes):  # CONTIGUOUS and LAG look at every event
            return found
        return found.where(kept | has_letter(len(letters)))

    @property
    def _dropped(self) -> str:
        return f"dropped of {self.streamed.stream.name}"

    @property
    def observations(self) -> tuple[str, ...]:
        """What Spark calls the counts of those that are no events."""
        return (self._dropped, *(f"{self._dropped}: {taking.stream}" for taking in self.taking))

    def _any_bucket(self, content: Column) -> Column:
        """For what is passed on, some bucket's key: all tasks have a share of it."""
        return self._key(F.xxhash64(content))

    def _key(self, of: Column) -> Column:
        number = F.pmod(of, F.lit(self.buckets)).cast("int")
        return F.element_at(F.lit(list(spread.keys(self.buckets))), number + 1)

    def _bucket(self) -> Column:
        """As a key of Spark's, for a key of a class: the same whatever other classes there are, in whatever order."""
        found = [self._bucket_of(one) for one in self.classes]
        if len(found) == 1:
            return found[0]
        return F.coalesce(*(F.when(F.col(CLASS) == number, bucket) for number, bucket in enumerate(found)), F.lit(0))

    def _bucket_of(self, one: Class) -> Column:
        columns = [F.lit(json.dumps(one.keys)), *(F.col(quote_name(key)) for key in one.keys)]
        return self._key(F.hash(*columns))

    def of_query(self, rows: DataFrame, name: str) -> DataFrame:
        """The rows of one query, with its columns."""
        number = self.queries.index(name)
        query, stream = self.plan.queries[number], self.plan.stream
        return with_columns_of(rows.where(of_queries([number])), layout_of(self.plan), query, number, stream)


def _computed(events: DataFrame, stream: Stream, set_apart: bool) -> DataFrame:
    """The events with their computed columns; a record that is none fails the job unless it shall be `set_apart`."""
    apart = None
    if (name := apart_in(events.columns)) is not None:
        apart = F.col(name).isNotNull()
        if name == MALFORMED and not set_apart:
            events = events.withColumn(MALFORMED, F.when(apart, F.raise_error(_no_event(stream.name))))
    events = with_computed(events, stream)
    computed = computable(stream)
    return events.where(computed if apart is None else apart | computed)


def _without_malformed(events: DataFrame) -> DataFrame:
    if MALFORMED not in events.columns:
        return events
    return events.where(F.col(MALFORMED).isNull()).drop(MALFORMED)


def continuous(streamed: Streamed, queries: Collection[str], buckets: int, ahead: int) -> Continuous:
    """Raises JobError where a query cannot be a stream."""
    names = tuple(name for name in streamed.stream.queries if name in queries)
    plan = streamed.plan(names)
    looking_ahead = streamed.looking_ahead
    elsewhere = {query.name: functions for query in plan.queries if (functions := streamed.of_spark_alone(query))}
    refused = looking_ahead | elsewhere.keys()
    others = [q.name for q in plan.queries if not isinstance(q.window, Unbounded) and q.name not in refused]
    rest = f", or leave it out with --queries {','.join(others)}" if others else ""
    for query in plan.queries:
        if query.name in looking_ahead:
            raise JobError(
                f"query {query.name} has LEAD, which is for batches: a stream would have to wait for what is behind an"
                f" event, and never know that nothing is; name it in the pattern, with SELECT CONTIGUOUS{rest}"
            )
        if query.name in elsewhere:
            function = elsewhere[query.name][0]
            raise JobError(
                f"query {query.name} has {function} in a condition with LAG, which Spark alone computes, and a stream"
                " knows LAG later than Spark has the event; give the stream a column that is computed by it,"
                f" `name AS {function}(…)`, and ask for that and its LAG{rest}"
            )
        if isinstance(query.window, Unbounded):
            raise JobError(
                f"query {query.name} has WITHIN UNBOUNDED, which is for batches: as a stream it would keep every"
                " event and never give a"
                f" row; give it a window{rest}"
            )
    return Continuous(streamed, names, buckets, InJob(ahead))


def _no_event(stream: str) -> Column:
    return F.concat(
        F.lit(f"a record of stream {stream} is no event: "),
        F.substring(MALFORMED, 1, 500),
        F.lit("; --dead DIR writes such records there and goes on"),
    )


PROVIDER: Final = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
"""Without which there is no such operator."""


def settings_of_stream(spark: SparkSession, buckets: int) -> dict[str, str]:
    """What the operator needs when a stream begins; a query that runs keeps it, and so does its checkpoint."""
    prefix = "spark.sql.streaming.stateStore"
    needed = {
        **PROVIDER,
        f"{prefix}.encodingFormat": "avro",  # which alone can be evolved, and cannot be chosen later
        f"{prefix}.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.streaming.multipleWatermarkPolicy": "min",  # of several streams
    }
    return needed | tasks_of_stream(spark, buckets)


def tasks_of_stream(spark: SparkSession, buckets: int) -> dict[str, str]:
    """How many tasks it has, where nobody chose that."""
    if spark.conf.get("spark.sql.shuffle.partitions") != "200":  # Spark's default
        return {}
    return {"spark.sql.shuffle.partitions": str(spread.tasks(buckets, spread.cores_of(spark)))}
