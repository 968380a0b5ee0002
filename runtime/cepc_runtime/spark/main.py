"""The command line of a generated job."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from pyspark.sql import Observation, SparkSession
from pyspark.sql.utils import is_remote

from ..enumerate.budget import PARTIAL_MATCHES
from .build import declared
from .errors import SPARK_ERRORS, sentence
from .files import PARTED, Files
from .inputs import inputs_of
from .paths import misread
from .schema import JobError, declared_of, needed, sources_of
from .settings import MOST, OF_OUTPUT, SETTINGS, STATIC
from .sinks import check_absent, complete, not_in_csv, show
from .source import read
from .streaming import arguments as streaming
from .streaming.ending import ToldToEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from .schema import Stream
    from .stream_part import StreamPart
    from .streaming.query import Streamed

    EventFrames = Mapping[str, DataFrame]
    DropCounts = Mapping[str, Observation]
    BuildFrames = Callable[[SparkSession, EventFrames, Collection[str], DropCounts], dict[str, DataFrame]]
    WriteStreams = Callable[[SparkSession, EventFrames, Collection[str], DropCounts, Files], None]

CONSOLE = "console"


def main(
    argv: Sequence[str] | None,
    parts: Sequence[StreamPart],
    streamed: Sequence[Streamed],
    build: BuildFrames,
    write: WriteStreams,
) -> int:
    """Run a job of these parts, or these streams: 0, or 1 after a sentence on standard error, or what shells make of a
    signal. `build` gives the rows of a batch, `write` puts them into files. argparse exits with 2 where the command is
    wrong.
    """
    parser = _parser([part.stream for part in parts])
    arguments = _with_format(parser.parse_args(argv))
    streams = [one.stream for one in (streamed if arguments.mode == "stream" else parts)]
    names = _queries(parser, arguments.queries, streams)
    wanted = needed(streams, names)
    is_csv = arguments.output != CONSOLE and arguments.output_format == "csv"
    wrong = streaming.problem(arguments) or _unwritten(arguments)
    wrong = wrong or _misread(_folders(arguments)) or streaming.meeting(arguments, wanted, names)
    if wrong := wrong or (not_in_csv(parts, names) if is_csv else None):
        parser.error(wrong)
    try:
        without = arguments.format in streaming.WITHOUT_INPUT
        inputs = inputs_of(arguments.input, streams, names, without)
    except JobError as error:
        parser.error(str(error))
    of_files = [inputs[s.name] for s in sources_of(wanted) if s.name in inputs and _format(s, arguments) in PARTED]
    if wrong := _misread([("input", path) for path in of_files]):
        parser.error(wrong)

    def run(spark: SparkSession) -> None:
        if arguments.mode == "stream":
            streaming.run_streams(spark, streamed, names, inputs, arguments)
        else:
            _run(spark, build, write, wanted, names, inputs, arguments)

    try:
        return _finished(run, arguments)
    except ToldToEnd as told:
        return _interrupted(arguments, told.number)
    except KeyboardInterrupt:
        return _interrupted(arguments, signal.SIGINT)


def _interrupted(arguments: argparse.Namespace, number: int) -> int:
    rest = ": the same command goes on from the checkpoint" if arguments.mode == "stream" else ""
    print(f"interrupted{rest}", file=sys.stderr)
    return 128 + number


def _finished(run: Callable[[SparkSession], None], arguments: argparse.Namespace) -> int:
    spark = _session(arguments)
    try:
        run(spark)
    except (JobError, *SPARK_ERRORS) as error:
        if os.environ.get("CEPC_DEBUG") == "1":
            raise
        print(f"error: {sentence(error)}", file=sys.stderr)
        return 1
    finally:
        spark.stop()
    return 0


def _session(arguments: argparse.Namespace) -> SparkSession:
    builder = SparkSession.builder.appName(os.path.basename(sys.argv[0]))  # noqa: PTH119
    if not is_remote():
        for setting, value in STATIC.items():
            builder = builder.config(setting, value)
    spark = builder.getOrCreate()
    for setting, value in SETTINGS.items():
        spark.conf.set(setting, value)
    for setting, value in OF_OUTPUT.items():
        if not _is_said(spark, setting):
            spark.conf.set(setting, value)
    if arguments.most is not None:
        spark.conf.set(MOST, str(arguments.most))
    return spark


def _is_said(spark: SparkSession, setting: str) -> bool:
    """Whether who starts the job says something of it; a server of Spark Connect may, and cannot be asked."""
    return is_remote() or bool(spark.sparkContext.getConf().contains(setting))


def _run(
    spark: SparkSession,
    build: BuildFrames,
    write: WriteStreams,
    wanted: Sequence[Stream],
    names: Sequence[str],
    inputs: Mapping[str, str],
    arguments: argparse.Namespace,
) -> None:
    if arguments.output != CONSOLE:
        check_absent(spark, arguments.output)
    given = dict(arguments.option)
    events = {
        s.name: read(spark, s, _format(s, arguments), inputs[s.name], dict(s.options) | given)
        if s.name in inputs
        else declared(spark, s)
        for s in sources_of(wanted)
    }
    dropped = {s.name: Observation(f"dropped of {s.name}") for s in declared_of(wanted)}
    if arguments.output == CONSOLE:
        for name, rows in build(spark, events, names, dropped).items():
            show(name, rows)
    else:
        write(spark, events, names, dropped, Files(arguments.output, arguments.output_format))
        complete(spark, arguments.output)
    for name, observation in dropped.items():
        _report(name, observation.get)


def _format(stream: Stream, arguments: argparse.Namespace) -> str:
    declared = stream.source[0] if stream.source else "parquet"
    return arguments.format or declared


def _report(stream: str, counts: dict[str, Any]) -> None:
    parts = [
        f"{counts[key]:,} without a {what}"
        for key, what in (("null_time", "time"), ("null_type", "type"))
        if counts[key]
    ]
    if parts:
        print(f"stream {stream}: dropped {' and '.join(parts)}", file=sys.stderr)


# ---- arguments -------------------------------------------------------------------------------------------------------


def _parser(streams: Sequence[Stream]) -> argparse.ArgumentParser:
    queries = [name for stream in streams for name in stream.queries]
    declared = [
        f"{s.name}: {s.source[0]} {s.source[1]}" if s.source else f"{s.name}: none, --input names it"
        for s in sources_of(streams)
    ]
    parser = argparse.ArgumentParser(
        description=_plain(
            f"Complex-event queries as one Spark job. Queries: {', '.join(queries)}. Events: {'; '.join(declared)}."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "--input", action="append", default=[], metavar="[STREAM=]PATH",
        help="where the events are; for the source that the program names",
    )  # fmt: skip
    parser.add_argument(
        "--format",
        type=_source_format,
        help="parquet, csv, json, table, or another that Spark knows (default: what the program says, or parquet)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        type=streaming.option,
        metavar="KEY=VALUE",
        help="an option for Spark's reader",
    )
    parser.add_argument(
        "--output",
        default=CONSOLE,
        metavar="DIR",
        help="a new directory with one for each query; the file _SUCCESS in it says that all are complete"
        " (default: console)",
    )
    parser.add_argument(
        "--output-format", type=_format_name,
        help="parquet, csv, json, or another (default: parquet)",
    )  # fmt: skip
    parser.add_argument(
        "--mode", choices=["batch", "stream"], default="batch",
        help="all events there are, once; or events as they come (default: batch)",
    )  # fmt: skip
    parser.add_argument("--queries", metavar="NAME,…", help="only these queries")
    parser.add_argument(
        "--most", type=streaming.positive, metavar="N",
        help=f"stop where a task lists more than N partial matches of a query (default: {PARTIAL_MATCHES:,})",
    )  # fmt: skip
    streaming.add_arguments(parser)
    return parser


def _format_name(text: str) -> str:
    """Spark knows formats by names in any letters, and classes by their own names."""
    return text if "." in text else text.lower()


def _source_format(text: str) -> str:
    """There are no formats with `=`, but an --input with one, which is of a stream."""
    if "=" in text:
        raise argparse.ArgumentTypeError(
            f"write {text.rpartition('=')[2]} instead of {text}, for all streams: where their formats differ, the"
            " program says which, by FROM in each STREAM"
        )
    return _format_name(text)


def _plain(text: str) -> str:
    """argparse formats with %."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text).replace("%", "%%")


