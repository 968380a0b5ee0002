"""The arguments of a job that only `--mode stream` has, and what runs it with them."""

from __future__ import annotations

import argparse
import posixpath
import re
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..schema import JobError, needed, sources_of
from ..sinks import path_of
from .outputs import SINKS
from .running import flush_all, wait
from .sinks import Target, console
from .source import OF_FILES, read_stream
from .spread import FOR_CORE, ON_CLUSTER
from .starting import stream as start_streams
from .store import HadoopStore, StoreError
from .telling import to_stderr
from .terms import DAY, EVERY, Folders, Terms, trigger_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from ..schema import Stream
    from .query import Streamed
    from .store import Store

WITHOUT_INPUT: Final = ("kafka", "rate")
"""Sources whose options can say it all."""
_UNITS: Final = {"second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with --mode stream")
    group.add_argument("--checkpoint", metavar="DIR", help="where the stream keeps what it needs to go on; required")
    group.add_argument(
        "--trigger", metavar="TIME",
        help=f'how often to look for events, or available-now: what is there, then end (default: "{EVERY}")',
    )  # fmt: skip
    group.add_argument(
        "--flush",
        action="store_true",
        help="with available-now: at the end, close the windows that are still open and end the checkpoint",
    )
    group.add_argument(
        "--change", action="store_true",
        help="the queries may differ from the checkpoint's: unchanged ones continue, new ones start now",
    )  # fmt: skip
    group.add_argument("--late", metavar="DIR", help="write events that take no part, with the reason")
    group.add_argument(
        "--dead", metavar="DIR",
        help="write records that are no events, with the reason, and go on (default: such a record stops the job)",
    )  # fmt: skip
    group.add_argument(
        "--avro", metavar="FILE", help="with --format kafka: the values are Avro of this schema (default: JSON)"
    )
    group.add_argument(
        "--output-option", action="append", default=[], type=option, metavar="KEY=VALUE",
        help="an option for Spark's writer",
    )  # fmt: skip
    group.add_argument(
        "--buckets", type=positive, metavar="N",
        help="in how many parts the state is kept; fixed by the first run"
        f" (default: {FOR_CORE} for each core, on a cluster {ON_CLUSTER})",
    )  # fmt: skip
    group.add_argument(
        "--ahead", type=_duration, metavar="TIME",
        help='an event so far ahead of the clock is dropped and counted (default: "1 day")',
    )  # fmt: skip


def problem(arguments: argparse.Namespace) -> str | None:
    """What is wrong with the arguments together."""
    if arguments.mode != "stream":
        names = (
            "checkpoint",
            "late",
            "dead",
            "avro",
            "output_option",
            "buckets",
            "flush",
            "change",
            "trigger",
            "ahead",
        )
        wrong = next((name for name in names if _is_given(getattr(arguments, name))), None)
        return f"--{wrong.replace('_', '-')} is for --mode stream" if wrong else None
    if arguments.checkpoint is None:
        return "--mode stream requires --checkpoint DIR, where the stream keeps what it needs to go on"
    form = arguments.output_format
    if arguments.output != "console" and form not in SINKS:
        return f"--output-format {form} is not for a stream: {', '.join(SINKS)}, or `stream` in Python"
    if arguments.avro is not None and arguments.format != "kafka":
        return "--avro is for --format kafka"
    if arguments.flush and arguments.trigger != "available-now":
        return "--flush is for a run that ends: write --trigger available-now"
    try:
        trigger_of(_trigger(arguments))
    except JobError as error:
        return str(error)
    return None


def meeting(arguments: argparse.Namespace, streams: Sequence[Stream], names: Sequence[str]) -> str | None:
    """What is wrong where two options name places in which files would lie among each other's, or replace them."""
    own = tuple(one.name for one in streams)
    given = {"checkpoint": arguments.checkpoint, **_written(arguments)} if arguments.checkpoint is not None else {}
    parts = {option: names if option == "output" else own for option in given}
    places = {option: [_whole(path_of(path, part)) for part in parts[option]] for option, path in given.items()}
    for one, other in combinations(places, 2):
        for a, b in product(places[one], places[other]):
            if _is_in(a, b) or _is_in(b, a):
                rest = "" if a == b else f" and {b}"
                return (
                    f"the files of --{one} {given[one]} and of --{other} {given[other]} would be mixed in"
                    f" {a}{rest}: give --{other if one == 'checkpoint' else one} another directory"
                )
    return None


