"""`run` of a module as machine code, where that can be had and is worth it. For most processors it comes with the
package (`shipped.py`); for others it is made once and kept on disk.

A module's `run` and what it calls are plain functions, which do the same when they are interpreted.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import sys
import tempfile
import uuid
from contextlib import suppress
from dataclasses import field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

from ..cheap_dataclass import dataclass
from ..private import is_private
from .arguments import Words, form_of
from .object_code import is_common, load, made_for
from .only_maker import only_maker
from .shipped import shipped_code
from .translation import OPTIONS, functions_of, translate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .arguments import ArgumentForm
    from .object_code import Loaded

LOG: Final = logging.getLogger("cepc_runtime")

INTERPRETED: Final = "CEPC_INTERPRETED"
"""Set to 1 in the environment: no machine code."""

LITTLE: Final = 500
"""Row operations, about, that take as long when interpreted as to load machine code."""

FEW: Final = 300_000
"""So many are interpreted, in some three seconds, before it is made, which takes some twenty and is done once."""

SUM: Final = hashlib.sha256().digest_size
"""Bytes at the beginning of a file: the sum of the others."""


@dataclass
class Interpreted:
    """What a process has done in plain Python so far: row operations, about."""

    work: int = 0

    def allows(self, work: int, is_kept: Callable[[], bool]) -> bool:
        """Whether so much more is done before machine code is loaded, or made if none is kept, which a worker of many
        small tasks does in the end.
        """
        self.work += work
        return self.work < FEW and (self.work < LITTLE or not is_kept())


_SO_FAR: Final = Interpreted()

_ONE_AT_A_TIME: Final = RLock()
"""numba and LLVM are not for several threads."""


def run_function(module: Any, work: int, interpreted: bool | None = None) -> Callable[..., Any]:
    """`run` of a module: plain if it is to be interpreted, cannot be translated, or this process has had so little to
    do (row operations, about) that loading machine code, or making it, would have taken longer. The answers are the
    same.
    """
    if interpreted is None:
        interpreted = _SO_FAR.allows(work, lambda: is_kept(module))
    found = None if interpreted else machine_code(module)
    return module.run if found is None else found


def machine_code(module: Any) -> MachineCode | None:
    """None without numba, or where the environment says so. Threads that ask at once get the same."""
    with _ONE_AT_A_TIME:
        return _machine_code(module)


@cache
def _machine_code(module: Any) -> MachineCode | None:
    if os.environ.get(INTERPRETED) == "1" or not (is_common() or _is_there("llvmlite")):
        return None
    return MachineCode(module) if is_kept(module) or _can_be_made() else None


def _can_be_made() -> bool:
    if not _is_there("numba"):
        return False
    try:
        import numba  # noqa: F401  # which is there, but not always for this numpy
    except ImportError:
        return False
    return True


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # somebody has said that it is not
        return False


@dataclass(frozen=True)
class MachineCode:
    """`run` of a module. Threads that ask for it at once wait for the first."""

    module: Any
    _loaded: dict[tuple[int, ...], Loaded | None] = field(default_factory=dict)
    """By what arrays are given; None where this process can neither load it nor make it."""

    def __call__(self, *arguments: Any) -> int:
        given = Words([], [])
        given.add(arguments)
        arrays = tuple(given.arrays)
        if arrays not in self._loaded:
            with _ONE_AT_A_TIME:
                if arrays not in self._loaded:
                    self._loaded[arrays] = self._load(tuple(map(form_of, arguments)), len(given.words))
        loaded = self._loaded[arrays]
        return self.module.run(*arguments) if loaded is None else loaded.call(*given.words)

    def code(self, forms: tuple[ArgumentForm, ...]) -> bytes:
        """For arguments of these forms."""
        shipped = shipped_code(_name(self.module), made_for())
        if (found := shipped.get(key_of(forms))) is not None:
            return found
        file = _file(self.module, forms)
        if file is None:
            return self._made(forms)
        code = _read(file)
        if code is None:
            with only_maker(file):
                code = _read(file)
                if code is None:
                    code = self._made(forms)
                    with suppress(OSError):  # read-only: for this process alone
                        _write(file, code)
        return code

    def _load(self, forms: tuple[ArgumentForm, ...], words: int) -> Loaded | None:
        try:
            return load(self.code(forms), words)
        except ImportError:  # there is no compiler, and no code that was shipped for these or can be put into memory
            return None

    def _made(self, forms: tuple[ArgumentForm, ...]) -> bytes:
        if not is_kept(self.module):
            LOG.info("translating %s to machine code, once for this installation", self.module.__name__)
        return translate(self.module, forms)


def key_of(forms: Sequence[ArgumentForm]) -> str:
    """A text for arguments of these forms."""
    return " ".join(map(str, forms))


# ---- what is kept ----------------------------------------------------------------------------------------------------


@cache
def is_kept(module: Any) -> bool:
    """Whether there is machine code of it for some arguments, shipped, or made and kept by some process."""
    if shipped_code(_name(module), made_for()):
        return True
    folder = _folder(module)
    return folder is not None and any(folder.glob(f"{_name(module)}-*"))


def _file(module: Any, forms: Sequence[ArgumentForm]) -> Path | None:
    """Where it is kept for such arguments and this processor."""
    folder = _folder(module)
    text = f"{made_for()} {key_of(forms)}"
    return None if folder is None else folder / f"{_name(module)}-{_digest(text)}.o"


def _folder(module: Any) -> Path | None:
    """Beside the module, else the user's, if nobody else can write there: what is in it is run. Who can write beside a
    module can change the module as well.
    """
    beside = Path(module.__file__).parent
    if beside.is_dir():
        kept = beside / "__pycache__"
        if os.access(kept if kept.exists() else beside, os.W_OK):
            return kept
    try:  # of an archive, which Spark puts into another place for each application, or read-only
        users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cepc" / "kernel"
        return users if is_private(users) else None
    except (OSError, RuntimeError):  # no home
        return None


def _read(file: Path) -> bytes | None:
    """None where there is none, or not all of it."""
    try:
        kept = file.read_bytes()
    except OSError:
        return None
    return kept[SUM:] if hashlib.sha256(kept[SUM:]).digest() == kept[:SUM] else None


def _write(file: Path, code: bytes) -> None:
    """Whole or not at all: several workers begin at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as copy:
        copy.write(hashlib.sha256(code).digest() + code)
    Path(copy.name).chmod(0o644)
    Path(copy.name).replace(file)


@cache
def _name(module: Any) -> str:
    return f"{module.__name__}-{_version(module)}"


def _version(module: Any) -> str:
    """What the machine code is made of: the text of the module, and the constants and records that it uses; the same in
    all versions of Python.
    """
    types = sorted((t.__module__, t.__qualname__, t._fields) for t in vars(module).values() if _is_record(t))
    constants = sorted((n, v) for n, v in vars(module).items() if isinstance(v, int | float | tuple))
    functions = functions_of(module).values()
    others = {function.__module__ for function in functions} - {module.__name__}
    versions = [_version(sys.modules[name]) for name in sorted(others)]
    return _digest(repr((types, constants, _text(module), versions, OPTIONS)))


def _text(module: Any) -> str:
    """Without the text of the module, something that no other process has: then nothing that is kept is taken."""
    try:
        return inspect.getsource(module)
    except OSError:
        return uuid.uuid4().hex


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _is_record(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")
