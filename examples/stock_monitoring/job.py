"""Complex-event queries as one Spark job; `--help` lists its arguments."""

# Made by cepc 0.1.0: change the program and compile it again, not this file.
#
# program  queries.cep, SHA-256 23005b2f01e340cf62596bc5574ff38df7ab581e990048b249003058d2b4a6a6
#
# stream market: reads 5 of 5 columns, events of types BuyOrder, RsiLow, SellOrder, Uptrend
#   rotation: lists its matches
#     pattern  SEQ(SellMSFT, AND(BuyAAPL, BuyIBM, RsiLowIBM))
#     window   10 minutes
#   accumulation: lists its matches
#     pattern  AND(BuyIBM, RsiLowIBM, NOT SellIBM)
#     window   10 minutes
#   momentum: lists its matches
#     pattern  SEQ(UptrendAAPL, SOME(BuyAAPL, BuyIBM))
#     window   5 minutes
#   insight: lists its matches
#     pattern  SEQ(BuyAAPL, NOT UptrendAAPL, SellAAPL)
#     window   10 minutes
#   climb: lists its matches
#     pattern  b{3,}
#     window   30 minutes

from __future__ import annotations

import sys
from collections.abc import Collection

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql import types as T

from cepc_runtime.spark import job

# ---- stream market ---------------------------------------------------------------------------------------------------

MARKET = job.Stream(
    name="market",
    schema=T.StructType(
        [
            T.StructField("at", T.TimestampType()),
            T.StructField("kind", T.StringType()),
            T.StructField("stock", T.StringType()),
            T.StructField("price", T.DecimalType(10, 2)),
            T.StructField("volume", T.IntegerType()),
        ],
    ),
    required=("at", "kind"),
    source=None,
    queries=("rotation", "accumulation", "momentum", "insight", "climb"),
)

MARKET_TYPES = ["BuyOrder", "RsiLow", "SellOrder", "Uptrend"]

# Letter i is the events of this type for which this is true; the plan knows events by their letters.
MARKET_LETTERS = [
    ("SellOrder", "(`stock` = 'MSFT') AND (`volume` >= 500)"),
    ("BuyOrder", "(`stock` = 'AAPL') AND (`volume` >= 500)"),
    ("BuyOrder", "(`stock` = 'IBM') AND (`volume` >= 500)"),
    ("RsiLow", "(`stock` = 'IBM')"),
    ("SellOrder", "(`stock` = 'IBM') AND (`volume` >= 500)"),
    ("Uptrend", "(`stock` = 'AAPL')"),
    ("SellOrder", "(`stock` = 'AAPL') AND (`volume` >= 500)"),
]

# Queries that need the same events in one place: queries and letters by their number.
MARKET_CLASSES = [job.Class(keys=(), queries=(0, 1, 2, 3, 4), letters=(0, 1, 2, 3, 4, 5, 6))]

