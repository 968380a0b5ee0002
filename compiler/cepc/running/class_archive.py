"""An archive of the classes of a short run: a JVM that maps it need not read, check and lay out some fifteen thousand
again, which is two fifths of what a short run takes.

The third run makes it: who runs once, as in a container, pays nothing. To write it takes as long as two runs, so the
JVM does that when the command has ended, with nobody waiting for it. It writes the head of the file last, uses no file
without one, of another Java, of other jars or with another sum, and says nothing of that.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.private import is_private

from ..java import cache_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

QUIET: Final = "-Xshare:auto -XX:+VerifySharedSpaces -Xlog:disable"
"""A JVM warns on standard output, among the rows, of an archive that it does not use."""

HEAD: Final = 4
"""Bytes, which are zero as long as the file is not complete."""

MAKES: Final = 3
AGAIN: Final = 100
"""Where the third run did not make it, every hundredth tries again."""

OPTIONS: Final = ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""Where users say options of JVMs."""


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """Where it is, and whether this run makes it."""

    path: Path
    is_made: bool

    @property
    def options(self) -> str:
        """Those of the JVM."""
        return f"{QUIET} -XX:{'ArchiveClassesAtExit' if self.is_made else 'SharedArchiveFile'}={self.path}"


def class_archive(env: Mapping[str, str], pyspark: Path, version: str) -> ClassArchive | None:
    """That of the Java and the pyspark at hand, to use or to make; None where this run does neither."""
    with suppress(OSError, RuntimeError):  # read-only, or no home
        path = archive_path(env, pyspark, version)
        if any(c.isspace() or c in "\"'\\" for c in str(path)) or not is_private(path.parent):
            return None  # options are words of a text
        if path.exists() and _is_whole(path):
            return ClassArchive(path, is_made=False)
        if any(env.get(name) for name in OPTIONS):
            return None  # with another archive among them, say, a JVM that is to make one does not start
        runs = _one_more(path.with_suffix(".runs"))
        return ClassArchive(path, is_made=True) if runs % AGAIN == MAKES else None
    return None


def archive_path(env: Mapping[str, str], pyspark: Path, version: str) -> Path:
    """Where that of the Java and the pyspark at hand is kept, if there is one: what it is made of names it. Raises
    OSError for a JVM without the archive of its own classes that this one adds to.
    """
    java = Path(env["JAVA_HOME"])
    own, jars = (java / "lib" / "server" / "classes.jsa").stat(), (pyspark / "jars").stat()
    origin = repr((str(java), own.st_size, own.st_mtime_ns, str(pyspark), jars.st_mtime_ns, version))
    return cache_directory(env) / "jvm" / f"{hashlib.sha256(origin.encode()).hexdigest()[:16]}.jsa"


def _is_whole(path: Path) -> bool:
    """Whether it is complete, and as long as where it was first used: a JVM that reads past its end is killed. One that
    is shorter is taken away.
    """
    with path.open("rb") as file:
        if not any(file.read(HEAD)):
            return False
    size, known = str(path.stat().st_size), path.with_suffix(".size")
    if not known.exists():
        known.write_text(size, encoding="ascii")
    if known.read_text(encoding="ascii") == size:
        return True
    path.unlink()
    known.unlink()
    return False


def _one_more(count: Path) -> int:
    """How many runs there were without an archive, this one included: as many as the file has bytes."""
    count.parent.mkdir(parents=True, exist_ok=True)
    with count.open("ab") as file:
        file.write(b".")
        return file.tell()


def start_jvm(settings: Mapping[str, str]) -> None:
    """Start the JVM that pyspark will use, apart from the command: its output is nobody's, so that a pipe that the
    command writes to ends with the command.
    """
    import subprocess

    from pyspark import SparkConf, SparkContext, java_gateway

    apart = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    launch: Any = java_gateway.launch_gateway
    SparkContext._ensure_initialized(gateway=launch(SparkConf().setAll(list(settings.items())), apart))
