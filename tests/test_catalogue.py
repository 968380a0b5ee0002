"""The catalogue is complete and true: each code has a page, each page's programs are what it says they are."""

import re
from pathlib import Path

import pytest

import cepc
import cepc_grammar
import cepc_runtime
from cepc.diagnostics import catalogue
from cepc.diagnostics.catalogue import Page
from cepc.row_patterns.texts import sql_program
from cepc_grammar.source import Source

PACKAGES = [Path(str(package.__file__)).parent for package in (cepc, cepc_grammar, cepc_runtime)]
CODE = re.compile(r"""["']([EW]0\d{3})["']""")
FAMILIES = {"00", "01", "02", "03", "04", "05", "06", "07", "08", "09"}


def pages() -> list[Page]:
    return [page for code in catalogue.codes() if (page := catalogue.page(code)) is not None]


def programs(info: str) -> list[tuple[Page, str]]:
    return [(page, program) for page in pages() for program in page.blocks(info)]


def code_of(part: object) -> str:
    return part.code if isinstance(part, Page) else ""


def used_codes() -> dict[str, Path]:
    """Every code that stands as a string in the packages' source, with a file that has it."""
    return {
        code: path
        for package in PACKAGES
        for path in package.rglob("*.py")
        for code in CODE.findall(path.read_text(encoding="utf-8"))
    }


def test_every_code_used_has_a_page() -> None:
    missing = {code: path.name for code, path in used_codes().items() if catalogue.page(code) is None}
    assert missing == {}


def test_every_page_is_used() -> None:
    assert set(catalogue.codes()) - set(used_codes()) == set()


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.code))
def test_a_page_has_its_form(page: Page) -> None:
    first, blank, *rest = page.text.splitlines()
    assert first == f"# {page.code}: {page.title}"
    assert page.title
    assert not page.title.endswith(".")
    assert blank == ""
    assert rest
    assert page.code[1:3] in FAMILIES
    if page.blocks("cep wrong") or page.blocks("sql wrong"):
        assert page.blocks("cep right") or page.blocks("sql right"), "a wrong program is followed by how it is right"
    else:
        assert page.blocks("console"), "a page shows a program, or a command where no program has the code"
    assert not re.search(r"\byou(r|rs)?\b", page.text.replace("did you mean", ""), re.I), (
        "pages speak of the program, not of the reader"
    )


@pytest.mark.parametrize(("page", "program"), programs("cep wrong"), ids=code_of)
def test_a_wrong_program_has_the_code_of_its_page(page: Page, program: str) -> None:
    assert page.code in {d.code for d in cepc.check(program).diagnostics}


@pytest.mark.parametrize(("page", "text"), programs("sql wrong"), ids=code_of)
def test_a_wrong_sql_text_has_the_code_of_its_page(page: Page, text: str) -> None:
    assert {d.code for d in sql_program([Source("page.sql", text)]).checked.diagnostics} == {page.code}


@pytest.mark.parametrize(("page", "text"), programs("sql right"), ids=code_of)
def test_a_right_sql_text_has_no_errors(page: Page, text: str) -> None:  # noqa: ARG001 - its code is the test's name
    checked = sql_program([Source("page.sql", text)]).checked
    assert checked.ok, checked.text()


@pytest.mark.parametrize(("page", "program"), programs("cep right"), ids=code_of)
def test_a_right_program_has_no_errors_and_not_the_code(page: Page, program: str) -> None:
    checked = cepc.check(program)
    assert checked.ok, checked.text()
    assert page.code not in {d.code for d in checked.diagnostics}
