"""Complex-event queries as one Spark job; `--help` lists its arguments."""

# Made by cepc 0.1.0: change the program and compile it again, not this file.
#
# program  queries.cep, SHA-256 91629a138be8ac7cec75be40e38aa5450b1b924f0fa4e7f65aa7c134e865c371
#
# stream reports: reads 4 of 4 columns, events of types BayAve, ElmSt, MainSt, OakSt, ParkAve, StateSt, WestSt
#   q1: counts
#     pattern  SEQ(OakSt, MainSt, StateSt)
#     agreeing vehicle
#     window   10 minutes sliding by 1 minute
#   q2: counts
#     pattern  SEQ(OakSt, MainSt, WestSt)
#     agreeing vehicle
#     window   10 minutes sliding by 1 minute
#   q3: counts
#     pattern  SEQ(ParkAve, OakSt, MainSt)
#     agreeing vehicle
#     window   10 minutes sliding by 1 minute
#   q4: counts
#     pattern  SEQ(ParkAve, OakSt, MainSt, WestSt)
#     agreeing vehicle
#     window   10 minutes sliding by 1 minute
#   q5: counts
#     pattern  SEQ(MainSt, StateSt)
#     agreeing vehicle
#     window   10 minutes sliding by 1 minute
#   q6: counts
#     pattern  SEQ(ElmSt, ParkAve)
#     agreeing vehicle
#     window   10 minutes sliding by 1 minute
#   q7: counts
#     pattern  SEQ(ElmSt, ParkAve, BayAve)
#     agreeing vehicle
#     window   10 minutes sliding by 1 minute

from __future__ import annotations

import sys
from collections.abc import Collection

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from cepc_runtime.spark import job

# ---- stream reports --------------------------------------------------------------------------------------------------

REPORTS = job.Stream(
    name="reports",
    schema=T.StructType(
        [
            T.StructField("at", T.TimestampType()),
            T.StructField("street", T.StringType()),
            T.StructField("vehicle", T.LongType()),
            T.StructField("speed", T.DoubleType()),
        ],
    ),
    required=("at", "street"),
    source=None,
    queries=("q1", "q2", "q3", "q4", "q5", "q6", "q7"),
)

REPORTS_TYPES = ["BayAve", "ElmSt", "MainSt", "OakSt", "ParkAve", "StateSt", "WestSt"]

# Letter i is the events of this type for which this is true; the plan knows events by their letters.
REPORTS_LETTERS = [
    ("OakSt", "TRUE"),
    ("MainSt", "TRUE"),
    ("StateSt", "TRUE"),
    ("WestSt", "TRUE"),
    ("ParkAve", "TRUE"),
    ("ElmSt", "TRUE"),
    ("BayAve", "TRUE"),
]

# Queries that need the same events in one place: queries and letters by their number.
REPORTS_CLASSES = [job.Class(keys=("vehicle",), queries=(0, 1, 2, 3, 4, 5, 6), letters=(0, 1, 2, 3, 4, 5, 6))]

