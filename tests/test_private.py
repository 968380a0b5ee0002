"""What is run comes from nowhere that others can write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cepc_grammar import tables
from cepc_grammar.keywords import KeywordLexer
from cepc_grammar.sql.lexer import SqlLexer
from cepc_runtime.private import is_private

if TYPE_CHECKING:
    from pathlib import Path

MODES = [
    ("the user's alone", 0o755, 0o700, True),
    ("readable by all", 0o755, 0o755, True),
    ("everybody can write", 0o755, 0o777, False),
    ("everybody can write, but take nothing away", 0o755, 0o1777, False),
    ("everybody can replace it", 0o777, 0o700, False),
    ("below a folder like /tmp", 0o1777, 0o700, True),
]


@pytest.mark.parametrize(("above", "own", "private"), [case[1:] for case in MODES], ids=[case[0] for case in MODES])
def test_a_folder_is_private_if_nobody_else_can_put_something_there(
    tmp_path: Path, above: int, own: int, private: bool
) -> None:
    folder = tmp_path / "above" / "own"
    folder.mkdir(parents=True)
    folder.chmod(own)
    folder.parent.chmod(above)
    assert is_private(folder) is private
    assert is_private(folder / "not" / "yet") is private


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_elses_is_not_private(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    assert not is_private(folder)
    assert not is_private(folder / "below")


def test_a_link_is_as_private_as_what_it_leads_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.mkdir()
    link.symlink_to(target)
    assert is_private(link)
    target.chmod(0o777)
    assert not is_private(link)


def test_checking_a_program_reads_and_writes_no_cache(tmp_path: Path) -> None:
    (tmp_path / "p.cep").write_text("STREAM s (at BIGINT, k STRING) EVENT TIME at EVENT TYPE k;\n")
    home = tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    command = [sys.executable, "-m", "cepc", "check", str(tmp_path / "p.cep")]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
    assert list(home.iterdir()) == []


def test_the_parsers_tables_are_those_of_the_grammar() -> None:
    """`python -m cepc_grammar.tables` writes them."""
    assert tables.TABLES.read_text(encoding="utf-8") == tables.text(KeywordLexer)
    assert tables.SQL_TABLES.read_text(encoding="utf-8") == tables.sql_text(SqlLexer)


@pytest.mark.unhurried
@pytest.mark.parametrize("wrong", ["", "{", '{"of": {}}'], ids=["empty", "cut", "of another grammar"])
def test_without_the_right_tables_the_parser_is_built(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "TABLES", tmp_path / "tables.json")
    tables.TABLES.write_text(wrong)
    states = len(json.loads(tables.text(KeywordLexer))["data"]["parser"]["parser"]["states"])
    assert len(tables.parser(KeywordLexer).parser.parser._parse_table.states) == states
