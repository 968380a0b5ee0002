"""Wrong programs beside what is said about them: `golden_diagnostics/NAME.cep` and `NAME.txt`.

`UPDATE_GOLDEN=1 pytest tests/test_diagnostics_golden.py` records the outputs anew; the diff is what to review.
"""

import os
import re
from pathlib import Path

import pytest

from cepc.api import check_files
from cepc.diagnostics import catalogue

PROGRAMS = Path(__file__).parent / "golden_diagnostics"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.cep"))
UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_program_is_answered_as_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROGRAMS)
    text = check_files([f"{name}.cep"]).text()
    recorded = PROGRAMS / f"{name}.txt"
    if UPDATE:
        recorded.write_text(text, encoding="utf-8")
    assert text == recorded.read_text(encoding="utf-8")


def test_there_are_many_programs_and_no_output_without_one() -> None:
    assert len(NAMES) >= 90
    assert sorted(path.stem for path in PROGRAMS.glob("*.txt")) == NAMES


def test_every_recorded_diagnostic_shows_a_place() -> None:
    for name in NAMES:
        text = (PROGRAMS / f"{name}.txt").read_text(encoding="utf-8")
        assert len(re.findall(r"^(?:error|warning)\[", text, re.M)) == len(re.findall(r"^ *--> ", text, re.M)), name


def test_every_code_that_a_program_can_have_is_shown_by_one() -> None:
    shown = {
        code for name in NAMES for code in re.findall(r"\[([EW]\d{4})\]", (PROGRAMS / f"{name}.txt").read_text("utf-8"))
    }
    pages = [page for code in catalogue.codes() if (page := catalogue.page(code))]
    assert {page.code for page in pages if page.blocks("cep wrong")} - shown == set()