# What the kernel does: automata, conditions over several events, results.
MARKET_PLAN = (
    '{"version":7,"stream":{"name":"market","columns":[["at","TIMESTAMP"],["kind","STRING"],["stock","STR'
    'ING"],["price","DECIMAL(10,2)"],["volume","INT"]],"all_columns":["at","kind","stock","price","volume'
    '","_letters_0"],"time_column":"at","unit":"us","order_by":[],"type_column":null,"single_type":"marke'
    't","raw_types":null},"letters":[{"column":"_letters_0","mask":1},{"column":"_letters_0","mask":2},{"'
    'column":"_letters_0","mask":4},{"column":"_letters_0","mask":8},{"column":"_letters_0","mask":16},{"'
    'column":"_letters_0","mask":32},{"column":"_letters_0","mask":64}],"shared_matches":[{"parts":[{"lea'
    'ves":3,"within":600000000,"joins":[{"leaves":[0],"letter":1},{"leaves":[1],"letter":2,"apart":[0]},{'
    '"leaves":[2],"letter":3,"apart":[0,1]}]},{"leaves":4,"within":600000000,"joins":[{"leaves":[0],"lett'
    'er":0},{"leaves":[1,2,3],"part":0,"after":[0]}],"leads":true}],"answers":[{"query":"rotation","part"'
    ':1,"variables":["SellMSFT","BuyAAPL","BuyIBM","RsiLowIBM"]}]},{"parts":[{"leaves":2,"within":6000000'
    '00,"joins":[{"leaves":[0],"letter":2},{"leaves":[1],"letter":3,"apart":[0]}],"absent":[4]}],"answers'
    '":[{"query":"accumulation","part":0,"variables":["BuyIBM","RsiLowIBM"]}]}],"queries":['
    '{"name":"rotation","kind":"match","partition":[],"group_by":[],"window":{"kind":"bound of a match","'
    'span":600000000},"variables":["SellMSFT","BuyAAPL","BuyIBM","RsiLowIBM"],"lists":[],"positions":{"st'
    'ates":21,"edges":[{"source":0,"target":1,"letter":0,"variable":"SellMSFT"},{"source":1,"target":2,"l'
    'etter":1,"variable":"BuyAAPL"},{"source":1,"target":3,"letter":2,"variable":"BuyIBM","rank":1},{"sou'
    'rce":1,"target":4,"letter":3,"variable":"RsiLowIBM","rank":2},{"source":2,"target":5,"letter":2,"var'
    'iable":"BuyIBM","tie":true},{"source":2,"target":6,"letter":2,"variable":"BuyIBM","rank":1},{"source'
    '":2,"target":7,"letter":3,"variable":"RsiLowIBM","tie":true,"rank":2},{"source":2,"target":8,"letter'
    '":3,"variable":"RsiLowIBM","rank":3},{"source":3,"target":5,"letter":1,"variable":"BuyAAPL","tie":tr'
    'ue},{"source":3,"target":9,"letter":1,"variable":"BuyAAPL","rank":1},{"source":3,"target":10,"letter'
    '":3,"variable":"RsiLowIBM","tie":true,"rank":2},{"source":3,"target":11,"letter":3,"variable":"RsiLo'
    'wIBM","rank":3},{"source":4,"target":7,"letter":1,"variable":"BuyAAPL","tie":true},{"source":4,"targ'
    'et":12,"letter":1,"variable":"BuyAAPL","rank":1},{"source":4,"target":10,"letter":2,"variable":"BuyI'
    'BM","tie":true,"rank":2},{"source":4,"target":13,"letter":2,"variable":"BuyIBM","rank":3},{"source":'
    '5,"target":14,"letter":3,"variable":"RsiLowIBM","tie":true},{"source":5,"target":15,"letter":3,"vari'
    'able":"RsiLowIBM","rank":1},{"source":6,"target":16,"letter":3,"variable":"RsiLowIBM","tie":true},{"'
    'source":6,"target":15,"letter":3,"variable":"RsiLowIBM","rank":1},{"source":7,"target":14,"letter":2'
    ',"variable":"BuyIBM","tie":true},{"source":7,"target":17,"letter":2,"variable":"BuyIBM","rank":1},{"'
    'source":8,"target":16,"letter":2,"variable":"BuyIBM","tie":true},{"source":8,"target":17,"letter":2,'
    '"variable":"BuyIBM","rank":1},{"source":9,"target":18,"letter":3,"variable":"RsiLowIBM","tie":true},'
    '{"source":9,"target":15,"letter":3,"variable":"RsiLowIBM","rank":1},{"source":10,"target":14,"letter'
    '":1,"variable":"BuyAAPL","tie":true},{"source":10,"target":19,"letter":1,"variable":"BuyAAPL","rank"'
    ':1},{"source":11,"target":18,"letter":1,"variable":"BuyAAPL","tie":true},{"source":11,"target":19,"l'
    'etter":1,"variable":"BuyAAPL","rank":1},{"source":12,"target":20,"letter":2,"variable":"BuyIBM","tie'
    '":true},{"source":12,"target":17,"letter":2,"variable":"BuyIBM","rank":1},{"source":13,"target":20,"'
    'letter":1,"variable":"BuyAAPL","tie":true},{"source":13,"target":19,"letter":1,"variable":"BuyAAPL",'
    '"rank":1}],"acceptances":[{"state":14},{"state":15},{"state":16},{"state":17},{"state":18},{"state":'
    '19},{"state":20}]},"conditions":[],"measures":[],"outputs":[{"name":"msft","expression":{"field":"pr'
    'ice","of":"SellMSFT","at":"each","type":"DECIMAL(10,2)"}},{"name":"aapl","expression":{"field":"pric'
    'e","of":"BuyAAPL","at":"each","type":"DECIMAL(10,2)"}},{"name":"ibm","expression":{"field":"price","'
    'of":"BuyIBM","at":"each","type":"DECIMAL(10,2)"}}],"having":null,"returns_events":false,"select":{"k'
    'ind":"any"},"after":null,"strategy":{"kind":"join","shared":0}},'
    '{"name":"accumulation","kind":"match","partition":[],"group_by":[],"window":{"kind":"bound of a matc'
    'h","span":600000000},"variables":["BuyIBM","RsiLowIBM"],"lists":[],"positions":{"states":6,"edges":['
    '{"source":0,"target":1,"letter":2,"variable":"BuyIBM"},{"source":0,"target":2,"letter":3,"variable":'
    '"RsiLowIBM","rank":1},{"source":1,"target":3,"letter":3,"variable":"RsiLowIBM","tie":true},{"source"'
    ':1,"target":4,"letter":3,"variable":"RsiLowIBM","rank":1},{"source":2,"target":3,"letter":2,"variabl'
    'e":"BuyIBM","tie":true},{"source":2,"target":5,"letter":2,"variable":"BuyIBM","rank":1}],"acceptance'
    's":[{"state":3,"guards":[{"negation":0}]},{"state":4,"guards":[{"negation":0}]},{"state":5,"guards":'
    '[{"negation":0}]}],"negations":[{"positions":{"states":2,"edges":[{"source":0,"target":1,"letter":4,'
    '"variable":"SellIBM"}],"acceptances":[{"state":1}]},"window_wide":true}]},"conditions":[],"measures"'
    ':[],"outputs":[{"name":"price","expression":{"field":"price","of":"BuyIBM","at":"each","type":"DECIM'
    'AL(10,2)"}},{"name":"volume","expression":{"field":"volume","of":"BuyIBM","at":"each","type":"INT"}}'
    '],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null,"strategy":{"kind":"join'
    '","shared":1}},'
    '{"name":"momentum","kind":"match","partition":[],"group_by":[],"window":{"kind":"bound of a match","'
    'span":300000000},"variables":["UptrendAAPL","BuyAAPL","BuyIBM"],"lists":[],"positions":{"states":9,"'
    'edges":[{"source":0,"target":1,"letter":5,"variable":"UptrendAAPL"},{"source":1,"target":2,"letter":'
    '1,"variable":"BuyAAPL"},{"source":1,"target":3,"letter":2,"variable":"BuyIBM","rank":1},{"source":1,'
    '"target":4,"letter":1,"variable":"BuyAAPL","rank":2},{"source":1,"target":5,"letter":2,"variable":"B'
    'uyIBM","rank":3},{"source":4,"target":6,"letter":2,"variable":"BuyIBM","tie":true},{"source":4,"targ'
    'et":7,"letter":2,"variable":"BuyIBM","rank":1},{"source":5,"target":6,"letter":1,"variable":"BuyAAPL'
    '","tie":true},{"source":5,"target":8,"letter":1,"variable":"BuyAAPL","rank":1}],"acceptances":[{"sta'
    'te":2},{"state":3},{"state":6},{"state":7},{"state":8}],"ambiguous":true},"conditions":[],"measures"'
    ':[],"outputs":[{"name":"aapl","expression":{"field":"price","of":"BuyAAPL","at":"each","type":"DECIM'
    'AL(10,2)"}},{"name":"ibm","expression":{"field":"price","of":"BuyIBM","at":"each","type":"DECIMAL(10'
    ',2)"}}],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null,"strategy":{"kind"'
    ':"list"}},'
    '{"name":"insight","kind":"match","partition":[],"group_by":[],"window":{"kind":"bound of a match","s'
    'pan":600000000},"variables":["BuyAAPL","SellAAPL"],"lists":[],"positions":{"states":3,"edges":[{"sou'
    'rce":0,"target":1,"letter":1,"variable":"BuyAAPL"},{"source":1,"target":2,"letter":6,"variable":"Sel'
    'lAAPL","guards":[{"negation":0}]}],"acceptances":[{"state":2}],"negations":[{"positions":{"states":2'
    ',"edges":[{"source":0,"target":1,"letter":5,"variable":"UptrendAAPL"}],"acceptances":[{"state":1}]}}'
    ']},"conditions":[{"expression":{"call":">","arguments":[{"call":"cast","arguments":[{"field":"price"'
    ',"of":"SellAAPL","at":"each","type":"DECIMAL(10,2)"}],"type":"DECIMAL(14,4)"},{"call":"*","arguments'
    '":[{"field":"price","of":"BuyAAPL","at":"each","type":"DECIMAL(10,2)"},{"literal":"1.01","type":"DEC'
    'IMAL(3,2)"}],"type":"DECIMAL(14,4)"}],"type":"BOOLEAN"},"variables":["SellAAPL","BuyAAPL"],"scope":n'
    'ull,"negation":null,"text":"SellAAPL.price > BuyAAPL.price * 1.01"}],"measures":[],"outputs":[{"name'
    '":"bought","expression":{"field":"price","of":"BuyAAPL","at":"each","type":"DECIMAL(10,2)"}},{"name"'
    ':"sold","expression":{"field":"price","of":"SellAAPL","at":"each","type":"DECIMAL(10,2)"}},{"name":"'
    'profit","expression":{"call":"-","arguments":[{"field":"price","of":"SellAAPL","at":"each","type":"D'
    'ECIMAL(10,2)"},{"field":"price","of":"BuyAAPL","at":"each","type":"DECIMAL(10,2)"}],"type":"DECIMAL('
    '11,2)"}}],"having":null,"returns_events":false,"select":{"kind":"any"},"after":null,"strategy":{"kin'
    'd":"list"}},'
    '{"name":"climb","kind":"match","partition":[],"group_by":[],"window":{"kind":"bound of a match","spa'
    'n":1800000000},"variables":["b"],"lists":["b"],"positions":{"states":4,"edges":[{"source":0,"target"'
    ':1,"letter":2,"variable":"b"},{"source":1,"target":2,"letter":2,"variable":"b"},{"source":2,"target"'
    ':3,"letter":2,"variable":"b"},{"source":3,"target":3,"letter":2,"variable":"b"}],"acceptances":[{"st'
    'ate":3,"rank":1}]},"conditions":[{"expression":{"call":">","arguments":[{"field":"price","of":"b","a'
    't":"each","type":"DECIMAL(10,2)"},{"field":"price","of":"b","at":"prev","type":"DECIMAL(10,2)"}],"ty'
    'pe":"BOOLEAN"},"variables":["b"],"scope":null,"negation":null,"text":"b.price > PREV(b).price"}],"me'
    'asures":[],"outputs":[{"name":"orders","expression":{"aggregate":"count","of":"b","argument":null,"s'
    'afe":false,"target":null,"type":"BIGINT"}},{"name":"from_price","expression":{"field":"price","of":"'
    'b","at":"first","type":"DECIMAL(10,2)"}},{"name":"to_price","expression":{"field":"price","of":"b","'
    'at":"last","type":"DECIMAL(10,2)"}},{"name":"volume","expression":{"aggregate":"sum","of":"b","argum'
    'ent":{"field":"volume","of":"b","at":"each","type":"INT"},"safe":false,"target":null,"type":"BIGINT"'
    '}}],"having":null,"returns_events":false,"select":{"kind":"next","prefixes":{"states":4,"variables":'
    '["b"],"steps":[{"source":0,"target":1,"letter":2,"variable":0},{"source":1,"target":2,"letter":2,"va'
    'riable":0},{"source":2,"target":3,"letter":2,"variable":0},{"source":3,"target":3,"letter":2,"variab'
    'le":0}],"accepting":[3]}},"after":{"kind":"past last"},"strategy":{"kind":"list"}}]}'
)


