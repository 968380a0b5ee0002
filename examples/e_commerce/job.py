"""Complex-event queries as one Spark job; `--help` lists its arguments."""

# Made by cepc 0.1.0: change the program and compile it again, not this file.
#
# program  queries.cep, SHA-256 1238d28d99136cc642bf6a3dd951d001d1af3ccd327615ff5a82b74065beb49e
#
# stream purchases: reads 4 of 4 columns, events of types Adapter, Case, KeyboardProtector, Laptop, ScreenProtector,
#     iPhone
#   q8: counts
#     pattern  SEQ(Laptop, Case, Adapter)
#     agreeing customer
#     window   20 minutes sliding by 1 minute
#   q9: counts
#     pattern  SEQ(Laptop, Case, KeyboardProtector)
#     agreeing customer
#     window   20 minutes sliding by 1 minute
#   q10: counts
#     pattern  SEQ(Laptop, Case, iPhone)
#     agreeing customer
#     window   20 minutes sliding by 1 minute
#   q11: counts
#     pattern  SEQ(Laptop, Case, iPhone, ScreenProtector)
#     agreeing customer
#     window   20 minutes sliding by 1 minute

from __future__ import annotations

import sys
from collections.abc import Collection

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from cepc_runtime.spark import job

# ---- stream purchases ------------------------------------------------------------------------------------------------

PURCHASES = job.Stream(
    name="purchases",
    schema=T.StructType(
        [
            T.StructField("at", T.LongType()),
            T.StructField("item", T.StringType()),
            T.StructField("customer", T.LongType()),
            T.StructField("price", T.DecimalType(10, 2)),
        ],
    ),
    required=("at", "item"),
    source=None,
    queries=("q8", "q9", "q10", "q11"),
)

PURCHASES_TYPES = ["Adapter", "Case", "KeyboardProtector", "Laptop", "ScreenProtector", "iPhone"]

# Letter i is the events of this type for which this is true; the plan knows events by their letters.
PURCHASES_LETTERS = [
    ("Laptop", "TRUE"),
    ("Case", "TRUE"),
    ("Adapter", "TRUE"),
    ("KeyboardProtector", "TRUE"),
    ("iPhone", "TRUE"),
    ("ScreenProtector", "TRUE"),
]

# Queries that need the same events in one place: queries and letters by their number.
PURCHASES_CLASSES = [job.Class(keys=("customer",), queries=(0, 1, 2, 3), letters=(0, 1, 2, 3, 4, 5))]