# What the kernel does: automata, conditions over several events, results.
REPORTS_PLAN = (
    '{"version":7,"stream":{"name":"reports","columns":[["at","TIMESTAMP"],["vehicle","BIGINT"],["speed",'
    '"DOUBLE"]],"all_columns":["at","street","vehicle","speed","_letters_0"],"time_column":"at","unit":"u'
    's","order_by":[],"type_column":null,"single_type":"reports","raw_types":null},"letters":[{"column":"'
    '_letters_0","mask":1},{"column":"_letters_0","mask":2},{"column":"_letters_0","mask":4},{"column":"_'
    'letters_0","mask":8},{"column":"_letters_0","mask":16},{"column":"_letters_0","mask":32},{"column":"'
    '_letters_0","mask":64}],"sharing":[{"members":[{"query":"q1","states":[1,2]},{"query":"q2","states":'
    '[1,2]}],"equal":true},{"members":[{"query":"q3","states":[1,2,3]},{"query":"q4","states":[1,2,3]}],"'
    'equal":true},{"members":[{"query":"q6","states":[1,2]},{"query":"q7","states":[1,2]}],"equal":true},'
    '{"members":[{"query":"q1","states":[0]},{"query":"q2","states":[0]},{"query":"q4","states":[0]},{"qu'
    'ery":"q3","states":[0]},{"query":"q5","states":[0]},{"query":"q6","states":[0]},{"query":"q7","state'
    's":[0]}]},{"members":[{"query":"q1","states":[1]},{"query":"q3","states":[2]}]},{"members":[{"query"'
    ':"q1","states":[2]},{"query":"q3","states":[3]},{"query":"q5","states":[1]}]},{"members":[{"query":"'
    'q1","states":[3]},{"query":"q5","states":[2]}]},{"members":[{"query":"q2","states":[3]},{"query":"q4'
    '","states":[4]}]},{"members":[{"query":"q3","states":[1]},{"query":"q6","states":[2]}]}],"needs":[{"'
    'query":"q1","of":[{"letters":[0]},{"letters":[1]},{"letters":[2]}]},{"query":"q2","of":[{"letters":['
    '0]},{"letters":[1]},{"letters":[3]}]},{"query":"q3","of":[{"letters":[0]},{"letters":[1]},{"letters"'
    ':[4]}]},{"query":"q4","of":[{"letters":[0]},{"letters":[1]},{"letters":[3]},{"letters":[4]}]},{"quer'
    'y":"q5","of":[{"letters":[1]},{"letters":[2]}]},{"query":"q6","of":[{"letters":[4]},{"letters":[5]}]'
    '},{"query":"q7","of":[{"letters":[4]},{"letters":[5]},{"letters":[6]}]}],"queries":['
    '{"name":"q1","kind":"aggregate","partition":["vehicle"],"group_by":[],"window":{"kind":"sliding","sp'
    'an":600000000,"slide":60000000},"variables":["OakSt","MainSt","StateSt"],"lists":[],"positions":{"st'
    'ates":4,"edges":[{"source":0,"target":1,"letter":0,"variable":"OakSt"},{"source":1,"target":2,"lette'
    'r":1,"variable":"MainSt"},{"source":2,"target":3,"letter":2,"variable":"StateSt"}],"acceptances":[{"'
    'state":3}]},"conditions":[],"measures":[{"function":"count","variable":null,"argument":null}],"outpu'
    'ts":[{"name":"trips","expression":{"aggregate":"count","of":null,"argument":null,"safe":false,"targe'
    't":null,"type":"BIGINT"}}],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null'
    ',"strategy":{"kind":"count","automaton":{"states":4,"variables":["OakSt","MainSt","StateSt"],"steps"'
    ':[{"source":0,"target":1,"letter":0,"variable":0},{"source":1,"target":2,"letter":1,"variable":1},{"'
    'source":2,"target":3,"letter":2,"variable":2}],"accepting":[3]}}},'
    '{"name":"q2","kind":"aggregate","partition":["vehicle"],"group_by":[],"window":{"kind":"sliding","sp'
    'an":600000000,"slide":60000000},"variables":["OakSt","MainSt","WestSt"],"lists":[],"positions":{"sta'
    'tes":4,"edges":[{"source":0,"target":1,"letter":0,"variable":"OakSt"},{"source":1,"target":2,"letter'
    '":1,"variable":"MainSt"},{"source":2,"target":3,"letter":3,"variable":"WestSt"}],"acceptances":[{"st'
    'ate":3}]},"conditions":[],"measures":[{"function":"count","variable":null,"argument":null}],"outputs'
    '":[{"name":"trips","expression":{"aggregate":"count","of":null,"argument":null,"safe":false,"target"'
    ':null,"type":"BIGINT"}}],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null,"'
    'strategy":{"kind":"count","automaton":{"states":4,"variables":["OakSt","MainSt","WestSt"],"steps":[{'
    '"source":0,"target":1,"letter":0,"variable":0},{"source":1,"target":2,"letter":1,"variable":1},{"sou'
    'rce":2,"target":3,"letter":3,"variable":2}],"accepting":[3]}}},'
    '{"name":"q3","kind":"aggregate","partition":["vehicle"],"group_by":[],"window":{"kind":"sliding","sp'
    'an":600000000,"slide":60000000},"variables":["ParkAve","OakSt","MainSt"],"lists":[],"positions":{"st'
    'ates":4,"edges":[{"source":0,"target":1,"letter":4,"variable":"ParkAve"},{"source":1,"target":2,"let'
    'ter":0,"variable":"OakSt"},{"source":2,"target":3,"letter":1,"variable":"MainSt"}],"acceptances":[{"'
    'state":3}]},"conditions":[],"measures":[{"function":"count","variable":null,"argument":null}],"outpu'
    'ts":[{"name":"trips","expression":{"aggregate":"count","of":null,"argument":null,"safe":false,"targe'
    't":null,"type":"BIGINT"}}],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null'
    ',"strategy":{"kind":"count","automaton":{"states":4,"variables":["ParkAve","OakSt","MainSt"],"steps"'
    ':[{"source":0,"target":1,"letter":4,"variable":0},{"source":1,"target":2,"letter":0,"variable":1},{"'
    'source":2,"target":3,"letter":1,"variable":2}],"accepting":[3]}}},'
    '{"name":"q4","kind":"aggregate","partition":["vehicle"],"group_by":[],"window":{"kind":"sliding","sp'
    'an":600000000,"slide":60000000},"variables":["ParkAve","OakSt","MainSt","WestSt"],"lists":[],"positi'
    'ons":{"states":5,"edges":[{"source":0,"target":1,"letter":4,"variable":"ParkAve"},{"source":1,"targe'
    't":2,"letter":0,"variable":"OakSt"},{"source":2,"target":3,"letter":1,"variable":"MainSt"},{"source"'
    ':3,"target":4,"letter":3,"variable":"WestSt"}],"acceptances":[{"state":4}]},"conditions":[],"measure'
    's":[{"function":"count","variable":null,"argument":null},{"function":"avg","variable":"MainSt","argu'
    'ment":{"field":"speed","of":"MainSt","at":"each","type":"DOUBLE"}}],"outputs":[{"name":"trips","expr'
    'ession":{"aggregate":"count","of":null,"argument":null,"safe":false,"target":null,"type":"BIGINT"}},'
    '{"name":"speed","expression":{"aggregate":"avg","of":"MainSt","argument":{"field":"speed","of":"Main'
    'St","at":"each","type":"DOUBLE"},"safe":false,"target":null,"type":"DOUBLE"}}],"having":null,"return'
    's_events":false,"select":{"kind":"any"},"after":null,"strategy":{"kind":"count","automaton":{"states'
    '":5,"variables":["ParkAve","OakSt","MainSt","WestSt"],"steps":[{"source":0,"target":1,"letter":4,"va'
    'riable":0},{"source":1,"target":2,"letter":0,"variable":1},{"source":2,"target":3,"letter":1,"variab'
    'le":2},{"source":3,"target":4,"letter":3,"variable":3}],"accepting":[4]}}},'
    '{"name":"q5","kind":"aggregate","partition":["vehicle"],"group_by":[],"window":{"kind":"sliding","sp'
    'an":600000000,"slide":60000000},"variables":["MainSt","StateSt"],"lists":[],"positions":{"states":3,'
    '"edges":[{"source":0,"target":1,"letter":1,"variable":"MainSt"},{"source":1,"target":2,"letter":2,"v'
    'ariable":"StateSt"}],"acceptances":[{"state":2}]},"conditions":[],"measures":[{"function":"count","v'
    'ariable":null,"argument":null}],"outputs":[{"name":"trips","expression":{"aggregate":"count","of":nu'
    'll,"argument":null,"safe":false,"target":null,"type":"BIGINT"}}],"having":null,"returns_events":fals'
    'e,"select":{"kind":"any"},"after":null,"strategy":{"kind":"count","automaton":{"states":3,"variables'
    '":["MainSt","StateSt"],"steps":[{"source":0,"target":1,"letter":1,"variable":0},{"source":1,"target"'
    ':2,"letter":2,"variable":1}],"accepting":[2]}}},'
    '{"name":"q6","kind":"aggregate","partition":["vehicle"],"group_by":[],"window":{"kind":"sliding","sp'
    'an":600000000,"slide":60000000},"variables":["ElmSt","ParkAve"],"lists":[],"positions":{"states":3,"'
    'edges":[{"source":0,"target":1,"letter":5,"variable":"ElmSt"},{"source":1,"target":2,"letter":4,"var'
    'iable":"ParkAve"}],"acceptances":[{"state":2}]},"conditions":[],"measures":[{"function":"count","var'
    'iable":null,"argument":null}],"outputs":[{"name":"trips","expression":{"aggregate":"count","of":null'
    ',"argument":null,"safe":false,"target":null,"type":"BIGINT"}}],"having":null,"returns_events":false,'
    '"select":{"kind":"any"},"after":null,"strategy":{"kind":"count","automaton":{"states":3,"variables":'
    '["ElmSt","ParkAve"],"steps":[{"source":0,"target":1,"letter":5,"variable":0},{"source":1,"target":2,'
    '"letter":4,"variable":1}],"accepting":[2]}}},'
    '{"name":"q7","kind":"aggregate","partition":["vehicle"],"group_by":[],"window":{"kind":"sliding","sp'
    'an":600000000,"slide":60000000},"variables":["ElmSt","ParkAve","BayAve"],"lists":[],"positions":{"st'
    'ates":4,"edges":[{"source":0,"target":1,"letter":5,"variable":"ElmSt"},{"source":1,"target":2,"lette'
    'r":4,"variable":"ParkAve"},{"source":2,"target":3,"letter":6,"variable":"BayAve"}],"acceptances":[{"'
    'state":3}]},"conditions":[],"measures":[{"function":"count","variable":null,"argument":null}],"outpu'
    'ts":[{"name":"trips","expression":{"aggregate":"count","of":null,"argument":null,"safe":false,"targe'
    't":null,"type":"BIGINT"}}],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null'
    ',"strategy":{"kind":"count","automaton":{"states":4,"variables":["ElmSt","ParkAve","BayAve"],"steps"'
    ':[{"source":0,"target":1,"letter":5,"variable":0},{"source":1,"target":2,"letter":4,"variable":1},{"'
    'source":2,"target":3,"letter":6,"variable":2}],"accepting":[3]}}}]}'
)


