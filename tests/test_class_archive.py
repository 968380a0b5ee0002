"""The archive of classes for the JVM of a short run: when it is made and used, and where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from cepc.running.class_archive import AGAIN, HEAD, MAKES, OPTIONS, ClassArchive, class_archive

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A Java and a cache; beside them a pyspark."""
    (tmp_path / "java" / "lib" / "server").mkdir(parents=True)
    (tmp_path / "java" / "lib" / "server" / "classes.jsa").write_text("its own")
    (tmp_path / "pyspark" / "jars").mkdir(parents=True)
    return {"JAVA_HOME": str(tmp_path / "java"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def found(env: dict[str, str], tmp_path: Path, version: str = "4.0") -> ClassArchive | None:
    return class_archive(env, tmp_path / "pyspark", version)


def test_the_third_run_makes_it_and_a_hundred_later_another_tries_again(env: dict[str, str], tmp_path: Path) -> None:
    archives = [found(env, tmp_path) for _ in range(MAKES + AGAIN)]
    assert [i for i, archive in enumerate(archives, start=1) if archive is not None] == [MAKES, MAKES + AGAIN]
    assert all(archive.is_made for archive in archives if archive is not None)


def made(env: dict[str, str], tmp_path: Path) -> ClassArchive:
    archive = [found(env, tmp_path) for _ in range(MAKES)][-1]
    assert archive is not None
    assert archive.options.endswith(f"-XX:ArchiveClassesAtExit={archive.path}")
    archive.path.write_text("made")
    return archive


def test_what_is_there_is_used(env: dict[str, str], tmp_path: Path) -> None:
    path = made(env, tmp_path).path
    used = found(env, tmp_path)
    assert used == ClassArchive(path, is_made=False)
    assert used.options.endswith(f"-Xlog:disable -XX:SharedArchiveFile={path}")


@pytest.mark.parametrize("text", ["", "\0\0\0\0begun"])
def test_what_is_not_complete_is_not_used(env: dict[str, str], tmp_path: Path, text: str) -> None:
    made(env, tmp_path).path.write_text(text)
    assert found(env, tmp_path) is None


def test_what_is_cut_off_later_is_taken_away(env: dict[str, str], tmp_path: Path) -> None:
    path = made(env, tmp_path).path
    assert found(env, tmp_path) is not None
    path.write_text("mad")
    assert found(env, tmp_path) is None
    assert not path.exists()


@pytest.mark.parametrize("change", ["pyspark", "jars", "java"])
def test_that_of_another_java_or_pyspark_is_not_used(env: dict[str, str], tmp_path: Path, change: str) -> None:
    made(env, tmp_path)
    if change == "jars":
        os.utime(tmp_path / "pyspark" / "jars", (1, 1))
    if change == "java":
        (tmp_path / "java" / "lib" / "server" / "classes.jsa").write_text("a newer one")
    assert found(env, tmp_path, "4.1" if change == "pyspark" else "4.0") is None


def test_none_is_used_or_made_where_others_can_write(env: dict[str, str], tmp_path: Path) -> None:
    path = made(env, tmp_path).path
    path.parent.chmod(0o777)
    assert found(env, tmp_path) is None
    path.unlink()
    assert [found(env, tmp_path) for _ in range(MAKES)] == [None] * MAKES


@pytest.mark.parametrize("wrong", ["no archive of Java's own", "a space in the path", "a file in place of the folder"])
def test_where_there_can_be_none_a_run_does_without(env: dict[str, str], tmp_path: Path, wrong: str) -> None:
    if wrong == "no archive of Java's own":  # as in a small one that jlink makes
        (tmp_path / "java" / "lib" / "server" / "classes.jsa").unlink()
    if wrong == "a space in the path":
        env["XDG_CACHE_HOME"] = str(tmp_path / "my cache")
    if wrong == "a file in place of the folder":
        (tmp_path / "cache").write_text("")
    assert [found(env, tmp_path) for _ in range(MAKES)] == [None] * MAKES


@pytest.mark.parametrize("name", OPTIONS)
def test_where_the_user_says_options_of_jvms_none_is_made_and_what_is_there_is_used(
    env: dict[str, str], tmp_path: Path, name: str
) -> None:
    said = {**env, name: "-XX:SharedArchiveFile=own.jsa"}
    assert [found(said, tmp_path) for _ in range(MAKES)] == [None] * MAKES
    path = made(env, tmp_path).path
    assert found(said, tmp_path) == ClassArchive(path, is_made=False)


PROGRAM = "STREAM s (t INT, k STRING) EVENT TIME t EVENT TYPE k IN ('A'); QUERY q RETURN A.t AS n PATTERN A WITHIN 1 s;"


@pytest.mark.long
@pytest.mark.spark
def test_runs_that_make_it_use_it_and_find_it_damaged_print_the_same(tmp_path: Path) -> None:
    (tmp_path / "p.cep").write_text(PROGRAM)
    (tmp_path / "s.jsonl").write_text('{"t": 1, "k": "A"}\n')
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "SPARK_SUBMIT_OPTS": ""}
    command = [sys.executable, "-m", "cepc", "run", "p.cep", "--events", "s.jsonl", "--engine", "spark"]

    def rows() -> str:
        return subprocess.run(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=600
        ).stdout

    printed = [rows()]
    folder = tmp_path / "cache" / "cepc" / "jvm"
    if not (counted := list(folder.glob("*.runs"))):
        pytest.skip("this Java has no archive of its own")
    counted[0].write_bytes(bytes(MAKES - 1))  # as after so many runs
    printed.append(rows())
    archive = complete(folder)
    printed.append(rows())
    archive.chmod(0o600)
    with archive.open("r+b") as file:
        file.seek(archive.stat().st_size // 2)
        file.write(bytes(1 << 20))
    printed.append(rows())
    assert set(printed) == {'{"query":"q","n":1,"match_start":1,"match_end":1}\n'}


def complete(folder: Path) -> Path:
    """The archive, when the JVM that makes it has done so."""
    until = time.monotonic() + 600
    while time.monotonic() < until:
        for path in folder.glob("*.jsa"):
            with path.open("rb") as file:
                if any(file.read(HEAD)):
                    return path
        time.sleep(1)
    raise AssertionError("no archive was made")