# What the kernel does: automata, conditions over several events, results.
PURCHASES_PLAN = (
    '{"version":7,"stream":{"name":"purchases","columns":[["at","BIGINT"],["customer","BIGINT"],["price",'
    '"DECIMAL(10,2)"]],"all_columns":["at","item","customer","price","_letters_0"],"time_column":"at","un'
    'it":"s","order_by":[],"type_column":null,"single_type":"purchases","raw_types":null},"letters":[{"co'
    'lumn":"_letters_0","mask":1},{"column":"_letters_0","mask":2},{"column":"_letters_0","mask":4},{"col'
    'umn":"_letters_0","mask":8},{"column":"_letters_0","mask":16},{"column":"_letters_0","mask":32}],"sh'
    'aring":[{"members":[{"query":"q8","states":[0,1,2]},{"query":"q9","states":[0,1,2]},{"query":"q10","'
    'states":[0,1,2]},{"query":"q11","states":[0,1,2]}],"equal":true},{"members":[{"query":"q10","states"'
    ':[3]},{"query":"q11","states":[3]}],"equal":true}],"needs":[{"query":"q8","of":[{"letters":[0]},{"le'
    'tters":[1]},{"letters":[2]}]},{"query":"q9","of":[{"letters":[0]},{"letters":[1]},{"letters":[3]}]},'
    '{"query":"q10","of":[{"letters":[0]},{"letters":[1]},{"letters":[4]}]},{"query":"q11","of":[{"letter'
    's":[0]},{"letters":[1]},{"letters":[4]},{"letters":[5]}]}],"queries":['
    '{"name":"q8","kind":"aggregate","partition":["customer"],"group_by":[],"window":{"kind":"sliding","s'
    'pan":1200,"slide":60},"variables":["Laptop","Case","Adapter"],"lists":[],"positions":{"states":4,"ed'
    'ges":[{"source":0,"target":1,"letter":0,"variable":"Laptop"},{"source":1,"target":2,"letter":1,"vari'
    'able":"Case"},{"source":2,"target":3,"letter":2,"variable":"Adapter"}],"acceptances":[{"state":3}]},'
    '"conditions":[],"measures":[{"function":"count","variable":null,"argument":null}],"outputs":[{"name"'
    ':"sequences","expression":{"aggregate":"count","of":null,"argument":null,"safe":false,"target":null,'
    '"type":"BIGINT"}}],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null,"strate'
    'gy":{"kind":"count","automaton":{"states":4,"variables":["Laptop","Case","Adapter"],"steps":[{"sourc'
    'e":0,"target":1,"letter":0,"variable":0},{"source":1,"target":2,"letter":1,"variable":1},{"source":2'
    ',"target":3,"letter":2,"variable":2}],"accepting":[3]}}},'
    '{"name":"q9","kind":"aggregate","partition":["customer"],"group_by":[],"window":{"kind":"sliding","s'
    'pan":1200,"slide":60},"variables":["Laptop","Case","KeyboardProtector"],"lists":[],"positions":{"sta'
    'tes":4,"edges":[{"source":0,"target":1,"letter":0,"variable":"Laptop"},{"source":1,"target":2,"lette'
    'r":1,"variable":"Case"},{"source":2,"target":3,"letter":3,"variable":"KeyboardProtector"}],"acceptan'
    'ces":[{"state":3}]},"conditions":[],"measures":[{"function":"count","variable":null,"argument":null}'
    '],"outputs":[{"name":"sequences","expression":{"aggregate":"count","of":null,"argument":null,"safe":'
    'false,"target":null,"type":"BIGINT"}}],"having":null,"returns_events":false,"select":{"kind":"any"},'
    '"after":null,"strategy":{"kind":"count","automaton":{"states":4,"variables":["Laptop","Case","Keyboa'
    'rdProtector"],"steps":[{"source":0,"target":1,"letter":0,"variable":0},{"source":1,"target":2,"lette'
    'r":1,"variable":1},{"source":2,"target":3,"letter":3,"variable":2}],"accepting":[3]}}},'
    '{"name":"q10","kind":"aggregate","partition":["customer"],"group_by":[],"window":{"kind":"sliding","'
    'span":1200,"slide":60},"variables":["Laptop","Case","iPhone"],"lists":[],"positions":{"states":4,"ed'
    'ges":[{"source":0,"target":1,"letter":0,"variable":"Laptop"},{"source":1,"target":2,"letter":1,"vari'
    'able":"Case"},{"source":2,"target":3,"letter":4,"variable":"iPhone"}],"acceptances":[{"state":3}]},"'
    'conditions":[],"measures":[{"function":"count","variable":null,"argument":null}],"outputs":[{"name":'
    '"sequences","expression":{"aggregate":"count","of":null,"argument":null,"safe":false,"target":null,"'
    'type":"BIGINT"}}],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null,"strateg'
    'y":{"kind":"count","automaton":{"states":4,"variables":["Laptop","Case","iPhone"],"steps":[{"source"'
    ':0,"target":1,"letter":0,"variable":0},{"source":1,"target":2,"letter":1,"variable":1},{"source":2,"'
    'target":3,"letter":4,"variable":2}],"accepting":[3]}}},'
    '{"name":"q11","kind":"aggregate","partition":["customer"],"group_by":[],"window":{"kind":"sliding","'
    'span":1200,"slide":60},"variables":["Laptop","Case","iPhone","ScreenProtector"],"lists":[],"position'
    's":{"states":5,"edges":[{"source":0,"target":1,"letter":0,"variable":"Laptop"},{"source":1,"target":'
    '2,"letter":1,"variable":"Case"},{"source":2,"target":3,"letter":4,"variable":"iPhone"},{"source":3,"'
    'target":4,"letter":5,"variable":"ScreenProtector"}],"acceptances":[{"state":4}]},"conditions":[],"me'
    'asures":[{"function":"count","variable":null,"argument":null},{"function":"sum","variable":"ScreenPr'
    'otector","argument":{"field":"price","of":"ScreenProtector","at":"each","type":"DECIMAL(10,2)"}},{"f'
    'unction":"max","variable":"Laptop","argument":{"field":"price","of":"Laptop","at":"each","type":"DEC'
    'IMAL(10,2)"}}],"outputs":[{"name":"sequences","expression":{"aggregate":"count","of":null,"argument"'
    ':null,"safe":false,"target":null,"type":"BIGINT"}},{"name":"spent","expression":{"aggregate":"sum","'
    'of":"ScreenProtector","argument":{"field":"price","of":"ScreenProtector","at":"each","type":"DECIMAL'
    '(10,2)"},"safe":false,"target":null,"type":"DECIMAL(20,2)"}},{"name":"dearest_laptop","expression":{'
    '"aggregate":"max","of":"Laptop","argument":{"field":"price","of":"Laptop","at":"each","type":"DECIMA'
    'L(10,2)"},"safe":false,"target":null,"type":"DECIMAL(10,2)"}}],"having":null,"returns_events":false,'
    '"select":{"kind":"any"},"after":null,"strategy":{"kind":"count","automaton":{"states":5,"variables":'
    '["Laptop","Case","iPhone","ScreenProtector"],"steps":[{"source":0,"target":1,"letter":0,"variable":0'
    '},{"source":1,"target":2,"letter":1,"variable":1},{"source":2,"target":3,"letter":4,"variable":2},{"'
    'source":3,"target":4,"letter":5,"variable":3}],"accepting":[4]}}}]}'
)


