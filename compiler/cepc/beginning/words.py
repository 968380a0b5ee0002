"""What names of columns say."""

from __future__ import annotations

import re

TIME = frozenset({
    "time", "timestamp", "ts", "at", "date", "datetime", "day", "when", "created", "occurred", "logged",
    "timestampms", "timems", "tsms", "eventtime", "epoch", "dt"
})  # fmt: skip
OTHER_TIME = frozenset({
    "updated", "modified", "changed", "deleted", "expires", "expiry", "expired", "until", "end", "ended", "finish",
    "finished", "birth", "born", "birthday", "due", "valid", "processed", "ingested", "ingest", "ingestion",
    "loaded", "received", "inserted", "arrival", "arrived", "delivered", "last", "next"
})  # fmt: skip
"""Of a moment, but hardly the one at which the event happened."""
CLOCK = frozenset({"clock", "hour", "uhr", "uhrzeit", "zeit", "heure", "hora", "ora"})
"""Of the time of the day."""
LENGTH = frozenset({
    "duration", "dauer", "length", "elapsed", "took", "runtime", "uptime", "downtime", "wait", "waited", "waiting",
    "latency", "delay", "lap", "split", "interval", "timeout", "age", "playtime", "airtime", "duree", "durata"
})  # fmt: skip
"""Of how long something lasts, which may be written as a time of the day is."""
TYPE = frozenset({
    "type", "kind", "event", "action", "activity", "eventtype", "eventname", "operation", "op", "verb"
})  # fmt: skip
STATE = frozenset({
    "status", "state", "step", "stage", "phase", "level", "severity", "method", "category", "topic", "class"
})  # fmt: skip
OWN = frozenset({
    "id", "uuid", "guid", "eventid", "event", "row", "index", "seq", "offset"
})  # fmt: skip
"""What numbers the events themselves."""
KEY = frozenset({
    "id", "ids", "uuid", "guid", "key", "no", "num", "number", "nr", "user", "customer", "client", "visitor",
    "account", "session", "device", "sensor", "host", "hostname", "server", "machine", "ip", "driver", "vehicle",
    "ride", "trip", "order", "cart", "patient", "case", "player", "member", "tailnum", "symbol", "ticker",
    "station", "serial", "imei", "vin", "mac"
})  # fmt: skip


def words(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case.

    >>> words("eventTime"), words("user_id"), words("HTTPHost"), words("ts2")
    (('event', 'time'), ('user', 'id'), ('http', 'host'), ('ts',))
    """
    parted = re.sub(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])", r"\1\3 \2\4", name)
    return tuple(re.findall(r"[^\W\d_]+", parted.casefold()))


def says_time(name: str) -> int:
    """2 where it says the time of the event, 1 where it says a time, 0 where it says none."""
    found = set(words(name))
    if found & OTHER_TIME:
        return 1
    return 2 if found & TIME else 0


def says_clock(name: str) -> bool:
    """Whether it says a time, the time of the day perhaps."""
    return says_time(name) > 0 or bool(CLOCK & set(words(name)))


def says_length(name: str) -> bool:
    return bool(LENGTH & set(words(name)))


def says_type(name: str) -> int:
    """2 where it says what happened, 1 where it says a state, 0 where it says neither."""
    found = words(name)
    if found and (found[-1] in TYPE or (found[0] in ("event", "action") and found[-1] in ("name", "type"))):
        return 2
    return 1 if found and found[-1] in STATE else 0


def says_key(name: str) -> bool:
    """Whether it says who or what the event is of."""
    found = words(name)
    return bool(found) and (found[-1] in KEY or found[0] in KEY or name.casefold().endswith("id"))
