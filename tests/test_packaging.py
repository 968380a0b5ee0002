"""What is installed, what the wheel holds, who may import whom, and what the quick commands must not import."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from cepc_runtime.kernel.object_code import is_common
from cepc_runtime.kernel.shipped import FOLDER
from tests.sources import nodes

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "cepc_grammar": ROOT / "grammar" / "cepc_grammar",
    "cepc": ROOT / "compiler" / "cepc",
    "cepc_runtime": ROOT / "runtime" / "cepc_runtime",
    "cepc_stdlib": ROOT / "stdlib" / "cepc_stdlib",
}

# Of our own packages, those that each may import. A cluster gets `cepc_runtime` alone.
MAY_IMPORT: dict[str, set[str]] = {
    "cepc_grammar": {"cepc_runtime"},
    "cepc": {"cepc_grammar", "cepc_runtime", "cepc_stdlib"},
    "cepc_runtime": set(),
    "cepc_stdlib": set(),
}

# Each takes longer to import than the whole of `cepc check` may.
HEAVY = {"numba", "numpy", "pandas", "pyarrow", "pyspark"}

PROGRAM = """\
STREAM rides (at TIMESTAMP, kind STRING, driver_id BIGINT)
EVENT TIME at
EVENT TYPE kind IN ('Pickup', 'Delivery');

QUERY delivered
  RETURN  COUNT(*) AS trips
  PATTERN SEQ(Pickup, Delivery)
  WHERE   [driver_id]
  WITHIN  20 MINUTES SLIDE 5 MINUTES;
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names in a wheel built from this checkout, without an environment of its own (that is .ci/run's part)."""
    directory = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(directory)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = directory.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return archive.namelist()


@pytest.mark.parametrize("package", PACKAGES)
def test_the_wheel_holds_every_file_of_each_package(wheel: list[str], package: str) -> None:
    folder = PACKAGES[package]
    there = {
        f"{package}/{path.relative_to(folder)}"
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert there == {name for name in wheel if name.startswith(f"{package}/") and not name.startswith(MADE)}


MADE = f"cepc_runtime/kernel/{FOLDER}/"


@pytest.mark.skipif(not is_common(), reason="this machine makes code for its own kind of processor alone")
def test_the_wheel_holds_machine_code_of_each_loop(wheel: list[str]) -> None:
    assert {name.removeprefix(MADE).rpartition("-")[0] for name in wheel if name.startswith(MADE)} == {
        f"cepc_runtime.{module}"
        for module in ("kernel.loop", "kernel.adjacent.loop", "kernel.scatter", "kernel.digits", "enumerate.walk.loop")
    }


def test_the_wheel_holds_the_grammar_the_standard_library_and_the_licence(wheel: list[str]) -> None:
    assert "cepc_grammar/cep.lark" in wheel
    assert {"cepc_grammar/sql/sql.lark", "cepc_grammar/sql/tables.json"} <= set(wheel)
    assert any(name.startswith("cepc_stdlib/") and name.endswith(".cep") for name in wheel)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel)
    assert sum("/licenses/" in name for name in wheel) == 3  # and those of the scripts in a page of `cepc explain`


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_is_typed_and_found_by_its_name(package: str) -> None:
    assert files(package).joinpath("py.typed").is_file()


def test_the_command_is_called_cepc() -> None:
    (command,) = (script for script in entry_points(group="console_scripts") if script.name == "cepc")
    assert command.value == "cepc.cli:main"


def imports(path: Path) -> Iterator[str]:
    """The top-level packages that a module imports, wherever in it."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.xdist_group("sources")
@pytest.mark.parametrize("package", PACKAGES)
def test_imports_between_our_packages_go_one_way(package: str) -> None:
    forbidden = PACKAGES.keys() - MAY_IMPORT[package] - {package}
    found = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in PACKAGES[package].rglob("*.py")
        for name in imports(path)
        if name in forbidden
    }
    assert not found


def modules() -> dict[str, Path]:
    """Ours by their names; a package's `__init__` has that of the package."""
    found = {}
    for folder in PACKAGES.values():
        for path in folder.rglob("*.py"):
            *above, name = path.relative_to(folder.parent).with_suffix("").parts
            found[".".join(above if name == "__init__" else [*above, name])] = path
    return found


def modules_imported(module: str, known: dict[str, Path]) -> set[str]:
    """The others of these that a module imports, wherever in it: for types alone, or when a function is called."""
    path, found = known[module], set[str]()
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found.update(name if (name := f"{base}.{alias.name}") in known else base for alias in node.names)
    return found & known.keys() - {module}


@pytest.mark.xdist_group("sources")
def test_no_two_modules_import_each_other() -> None:
    known = modules()
    imported = {module: modules_imported(module, known) for module in known}
    assert imported["cepc.api"] >= {"cepc.checked", "cepc.compiled_program", "cepc.files.messages", "cepc_grammar.ast"}
    assert "cepc_runtime.sql.types" in imported["cepc_runtime.spark.schema"]
    assert [(a, b) for a in sorted(known) for b in sorted(imported[a]) if a < b and a in imported[b]] == []


@pytest.mark.xdist_group("sources")
def test_the_grammar_takes_of_the_runtime_how_classes_are_made_and_nothing_else() -> None:
    known = modules()
    taken = {name for module in known if module.startswith("cepc_grammar") for name in modules_imported(module, known)}
    assert {name for name in taken if not name.startswith("cepc_grammar")} == {"cepc_runtime.cheap_dataclass"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["check", "program.cep"],
        ["fmt", "program.cep"],
        ["explain", "program.cep"],
        ["explain", "E0001"],
    ],
    ids=" ".join,
)
def test_a_quick_command_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "program.cep").write_text(PROGRAM, encoding="utf-8")
    # Counted rather than timed, so that the answer does not depend on the machine; bench/startup.py has the time.
    probe = (
        "import atexit, pathlib, sys\n"
        "atexit.register(lambda: pathlib.Path('modules').write_text('\\n'.join(sys.modules)))\n"
        "from cepc.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    modules = (tmp_path / "modules").read_text().split()
    assert "cepc.cli" in modules
    assert not HEAVY & {name.partition(".")[0] for name in modules}


def test_the_lock_has_all_that_development_needs_with_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    asked += [text for extra in project["project"]["optional-dependencies"].values() for text in extra]
    entries = re.split(r"^(?=[a-z])", (ROOT / "requirements-dev.lock").read_text(), flags=re.MULTILINE)[1:]
    pinned = [(*entry.split()[0].split("=="), entry.count("--hash=sha256:")) for entry in entries]
    assert [name for name, _, hashes in pinned if not hashes] == []
    for requirement in map(Requirement, asked):
        versions = [version for name, version, _ in pinned if name == requirement.name.lower()]
        assert versions, f"{requirement}: tools/lock"
        assert all(version in requirement.specifier for version in versions), f"{requirement}: tools/lock"


def test_all_that_the_wheel_brings_along_says_its_licence() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "licences", "spark"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"pyspark", "numba", "cytoscape.min.js"} <= {line.split()[0] for line in done.stdout.splitlines()}


def test_licences_of_an_extra_that_there_is_not_are_an_error() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "licences", "spark", "nix"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("cepc has no extra nix; there are ")
