"""Whose checkpoint is it? Asked before the first micro-batch: state of another program is never read."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import unquote

from ...cheap_dataclass import dataclass
from ...streaming.description import changes, digest, is_of_query, query_digests
from ..schema import JobError
from ..sinks import path_of
from .change import Begun, Change, begin
from .declaration import WITH_ROWS, declaration, declared_otherwise, is_declaration
from .intact import CURE, LOGS, PROGRAM, READS, numbers_of, watermark_done
from .time import millis_of, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from .query import Continuous
    from .store import Store

Opened = TypeVar("Opened")
Done = TypeVar("Done")

FORMAT: Final = 7
_BEFORE: Final = 6
"""In which all queries see all events, and nothing is said of panes."""
FILE: Final = PROGRAM
DONE: Final = "done"
"""In place of the micro-batch that a flush follows, while it is under way."""
_NAMES: Final = ("format", "stream", "queries", "buckets", "id", "flush")
_PLACE: Final = "place"
"""Where a checkpoint was made, whole: Spark writes that into its state. Not in a checkpoint of before."""
_BUCKETS: Final = "it has "
_TOGETHER: Final = "together"
"""The streams of a job that a flush ends, this one among them; not in a checkpoint of before."""
_BEGUN: Final = ("since", "panes", "delay")


def identity(what: Continuous) -> dict[str, Any]:
    """What a checkpoint depends on: equal for the same queries in any order, whichever compiler wrote the job, whatever
    other statements there are, and whatever queries share.
    """
    queries: dict[str, str] = {}
    for link in what.links:
        own = query_digests(link.plan, link.streamed.letters)
        makers = sorted(queries[taking.query] for taking in link.taking)
        queries |= {name: digest([text, makers]) if makers else text for name, text in own.items()}
    return {"format": FORMAT, "stream": declaration(what), "queries": queries, "buckets": what.buckets}


class Ended(JobError):  # noqa: N818 - it is no fault
    """The checkpoint was ended by a flush."""


@dataclass(frozen=True)
class Claim:
    """On a checkpoint. Where a `flush` was begun and not finished, that is the micro-batch that it follows, and nothing
    but that flush may be done. `begun` is how its queries were come by. Where they are others than it had, it has yet
    to be `taken` before the first micro-batch, and `line` says what changes; until then it is as it was.
    """

    store: Store
    folder: str
    begun: Begun
    flush: int | None = None
    later: dict[str, Any] | None = None
    line: dict[str, Any] | None = None

    def taken(self) -> dict[str, Any] | None:
        """The checkpoint is that of other queries from now on; their line, if they are others."""
        if self.later is not None:
            _write(self.store, self.folder, self.later)
        return self.line


def claim(
    store: Store,
    folder: str,
    what: Continuous,
    place: str | None = None,
    change: bool = False,
    reads: Sequence[int] | None = None,
) -> Claim:
    """Make a new checkpoint this program's, or see that it is. Raises JobError, which says what changed, and Ended.
    `place` is where it lies, by its whole name, and `reads` are the sources of a chain, as READS says. With `change`
    its queries may be others than those of the checkpoint.
    """
    found, begun = _read(store, folder), bool(numbers_of(store, folder, "offsets"))
    if found is None and begun:
        raise JobError(
            f"{folder} has micro-batches, but not the file {FILE} that says of which program: it is another"
            " streaming query's and no"
            f" checkpoint of a job of cepc's, or the file was lost: {CURE}"
        )
    if found is not None and found["flush"] == DONE:
        raise Ended(f"{folder} was ended by --flush: its last windows are written; name a new directory to begin again")
    if found is None or not begun:
        for log in LOGS:  # what a kill amid the first left, with which Spark would not begin
            for name in store.names(f"{folder}/{log}"):
                if name.startswith("."):
                    store.delete(f"{folder}/{log}/{name}")
        first = begin(what)
        own = {"id": uuid.uuid4().hex, "flush": None, _PLACE: place, READS: None if reads is None else [*reads]}
        _write(store, folder, {**identity(what), **own, **first.data})
        return Claim(store, folder, first)
    made_in = found[_PLACE]
    if made_in and place and made_in != place and not store.exists(f"{made_in}/{FILE}"):
        raise JobError(
            f"{folder} was moved from {made_in}, where Spark looks for the files of its state: move it back, and name"
            " it so as --checkpoint"
        )
    now, changed = _agreed(store, folder, found, what, change)
    if changed is not None:
        return Claim(store, folder, _begun(now), None, now, _line(what, changed, now["since"]))
    if now != found and found["flush"] is None:
        _write(store, folder, now)
    return Claim(store, folder, _begun(now), found["flush"])


def _agreed(
    store: Store, folder: str, found: dict[str, Any], what: Continuous, change: bool
) -> tuple[dict[str, Any], Change | None]:
    """What the file of the checkpoint says from now on, and how its queries change, if they do. Raises JobError."""
    was, ours = _begun(found), identity(what)
    if not change or found["queries"] == ours["queries"]:
        _check_same(folder, found, ours, [name for link in what.links for name in link.left_out])
        return {**found, "format": FORMAT, **was.read_by(what).data}, None
    changing = Change.between(found["queries"], ours["queries"])
    watermark = _check_change(store, folder, found, ours, what, changing)
    return {**found, **ours, **changing.of_new(what, was, watermark).data}, changing


def _line(what: Continuous, change: Change, since: dict[str, int]) -> dict[str, Any]:
    """What is told of a change."""
    queries = {"kept": [*change.kept], "gone": [*change.gone], "new": [*change.new]}
    line = {"stream": what.streamed.stream.name, "change": True, **queries}
    return {**line, "since": shown(millis_of(what.plan.stream, since[change.new[0]]))} if change.new else line


def _check_change(
    store: Store, folder: str, found: dict[str, Any], ours: dict[str, Any], what: Continuous, change: Change
) -> int:
    """The watermark with which other queries can begin. Raises JobError where they cannot."""
    _check_same(folder, found, {**ours, "queries": found["queries"], "stream": found["stream"]}, ())
    if found["flush"] is not None:
        raise JobError(
            f"{folder} is being ended by --flush, which can only be finished with the program it belongs to: run that,"
            " or name a new directory to begin again"
        )
    was, now = (stream["clauses"].get(WITH_ROWS, "none") for stream in (found["stream"], ours["stream"]))
    if was != now:
        raise JobError(
            f"the {WITH_ROWS} of queries were {was} on {folder} and are {now}, and --change is for other queries over"
            " the same ones: name a new directory to begin again"
        )
    if said := change.otherwise(found["stream"], what):
        raise JobError(
            f"queries that are the same on {folder} would read other events: {'; '.join(said)}. --change is for other"
            f" queries alone: give {', '.join(change.kept) or 'all queries'} other names, or name a new directory to"
            " begin again"
        )
    if found["panes"] is None:
        raise JobError(
            f"{folder} was last read by an earlier version of cepc, which did not write down what --change needs: run"
            " the program it belongs to once more with this version, then the new one with --change"
        )
    if not change.new:
        return 0
    if len(what.sources) > 1:
        raise JobError(
            f"query {change.new[0]} is new, and --change does not know how far each of the streams"
            f" {', '.join(one.name for one in what.sources)} was read: leave it out, or run it"
            " in a job of its own with a new directory"
        )
    watermark = watermark_done(store, folder)
    if watermark is None:
        raise JobError(
            f"no micro-batch of {folder} is done, so there is nothing to go on with: run the program it belongs to, or"
            " name a new directory to begin again"
        )
    return watermark


def _begun(found: dict[str, Any]) -> Begun:
    return Begun(*(found[name] for name in _BEGUN))


def check_program(store: Store, folder: str, what: Continuous, change: bool = False) -> None:
    """See that a checkpoint is new or this program's, or may `change` to be, and leave it as it is. Raises JobError."""
    if (found := _read(store, folder)) is not None and numbers_of(store, folder, "offsets"):
        _agreed(store, folder, found, what, change)


