"""Complex-event queries as one Spark job; `--help` lists its arguments."""

# Made by cepc 0.1.0: change the program and compile it again, not this file.
#
# program  queries.cep, SHA-256 4df62e43405add98de1f4e167f54a01fbbbd7d88bbbd4323a294df51cff3b41d
#
# stream orders: reads 5 of 5 columns, events of types AppOrder, Cancel, Delivery, Pickup, Request, Travel
#   requested: counts
#     pattern  SEQ(Request, SEQ(Pickup, Travel)+, Delivery)
#     agreeing driver_id, district
#     groups   district
#     window   20 minutes sliding by 5 minutes
#   ordered: counts
#     pattern  SEQ(AppOrder, Request, SEQ(Pickup, Travel)+, Delivery)
#     agreeing driver_id, district
#     groups   district
#     window   20 minutes sliding by 5 minutes
#   cancelled: counts
#     pattern  SEQ(AppOrder, Request, SEQ(Pickup, Travel)+, Cancel)
#     agreeing driver_id, district
#     groups   district
#     window   20 minutes sliding by 5 minutes
#   rounds: counts
#     pattern  SEQ(Request, SEQ(Pickup, Travel)+, Delivery)+
#     agreeing driver_id, district
#     groups   district
#     window   20 minutes sliding by 5 minutes

from __future__ import annotations

import sys
from collections.abc import Collection

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from cepc_runtime.spark import job

# ---- stream orders ---------------------------------------------------------------------------------------------------

ORDERS = job.Stream(
    name="orders",
    schema=T.StructType(
        [
            T.StructField("at", T.TimestampType()),
            T.StructField("action", T.StringType()),
            T.StructField("driver_id", T.LongType()),
            T.StructField("district", T.StringType()),
            T.StructField("duration", T.DoubleType()),
        ],
    ),
    required=("at", "action"),
    source=None,
    queries=("requested", "ordered", "cancelled", "rounds"),
)

ORDERS_TYPES = ["AppOrder", "Cancel", "Delivery", "Pickup", "Request", "Travel"]

# Letter i is the events of this type for which this is true; the plan knows events by their letters.
ORDERS_LETTERS = [
    ("Request", "TRUE"),
    ("Pickup", "TRUE"),
    ("Travel", "TRUE"),
    ("Delivery", "TRUE"),
    ("AppOrder", "TRUE"),
    ("Cancel", "TRUE"),
    ("Travel", "(`duration` > 3.0D)"),
]

# Queries that need the same events in one place: queries and letters by their number.
ORDERS_CLASSES = [job.Class(keys=("district",), queries=(0, 1, 2, 3), letters=(0, 1, 2, 3, 4, 5, 6))]