def _queries(parser: argparse.ArgumentParser, text: str | None, streams: Sequence[Stream]) -> list[str]:
    known = [name for stream in streams for name in stream.queries]
    if text is None:
        return known
    names = [text] if text in known else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            empty = "--queries has a comma that no name follows" if text.strip() else "--queries names no query"
            parser.error(f"{f'there is no query {name}' if name else empty}; there are {', '.join(known)}")
    return names


def _folders(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """What is written, with the option that names it; Kafka has topics instead."""
    names = ("checkpoint", "late", "dead", *(() if arguments.output_format == "kafka" else ("output",)))
    return [(name, path) for name in names if (path := getattr(arguments, name)) is not None]


def _with_format(arguments: argparse.Namespace) -> argparse.Namespace:
    """With the format in which rows are written; `says_how` is what was said of it."""
    said = {"--output-format": arguments.output_format is not None, "--output-option": bool(arguments.output_option)}
    form = arguments.output_format or "parquet"
    says_how = next((name for name, given in said.items() if given), None)
    return argparse.Namespace(**vars(arguments) | {"output_format": form, "says_how": says_how})


def _unwritten(arguments: argparse.Namespace) -> str | None:
    """What is wrong where it is said how rows are written, and not where: a stream that printed them would go on behind
    them, and they would be nowhere.
    """
    if arguments.output != CONSOLE or arguments.says_how is None:
        return None
    what = "TOPIC" if arguments.output_format == "kafka" else "DIR"
    return f"{arguments.says_how} is for rows that are written: add --output {what}, or leave it out to print them"


def _misread(places: Iterable[tuple[str, str]]) -> str | None:
    """What is wrong with places that options name."""
    found = next(((name, path) for name, path in places if misread(path)), None)
    return found and f"--{found[0]} {found[1]} would be read as a URL, for its colon: write ./{found[1]}"