def _check_same(folder: str, found: dict[str, Any], ours: dict[str, Any], left_out: Collection[str]) -> None:
    if problems := _changes(found, ours, left_out):
        raise JobError(_not_this(folder, problems, [name for name in left_out if name in found["queries"]]))


def check_streams(store: Store, folder: str, run: Collection[str], program: Mapping[str, Sequence[str]]) -> None:
    """See that nothing in a job's checkpoint is left behind: a stream that has begun there is among those that are
    `run`, or is one of the `program`, which has these queries of it, and was ended by a flush. Raises JobError.

    One that was renamed would be read again from its beginning, and the windows of one that is gone never be written.
    """
    names, running = {path_of(folder, name): name for name in program}, {path_of(folder, name) for name in run}
    gone, left_out, may_flush = list[str](), dict[str, list[str]](), False
    for part in store.names(folder):
        own = f"{folder.rstrip('/')}/{part}"
        if own in running or "cepc" not in store.names(own) or not numbers_of(store, own, "offsets"):
            continue
        found = _read(store, own)
        is_over = found is not None and found["flush"] == DONE
        if own not in names:
            gone.append(unquote(part))
            may_flush = may_flush or not is_over
        elif not is_over:
            left_out[names[own]] = list(program[names[own]] if found is None else found["queries"])
    if gone:
        flush = "; --flush with the old program closes its windows first" if may_flush else ""
        raise JobError(
            f"{folder} is the checkpoint of another program: stream {', '.join(gone)} is gone. Name it as before, run"
            f" all queries of the checkpoint, or name a new directory to begin again{flush}"
        )
    if left_out:
        queries = ",".join(name for of_stream in left_out.values() for name in of_stream)
        raise JobError(
            f"{folder} is the checkpoint of more queries: those of stream {', '.join(left_out)} are not among those of"
            f" --queries. Add {queries} to --queries, or name another --checkpoint to begin again"
        )


