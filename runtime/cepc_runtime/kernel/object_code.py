"""Machine code as bytes, and loaded. llvmlite alone does that in a thirtieth of a second; numba, which made it, would
take ten times as long to begin.
"""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_int64
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ..cheap_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRY: Final = "cepc_entry"
"""What the one function is called that is called from outside."""


@cache
def target_machine() -> Any:
    """Of the processor at hand."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    processor, features = _processor()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=processor, features=features, opt=3, reloc="static", codemodel="jitdefault")


def _processor() -> tuple[str, str]:
    """Its name, and what it can do."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def made_for() -> str:
    """What object code depends on beside what it was made of: the processor, and LLVM."""
    import llvmlite

    return " ".join((target_machine().triple, *_processor(), llvmlite.__version__))


@dataclass(frozen=True, slots=True)
class Loaded:
    """An entry that can be called, as long as this is kept. Other threads of Python run while it does."""

    call: Callable[..., int]
    engine: Any


def load(code: bytes, words: int) -> Loaded:
    """Object code whose entry has so many words for arguments."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Loaded(CFUNCTYPE(c_int64, *[c_int64] * words)(engine.get_function_address(ENTRY)), engine)