def among_events(arguments: argparse.Namespace, names: Sequence[str], path: str) -> str | None:
    """What is wrong where something is written to below the files of events, or these lie below a query's rows: the
    stream would read what it writes. Names that begin with `_` or `.` are not read.
    """
    read = _whole(path)
    for option, folder in {"checkpoint": arguments.checkpoint, **_written(arguments)}.items():
        place = _whole(folder)
        is_seen = _is_in(place, read) and not re.search("/[_.]", place[len(read) :])
        own = [_whole(path_of(folder, name)) for name in names] if option == "output" else []
        if is_seen or any(_is_in(read, query) for query in own):
            return (
                f"--{option} {folder} is among the events of {path}, so the stream would read what it writes: name a"
                " directory outside of it"
            )
    return None


def _is_in(place: str, folder: str) -> bool:
    """Whether it is the folder, or below it."""
    return f"{place}/".startswith(f"{folder}/")


def _whole(path: str) -> str:
    """The path that is the same for the same place, however it is written."""
    scheme, colon, rest = path.partition(":/")
    if colon and scheme != "file":
        return f"{scheme}:{posixpath.normpath(f'/{rest}')}"
    return str(Path(f"/{rest.lstrip('/')}" if colon else path).absolute().resolve())


def _is_given(value: object) -> bool:
    """Whether it is an option's own value; a duration may be 0."""
    return value is not None and value is not False and value != []


def run_streams(
    spark: SparkSession,
    streams: Sequence[Streamed],
    names: Sequence[str],
    inputs: Mapping[str, str],
    arguments: argparse.Namespace,
) -> None:
    """One streaming query for each stream of the program. Raises JobError, and what a query fails with."""
    avro = _schema(arguments.avro)
    to, written = arguments.output, dict(arguments.output_option)
    target = Target(spark, streams, names, to, written, arguments.checkpoint)
    sink = console if to == "console" else SINKS[arguments.output_format](target)
    for name, folder in _written(arguments).items():
        _check_writable(HadoopStore(spark), name, folder)
    wanted = sources_of(needed([one.stream for one in streams], names))
    events = {}
    for stream in wanted:
        form, path = stream.source or ("parquet", None)
        form, path = arguments.format or form, inputs.get(stream.name, path)
        options = dict(stream.options) | dict(arguments.option)
        if path is not None and form.lower() in OF_FILES and (wrong := among_events(arguments, names, path)):
            raise JobError(wrong)
        events[stream.name] = read_stream(spark, stream, form, path, options, avro)
    folders = Folders(arguments.checkpoint, arguments.late, arguments.dead)
    ahead = DAY if arguments.ahead is None else arguments.ahead
    terms = Terms(folders, _trigger(arguments), arguments.buckets, ahead, arguments.change)
    finish = to_stderr if arguments.flush else None
    running = start_streams(spark, streams, sink, terms, events, names, finish)
    wait(running, to_stderr)
    if arguments.flush:
        flush_all(running, to_stderr)


def _written(arguments: argparse.Namespace) -> dict[str, str]:
    """The directories that options name for what is written, but for the checkpoint, whose lease is the first file."""
    is_folder = arguments.output != "console" and arguments.output_format != "kafka"
    names = ("late", "dead", *(("output",) if is_folder else ()))
    return {name: folder for name in names if (folder := getattr(arguments, name)) is not None}


def _check_writable(store: Store, name: str, folder: str) -> None:
    """Raises JobError, now and not with the first rows."""
    probe = f"{folder.rstrip('/')}/_may_be_written"
    try:
        store.replace(probe, "")
        store.delete(probe)
    except StoreError as error:
        raise JobError(f"--{name} {folder}: {error}; name a directory in which this user may write") from error


def _trigger(arguments: argparse.Namespace) -> str:
    return EVERY if arguments.trigger is None else str(arguments.trigger)


def _schema(path: str | None) -> str | None:
    """Raises JobError."""
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise JobError(f"--avro {path}: {error.strerror}") from error


def option(text: str) -> tuple[str, str]:
    """KEY=VALUE, for argparse."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"write KEY=VALUE instead of {text}")
    return key, value


def positive(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"write a number from 1 on instead of {text}")
    return int(text)


def _duration(text: str) -> int:
    """In milliseconds."""
    number, _, unit = text.strip().partition(" ")
    unit = unit.strip().lower().removesuffix("s")
    if not number.isdecimal() or unit not in _UNITS:
        raise argparse.ArgumentTypeError(f'write a time such as "2 hours" instead of {text}')
    return int(number) * _UNITS[unit]
