"""The Python API: programs as text, files and sources."""

import subprocess
import sys
from pathlib import Path

import pytest

import cepc
from cepc.api import check_files, check_sources
from cepc_grammar.source import Source

STREAM = "STREAM s (at TIMESTAMP, kind STRING) EVENT TIME at EVENT TYPE kind IN ('A', 'B');\n"


def query(pattern: str) -> str:
    return f"QUERY q RETURN COUNT(*) AS n PATTERN {pattern} WITHIN 1 HOUR SLIDE 1 MINUTE;\n"


def codes(text: str) -> list[str]:
    return [d.code for d in cepc.check(text).diagnostics]


def test_a_right_program_is_a_checked_program() -> None:
    checked = cepc.check(STREAM + query("SEQ(A, B)"))
    assert checked.ok
    assert checked.diagnostics == ()
    assert checked.text() == "no errors\n"
    assert checked.program is not None
    assert [q.name for q in checked.program.queries] == ["q"]


def test_a_wrong_program_is_none_and_says_why() -> None:
    checked = cepc.check(STREAM + query("SEQ(A, C)"), name="mine.cep")
    assert not checked.ok
    assert checked.program is None
    assert [d.code for d in checked.errors] == ["E0201"]
    assert "--> mine.cep:2:" in checked.text()


def test_a_syntax_error_does_not_hide_unknown_names_elsewhere() -> None:
    assert codes(STREAM + query("SEQ(A,, B)") + query("SEQ(A, C)")) == ["E0101", "E0201"]


@pytest.mark.parametrize(
    "broken", ["EVENT C = A WHERE kind = 'x';", "PATTERN C = SEQ(A, B);", "PATTERN `C` AS SEQ(A,, B);"]
)
def test_a_name_whose_declaration_has_a_syntax_error_is_not_unknown(broken: str) -> None:
    assert codes(STREAM + broken + query("SEQ(A, C)")) == ["E0101"]


def test_the_pattern_of_a_query_is_no_declaration_that_got_lost() -> None:
    assert codes(STREAM + "EVENT C AS;" + query("\nx(A, B)")) == ["E0101", "E0202"]


def test_a_stream_with_a_syntax_error_is_not_missing() -> None:
    assert codes("STREAM s (at TIMESTAMP kind STRING) EVENT TIME at;" + query("SEQ(A, C)")) == ["E0101"]


def test_without_a_stream_a_program_is_checked_as_far_as_it_can_be() -> None:
    checked = cepc.check(query("SEQ(A, B)"))
    assert checked.ok
    assert checked.program is None
    assert [d.code for d in checked.diagnostics] == ["W0601"]


def test_sources_together_are_one_program() -> None:
    checked = check_sources([Source("queries", query("SEQ(A, C)")), Source("stream", STREAM)])
    assert [(d.code, d.span.source) for d in checked.diagnostics] == [("E0201", "queries")]


def test_imports_are_relative_to_the_file_that_has_them(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "all.cep").write_text("IMPORT './sub/queries.cep';\n" + STREAM)
    (tmp_path / "sub" / "queries.cep").write_text("IMPORT '../pattern.cep';\n" + query("ab"))
    (tmp_path / "pattern.cep").write_text("PATTERN ab AS SEQ(A, B);\n")
    checked = check_files([str(tmp_path / "all.cep")])
    assert checked.ok, checked.text()
    assert len(checked.sources) == 3


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\0", b"\xe4"])
def test_an_import_that_is_no_text_is_an_error_at_the_import(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "all.cep").write_text("IMPORT './data.cep';\n" + STREAM)
    (tmp_path / "data.cep").write_bytes(data)
    assert [d.code for d in check_files([str(tmp_path / "all.cep")]).diagnostics] == ["E0209"]


def test_a_byte_order_mark_at_the_start_of_a_text_is_no_character_of_it() -> None:
    assert codes("\ufeff" + STREAM) == []


def test_the_name_of_a_folder_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(cepc.ProgramError, match="is a directory, not a program"):
        cepc.compile(str(tmp_path))


def test_importing_the_package_is_light() -> None:
    program = "import sys, cepc; print(*(m for m in sys.modules if m.startswith(('cepc', 'click', 'lark', 'numpy'))))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"cepc", "cepc.errors"}
