"""From plain functions to machine code, by numba. What comes of it needs nothing of Python's or numba's: bytes that
another process loads in a few milliseconds (`object_code.py`).
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from functools import cache
from itertools import count
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .arguments import ArrayForm, RecordForm
from .object_code import ENTRY, target_machine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .arguments import ArgumentForm

# Nothing that is translated allocates, so arrays need no reference counts; with them the kernel is two to four times
# slower. Nor does Python call any of it.
OPTIONS: Final[dict[str, Any]] = {
    "error_model": "numpy",
    "nogil": True,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}

INDEX: Final = "fix_integer_index"
"""What numba makes an index with that may count from the end."""

OPTIMISE: Final = "_optimize_final_module"
"""What numba does with each function and all that it calls, again for each that calls it."""


def functions_of(module: Any) -> dict[str, FunctionType]:
    """The functions of a module, and those that it has from other modules of the kernel."""
    found = ((n, f) for n, f in vars(module).items() if isinstance(f, FunctionType))
    return {name: f for name, f in found if hasattr(sys.modules[f.__module__], "INLINED")}


def translate(module: Any, forms: Sequence[ArgumentForm]) -> bytes:
    """`run` of a module and all that it calls, for arguments of these forms, as object code with one entry."""
    from numba import carray, cfunc, types  # type: ignore[attr-defined]

    text, words, records = _entry(forms, returns=module.run.__annotations__["return"] not in (None, "None"))
    namespace = {"run": _prepared(module)["run"], "carray": carray, **records}
    exec(text, namespace)  # of names of ours alone: words and records
    with _for_us_alone():
        entry = cfunc(types.int64(*words), error_model="numpy")(namespace["entry"])
    code = entry.inspect_llvm().replace(entry.native_name, ENTRY)
    return bytes(target_machine().emit_object(_optimised(_without_python(code))))


def _optimised(code: str) -> Any:
    """numba keeps each function as it might be called from elsewhere, with seven arguments for an array. Nothing but
    the entry is, so LLVM may drop what is not used. Its vectors of neighbours stay off, as numba has them: they have
    been wrong before, and loops are vectors without.
    """
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(_OTHERS.sub("define internal", code))
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, False
    passes = llvm.create_pass_builder(target_machine(), options)
    passes.getModulePassManager().run(module, passes)
    return module


@contextmanager
def _for_us_alone() -> Iterator[None]:
    """Within this, an index below 0 does not count from the end: nothing here has one, and that numba looks at each is
    a third of what the kernel does. And functions stay as they are: all are optimised together, once, which numba's
    turns would take a third of the time for. Its lock keeps out all that others have it translate.
    """
    from numba.core import codegen, types
    from numba.core.compiler_lock import global_compiler_lock
    from numba.np import arrayobj

    def as_it_is(context: Any, builder: Any, of: Any, index: Any, _size: Any) -> Any:
        return context.cast(builder, index, of, types.intp)

    with (
        global_compiler_lock,
        _instead(arrayobj, INDEX, as_it_is),
        _instead(codegen.CPUCodeLibrary, OPTIMISE, lambda _library: None),
    ):
        yield


@contextmanager
def _instead(owner: Any, name: str, other: Any) -> Iterator[None]:
    """Without it, where it is of another version; it takes longer then."""
    usual = getattr(owner, name, None)
    if usual is None:
        yield
        return
    setattr(owner, name, other)
    try:
        yield
    finally:
        setattr(owner, name, usual)


@cache
def _prepared(module: Any) -> dict[str, Any]:
    """The functions of a module for numba, which translates them where they are called. `module.INLINED` names those
    that are copied into their callers. The module itself stays plain Python.
    """
    from numba import njit

    functions = functions_of(module)
    own = {name: function for name, function in functions.items() if function.__module__ == module.__name__}
    namespace = dict(vars(module))
    for name, function in functions.items():
        if name not in own:
            namespace[name] = _prepared(sys.modules[function.__module__])[name]
    for name, function in own.items():
        inline = "always" if name in module.INLINED else "never"
        plain = FunctionType(function.__code__, namespace, name)
        namespace[name] = njit(**OPTIONS, inline=inline)(plain)  # type: ignore[call-overload]
    return {name: namespace[name] for name in own}


def _entry(forms: Sequence[ArgumentForm], returns: bool) -> tuple[str, list[Any], dict[str, type]]:
    """The text of a function that makes arrays and records of words and calls `run` with them, the types of the words
    for numba, and the records.
    """
    from numba import from_dtype, types

    words: list[Any] = []
    records: dict[str, type] = {}
    number = count()

    def word(type_: Any) -> str:
        words.append(type_)
        return f"w{next(number)}"

    def made(form: ArgumentForm) -> str:
        if isinstance(form, RecordForm):
            records[form.record.__name__] = form.record
            return f"{form.record.__name__}({', '.join(map(made, form.fields))})"
        if isinstance(form, ArrayForm):
            begin = word(types.CPointer(from_dtype(np.dtype(form.numbers))))  # type: ignore[no-untyped-call]
            return f"carray({begin}, ({''.join(f'{word(types.int64)}, ' for _ in range(form.dimensions))}))"
        return word(types.int64)

    given = ", ".join(map(made, forms))
    names = ", ".join(f"w{i}" for i in range(len(words)))
    body = f"return run({given})" if returns else f"run({given})\n    return 0"
    return f"def entry({names}):\n    {body}\n", words, records


_DECLARED: Final = re.compile(r"^declare (.*@(?:Py|_Py|numba_|NRT_)\w+\(.*?\)).*$", re.MULTILINE)
_OTHERS: Final = re.compile(r"^define linkonce_odr\b", re.MULTILINE)
_EXTERNAL: Final = re.compile(r"^(@(?:Py|_Py)\w+ =) external (global \S+).*$", re.MULTILINE)


def _without_python(code: str) -> str:
    """LLVM's text of an entry, without its ties to Python and numba. They are for exceptions, which nothing here
    raises; if one were raised after all, the process would be stopped.
    """
    code = _DECLARED.sub(r"define internal \1 {\n  call void @llvm.trap()\n  unreachable\n}", code)
    code = _EXTERNAL.sub(r"\1 internal \2 zeroinitializer", code)
    return code if "declare void @llvm.trap()" in code else f"{code}\ndeclare void @llvm.trap()\n"