def reports_events(events: DataFrame, dropped: Observation | None = None) -> DataFrame:
    """The events that some query looks at, with their letters."""
    # Events without a time or a type are counted; the filter as a whole is one that a scan can use.
    needed = F.col("street").isin(REPORTS_TYPES) | F.col("street").isNull() | F.col("at").isNull()
    found = events.select("at", "street", "vehicle", "speed").where(needed)
    if dropped is not None:
        found = found.observe(dropped, *job.absent("at", "street"))
    found = found.where(F.col("at").isNotNull() & F.col("street").isNotNull())
    return found.select("at", "vehicle", "speed", *job.letters("`street`", REPORTS_LETTERS))


def reports_rows(events: DataFrame, queries: Collection[str], form: job.Form) -> DataFrame:
    """The rows of all queries; each partition is sorted by group, and the kernel runs over it once."""
    classes = job.shares(REPORTS_CLASSES, REPORTS_PLAN, queries)
    keys = job.keys(classes)
    return (
        events.repartition(*keys)
        .sortWithinPartitions(*keys)
        .transform(form.in_tasks)
        .mapInArrow(job.kernel(REPORTS_PLAN, classes, None, form), job.row_schema(REPORTS_PLAN, form))
        .where(job.no_error())
        .drop("error")
    )


def reports_results(
    events: DataFrame,
    queries: Collection[str],
    dropped: Observation | None,
    form: job.Form,
) -> job.Answers:
    """What answers each query: the rows of the kernel, or Spark alone."""
    found = reports_events(events, dropped)
    return job.Answers(found, rows=job.Rows(reports_rows(found, queries, form), REPORTS_PLAN))


# With --mode stream; `watermark` is how many milliseconds late an event may be.
REPORTS_STREAM = job.Streamed(stream=REPORTS, plans=(REPORTS_PLAN,), letters=tuple(REPORTS_LETTERS), watermark=60_000)


# ---- the job ---------------------------------------------------------------------------------------------------------

JOB = job.Job([job.StreamPart(REPORTS_STREAM, reports_events, reports_results)], [REPORTS_STREAM])

# Rows as DataFrames, as Arrow tables, or continuously; some matches of a query; the command line. `help` says more.
build, tables, stream, matches, main = JOB.build, JOB.tables, JOB.stream, JOB.matches, JOB.main


if __name__ == "__main__":
    sys.exit(main())
