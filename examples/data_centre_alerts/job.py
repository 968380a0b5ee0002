"""Complex-event queries as one Spark job; `--help` lists its arguments."""

# Made by cepc 0.1.0: change the program and compile it again, not this file.
#
# program  queries.cep, SHA-256 c975ef9740b25414bbea59e43ef95270a64f8330ba58786caa5b2951d0642d15
#
# stream log: reads 7 of 7 columns, events of types Acknowledged, Delivered, DiskFull, EndTransmit, FanFailure,
#     MachineDown, Repair, StartTransmit
#   unacknowledged: lists its matches
#     pattern  SEQ(StartTransmit, Delivered, EndTransmit, NOT Acknowledged WITHIN 2 seconds)
#     agreeing packet, route
#     window   10 seconds
#   round_trips: counts
#     pattern  SEQ(StartTransmit, EndTransmit, Acknowledged)
#     agreeing packet, route
#     groups   route
#     window   10 minutes sliding by 5 minutes
#   probing: lists its matches
#     pattern  t{3,}
#     agreeing route
#     window   10 seconds
#   neglected: lists its matches
#     pattern  SEQ(SOME(d, f), NOT Repair, MachineDown)
#     agreeing host
#     window   1 hour

from __future__ import annotations

import sys
from collections.abc import Collection

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from cepc_runtime.spark import job

# ---- stream log ------------------------------------------------------------------------------------------------------

LOG = job.Stream(
    name="log",
    schema=T.StructType(
        [
            T.StructField("at", T.TimestampType()),
            T.StructField("event", T.StringType()),
            T.StructField("route", T.StringType()),
            T.StructField("packet", T.LongType()),
            T.StructField("bytes", T.IntegerType()),
            T.StructField("rtt_ms", T.DoubleType()),
            T.StructField("host", T.StringType()),
        ],
    ),
    required=("at", "event"),
    source=None,
    queries=("unacknowledged", "round_trips", "probing", "neglected"),
)

LOG_TYPES = [
    "Acknowledged",
    "Delivered",
    "DiskFull",
    "EndTransmit",
    "FanFailure",
    "MachineDown",
    "Repair",
    "StartTransmit",
]

# Letter i is the events of this type for which this is true; the plan knows events by their letters.
LOG_LETTERS = [
    ("StartTransmit", "TRUE"),
    ("Delivered", "TRUE"),
    ("EndTransmit", "TRUE"),
    ("Acknowledged", "TRUE"),
    ("StartTransmit", "(`bytes` < 5)"),
    ("DiskFull", "TRUE"),
    ("FanFailure", "TRUE"),
    ("Repair", "TRUE"),
    ("MachineDown", "TRUE"),
]

# Queries that need the same events in one place: queries and letters by their number.
LOG_CLASSES = [
    job.Class(keys=("packet", "route"), queries=(0,), letters=(0, 1, 2, 3)),
    job.Class(keys=("route",), queries=(1, 2), letters=(0, 2, 3, 4)),
    job.Class(keys=("host",), queries=(3,), letters=(5, 6, 7, 8)),
]

