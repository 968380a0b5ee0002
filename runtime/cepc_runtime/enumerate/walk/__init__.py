"""AFTER MATCH in machine code: one match for each first event, found in time linear in the events.

Where each choice of a match depends on the event at hand and the one read before it alone, it is known for every event
and state, from the last event back, where the earliest match that goes on from there ends. Then the preferred match of
a first event is walked without ever turning back, and a first event without a match costs one look. Where it depends on
the first event of the match, too, a walk may have to turn back; of one first event it sees each event once for a state,
and many events of a loop at once. Where it depends on what the match has kept of others, it sees them once for a state
and what is kept.

    neighbours.py    conditions between an event and the one read before it, or the first → tests
    formulas.py      conditions on several events, and on aggregates of those so far → what is computed
    states.py        a query's pattern → states and what may come next of each, or why there is no walk
    numbers.py       what tests compare, and formulas compute with → rows of numbers
    tallies.py       what a match keeps of its events for that
    instructions.py  formulas → instructions, for the numbers at hand
    blocks.py        the least and the greatest of them in blocks of events
    table.py         states as records, which records.py describes
    progress.py      what is known of where a walk is
    reading.py       whether an event may be read, or any of a block
    computing.py     what formulas come to
    skipping.py      which event SELECT NEXT may not skip
    loops.py         where a loop ends for a first event, and where its match leaves it
    loop.py          from the last event back, then from match to match
    run.py           events → matches
"""
