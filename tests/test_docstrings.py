"""Every example in a docstring, and on the page of a pass, does what it shows."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cepc

if TYPE_CHECKING:
    from types import ModuleType

PACKAGES = ("cepc", "cepc_grammar", "cepc_runtime", "cepc_stdlib")
PAGES = Path(__file__).parent.parent / "docs" / "passes"
IN_DOCSTRINGS, ON_PAGES = 290, {"gloria": 7, "motto": 6, "sharon": 6}


def modules() -> list[str]:
    found = list(PACKAGES)
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        found += [module.name for module in pkgutil.walk_packages(path, f"{package}.")]
    return [name for name in found if not name.endswith(".__main__")]


def _has_examples(module: ModuleType) -> bool:
    """Whether it is worth going through all that a module has."""
    return module.__file__ is not None and ">>>" in Path(module.__file__).read_text(encoding="utf-8")


@pytest.mark.unhurried
def test_the_examples_in_docstrings_hold() -> None:
    imported = {name: importlib.import_module(name) for name in modules()}
    results = {name: doctest.testmod(module) for name, module in imported.items() if _has_examples(module)}
    assert [name for name, result in results.items() if result.failed] == []
    assert sum(result.attempted for result in results.values()) >= IN_DOCSTRINGS, "some examples are no longer found"


@pytest.mark.parametrize("name", sorted(set(cepc.__all__) - {"spark_session"}))  # which needs a Spark
def test_what_the_package_exports_has_an_example(name: str) -> None:
    found = doctest.DocTestFinder().find(getattr(cepc, name), name)
    assert any(test.examples for test in found)


@pytest.mark.parametrize(("page", "examples"), ON_PAGES.items())
def test_the_examples_on_the_page_of_a_pass_hold(page: str, examples: int) -> None:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    found = doctest.DocTestParser().get_doctest(code, {}, page, None, None)
    result = doctest.DocTestRunner().run(found)
    assert (result.failed, result.attempted >= examples) == (0, True)
