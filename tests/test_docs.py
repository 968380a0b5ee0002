"""What the README and the documentation say is so: programs check, examples give their rows, links lead somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from cepc.api import check_text
from cepc.testing.run import run_test
from cepc.testing.show import show

from .pages import PAGES, ROOT, UPDATE, blocks, commands, run, with_matches, with_output, with_rows

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = [block for page in PAGES for block in blocks(page) if block.kind == "cep"]
CODE = ("grammar", "compiler", "runtime", "stdlib", "tests", "bench")
CITED = re.compile(r'docs/language\.md(?: \(|, )((?:(?:, | and )?"[A-Z][^"]*")+)')
EXAMPLES = [page for page in PAGES if any(block.kind == "rows" for block in blocks(page))]


def test_there_are_programs_to_check() -> None:
    assert len(PROGRAMS) >= 24


@pytest.mark.parametrize("text", [b.text for b in PROGRAMS], ids=[b.name for b in PROGRAMS])
def test_a_program_in_the_documentation_is_right(text: str) -> None:
    checked = check_text(text, "block.cep")
    assert checked.ok, checked.text()


def test_the_tests_in_the_documentation_pass() -> None:
    checked = [check_text(block.text, block.name) for block in PROGRAMS if "\nTEST " in block.text]
    outcomes = [(c, run_test(c.program, test, c.sources)) for c in checked if c.program for test in c.program.tests]
    assert len(outcomes) >= 3
    assert [show(outcome, c.sources) for c, outcome in outcomes if not outcome.passed] == []


@pytest.mark.parametrize("page", EXAMPLES, ids=[p.name for p in EXAMPLES])
def test_the_examples_of_a_page_have_these_rows(page: Path, tmp_path: Path) -> None:
    new = with_rows(page, tmp_path)
    if UPDATE:
        page.write_text(new, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == new


def test_the_cookbook_has_thirteen_problems_and_rows_for_each() -> None:
    cookbook = ROOT / "docs" / "cookbook.md"
    kinds = [block.kind for block in blocks(cookbook)]
    assert kinds == ["cep", "csv", "rows"] * 13
    assert not [block for block in blocks(cookbook) if block.kind == "rows" and "\n" not in block.text.strip()]


def test_the_tables_of_the_language_page_have_these_matches() -> None:
    page = ROOT / "docs" / "language.md"
    new = with_matches(page)
    if UPDATE:
        page.write_text(new, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == new
    assert "` | |" not in new, "a table that the test does not see"


@pytest.mark.long
def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    """On the example that the README shows; the first console block is the demo's, which tests/test_examples.py
    runs.
    """
    folder = ROOT / "examples" / "food_delivery"
    shutil.copy(folder / "queries.cep", tmp_path)
    generate = [sys.executable, str(folder / "generate.py"), str(tmp_path / "orders.parquet"), "--events", "2000"]
    subprocess.run(generate, check=True, capture_output=True, timeout=120)
    _, console = [block for block in blocks(ROOT / "README.md") if block.kind == "console"]
    given = commands(console.text)
    assert len(given) == 8
    assert [(command, done.stderr) for command in given if (done := run(command, tmp_path)).returncode != 0] == []


def test_the_tutorial_runs_as_it_is_written(tmp_path: Path) -> None:
    page = ROOT / "docs" / "tutorial.md"
    new = with_output(page, tmp_path)
    if UPDATE:
        page.write_text(new, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == new


@pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])
def test_a_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])
def test_a_link_to_a_heading_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text(encoding="utf-8"))
    assert [
        f"{file}#{heading}" for file, heading in links if heading not in anchors(page.parent / file if file else page)
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])
def test_prose_is_no_wider_than_the_code(page: Path) -> None:
    """Tables, and code in its blocks, may be."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in text.splitlines() if len(line) > 120 and not line.startswith(("|", "    "))] == []


def test_the_code_names_pages_and_sections_that_exist() -> None:
    texts = {path: path.read_text(encoding="utf-8") for part in CODE for path in (ROOT / part).rglob("*.py")}
    named = {(path, page) for path, text in texts.items() for page in re.findall(r"\b[\w/-]+\.md\b", text)}
    assert len(named) > 40
    pages = [f"/{page.relative_to(ROOT)}" for page in PAGES]
    assert {(path.name, page) for path, page in named if not any(p.endswith(f"/{page}") for p in pages)} == set()
    language = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    titles = set(re.findall(r"^## (.+)$|^\*\*(.+?)\.?\*\*", language, re.MULTILINE))
    known = {title for pair in titles for title in pair if title}
    cited = {s for text in texts.values() for group in CITED.findall(text) for s in re.findall('"([^"]+)"', group)}
    assert len(cited) > 5
    assert cited - known == set()


def anchors(page: Path) -> set[str]:
    """Of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])
def test_a_file_that_a_page_names_by_its_folder_exists(page: Path) -> None:
    named = re.findall(rf"`((?:{'|'.join(CODE)}|docs|tools|examples)/[a-z0-9_/.]+)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_index_leads_to_every_page() -> None:
    docs = ROOT / "docs"
    listed = {(docs / link).resolve() for link in re.findall(r"\]\(([^)#]+)\)", (docs / "README.md").read_text())}
    assert [str(page) for page in docs.rglob("*.md") if page.resolve() not in listed | {docs / "README.md"}] == []
