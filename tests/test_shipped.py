"""Machine code that comes with the package: what is in it, and that nothing else is needed to run it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cepc.codegen.bundle import runtime_archive
from cepc_runtime.kernel import machine_code, scatter
from cepc_runtime.kernel.arguments import form_of
from cepc_runtime.kernel.elf import NotPlacedError, _layout, _Section, _sections, placed
from cepc_runtime.kernel.machine_code import MachineCode, key_of
from cepc_runtime.kernel.object_code import ENTRY, is_common, made_for
from cepc_runtime.kernel.shipped import FOLDER, from_bytes, shipped_code, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
WHOLE = np.zeros(1, dtype=np.int64)
FORMS = tuple(
    map(
        form_of,
        (np.zeros((1, 3), np.int64), np.zeros(1), scatter.ByQuery(*[WHOLE] * 7), scatter.Scattered(WHOLE, WHOLE, np.zeros(1))),
    )
)  # fmt: skip

pytestmark = pytest.mark.skipif(not is_common(), reason="made for other processors")


@pytest.fixture(scope="module")
def code() -> bytes:
    return MachineCode(scatter).code(FORMS)


def test_code_is_put_where_it_can_be_called(code: bytes) -> None:
    first, second = placed(code, ENTRY), placed(code, ENTRY)
    assert first.address != second.address


HARM: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda code: code[:0],
    "a half": lambda code: code[: len(code) // 2],
    "no ELF": lambda code: b"MZ" + code[2:],
    "of 32 bits": lambda code: code[:4] + b"\1" + code[5:],
    "a program": lambda code: code[:16] + b"\2" + code[17:],
    "for another processor": lambda code: code[:18] + b"\xb7" + code[19:],
    "another entry": lambda code: code.replace(ENTRY.encode(), b"\0" * len(ENTRY)),
    "an address of another kind": lambda code: _with_relocation(code, 2),
}


def _with_relocation(code: bytes, kind: int) -> bytes:
    """The first one is of this kind, and no longer an address of 64 bits."""
    (section, *_) = [one for one in _sections(code) if one.kind == 4]
    return code[: section.begin + 8] + bytes([kind]) + code[section.begin + 9 :]


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
def test_what_is_no_such_code_is_not_put_anywhere(code: bytes, harm: Callable[[bytes], bytes]) -> None:
    assert harm(code) != code
    with pytest.raises(NotPlacedError):
        placed(harm(code), ENTRY)


def test_a_section_lies_where_its_alignment_says() -> None:
    sections = [
        _Section(0, 1, 2, 0, 0, size, 0, 0, alignment, 0) for size, alignment in ((5, 1), (3, 16), (0, 4), (8, 32))
    ]
    assert _layout(sections) == ({0: 0, 1: 16, 3: 32}, 40)


FLAGS = "fpu sse2 movbe avx f16c abm bmi1 avx2 bmi2 fma"


@pytest.mark.parametrize(
    ("said", "common"),
    [
        (f"processor\t: 0\nflags\t\t: {FLAGS} avx512f\nbugs\t\t: fma\n", True),
        (f"processor\t: 0\nflags\t\t: {FLAGS.removesuffix(' fma')}\nbugs\t\t: fma\n", False),
        ("processor\t: 0\nFeatures\t: fp asimd\n", False),
    ],
    ids=["newer", "older", "ARM"],
)
def test_a_processor_is_common_if_it_can_do_all_that_is_used(
    monkeypatch: pytest.MonkeyPatch, said: str, common: bool
) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: said)
    assert is_common.__wrapped__() == common


def test_a_module_with_another_text_has_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, body in (("one_way", "n + 1"), ("another", "n + 2"), ("again", "n + 1")):
        (tmp_path / f"{name}.py").write_text(f"INLINED = ()\n\ndef run(n: int) -> int:\n    return {body}\n")
    first, other, same = (machine_code._version(import_module(name)) for name in ("one_way", "another", "again"))
    assert first == same != other


def test_code_for_another_processor_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped_code.cache_clear()
    monkeypatch.setattr("pkgutil.get_data", lambda *_: to_bytes("another", {"i": b"code"}))
    assert [shipped_code("name", "another"), shipped_code("name", made_for())] == [{"i": b"code"}, {}]
    shipped_code.cache_clear()


ALONE = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # neither can be imported
import numpy as np
from cepc_runtime.kernel import scatter
from cepc_runtime.kernel.machine_code import machine_code
rows, places, planes = np.array([[0, 7, 9]]), np.zeros((7, 1), dtype=np.int64), np.zeros(1)
found = scatter.Scattered(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), planes)
run = machine_code(scatter)
run(rows, np.array([3.0]), scatter.ByQuery(*(places + [[1], [0], [0], [1], [1], [0], [0]])), found)
print([column.tolist() for column in found], type(run).__name__)
"""


NO_MEMORY = """
from cepc_runtime.kernel import elf
def refuse(*_):
    raise PermissionError("memory cannot be run")
elf._let_run = refuse
"""


@pytest.mark.parametrize("before", ["", NO_MEMORY], ids=["as usual", "no memory that may be run"])
def test_an_archive_with_machine_code_needs_no_compiler(tmp_path: Path, code: bytes, before: str) -> None:
    """As workers of a cluster have it, in which nobody has installed numba. Where it cannot be loaded either, functions
    are interpreted.
    """
    archive = tmp_path / "cepc_runtime.zip"
    archive.write_bytes(runtime_archive())
    with zipfile.ZipFile(archive, "a") as more:
        name = f"cepc_runtime/kernel/{FOLDER}/{machine_code._name(scatter)}"
        if name not in more.namelist():
            more.writestr(name, to_bytes(made_for(), {key_of(FORMS): code}))
    environment = {**os.environ, "PYTHONPATH": str(archive), "XDG_CACHE_HOME": str(tmp_path / "kept")}
    environment.pop("CEPC_INTERPRETED", None)
    command = [sys.executable, "-c", before + ALONE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "[[7], [9], [3.0]] MachineCode\n"
    assert not (tmp_path / "kept").exists()


@pytest.mark.long
def test_a_wheel_has_code_for_every_kind_of_arguments(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "machine_code.py", tmp_path], check=True, capture_output=True)
    found = {file.name.rpartition("-")[0]: from_bytes(file.read_bytes()) for file in tmp_path.iterdir()}
    assert {name: len(codes) for name, (_, codes) in found.items()} == {
        "cepc_runtime.kernel.loop": 2,
        "cepc_runtime.kernel.adjacent.loop": 2,
        "cepc_runtime.kernel.scatter": 2,
        "cepc_runtime.kernel.digits": 1,
        "cepc_runtime.enumerate.walk.loop": 1,
    }
    assert {processor for processor, _ in found.values()} == {made_for()}
