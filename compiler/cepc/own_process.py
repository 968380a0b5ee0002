"""What a command may do only in a process of its own: it holds for all else that runs there."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OWN_PROCESS: Final = "its own process"
"""The object of the click context where the console command runs, and not a program that calls it."""


def keep_numpy_from_threads() -> None:
    """numpy's algebra, of which nothing is used, begins a thread for each core when it is loaded, and each waits for
    work in a loop: a seventh of a short run on two cores, more on many. To be called before numpy is imported.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def keep_garbage() -> None:
    """For a command that reads a program and ends. All that it makes lives to the end and hardly anything is garbage,
    for which the interpreter looks again and again: a quarter of a check of 100,000 queries.
    """
    gc.disable()


class _NoPandas:
    """Finds no pandas, first of all finders."""

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name=name)


@contextmanager
def _hidden_pandas() -> Iterator[None]:
    hiding = _NoPandas()
    sys.meta_path.insert(0, hiding)
    try:
        yield
    finally:
        sys.meta_path.remove(hiding)


def keep_arrow_from_pandas() -> None:
    """pyarrow asks once whether there is pandas, when it makes its first array and when it first gives one to numpy,
    and imports it where it is installed: a quarter of a short run. What a command reads and writes is never pandas'.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    with _hidden_pandas():
        pa.array([0]).to_numpy()
