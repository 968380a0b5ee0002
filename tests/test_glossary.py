"""One word for one thing: names of types are unique, and docs/glossary.md has the words."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.sources import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.xdist_group("sources")

ROOT = Path(__file__).parent.parent
SOURCES = ("grammar/cepc_grammar", "compiler/cepc", "runtime/cepc_runtime", "stdlib/cepc_stdlib")

# Their types stand for the same things at three stages. Others write `ast.Query`, `model.Event`, `written.Event`.
STAGES = ("grammar/cepc_grammar/ast.py", "compiler/cepc/model.py", "compiler/cepc/resolve/written.py")

SHARED_NAMES = {
    "CostModel": "each optimiser follows a paper, in a package of its own, which has the paper's words",
    "EngineModel": "the same, and the model of our own engine in which passes are compared",
    "PaperModel": "the same",
    "Pattern": "the same",
    "Query": "the same",
}


def types(path: Path) -> Iterator[str]:
    """The names of its classes and type aliases. What is a TypeVar stands for any type, and is its module's own."""
    for node in nodes(path):
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if is_alias(name, value):
                yield name


def is_alias(name: str, value: ast.expr) -> bool:
    """No variable and no constant of ours begins with a capital and goes on in small letters."""
    is_type_variable = isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar"
    return name[0].isupper() and not name.isupper() and not is_type_variable


def places() -> dict[str, list[str]]:
    """By name of a type, the modules that define it, but for the stages'; names with an underscore are a module's
    own.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            module = str(path.relative_to(ROOT))
            if module not in STAGES:
                for name in types(path):
                    if not name.startswith("_"):
                        found[name].append(module)
    return found


def test_the_name_of_a_type_is_defined_once() -> None:
    twice = {name: modules for name, modules in places().items() if len(modules) > 1}
    assert {name: modules for name, modules in twice.items() if name not in SHARED_NAMES} == {}
    assert SHARED_NAMES.keys() - twice.keys() == set()


def test_names_of_the_stages_are_written_with_their_module_where_another_type_has_them() -> None:
    elsewhere = places().keys()
    stages = {Path(module).stem: {*types(ROOT / module)} for module in STAGES}
    stages = {stage: names & (elsewhere | others(stages, stage)) for stage, names in stages.items()}
    found = [
        f"{path.relative_to(ROOT)} imports {alias.name} of {stage}"
        for source in SOURCES
        for path in (ROOT / source).rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and (stage := (node.module or "").rpartition(".")[2]) in stages
        for alias in node.names
        if alias.name in stages[stage] and alias.asname is None
    ]
    assert found == []


def others(stages: dict[str, set[str]], stage: str) -> set[str]:
    return {name for other, names in stages.items() if other != stage for name in names}


def test_the_glossary_has_each_word_once_and_in_order() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        words = re.findall(r"^\| \*\*(.+?)\*\*", table, re.MULTILINE)
        assert words == sorted(words, key=str.casefold)
    words = re.findall(r"^\| \*\*(.+?)\*\*", text, re.MULTILINE)
    assert len(words) == len({*words}) > 80


def test_modules_and_classes_that_the_glossary_names_exist() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    modules = {f"{path.relative_to(ROOT / source)}" for source in SOURCES for path in (ROOT / source).rglob("*.py")}
    named = re.findall(r"`([\w/]+\.py)`", text)
    assert len(named) > 20
    assert [name for name in named if name not in modules] == []
    known = {*places(), *(name for module in STAGES for name in types(ROOT / module))}
    assert [name for name in re.findall(r"`([A-Z]\w*[a-z]\w*)`", text) if name not in known] == []