# What the kernel does: automata, conditions over several events, results.
ORDERS_PLAN = (
    '{"version":7,"stream":{"name":"orders","columns":[["at","TIMESTAMP"],["driver_id","BIGINT"],["distri'
    'ct","STRING"],["duration","DOUBLE"]],"all_columns":["at","action","driver_id","district","duration",'
    '"_letters_0"],"time_column":"at","unit":"us","order_by":[],"type_column":null,"single_type":"orders"'
    ',"raw_types":null},"letters":[{"column":"_letters_0","mask":1},{"column":"_letters_0","mask":2},{"co'
    'lumn":"_letters_0","mask":4},{"column":"_letters_0","mask":8},{"column":"_letters_0","mask":16},{"co'
    'lumn":"_letters_0","mask":32},{"column":"_letters_0","mask":64}],"sharing":[{"members":[{"query":"or'
    'dered","states":[1,2,3,4]},{"query":"cancelled","states":[1,2,3,4]}],"equal":true},{"members":[{"que'
    'ry":"requested","states":[0]},{"query":"ordered","states":[0]},{"query":"cancelled","states":[0]},{"'
    'query":"rounds","states":[0]}]},{"members":[{"query":"requested","states":[1]},{"query":"ordered","s'
    'tates":[2]},{"query":"rounds","states":[1]}]},{"members":[{"query":"requested","states":[2]},{"query'
    '":"ordered","states":[3]},{"query":"rounds","states":[2]}]},{"members":[{"query":"requested","states'
    '":[3]},{"query":"ordered","states":[4]}]},{"members":[{"query":"requested","states":[4]},{"query":"o'
    'rdered","states":[5]},{"query":"rounds","states":[4]}]}],"needs":[{"query":"requested","of":[{"lette'
    'rs":[0]},{"letters":[1]},{"letters":[2]},{"letters":[3]}]},{"query":"ordered","of":[{"letters":[0]},'
    '{"letters":[1]},{"letters":[2]},{"letters":[3]},{"letters":[4]}]},{"query":"cancelled","of":[{"lette'
    'rs":[0]},{"letters":[1]},{"letters":[2]},{"letters":[4]},{"letters":[5]}]},{"query":"rounds","of":[{'
    '"letters":[0]},{"letters":[1]},{"letters":[3]},{"letters":[6]}]}],"queries":['
    '{"name":"requested","kind":"aggregate","partition":["driver_id","district"],"group_by":["district"],'
    '"window":{"kind":"sliding","span":1200000000,"slide":300000000},"variables":["Request","Pickup","Tra'
    'vel","Delivery"],"lists":["Pickup","Travel"],"positions":{"states":5,"edges":[{"source":0,"target":1'
    ',"letter":0,"variable":"Request"},{"source":1,"target":2,"letter":1,"variable":"Pickup"},{"source":2'
    ',"target":3,"letter":2,"variable":"Travel"},{"source":3,"target":2,"letter":1,"variable":"Pickup"},{'
    '"source":3,"target":4,"letter":3,"variable":"Delivery","rank":1}],"acceptances":[{"state":4}]},"cond'
    'itions":[],"measures":[{"function":"sum","variable":"Travel","argument":{"field":"duration","of":"Tr'
    'avel","at":"each","type":"DOUBLE"}}],"outputs":[{"name":"district","expression":{"field":"district",'
    '"of":null,"at":"each","type":"STRING"}},{"name":"minutes","expression":{"aggregate":"sum","of":"Trav'
    'el","argument":{"field":"duration","of":"Travel","at":"each","type":"DOUBLE"},"safe":false,"target":'
    'null,"type":"DOUBLE"}}],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null,"s'
    'trategy":{"kind":"count","automaton":{"states":5,"variables":["Request","Pickup","Travel","Delivery"'
    '],"steps":[{"source":0,"target":1,"letter":0,"variable":0},{"source":1,"target":2,"letter":1,"variab'
    'le":1},{"source":2,"target":3,"letter":2,"variable":2},{"source":3,"target":2,"letter":1,"variable":'
    '1},{"source":3,"target":4,"letter":3,"variable":3}],"accepting":[4]}}},'
    '{"name":"ordered","kind":"aggregate","partition":["driver_id","district"],"group_by":["district"],"w'
    'indow":{"kind":"sliding","span":1200000000,"slide":300000000},"variables":["AppOrder","Request","Pic'
    'kup","Travel","Delivery"],"lists":["Pickup","Travel"],"positions":{"states":6,"edges":[{"source":0,"'
    'target":1,"letter":4,"variable":"AppOrder"},{"source":1,"target":2,"letter":0,"variable":"Request"},'
    '{"source":2,"target":3,"letter":1,"variable":"Pickup"},{"source":3,"target":4,"letter":2,"variable":'
    '"Travel"},{"source":4,"target":3,"letter":1,"variable":"Pickup"},{"source":4,"target":5,"letter":3,"'
    'variable":"Delivery","rank":1}],"acceptances":[{"state":5}]},"conditions":[],"measures":[{"function"'
    ':"sum","variable":"Travel","argument":{"field":"duration","of":"Travel","at":"each","type":"DOUBLE"}'
    '}],"outputs":[{"name":"district","expression":{"field":"district","of":null,"at":"each","type":"STRI'
    'NG"}},{"name":"minutes","expression":{"aggregate":"sum","of":"Travel","argument":{"field":"duration"'
    ',"of":"Travel","at":"each","type":"DOUBLE"},"safe":false,"target":null,"type":"DOUBLE"}}],"having":n'
    'ull,"returns_events":false,"select":{"kind":"any"},"after":null,"strategy":{"kind":"count","automato'
    'n":{"states":6,"variables":["AppOrder","Request","Pickup","Travel","Delivery"],"steps":[{"source":0,'
    '"target":1,"letter":4,"variable":0},{"source":1,"target":2,"letter":0,"variable":1},{"source":2,"tar'
    'get":3,"letter":1,"variable":2},{"source":3,"target":4,"letter":2,"variable":3},{"source":4,"target"'
    ':3,"letter":1,"variable":2},{"source":4,"target":5,"letter":3,"variable":4}],"accepting":[5]}}},'
    '{"name":"cancelled","kind":"aggregate","partition":["driver_id","district"],"group_by":["district"],'
    '"window":{"kind":"sliding","span":1200000000,"slide":300000000},"variables":["AppOrder","Request","P'
    'ickup","Travel","Cancel"],"lists":["Pickup","Travel"],"positions":{"states":6,"edges":[{"source":0,"'
    'target":1,"letter":4,"variable":"AppOrder"},{"source":1,"target":2,"letter":0,"variable":"Request"},'
    '{"source":2,"target":3,"letter":1,"variable":"Pickup"},{"source":3,"target":4,"letter":2,"variable":'
    '"Travel"},{"source":4,"target":3,"letter":1,"variable":"Pickup"},{"source":4,"target":5,"letter":5,"'
    'variable":"Cancel","rank":1}],"acceptances":[{"state":5}]},"conditions":[],"measures":[{"function":"'
    'sum","variable":"Travel","argument":{"field":"duration","of":"Travel","at":"each","type":"DOUBLE"}}]'
    ',"outputs":[{"name":"district","expression":{"field":"district","of":null,"at":"each","type":"STRING'
    '"}},{"name":"minutes","expression":{"aggregate":"sum","of":"Travel","argument":{"field":"duration","'
    'of":"Travel","at":"each","type":"DOUBLE"},"safe":false,"target":null,"type":"DOUBLE"}}],"having":nul'
    'l,"returns_events":false,"select":{"kind":"any"},"after":null,"strategy":{"kind":"count","automaton"'
    ':{"states":6,"variables":["AppOrder","Request","Pickup","Travel","Cancel"],"steps":[{"source":0,"tar'
    'get":1,"letter":4,"variable":0},{"source":1,"target":2,"letter":0,"variable":1},{"source":2,"target"'
    ':3,"letter":1,"variable":2},{"source":3,"target":4,"letter":2,"variable":3},{"source":4,"target":3,"'
    'letter":1,"variable":2},{"source":4,"target":5,"letter":5,"variable":4}],"accepting":[5]}}},'
    '{"name":"rounds","kind":"aggregate","partition":["driver_id","district"],"group_by":["district"],"wi'
    'ndow":{"kind":"sliding","span":1200000000,"slide":300000000},"variables":["Request","Pickup","Travel'
    '","Delivery"],"lists":["Request","Pickup","Travel","Delivery"],"positions":{"states":5,"edges":[{"so'
    'urce":0,"target":1,"letter":0,"variable":"Request"},{"source":1,"target":2,"letter":1,"variable":"Pi'
    'ckup"},{"source":2,"target":3,"letter":6,"variable":"Travel"},{"source":3,"target":2,"letter":1,"var'
    'iable":"Pickup"},{"source":3,"target":4,"letter":3,"variable":"Delivery","rank":1},{"source":4,"targ'
    'et":1,"letter":0,"variable":"Request"}],"acceptances":[{"state":4,"rank":1}]},"conditions":[],"measu'
    'res":[{"function":"max","variable":"Travel","argument":{"field":"duration","of":"Travel","at":"each"'
    ',"type":"DOUBLE"}},{"function":"avg","variable":"Travel","argument":{"field":"duration","of":"Travel'
    '","at":"each","type":"DOUBLE"}}],"outputs":[{"name":"district","expression":{"field":"district","of"'
    ':null,"at":"each","type":"STRING"}},{"name":"longest","expression":{"aggregate":"max","of":"Travel",'
    '"argument":{"field":"duration","of":"Travel","at":"each","type":"DOUBLE"},"safe":false,"target":null'
    ',"type":"DOUBLE"}},{"name":"average","expression":{"call":"round","arguments":[{"aggregate":"avg","o'
    'f":"Travel","argument":{"field":"duration","of":"Travel","at":"each","type":"DOUBLE"},"safe":false,"'
    'target":null,"type":"DOUBLE"},{"literal":2,"type":"INT"}],"type":"DOUBLE"}}],"having":null,"returns_'
    'events":false,"select":{"kind":"any"},"after":null,"strategy":{"kind":"count","automaton":{"states":'
    '5,"variables":["Request","Pickup","Travel","Delivery"],"steps":[{"source":0,"target":1,"letter":0,"v'
    'ariable":0},{"source":1,"target":2,"letter":1,"variable":1},{"source":2,"target":3,"letter":6,"varia'
    'ble":2},{"source":3,"target":2,"letter":1,"variable":1},{"source":3,"target":4,"letter":3,"variable"'
    ':3},{"source":4,"target":1,"letter":0,"variable":0}],"accepting":[4]}}}]}'
)


