"""Modules of plain functions, compiled where numba is there."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import RLock
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final

from ..private import is_private

if TYPE_CHECKING:
    from collections.abc import Callable

LOG: Final = logging.getLogger("cepc_runtime")

INTERPRETED: Final = "CEPC_INTERPRETED"
"""Set to 1 in the environment: no compilation."""

LITTLE: Final = 30_000
"""Row operations, about, that take as long when interpreted as to load machine code."""

FEW: Final = 300_000
"""So many are interpreted, in some three seconds, before it is made, which takes some twenty and is done once."""

# Nothing that is compiled allocates, so arrays need no reference counts; with them the kernel is two to four times
# slower.
_OPTIONS: Final[dict[str, Any]] = {"error_model": "numpy", "nogil": True, "_nrt": False}


_ONE_AT_A_TIME: Final = RLock()


def compiled(module: Any) -> dict[str, Callable[..., Any]] | None:
    """The functions of a module as compiled ones; None without numba. Threads that ask at once wait for the first."""
    with _ONE_AT_A_TIME:
        return _compiled(module)


@cache
def _compiled(module: Any) -> dict[str, Callable[..., Any]] | None:
    """The functions of a module as compiled ones that call each other; None without numba.

    `module.INLINED` names those that are copied into their callers. The module itself stays plain Python. Machine code
    is kept on disk, where it can be and nobody else can put it: beside the module, else where numba keeps what it
    compiles for the user (NUMBA_CACHE_DIR), for a module of an archive beside a copy of its source.
    """
    if os.environ.get(INTERPRETED) == "1":
        return None
    try:
        import numba
    except ImportError:
        return None
    functions = _functions(module)
    names = [name for name, function in functions.items() if function.__module__ == module.__name__]
    namespace = dict(vars(module))
    for name, function in functions.items():
        if name not in names:
            namespace[name] = (compiled(sys.modules[function.__module__]) or {})[name]
    version, file = _version(module), _file(module)
    keeps = _may_be_kept(Path(file))
    if "run" in names and not has_machine_code(module):
        LOG.info("translating %s to machine code, once for this installation: some seconds", module.__name__)
    for name in names:
        plain = FunctionType(functions[name].__code__.replace(co_filename=file), namespace, name)
        plain.__qualname__ = f"{name}_{version}"
        options = _OPTIONS | {"inline": "always" if name in module.INLINED else "never"}
        kept = _with_cache(plain, options) if keeps else None
        namespace[name] = numba.njit(**options)(plain) if kept is None else kept  # else for this process alone
    return {name: namespace[name] for name in names}


@cache
def has_machine_code(module: Any) -> bool:
    """Whether that of its `run` was made and kept, by this process or another."""
    file = _file(module)
    return _may_be_kept(Path(file)) and _is_kept(file, f"run_{_version(module)}")


def _is_kept(file: str, name: str) -> bool:
    """Whether numba has machine code of a function with this name, beside its file or where it keeps the user's."""
    users = _users() if os.environ.get("NUMBA_CACHE_DIR") else _users() / "numba"
    folders = (Path(file).parent / "__pycache__", users)
    index = f"{Path(file).stem}.{name}-*.nbi"
    return any(folder.exists() and next(folder.rglob(index), None) is not None for folder in folders)


def _with_cache(plain: FunctionType, options: dict[str, Any]) -> Any | None:
    """The function compiled, with its machine code kept on disk; None where there is no place for it."""
    import numba

    try:
        return numba.njit(cache=True, **options)(plain)
    except RuntimeError:
        return None


def _may_be_kept(file: Path) -> bool:
    """Whether nobody but the user can write where numba keeps machine code, which it loads whoever wrote it. Beside a
    module's file whoever can write can change the module as well.
    """
    beside = file.parent / "__pycache__"
    if not os.environ.get("NUMBA_CACHE_DIR") and os.access(beside if beside.exists() else file.parent, os.W_OK):
        return True
    try:
        return is_private(_users())
    except (OSError, RuntimeError):  # no home
        return False


def _file(module: Any) -> str:
    """The source's file, by whose path and time numba knows machine code.

    An archive that Spark ships has another path and time in every application. What it holds is copied where it stays.
    """
    file = Path(module.__file__)
    if file.exists():
        return str(file)
    try:
        source = module.__loader__.get_source(module.__name__)
        digest = hashlib.sha256(source.encode()).hexdigest()[:12]
        kept = _users() / "cepc" / f"{module.__name__}-{digest}.py"
        if not is_private(kept.parent):
            return str(file)
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False, encoding="utf-8") as copy:
                copy.write(source)
            Path(copy.name).replace(kept)  # whole or not at all: several workers start at once
    except (OSError, RuntimeError):  # read-only, or no home: compiled for this process alone
        return str(file)
    return str(kept)


def _users() -> Path:
    """The folder of the user's in which machine code is kept that cannot be kept beside its module."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _functions(module: Any) -> dict[str, FunctionType]:
    """The functions of a module, and those that it has from other modules of the kernel."""
    found = ((n, f) for n, f in vars(module).items() if isinstance(f, FunctionType))
    return {name: f for name, f in found if hasattr(sys.modules[f.__module__], "INLINED")}


def _version(module: Any) -> str:
    """What the machine code depends on. numba itself looks at the module's file alone, not at constants from others;
    and it reads the types of arguments that an older file had before it looks, which fails where a class has another
    name by now.
    """
    types = sorted((t.__module__, t.__qualname__, t._fields) for t in vars(module).values() if _is_record(t))
    constants = sorted((n, v) for n, v in vars(module).items() if isinstance(v, int | float | tuple))
    codes = [_code(function.__code__) for function in _functions(module).values()]
    others = {function.__module__ for function in _functions(module).values()} - {module.__name__}
    versions = [_version(sys.modules[name]) for name in sorted(others)]
    return hashlib.sha256(
        repr((types, constants, codes, sorted(module.INLINED), versions, _OPTIONS)).encode()
    ).hexdigest()[:12]


def _is_record(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def _code(code: CodeType) -> tuple[Any, ...]:
    return (
        code.co_name,
        code.co_code.hex(),
        code.co_names,
        tuple(c for c in code.co_consts if not isinstance(c, CodeType)),
    )


@dataclass
class Interpreted:
    """What a process has done in plain Python so far: row operations, about."""

    work: int = 0

    def allows(self, work: int, is_kept: Callable[[], bool]) -> bool:
        """Whether so much more is done before machine code is loaded, or made if none is kept, which a worker of many
        small tasks does in the end.
        """
        self.work += work
        if "numba" in sys.modules or self.work >= FEW:
            return False
        return self.work < LITTLE or not is_kept()


_SO_FAR: Final = Interpreted()


def run_function(module: Any, work: int, interpreted: bool | None = None) -> Callable[..., Any]:
    """`run` of a module: plain if it is to be interpreted, cannot be compiled, or this process has had so little to do
    (row operations, about) that loading machine code, or making it, would have taken longer. The answers are the same.
    """
    if interpreted is None:
        interpreted = _SO_FAR.allows(work, lambda: has_machine_code(module))
    found = None if interpreted else compiled(module)
    return module.run if found is None else found["run"]
