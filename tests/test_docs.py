"""Every program in the README and the documentation checks without an error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cepc.api import check_text

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    (f"{page.name}:{page.read_text().count(chr(10), 0, found.start()) + 1}", found.group(1))
    for page in PAGES
    for found in re.finditer(r"^```cep\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
]


def test_there_are_programs_to_check() -> None:
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize("text", [b[1] for b in BLOCKS], ids=[b[0] for b in BLOCKS])
def test_a_program_in_the_documentation_is_right(text: str) -> None:
    checked = check_text(text, "block.cep")
    assert checked.ok, checked.text()


@pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])
def test_a_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []
