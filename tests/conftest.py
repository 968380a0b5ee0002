"""The one Spark session, the markers that depend on it, and the sizes of the properties."""

import gc
import inspect
import os
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from cepc.java import JavaNotFoundError, spark_environment
from cepc.running.class_archive import ClassArchive
from tests import jvm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytest_plugins = ["tests.reporting"]

# A deadline measures the machine, not the code, on cores that are shared with a JVM. In CI a red run means a changed
# program.
_COMMON = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ, print_blob=True
)
settings.register_profile("dev", _COMMON, max_examples=4)
settings.register_profile("ci", _COMMON, max_examples=48)
settings.register_profile("long", _COMMON, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


_ARCHIVE = pytest.StashKey[ClassArchive | None]()


def pytest_configure(config: pytest.Config) -> None:
    """Says how each JVM starts, that of the session and those of jobs that tests submit."""
    keeps = config.pluginmanager.has_plugin("cacheprovider")
    archive = jvm.class_archive(config.cache.mkdir("classes")) if keeps and config.cache is not None else None
    config.stash[_ARCHIVE] = archive
    os.environ["SPARK_SUBMIT_OPTS"] = jvm.options(archive)


def pytest_collection_finish() -> None:
    """What is imported and collected by now stays: nobody need look through it for garbage again and again."""
    gc.collect()
    gc.freeze()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Who asks for the session is a `spark` test, and all of these run in one worker, so that there is one session.

    Tests that start a JVM of their own run in whichever worker has time. Who calls `hold`, or goes through
    `case_numbers`, checks a property, and who comes to `subprocess` starts a process.
    """
    if "spark" in getattr(item, "fixturenames", ()):
        item.add_marker("spark")
        item.add_marker(pytest.mark.xdist_group("spark"))
    if isinstance(item, pytest.Function):
        function = inspect.unwrap(item.function)
        if _comes_to(function, "hold") or _comes_to(function, "case_numbers"):
            item.add_marker("property")
        if _comes_to(function, "subprocess"):
            item.add_marker("process")


@cache  # a test has many items
def _comes_to(function: object, name: str) -> bool:
    """Whether a function uses the name, or another function of the tests does that it uses."""
    return _finds(function, name, set())


def _finds(function: object, name: str, seen: set[object]) -> bool:
    if not isinstance(function, FunctionType) or function in seen:
        return False
    seen.add(function)
    used = _names(function.__code__)
    others = (function.__globals__.get(other) for other in used)
    return name in used or any(
        _finds(other, name, seen) for other in others if getattr(other, "__module__", "").startswith("tests")
    )


def _names(code: CodeType) -> frozenset[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(code.co_names).union(*map(_names, inner))


@pytest.fixture(scope="session")
def spark(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """A local session of two cores in UTC; tests may set and must restore its settings. It leaves nothing behind but
    the archive of its classes, where there was none.
    """
    try:
        os.environ.update(spark_environment())
    except JavaNotFoundError as error:
        pytest.fail(str(error))
    from pyspark.sql import SparkSession

    archive = pytestconfig.stash[_ARCHIVE]
    making = [archive.options] if archive is not None and archive.is_made else []
    directory = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("cepc tests")
        .config("spark.driver.bindAddress", "127.0.0.1")  # works where the host's own name does not resolve
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", " ".join(["-XX:+UseSerialGC", *making]))
        # What Spark's own compiler costs, stage by stage, few events never earn. Jobs that tests submit have it.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.local.dir", str(directory / "local"))
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    yield session
    session.stop()
    if archive is not None and archive.is_made:
        jvm.end(archive)
