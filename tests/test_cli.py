"""The command line: what is printed where, exit codes, and files that are no programs."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from cepc import api
from cepc.cli import COMMANDS, cepc

STREAM = """\
STREAM rides (at TIMESTAMP, kind STRING, driver_id BIGINT)
EVENT TIME at
EVENT TYPE kind IN ('Pickup', 'Delivery');
"""
QUERY = """\
QUERY deliveries
  RETURN  COUNT(*) AS n
  PATTERN SEQ(Pickup, Delivery)
  WHERE   [driver_id]
  WITHIN  20 MINUTES SLIDE 5 MINUTES;
"""
GOOD = STREAM + "\n" + QUERY
BAD = GOOD.replace("SEQ(Pickup,", "SEQ(Pickup,,")
WARNED = "-- nothing yet\n"
MESSY = "stream rides(at timestamp,kind string)event time at event type kind;\n"


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CEPC_DEBUG", raising=False)


def write(**texts: str | bytes) -> None:
    """Files `NAME.cep` in the current directory."""
    for name, text in texts.items():
        Path(f"{name}.cep").write_bytes(text if isinstance(text, bytes) else text.encode())


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cepc, arguments, input=stdin)


def run_process(arguments: Sequence[str], **options: object) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, **options.pop("env", {})}  # type: ignore[dict-item]
    command = [sys.executable, "-m", "cepc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, **options)  # type: ignore[call-overload, no-any-return]


# ---- check


def test_a_right_program_exits_with_0() -> None:
    write(good=GOOD)
    result = run("check", "good.cep")
    assert (result.exit_code, result.output) == (0, "no errors\n")


def test_a_wrong_program_exits_with_1_and_is_answered_on_standard_output() -> None:
    write(bad=BAD)
    result = run("check", "bad.cep")
    assert result.exit_code == 1
    assert "bad.cep:7:" in result.stdout
    assert result.stdout.endswith("1 error\n")
    assert result.stderr == ""


def test_warnings_do_not_fail() -> None:
    write(warned=WARNED)
    result = run("check", "warned.cep")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "no errors, 1 warning")


def test_several_files_are_one_program() -> None:
    write(stream=STREAM, queries=QUERY)
    assert run("check", "queries.cep", "stream.cep").output == "no errors\n"
    assert run("check", "stream.cep", "queries.cep").output == "no errors\n"


def test_a_dash_is_standard_input() -> None:
    result = run("check", "-", stdin=BAD)
    assert result.exit_code == 1
    assert "--> <stdin>:7:" in result.stdout


def test_json_is_an_object_a_line_and_nothing_where_all_is_well() -> None:
    write(good=GOOD, bad=BAD)
    result = run("check", "bad.cep", "--format", "json")
    assert result.exit_code == 1
    assert [(d["file"], d["start"]["line"]) for d in map(json.loads, result.stdout.splitlines())] == [("bad.cep", 7)]
    assert run("check", "good.cep", "--format=json").output == ""


def test_the_errors_of_all_files_are_reported_in_the_order_of_the_files() -> None:
    write(one=BAD, two=BAD)
    result = run("check", "two.cep", "one.cep", "--format=json")
    assert [json.loads(line)["file"] for line in result.stdout.splitlines()][:2] == ["two.cep", "one.cep"]


# ---- files that are no programs


def test_a_missing_file_is_answered_with_its_neighbour() -> None:
    write(rides=GOOD)
    result = run("check", "ride.cep")
    assert result.exit_code == 2
    assert "error[E0001]: there is no file `ride.cep`" in result.output
    assert "help: did you mean `rides.cep`?" in result.output


@pytest.mark.parametrize(
    ("name", "cure"), [("rides", "did you mean `rides.cep`?"), ("x.cep", "the programs there are `rides.cep`")]
)
def test_a_missing_file_is_answered_with_what_is_there(name: str, cure: str) -> None:
    write(rides=GOOD)
    assert cure in run("check", name).output


def test_a_missing_directory_is_named() -> None:
    assert "the directory `no/where` does not exist either" in run("check", "no/where/a.cep").output


def test_a_missing_file_leaves_the_syntax_errors_of_the_others_but_no_unknown_names() -> None:
    write(queries=QUERY, bad=BAD)
    assert run("check", "queries.cep", "stream.cep").output.endswith("1 error\n")
    result = run("check", "bad.cep", "stream.cep")
    assert (result.exit_code, result.output.splitlines()[-1]) == (2, "2 errors")


def test_a_directory_names_the_programs_in_it() -> None:
    Path("queries").mkdir()
    assert run("check", "queries").exit_code == 2
    Path("queries/a.cep").write_text(GOOD)
    assert "name the files in it: `queries/*.cep`" in run("check", "queries/").output


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_so() -> None:
    write(secret=GOOD)
    Path("secret.cep").chmod(0)
    result = run("check", "secret.cep")
    assert result.exit_code == 2
    assert "`secret.cep` cannot be read: Permission denied" in result.output


def test_a_link_to_itself_says_so() -> None:
    Path("loop.cep").symlink_to("loop.cep")
    result = run("check", "loop.cep")
    assert result.exit_code == 2
    assert "error[E0003]: `loop.cep` cannot be read: " in result.output


def test_a_name_that_is_too_long_says_so() -> None:
    assert "error[E0003]" in run("check", "x" * 5000).output


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PAR1\0\0", "is a Parquet file"),
        (b"\x7fELF\0\0", "is a binary file"),
        ("QUERY q".encode("utf-16"), "is UTF-16 text"),
        ("-- Köln".encode("latin-1"), "byte 0xF6 at offset 4"),
        (b"\xef\xbb\xbf-- K\xf6ln", "byte 0xF6 at offset 7"),
        ("-- Köl".encode() + b"\xe4\xbb", "byte 0xE4 at offset 7"),
    ],
)
def test_a_file_that_is_no_utf8_text_says_what_it_is(data: bytes, said: str) -> None:
    write(data=data)
    result = run("check", "data.cep")
    assert result.exit_code == 2
    assert said in result.output
    assert run("check", "-", stdin=data).exit_code == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rides.csv", "`rides.csv` is a CSV file, not program text"),
        ("rides.jsonl", "`rides.jsonl` is a JSON file, not program text"),
        ("rides", "`rides` is a directory, not a program"),
    ],
)
def test_events_in_the_place_of_a_program_are_named_by_an_option(name: str, said: str) -> None:
    if "." in name:
        Path(name).write_text("at,kind\n")
    else:
        Path(name).mkdir()
    write(good=GOOD)
    for command in (("run", "good.cep", name), ("check", name)):
        result = run(*command)
        assert result.exit_code == 2
        assert said in result.output
        assert f"events are named by `--events {name}`, or by FROM in the STREAM" in result.output


def test_a_device_without_end_is_refused_at_once() -> None:
    assert "error[E0004]" in run("check", "/dev/zero").output


def test_byte_order_marks_and_both_kinds_of_line_ends_are_accepted() -> None:
    write(
        bom=b"\xef\xbb\xbf" + GOOD.encode(), crlf=GOOD.replace("\n", "\r\n"), bad="\ufeff" + BAD.replace("\n", "\r\n")
    )
    assert run("check", "bom.cep").output == "no errors\n"
    assert run("check", "crlf.cep").output == "no errors\n"
    assert "bad.cep:7:" in run("check", "bad.cep").output


@pytest.mark.parametrize(
    ("text", "said"), [("", "is empty"), ("\n \n", "is empty"), ("-- later\n", "holds only comments")]
)
def test_a_file_without_statements_is_a_warning(text: str, said: str) -> None:
    write(empty=text)
    result = run("check", "empty.cep")
    assert result.exit_code == 0
    assert f"warning[W0007]: `empty.cep` {said}: there is nothing to do" in result.output


def test_a_file_given_twice_is_read_once() -> None:
    write(good=GOOD)
    Path("link.cep").symlink_to("good.cep")
    result = run("check", "good.cep", "./good.cep", "link.cep", "good.cep")
    assert result.exit_code == 0
    assert "`./good.cep` is given twice, it is the same file as `good.cep`" in result.output
    assert result.output.endswith("no errors, 3 warnings\n")


# ---- fmt


def test_fmt_writes_in_place_and_only_what_changes() -> None:
    write(messy=MESSY)
    first = run("fmt", "messy.cep")
    assert (first.exit_code, first.stdout, first.stderr) == (0, "", "reformatted messy.cep\n")
    formatted = Path("messy.cep").read_text()
    assert formatted.startswith("STREAM rides (")
    os.utime("messy.cep", (0, 0))
    assert run("fmt", "messy.cep").output == ""
    assert Path("messy.cep").stat().st_mtime == 0


def test_fmt_check_writes_nothing_and_exits_with_1() -> None:
    write(messy=MESSY)
    result = run("fmt", "--check", "messy.cep")
    assert (result.exit_code, result.output) == (1, "would reformat messy.cep\n")
    assert Path("messy.cep").read_text() == MESSY
    run("fmt", "messy.cep")
    assert run("fmt", "--check", "messy.cep").exit_code == 0


def test_fmt_diff_prints_what_would_change() -> None:
    write(messy=MESSY)
    result = run("fmt", "--diff", "messy.cep")
    assert result.exit_code == 0
    assert result.stdout.startswith("--- messy.cep\n+++ messy.cep (formatted)\n")
    assert "-stream rides(" in result.stdout
    assert Path("messy.cep").read_text() == MESSY
    assert run("fmt", "--diff", "--check", "messy.cep").exit_code == 1


def test_fmt_of_a_dash_is_a_filter() -> None:
    result = run("fmt", "-", stdin=MESSY)
    assert result.exit_code == 0
    assert result.stdout.startswith("STREAM rides (")
    assert result.stderr == ""
    assert run("fmt", "-", stdin=result.stdout).stdout == result.stdout


def test_fmt_leaves_a_file_with_a_syntax_error_as_it_is() -> None:
    write(bad=BAD, messy=MESSY)
    result = run("fmt", "bad.cep", "messy.cep")
    assert result.exit_code == 1
    assert "bad.cep:7:" in result.stderr
    assert Path("bad.cep").read_text() == BAD
    assert Path("messy.cep").read_text() != MESSY
    assert run("fmt", "-", stdin=BAD).stdout == BAD


def test_fmt_of_a_sql_text_says_that_it_is_one_and_lays_out_the_others() -> None:
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES 1 AS n PATTERN (A))"
    write(messy=MESSY)
    Path("turns.sql").write_text(text)
    result = run("fmt", "turns.sql", "messy.cep")
    assert result.exit_code == 1
    assert "error[E0956]: `turns.sql` is a SQL text" in result.stderr
    assert Path("turns.sql").read_text() == text
    assert Path("messy.cep").read_text() != MESSY


def test_fmt_keeps_the_kind_of_line_ends() -> None:
    write(messy=MESSY.replace("\n", "\r\n"))
    run("fmt", "messy.cep")
    data = Path("messy.cep").read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") > 0
    assert run("fmt", "--check", "messy.cep").exit_code == 0


def test_fmt_of_a_missing_file_exits_with_2() -> None:
    write(messy=MESSY)
    assert run("fmt", "nope.cep", "messy.cep").exit_code == 2
    assert Path("messy.cep").read_text() != MESSY


# ---- explain


def test_explain_prints_the_page_of_a_code() -> None:
    result = run("explain", "E0001", "w0007")
    assert result.exit_code == 0
    assert result.stdout.startswith("# E0001: there is no such file\n")
    assert "# W0007: " in result.stdout


def test_explain_knows_near_codes() -> None:
    result = run("explain", "E9001")
    assert result.exit_code == 2
    assert "there is no code E9001; did you mean E0001?" in result.stderr


def test_explain_describes_a_program() -> None:
    write(good=GOOD)
    result = run("explain", "good.cep")
    assert result.exit_code == 0
    assert "deliveries" in result.stdout
    assert result.stderr == ""


def test_explain_of_a_wrong_program_shows_its_errors() -> None:
    write(bad=BAD)
    result = run("explain", "bad.cep")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "bad.cep:7:" in result.stderr


# ---- functions


def test_functions_lists_what_may_be_called() -> None:
    result = run("functions")
    assert result.exit_code == 0
    assert "upper" in result.stdout


def test_functions_describes_one() -> None:
    result = run("functions", "UPPER")
    assert result.exit_code == 0
    assert "upper" in result.stdout
    assert len(result.stdout.splitlines()) < 10


def test_functions_knows_near_names() -> None:
    result = run("functions", "uper")
    assert result.exit_code == 2
    assert "did you mean `upper`?" in result.stderr


# ---- the command itself


def test_the_version_is_printed() -> None:
    assert run("--version").output.startswith("cepc ")


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], *([name, "--help"] for name in COMMANDS)])
def test_every_command_has_help(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 0
    assert "Usage: " in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chek", "a.cep"], "there is no command `chek`; did you mean `check`?"),
        (["rides.cep"], "did you mean `cepc check rides.cep`?"),
        (["check"], "Missing argument"),
        (["check", "a.cep", "--format", "yaml"], "'yaml' is not one of"),
        (["check", "a.cep", "--fromat", "json"], "No such option"),
    ],
)
def test_a_wrong_command_exits_with_2_and_says_what_is_meant(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_a_bug_is_one_sentence_and_a_traceback_only_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_names: Sequence[str]) -> None:
        raise RuntimeError("the moon\x1b\nis full")

    monkeypatch.setattr(api, "check_files", broken)
    result = run("check", "a.cep")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert r"has a bug (RuntimeError: the moon\x1b)" in result.stderr
    assert "CEPC_DEBUG=1" in result.stderr
    monkeypatch.setenv("CEPC_DEBUG", "1")
    assert isinstance(run("check", "a.cep").exception, RuntimeError)


# ---- as a process


def test_a_process_prints_utf8_whatever_the_locale() -> None:
    write(bad=BAD.replace("Pickup,,", "Pickup, Ä,,"))
    for locale in ("C", "C.UTF-8", "en_US.ISO-8859-1"):
        done = run_process(["check", "bad.cep"], env={"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": ""})
        assert (done.returncode, done.stderr) == (1, "")
    done = run_process(["check", "bad.cep"], env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (1, "")


def test_no_colour_goes_into_a_pipe() -> None:
    write(bad=BAD)
    assert "\x1b" not in run_process(["check", "bad.cep"]).stdout


@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_for_terminals_that_want_it(environment: dict[str, str], coloured: bool) -> None:
    pty = pytest.importorskip("pty")
    write(bad=BAD)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cepc", "check", "bad.cep"], stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm", **environment},
    )  # fmt: skip
    assert process.wait(timeout=60) == 1
    os.close(theirs)
    output = os.read(ours, 65536).decode()
    os.close(ours)
    assert ("\x1b[" in output) is coloured
    assert "bad.cep:7:" in output


def test_a_reader_that_went_away_is_no_error() -> None:
    write(bad=BAD)
    command = f"set -o pipefail; {sys.executable} -m cepc check bad.cep | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (141, "")


def test_closed_standard_streams_are_no_traceback() -> None:
    write(bad=BAD)
    for closing in ("<&-", ">&-", "2>&-"):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m cepc check bad.cep - {closing}"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in done.stderr, closing


@pytest.mark.parametrize(
    "arguments", [["--version"], ["check", "good.cep"], ["fmt", "--check", "good.cep"], ["explain", "E0001"]]
)
def test_what_is_used_while_editing_imports_nothing_heavy(arguments: list[str]) -> None:
    write(good=GOOD)
    program = (
        "import sys; from cepc.cli import cepc\n"
        f"try: cepc.main({arguments!r})\n"
        "except SystemExit: pass\n"
        "heavy = {'pyspark', 'numpy', 'pandas', 'pyarrow', 'numba', 'networkx', 'rich', 'pygls', 'lsprotocol',"
        " 'cepc.language_server', 'cepc_grammar.habits'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


# ---- completion

COMPLETED = [
    ((), "ex", ["explain"]),
    ((), "com", ["compile"]),
    (("completion",), "z", ["zsh"]),
    (("explain",), "--form", ["--format"]),
    (("explain", "--format"), "h", ["html"]),
    (("run", "p.cep", "--engine"), "", ["local", "spark"]),
    (("explain",), "e010", ["E0101", "E0102"]),
    (("doc",), "std.fi", ["std.finance"]),
    (("functions",), "rou", ["round"]),
]


@pytest.mark.parametrize(("words", "begun", "expected"), COMPLETED)
def test_a_shell_completes(words: tuple[str, ...], begun: str, expected: list[str]) -> None:
    found = ShellComplete(cepc, {}, "cepc", "_CEPC_COMPLETE").get_completions(list(words), begun)
    assert [item.value for item in found][: len(expected)] == expected


@pytest.mark.parametrize(
    "words", [("check",), ("run",), ("run", "p.cep", "--events"), ("explain",), ("explain", "p.cep", "-o"), ("test",)]
)
def test_a_shell_completes_files(words: tuple[str, ...]) -> None:
    found = ShellComplete(cepc, {}, "cepc", "_CEPC_COMPLETE").get_completions(list(words), "qu")
    assert [item.type for item in found] == ["file"]


@pytest.mark.parametrize(
    ("words", "expected"), [(("run", "p.cep", "--query"), ["q1", "q2"]), (("why", "p.cep", "--query"), ["q1", "q2"]),
     (("test", "p.cep", "--test"), ["t"]), (("run", "none.cep", "--query"), [])]
)  # fmt: skip
def test_a_shell_completes_names_of_the_program(
    words: tuple[str, ...], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.cep").write_text(
        "QUERY q2 RETURN x PATTERN A WITHIN 1 h; "
        "QUERY q1 RETURN COUNT(*) PATTERN A WITHIN 1 h; QUERY; TEST t FOR q1 GIVEN VALUES (1) EXPECT NO ROWS;"
    )
    found = ShellComplete(cepc, {}, "cepc", "_CEPC_COMPLETE").get_completions(list(words), "")
    assert [item.value for item in found] == expected


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(name: str) -> None:
    result = CliRunner().invoke(cepc, ["completion", name])
    assert (result.exit_code, result.output.count(f"_CEPC_COMPLETE={name}_complete")) == (0, 1)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_bash_completes_after_the_script() -> None:
    script = CliRunner().invoke(cepc, ["completion", "bash"]).output
    asked = 'COMP_WORDS=(cepc expl); COMP_CWORD=1; _cepc_completion cepc; echo "${COMPREPLY[@]}"'
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # whatever it is, this `cepc` is asked
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{asked}"],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PATH": path},
    )
    assert done.stdout == "explain\n", done.stderr


@pytest.mark.parametrize("command", ["--help", "--version", "functions", "doc std.time", "completion bash"])
def test_a_full_standard_output_is_no_bug(command: str) -> None:
    script = f"{sys.executable} -m cepc {command} > /dev/full"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "error[E0008]: the results cannot be written to `<stdout>`: No space left on device\n"
    )
    assert "Exception ignored" not in done.stderr


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_numpy_begins_no_threads_of_its_own_for_a_command() -> None:
    code = """
import os, sys
from cepc.cli import main
sys.argv = ["cepc", "--version"]
try:
    main()
finally:
    import numpy
    print(len(os.listdir("/proc/self/task")))
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS", "OMP"))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "1", done
