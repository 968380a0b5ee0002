"""The lines that docs/editors.md has for Neovim, in Neovim."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")
pytestmark = [pytest.mark.process, pytest.mark.long]

HERE = Path(__file__).parent
PROGRAM = """\
STREAM orders (at TIMESTAMP, kind STRING, id BIGINT) EVENT TIME at EVENT TYPE kind IN ('Order', 'Payment');

QUERY unpaid
  RETURN  MATCH id
  PATTERN SEQ(Order o, NOT Payment p WITHIN 30 MINUTES)
  WHERE   [id] AND o.idd > 3 AND o.id > 2
  WITHIN  1 HOUR;
"""
FORMATTED = """\
STREAM orders (
  at   TIMESTAMP,
  kind STRING,
  id   BIGINT
)
EVENT TIME at
EVENT TYPE kind IN ('Order', 'Payment');

QUERY unpaid
  RETURN   MATCH id
  PATTERN  SEQ(Order asked, NOT Payment p WITHIN 30 MINUTES)
  WHERE    [id] AND asked.id > 3 AND asked.id > 2
  WITHIN   1 HOUR;"""


def test_the_lines_for_neovim_give_mistakes_cures_help_definitions_names_and_layout(tmp_path: Path) -> None:
    if not _is_new_enough():
        pytest.skip("there is no Neovim 0.11 or newer")
    _write(tmp_path / "config/nvim/init.lua", _lines_of_the_page())
    _write(tmp_path / "orders.cep", PROGRAM)
    told = _told_by_neovim(tmp_path)
    assert told["diagnostic"]["line"] == 6
    assert told["diagnostic"]["code"] == "E0204"
    assert "did you mean `id`?" in told["diagnostic"]["message"]
    assert told["cured"] == PROGRAM.replace("idd", "id").rstrip("\n")
    assert told["hover"].startswith("`o`: one event of type `Order`")
    assert told["definition"] == {"line": 4, "character": 20}
    assert told["formatted"] == FORMATTED


def _is_new_enough() -> bool:
    if shutil.which("nvim") is None:
        return False
    said = subprocess.run(["nvim", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v(\d+)\.(\d+)", said)
    return found is not None and (int(found[1]), int(found[2])) >= (0, 11)


def _lines_of_the_page() -> str:
    page = (HERE.parent / "docs/editors.md").read_text()
    found = re.search(r"```lua\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _told_by_neovim(folder: Path) -> dict[str, Any]:
    environment = {
        **os.environ,
        **{f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "STATE")},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = ["nvim", "--headless", "orders.cep", "-S", str(HERE / "neovim.lua")]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
    told = dict(json.loads(line) for line in (ran.stdout + ran.stderr).splitlines() if line.startswith('["'))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return told