def _not_this(folder: str, problems: Sequence[str], missing: Sequence[str]) -> str:
    """What to say of another's checkpoint; `missing` are its queries that this run leaves out."""
    if len(problems) == 1 and problems[0].startswith(_BUCKETS):
        return f"{folder} was begun with another number of buckets: {problems[0]}, or leave that option out"
    if len(missing) == len(problems):
        return (
            f"{folder} is the checkpoint of more queries: {'; '.join(problems)}. Add {','.join(missing)} to --queries,"
            " or name another --checkpoint to begin again"
        )
    change = ", write --change to go on with the queries that are the same" if all(map(is_of_query, problems)) else ""
    return (
        f"{folder} is the checkpoint of another program: {'; '.join(problems)}. Run the program it belongs to{change},"
        " or name a new directory to begin again; --flush with the old program closes its windows first"
    )


def _changes(old: dict[str, Any], new: dict[str, Any], left_out: Collection[str]) -> list[str]:
    """In a user's words."""
    if old["format"] not in (_BEFORE, new["format"]):
        return [f"it was written in format {old['format']}, this is {new['format']}"]
    found = changes(old["queries"], new["queries"], left_out)
    if not found and old["stream"] != new["stream"]:
        found += declared_otherwise(old["stream"], new["stream"])
    if old["buckets"] != new["buckets"]:
        found.append(f"{_BUCKETS}{old['buckets']} buckets, write --buckets {old['buckets']}")
    return found


def buckets_of(store: Store, folder: str) -> int | None:
    """How many the checkpoint was begun with; None of a new one."""
    found = _read(store, folder)
    return None if found is None else int(found["buckets"])


def id_of(store: Store, folder: str) -> str:
    """Of this checkpoint alone: one that is begun again in the same place has another."""
    return str((_read(store, folder) or {})["id"])


def id_and_flush(store: Store, folder: str) -> tuple[str, Any] | None:
    """Of a checkpoint that may be anybody's, or none any more."""
    try:
        found = _read(store, folder)
    except JobError:
        return None
    return None if found is None else (str(found["id"]), found["flush"])


def ended(store: Store, folders: Mapping[str, str]) -> frozenset[str]:
    """The streams, of those that have these checkpoints, that a flush has ended, or must: it was begun with all that it
    ends, and a kill may have left some of them.
    """
    found: set[str] = set()
    for name, folder in folders.items():
        program = _read(store, folder)
        if program is not None and program["flush"] is not None:
            found |= {name, *program[_TOGETHER]}
    return frozenset(found & folders.keys())