def orders_events(events: DataFrame, dropped: Observation | None = None) -> DataFrame:
    """The events that some query looks at, with their letters."""
    # Events without a time or a type are counted; the filter as a whole is one that a scan can use.
    needed = F.col("action").isin(ORDERS_TYPES) | F.col("action").isNull() | F.col("at").isNull()
    found = events.select("at", "action", "driver_id", "district", "duration").where(needed)
    if dropped is not None:
        found = found.observe(dropped, *job.absent("at", "action"))
    found = found.where(F.col("at").isNotNull() & F.col("action").isNotNull())
    return found.select("at", "driver_id", "district", "duration", *job.letters("`action`", ORDERS_LETTERS))


def orders_rows(events: DataFrame, queries: Collection[str], form: job.Form) -> DataFrame:
    """The rows of all queries; each partition is sorted by group, and the kernel runs over it once."""
    classes = job.shares(ORDERS_CLASSES, ORDERS_PLAN, queries)
    keys = job.keys(classes)
    return (
        events.repartition(*keys)
        .sortWithinPartitions(*keys)
        .transform(form.in_tasks)
        .mapInArrow(job.kernel(ORDERS_PLAN, classes, None, form), job.row_schema(ORDERS_PLAN, form))
        .where(job.no_error())
        .drop("error")
    )


def orders_results(
    events: DataFrame,
    queries: Collection[str],
    dropped: Observation | None,
    form: job.Form,
) -> job.Answers:
    """What answers each query: the rows of the kernel, or Spark alone."""
    found = orders_events(events, dropped)
    return job.Answers(found, rows=job.Rows(orders_rows(found, queries, form), ORDERS_PLAN))


# With --mode stream; `watermark` is how many milliseconds late an event may be.
ORDERS_STREAM = job.Streamed(stream=ORDERS, plans=(ORDERS_PLAN,), letters=tuple(ORDERS_LETTERS), watermark=30_000)


# ---- the job ---------------------------------------------------------------------------------------------------------

JOB = job.Job([job.StreamPart(ORDERS_STREAM, orders_events, orders_results)], [ORDERS_STREAM])

# Rows as DataFrames, as Arrow tables, or continuously; some matches of a query; the command line. `help` says more.
build, tables, stream, matches, main = JOB.build, JOB.tables, JOB.stream, JOB.matches, JOB.main


if __name__ == "__main__":
    sys.exit(main())