# What the kernel does: automata, conditions over several events, results.
LOG_PLAN = (
    '{"version":7,"stream":{"name":"log","columns":[["at","TIMESTAMP"],["event","STRING"],["route","STRIN'
    'G"],["packet","BIGINT"],["bytes","INT"],["rtt_ms","DOUBLE"],["host","STRING"]],"all_columns":["at","'
    'event","route","packet","bytes","rtt_ms","host","_letters_0"],"time_column":"at","unit":"us","order_'
    'by":[],"type_column":null,"single_type":"log","raw_types":null},"letters":[{"column":"_letters_0","m'
    'ask":1},{"column":"_letters_0","mask":2},{"column":"_letters_0","mask":4},{"column":"_letters_0","ma'
    'sk":8},{"column":"_letters_0","mask":16},{"column":"_letters_0","mask":32},{"column":"_letters_0","m'
    'ask":64},{"column":"_letters_0","mask":128},{"column":"_letters_0","mask":256}],"needs":[{"query":"u'
    'nacknowledged","of":[{"letters":[0]},{"letters":[1]},{"letters":[2]}]},{"query":"round_trips","of":['
    '{"letters":[0]},{"letters":[2]},{"letters":[3]}]},{"query":"probing","of":[{"letters":[4],"events":3'
    '}]},{"query":"neglected","of":[{"letters":[8]},{"letters":[5,6]}]}],"queries":['
    '{"name":"unacknowledged","kind":"match","partition":["packet","route"],"group_by":[],"window":{"kind'
    '":"bound of a match","span":10000000},"variables":["StartTransmit","Delivered","EndTransmit"],"lists'
    '":[],"positions":{"states":4,"edges":[{"source":0,"target":1,"letter":0,"variable":"StartTransmit"},'
    '{"source":1,"target":2,"letter":1,"variable":"Delivered"},{"source":2,"target":3,"letter":2,"variabl'
    'e":"EndTransmit"}],"acceptances":[{"state":3,"guards":[{"negation":0}]}],"negations":[{"positions":{'
    '"states":2,"edges":[{"source":0,"target":1,"letter":3,"variable":"Acknowledged"}],"acceptances":[{"s'
    'tate":1}]},"within":2000000}]},"conditions":[],"measures":[],"outputs":[{"name":"packet","expression'
    '":{"field":"packet","of":null,"at":"each","type":"BIGINT"}},{"name":"route","expression":{"field":"r'
    'oute","of":null,"at":"each","type":"STRING"}},{"name":"ended","expression":{"field":"at","of":"EndTr'
    'ansmit","at":"each","type":"TIMESTAMP"}}],"having":null,"returns_events":false,"select":{"kind":"any'
    '"},"after":null,"strategy":{"kind":"list"}},'
    '{"name":"round_trips","kind":"aggregate","partition":["packet","route"],"group_by":["route"],"window'
    '":{"kind":"sliding","span":600000000,"slide":300000000},"variables":["StartTransmit","EndTransmit","'
    'Acknowledged"],"lists":[],"positions":{"states":4,"edges":[{"source":0,"target":1,"letter":0,"variab'
    'le":"StartTransmit"},{"source":1,"target":2,"letter":2,"variable":"EndTransmit"},{"source":2,"target'
    '":3,"letter":3,"variable":"Acknowledged"}],"acceptances":[{"state":3}]},"conditions":[],"measures":['
    '{"function":"count","variable":null,"argument":null},{"function":"avg","variable":"Acknowledged","ar'
    'gument":{"field":"rtt_ms","of":"Acknowledged","at":"each","type":"DOUBLE"}},{"function":"max","varia'
    'ble":"Acknowledged","argument":{"field":"rtt_ms","of":"Acknowledged","at":"each","type":"DOUBLE"}}],'
    '"outputs":[{"name":"route","expression":{"field":"route","of":null,"at":"each","type":"STRING"}},{"n'
    'ame":"packets","expression":{"aggregate":"count","of":null,"argument":null,"safe":false,"target":nul'
    'l,"type":"BIGINT"}},{"name":"rtt_ms","expression":{"call":"round","arguments":[{"aggregate":"avg","o'
    'f":"Acknowledged","argument":{"field":"rtt_ms","of":"Acknowledged","at":"each","type":"DOUBLE"},"saf'
    'e":false,"target":null,"type":"DOUBLE"},{"literal":1,"type":"INT"}],"type":"DOUBLE"}},{"name":"slowe'
    'st","expression":{"aggregate":"max","of":"Acknowledged","argument":{"field":"rtt_ms","of":"Acknowled'
    'ged","at":"each","type":"DOUBLE"},"safe":false,"target":null,"type":"DOUBLE"}}],"having":{"call":">='
    '","arguments":[{"aggregate":"count","of":null,"argument":null,"safe":false,"target":null,"type":"BIG'
    'INT"},{"literal":5,"type":"BIGINT"}],"type":"BOOLEAN"},"returns_events":false,"select":{"kind":"any"'
    '},"after":null,"strategy":{"kind":"count","automaton":{"states":4,"variables":["StartTransmit","EndT'
    'ransmit","Acknowledged"],"steps":[{"source":0,"target":1,"letter":0,"variable":0},{"source":1,"targe'
    't":2,"letter":2,"variable":1},{"source":2,"target":3,"letter":3,"variable":2}],"accepting":[3]}}},'
    '{"name":"probing","kind":"match","partition":["route"],"group_by":[],"window":{"kind":"bound of a ma'
    'tch","span":10000000},"variables":["t"],"lists":["t"],"positions":{"states":4,"edges":[{"source":0,"'
    'target":1,"letter":4,"variable":"t"},{"source":1,"target":2,"letter":4,"variable":"t"},{"source":2,"'
    'target":3,"letter":4,"variable":"t"},{"source":3,"target":3,"letter":4,"variable":"t"}],"acceptances'
    '":[{"state":3,"rank":1}]},"conditions":[],"measures":[],"outputs":[{"name":"route","expression":{"fi'
    'eld":"route","of":null,"at":"each","type":"STRING"}},{"name":"packets","expression":{"aggregate":"co'
    'unt","of":"t","argument":null,"safe":false,"target":null,"type":"BIGINT"}},{"name":"bytes","expressi'
    'on":{"aggregate":"sum","of":"t","argument":{"field":"bytes","of":"t","at":"each","type":"INT"},"safe'
    '":false,"target":null,"type":"BIGINT"}}],"having":null,"returns_events":false,"select":{"kind":"next'
    '","prefixes":{"states":4,"variables":["t"],"steps":[{"source":0,"target":1,"letter":4,"variable":0},'
    '{"source":1,"target":2,"letter":4,"variable":0},{"source":2,"target":3,"letter":4,"variable":0},{"so'
    'urce":3,"target":3,"letter":4,"variable":0}],"accepting":[3]}},"after":{"kind":"past last"},"strateg'
    'y":{"kind":"list"}},'
    '{"name":"neglected","kind":"match","partition":["host"],"group_by":[],"window":{"kind":"bound of a m'
    'atch","span":3600000000},"variables":["d","f","MachineDown"],"lists":[],"positions":{"states":9,"edg'
    'es":[{"source":0,"target":1,"letter":5,"variable":"d"},{"source":0,"target":2,"letter":6,"variable":'
    '"f","rank":1},{"source":0,"target":3,"letter":5,"variable":"d","rank":2},{"source":0,"target":4,"let'
    'ter":6,"variable":"f","rank":3},{"source":1,"target":5,"letter":8,"variable":"MachineDown","guards":'
    '[{"negation":0}]},{"source":2,"target":5,"letter":8,"variable":"MachineDown","guards":[{"negation":0'
    '}]},{"source":3,"target":6,"letter":6,"variable":"f","tie":true},{"source":3,"target":7,"letter":6,"'
    'variable":"f","rank":1},{"source":4,"target":6,"letter":5,"variable":"d","tie":true},{"source":4,"ta'
    'rget":8,"letter":5,"variable":"d","rank":1},{"source":6,"target":5,"letter":8,"variable":"MachineDow'
    'n","guards":[{"negation":0}]},{"source":7,"target":5,"letter":8,"variable":"MachineDown","guards":[{'
    '"negation":0}]},{"source":8,"target":5,"letter":8,"variable":"MachineDown","guards":[{"negation":0}]'
    '}],"acceptances":[{"state":5}],"ambiguous":true,"negations":[{"positions":{"states":2,"edges":[{"sou'
    'rce":0,"target":1,"letter":7,"variable":"Repair"}],"acceptances":[{"state":1}]}}]},"conditions":[],"'
    'measures":[],"outputs":[{"name":"host","expression":{"field":"host","of":null,"at":"each","type":"ST'
    'RING"}},{"name":"disk_full","expression":{"field":"at","of":"d","at":"each","type":"TIMESTAMP"}},{"n'
    'ame":"fan_failed","expression":{"field":"at","of":"f","at":"each","type":"TIMESTAMP"}},{"name":"down'
    '","expression":{"field":"at","of":"MachineDown","at":"each","type":"TIMESTAMP"}}],"having":null,"ret'
    'urns_events":false,"select":{"kind":"any"},"after":null,"strategy":{"kind":"list"}}]}'
)