def flush(
    store: Store,
    folder: str,
    opened: Callable[[int], Opened],
    write: Callable[[Opened], Done],
    together: Sequence[str] = (),
) -> Done | None:
    """End the checkpoint: `opened` finds what is open after a micro-batch, and `write` gives it out; None where there
    was none, so nothing is open: it is ended only if other streams are, which are named in `together`. Raises JobError.

    That the flush has begun is said when the state is found, for one that cannot begin must leave the checkpoint as it
    was, and before any of its rows is written. From then on no event can be taken any more, so whoever finishes it
    writes the same rows; and nothing may come after it, for its windows would be given twice.
    """
    found = _read(store, folder) or {}
    batch = _newest(store, folder) if found["flush"] is None else int(found["flush"])
    said = {**found, _TOGETHER: sorted({*found[_TOGETHER], *together})}
    if batch < 0:
        if together:
            _write(store, folder, {**said, "flush": DONE})
        return None
    if str(batch) not in store.names(f"{folder}/commits"):
        raise JobError(
            f"{folder}/commits/{batch} is missing, and the flush that follows this micro-batch cannot be finished"
            f" without it: {CURE}"
        )
    if (last := max(numbers_of(store, folder, "commits"))) > batch:
        raise JobError(
            f"{folder}/{FILE} is damaged: it says that a flush follows micro-batch {batch}, and {last} was done: {CURE}"
        )
    rows = opened(batch)
    _write(store, folder, {**said, "flush": batch})
    done = write(rows)
    _write(store, folder, {**said, "flush": DONE})
    return done


def _newest(store: Store, folder: str) -> int:
    """The micro-batch that was done last, -1 where there is none. Raises JobError where another was begun after it."""
    begun, done = (max(numbers_of(store, folder, log), default=-1) for log in LOGS)
    if begun != done:
        raise JobError(
            f"micro-batch {begun} of {folder} is not done: run the job with --trigger available-now --flush,"
            " which does it and then"
            " closes what is open"
        )
    return done


def _read(store: Store, folder: str) -> dict[str, Any] | None:
    path = f"{folder}/{FILE}"
    text = store.read(path)
    if text is None:
        if any(name.startswith("part-") for name in store.names(f"{folder}/cepc")):
            raise JobError(
                f"{folder} is a checkpoint of an earlier version of cepc: end it with --flush there, and name a"
                " new directory"
            )
        return None
    try:
        found: dict[str, Any] = json.loads(text)
        if not _is_right(found):
            raise ValueError("values of other types")
        begun = {"since": found.get("since", {}), "panes": found.get("panes"), "delay": found.get("delay")}
        later = {_TOGETHER: found.get(_TOGETHER, []), _PLACE: found.get(_PLACE), READS: found.get(READS), **begun}
        return {**{name: found[name] for name in _NAMES}, **later}
    except (ValueError, TypeError, KeyError) as error:
        raise JobError(f"{path} is damaged: it should be one JSON object with {', '.join(_NAMES)}: {CURE}") from error


def _is_right(found: dict[str, Any]) -> bool:
    flush = found["flush"]
    is_known = flush is None or flush == DONE or type(flush) is int
    are_known = isinstance(found.get(_TOGETHER, []), list) and isinstance(found.get(_PLACE, ""), str | None)
    are_known = are_known and type(found["buckets"]) is int and isinstance(found["queries"], dict)
    are_known = are_known and _is_reads(found.get(READS))
    if found["format"] not in (_BEFORE, FORMAT):
        return is_known and are_known
    return is_known and are_known and is_declaration(found["stream"]) and _is_begun(found)


def _is_reads(data: Any) -> bool:
    return data is None or (isinstance(data, list) and all(type(place) is int and place >= 0 for place in data))


def _is_begun(found: dict[str, Any]) -> bool:
    since, panes, delay = found.get("since", {}), found.get("panes") or [], found.get("delay")
    are_ticks = isinstance(since, dict) and all(type(tick) is int for tick in since.values())
    return (
        are_ticks and isinstance(panes, list) and all(map(_is_group, panes)) and (delay is None or type(delay) is int)
    )


def _is_group(data: Any) -> bool:
    length, begin, names = data
    return type(length) is type(begin) is int and 0 <= begin < length and all(isinstance(name, str) for name in names)


def _write(store: Store, folder: str, data: dict[str, Any]) -> None:
    store.replace(f"{folder}/{FILE}", json.dumps(data))
