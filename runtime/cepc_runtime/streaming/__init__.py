"""The same queries as a stream, without Spark: what is known when events up to a watermark are, and what must be kept
for later.

A *bucket* holds the events of some groups. `advance` takes new events and a watermark, gives the rows that the
watermark decides, each once, and forgets what no later row needs. All times are ticks; an event is *final* when the
watermark has passed it: all events before the watermark are known.
"""