def purchases_events(events: DataFrame, dropped: Observation | None = None) -> DataFrame:
    """The events that some query looks at, with their letters."""
    # Events without a time or a type are counted; the filter as a whole is one that a scan can use.
    needed = F.col("item").isin(PURCHASES_TYPES) | F.col("item").isNull() | F.col("at").isNull()
    found = events.select("at", "item", "customer", "price").where(needed)
    if dropped is not None:
        found = found.observe(dropped, *job.absent("at", "item"))
    found = found.where(F.col("at").isNotNull() & F.col("item").isNotNull())
    return found.select("at", "customer", "price", *job.letters("`item`", PURCHASES_LETTERS))


def purchases_rows(events: DataFrame, queries: Collection[str], form: job.Form) -> DataFrame:
    """The rows of all queries; each partition is sorted by group, and the kernel runs over it once."""
    classes = job.shares(PURCHASES_CLASSES, PURCHASES_PLAN, queries)
    keys = job.keys(classes)
    return (
        events.repartition(*keys)
        .sortWithinPartitions(*keys)
        .transform(form.in_tasks)
        .mapInArrow(job.kernel(PURCHASES_PLAN, classes, None, form), job.row_schema(PURCHASES_PLAN, form))
        .where(job.no_error())
        .drop("error")
    )


def purchases_results(
    events: DataFrame,
    queries: Collection[str],
    dropped: Observation | None,
    form: job.Form,
) -> job.Answers:
    """What answers each query: the rows of the kernel, or Spark alone."""
    found = purchases_events(events, dropped)
    return job.Answers(found, rows=job.Rows(purchases_rows(found, queries, form), PURCHASES_PLAN))


# With --mode stream; `watermark` is how many milliseconds late an event may be.
PURCHASES_STREAM = job.Streamed(
    stream=PURCHASES,
    plans=(PURCHASES_PLAN,),
    letters=tuple(PURCHASES_LETTERS),
    watermark=60_000,
)


# ---- the job ---------------------------------------------------------------------------------------------------------

JOB = job.Job([job.StreamPart(PURCHASES_STREAM, purchases_events, purchases_results)], [PURCHASES_STREAM])

# Rows as DataFrames, as Arrow tables, or continuously; some matches of a query; the command line. `help` says more.
build, tables, stream, matches, main = JOB.build, JOB.tables, JOB.stream, JOB.matches, JOB.main


if __name__ == "__main__":
    sys.exit(main())
