"""The loop, compiled where numba is there."""

from __future__ import annotations

import os
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from . import loop

if TYPE_CHECKING:
    from collections.abc import Callable

INTERPRETED: Final = "CEPC_INTERPRETED"
"""Set to 1 in the environment: no compilation."""


@cache
def compiled(module: Any) -> dict[str, Callable[..., Any]] | None:
    """The functions of a module as compiled ones that call each other; None without numba.

    The module itself stays plain Python. Machine code is kept on disk, where it can be: beside the module, else where numba
    keeps what it compiles for the user (NUMBA_CACHE_DIR).
    """
    if os.environ.get(INTERPRETED) == "1":
        return None
    try:
        import numba
    except ImportError:
        return None
    functions = {
        n: f for n, f in vars(module).items() if isinstance(f, FunctionType) and f.__module__ == module.__name__
    }
    namespace = dict(vars(module))
    for name, function in functions.items():
        plain = FunctionType(function.__code__, namespace, name)
        try:
            namespace[name] = numba.njit(cache=True, error_model="numpy", nogil=True)(plain)
        except RuntimeError:  # no place to keep machine code: compiled for this process alone
            namespace[name] = numba.njit(error_model="numpy", nogil=True)(plain)
    return {name: namespace[name] for name in functions}


def run_function(interpreted: bool | None = None) -> Callable[..., int]:
    """`loop.run`, compiled unless it is to be interpreted or cannot be compiled."""
    found = None if interpreted else compiled(loop)
    return loop.run if found is None else found["run"]
