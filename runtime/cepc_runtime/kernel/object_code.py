"""Machine code as bytes, and loaded: for most processors code that others of their kind run as well, which needs the C
library alone; for the rest that of the processor at hand, by llvmlite.
"""

from __future__ import annotations

import platform
import sys
from ctypes import CFUNCTYPE, c_int64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..cheap_dataclass import dataclass
from .elf import NotPlacedError, placed

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRY: Final = "cepc_entry"
"""What the one function is called that is called from outside."""

COMMON: Final = "x86-64-v3"
"""What LLVM calls the processors of PCs and clouds since 2013."""

_ALL_HAVE: Final = frozenset(("avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"))
"""What these can do beyond those before them, as Linux calls it."""


@cache
def is_common() -> bool:
    """Whether the processor at hand is such a one, under Linux, and Python has 64 bits."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or sys.maxsize < 1 << 32:
        return False
    try:
        said = Path("/proc/cpuinfo").read_text(errors="replace").partition("\nflags")[2].partition("\n")[0]
    except OSError:
        return False
    return _ALL_HAVE.issubset(said.split())


@cache
def target_machine() -> Any:
    """For which code is made."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    processor, features = (COMMON, "") if is_common() else _processor()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=processor, features=features, opt=3, reloc="static", codemodel="jitdefault")


def _processor() -> tuple[str, str]:
    """Its name, and what it can do."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def made_for() -> str:
    """What object code depends on beside what it was made of."""
    if is_common():
        return f"{COMMON} linux"
    import llvmlite

    return " ".join((target_machine().triple, *_processor(), llvmlite.__version__))


@dataclass(frozen=True, slots=True)
class Loaded:
    """An entry that can be called, as long as this is kept. Other threads of Python run while it does."""

    call: Callable[..., int]
    kept: Any


def load(code: bytes, words: int) -> Loaded:
    """Object code whose entry has so many words for arguments."""
    entry = CFUNCTYPE(c_int64, *[c_int64] * words)
    try:
        found = placed(code, ENTRY)
        return Loaded(entry(found.address), found)
    except NotPlacedError:
        engine = _engine(code)
        return Loaded(entry(engine.get_function_address(ENTRY)), engine)


def _engine(code: bytes) -> Any:
    """llvmlite's own way. It takes a thirtieth of a second to begin; numba, which made the code, ten times that."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