def market_events(events: DataFrame, dropped: Observation | None = None) -> DataFrame:
    """The events that some query looks at, with their letters."""
    # Events without a time or a type are counted; the filter as a whole is one that a scan can use.
    needed = F.col("kind").isin(MARKET_TYPES) | F.col("kind").isNull() | F.col("at").isNull()
    found = events.select("at", "kind", "stock", "price", "volume").where(needed)
    if dropped is not None:
        found = found.observe(dropped, *job.absent("at", "kind"))
    return (
        found.where(F.col("at").isNotNull() & F.col("kind").isNotNull())
        .select("at", "kind", "stock", "price", "volume", *job.letters("`kind`", MARKET_LETTERS))
        .where(job.has_letter(len(MARKET_LETTERS)))
    )


def market_rows(events: DataFrame, queries: Collection[str], form: job.Form) -> DataFrame:
    """The rows of all queries; each partition is sorted by group, and the kernel runs over it once."""
    classes = job.shares(MARKET_CLASSES, MARKET_PLAN, queries)
    return (
        events.repartition(1)
        .sortWithinPartitions("at")
        .transform(form.in_tasks)
        .mapInArrow(job.kernel(MARKET_PLAN, classes, None, form), job.row_schema(MARKET_PLAN, form))
        .where(job.no_error())
        .drop("error")
    )


def market_results(
    events: DataFrame,
    queries: Collection[str],
    dropped: Observation | None,
    form: job.Form,
) -> job.Answers:
    """What answers each query: the rows of the kernel, or Spark alone."""
    found = market_events(events, dropped)
    return job.Answers(found, rows=job.Rows(market_rows(found, queries, form), MARKET_PLAN))


# With --mode stream; `watermark` is how many milliseconds late an event may be.
MARKET_STREAM = job.Streamed(stream=MARKET, plans=(MARKET_PLAN,), letters=tuple(MARKET_LETTERS), watermark=10_000)


# ---- the job ---------------------------------------------------------------------------------------------------------

JOB = job.Job([job.StreamPart(MARKET_STREAM, market_events, market_results)], [MARKET_STREAM])

# Rows as DataFrames, as Arrow tables, or continuously; some matches of a query; the command line. `help` says more.
build, tables, stream, matches, main = JOB.build, JOB.tables, JOB.stream, JOB.matches, JOB.main


if __name__ == "__main__":
    sys.exit(main())
