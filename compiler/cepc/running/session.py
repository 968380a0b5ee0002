"""The Spark session that a program runs in: found or made, and with workers that can import the runtime."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.source import NOWHERE

from ..errors import RunError
from ..java import JavaNotFoundError, spark_environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def failed(sentence: str) -> Diagnostic:
    """What is said where Spark, or what it needs, fails."""
    return Diagnostic("E0807", sentence, NOWHERE)


def need_pyspark() -> None:
    """Raises RunError where pyspark is not installed."""
    if find_spec("pyspark") is None:
        raise RunError([failed("Spark is not installed here: `pip install 'cepc[spark]'` brings pyspark")])


def is_of_spark(value: Any, name: str) -> bool:
    """Whether it is a `SparkSession` or a `DataFrame` of Spark's, of whichever kind; pyspark need not be there."""
    return any(one.__name__ == name and one.__module__.startswith("pyspark.sql") for one in type(value).__mro__)


def session_of(events: Iterable[Any]) -> Any:
    """The session that the events live in; without any the one there is, or a new one. Raises RunError."""
    from pyspark.sql import SparkSession

    frames = [one for one in events if is_of_spark(one, "DataFrame")]
    if frames:
        return frames[0].sparkSession
    return SparkSession.getActiveSession() or local_session()


LITTLE: Final = 16 << 20
"""Bytes of events, of which the JVM's second compiler costs more than it gains."""


def quiet_session(size: int | None = None) -> Any:
    """One that says nothing but its progress, to a person; errors are said in a sentence. `size` is that of the events,
    in bytes, where it is known. Raises RunError.
    """
    at_terminal = sys.stderr is not None and sys.stderr.isatty()
    settings = {
        "spark.log.level": "WARN" if os.environ.get("CEPC_DEBUG") == "1" else "OFF",
        "spark.ui.showConsoleProgress": str(at_terminal).lower(),
        **jvm_of(size),
    }
    return local_session(settings, keeps_classes=is_little(size))


def jvm_of(size: int | None) -> Mapping[str, str]:
    """The settings of a JVM for so many bytes of events."""
    from cepc_runtime.spark.settings import JVM, JVM_OF_LITTLE

    return JVM_OF_LITTLE if is_little(size) else JVM


def is_little(size: int | None) -> bool:
    return size is not None and size <= LITTLE


def local_session(more: Mapping[str, str] | None = None, *, keeps_classes: bool = False) -> Any:
    """A session on this machine, or where SPARK_REMOTE or the master of Spark's own configuration says, with settings
    that suit a job and `more`, which comes first. It finds a Java, also one from PyPI. A JVM of its own may use the
    archive of classes, or make it. Raises RunError.
    """
    need_pyspark()
    try:
        os.environ.update(spark_environment())
    except JavaNotFoundError as error:
        raise RunError([failed(str(error))]) from None
    from pyspark.sql import SparkSession

    from cepc_runtime.spark.settings import JVM, SETTINGS, STATIC

    builder = SparkSession.builder.appName("cepc")
    if "SPARK_REMOTE" not in os.environ and "MASTER" not in os.environ:
        builder = builder.master("local[*]")
    own = {
        "spark.driver.maxResultSize": "0",  # the rows of all queries come at once, whatever they weigh
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    settings = {**SETTINGS, **STATIC, **JVM, **own, **(more or {})}
    if keeps_classes and "SPARK_REMOTE" not in os.environ:
        settings = _with_classes(settings)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _with_classes(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings, with the archive of classes where this run uses one. Where it makes it, the JVM starts here."""
    import pyspark

    from .class_archive import class_archive, start_jvm

    if pyspark.SparkContext._gateway is not None:  # a JVM runs, and takes no options any more
        return dict(settings)
    found = class_archive(os.environ, Path(pyspark.__file__).parent, pyspark.__version__)
    if found is None:
        return dict(settings)
    name = "spark.driver.defaultJavaOptions"
    all_settings = {**settings, name: f"{settings[name]} {found.options}"}
    if found.is_made:
        start_jvm(all_settings)
    return all_settings


@contextmanager
def with_runtime(session: Any) -> Iterator[None]:
    """The workers of what is built meanwhile can import the runtime.

    Those of this machine run this Python, unless the user has chosen another: Spark would take the first `python3` of
    the PATH, which in a virtual environment that is not active has none of what is installed there. All others are sent
    the runtime.
    """
    if is_local(session):
        context = session.sparkContext
        chosen = context.pythonExec
        if _runs(chosen):
            yield
            return
        if "PYSPARK_PYTHON" not in os.environ and context.getConf().get("spark.pyspark.python") is None:
            context.pythonExec = sys.executable
            try:
                yield
            finally:
                context.pythonExec = chosen
            return
    _ship(session)
    yield


def is_local(session: Any) -> bool:
    """Whether its workers are on this machine."""
    from pyspark.sql.utils import is_remote

    return not is_remote() and str(session.sparkContext.master).startswith("local")


def _runs(python: str) -> bool:
    """Whether a worker's Python is the one that runs this, the same virtual environment included."""
    found = shutil.which(python)
    return found is not None and os.path.abspath(found) == os.path.abspath(sys.executable)  # noqa: PTH100 - links stay


def _ship(session: Any) -> None:
    import tempfile

    from pyspark.sql.utils import is_remote

    from ..codegen.bundle import ARCHIVE, runtime_archive

    path = Path(tempfile.mkdtemp(prefix="cepc-")) / ARCHIVE
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)  # workers may fetch it as long as the session lives
    path.write_bytes(runtime_archive())
    if is_remote():
        session.addArtifacts(str(path), pyfile=True)
    else:
        session.sparkContext.addPyFile(str(path))