def log_events(events: DataFrame, dropped: Observation | None = None) -> DataFrame:
    """The events that some query looks at, with their letters."""
    # Events without a time or a type are counted; the filter as a whole is one that a scan can use.
    needed = F.col("event").isin(LOG_TYPES) | F.col("event").isNull() | F.col("at").isNull()
    found = events.select("at", "event", "route", "packet", "bytes", "rtt_ms", "host").where(needed)
    if dropped is not None:
        found = found.observe(dropped, *job.absent("at", "event"))
    found = found.where(F.col("at").isNotNull() & F.col("event").isNotNull())
    return found.select(
        "at",
        "event",
        "route",
        "packet",
        "bytes",
        "rtt_ms",
        "host",
        *job.letters("`event`", LOG_LETTERS),
    )


def log_rows(events: DataFrame, queries: Collection[str], form: job.Form) -> DataFrame:
    """The rows of all queries; each partition is sorted by group, and the kernel runs over it once."""
    classes = job.shares(LOG_CLASSES, LOG_PLAN, queries)
    # An event goes once to each class, so that one read and one shuffle serve them all.
    copies = job.copies(events, classes, len(LOG_LETTERS))
    keys = job.keys(classes)
    return (
        copies.repartition(*keys)
        .sortWithinPartitions(*keys)
        .transform(form.in_tasks)
        .mapInArrow(job.kernel(LOG_PLAN, classes, job.CLASS, form), job.row_schema(LOG_PLAN, form))
        .where(job.no_error())
        .drop("error")
    )


def log_results(
    events: DataFrame,
    queries: Collection[str],
    dropped: Observation | None,
    form: job.Form,
) -> job.Answers:
    """What answers each query: the rows of the kernel, or Spark alone."""
    found = log_events(events, dropped)
    return job.Answers(found, rows=job.Rows(log_rows(found, queries, form), LOG_PLAN))


# With --mode stream; `watermark` is how many milliseconds late an event may be.
LOG_STREAM = job.Streamed(stream=LOG, plans=(LOG_PLAN,), letters=tuple(LOG_LETTERS), watermark=5_000)


# ---- the job ---------------------------------------------------------------------------------------------------------

JOB = job.Job([job.StreamPart(LOG_STREAM, log_events, log_results)], [LOG_STREAM])

# Rows as DataFrames, as Arrow tables, or continuously; some matches of a query; the command line. `help` says more.
build, tables, stream, matches, main = JOB.build, JOB.tables, JOB.stream, JOB.matches, JOB.main


if __name__ == "__main__":
    sys.exit(main())
