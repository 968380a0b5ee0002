"""A directory with all that a cluster needs: the job, the runtime as an archive, and how to submit them."""

from __future__ import annotations

import io
import json
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from cepc_runtime.kernel.shipped import FOLDER
from cepc_runtime.plan.as_json import to_data

from ..errors import RunError
from ..files.messages import unwritable
from ..files.write import write_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from .job import GeneratedJob

JOB, ARCHIVE, PLANS, README = "job.py", "cepc_runtime.zip", "plan.json", "README.md"

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that an archive can hold: equal runtimes, equal bytes

TEXT = """\
# A job made by cepc

From this directory:

    spark-submit --py-files cepc_runtime.zip job.py --input EVENTS --output RESULTS

`job.py --help` lists the arguments. {source}RESULTS must not exist. Each query
becomes a directory of it, and `RESULTS/_SUCCESS` is written last: without it some are missing.

| file | what it is |
| --- | --- |
| `job.py` | the job, to be read |
| `cepc_runtime.zip` | what the job imports, on the driver and on the workers |
| `plan.json` | the plan of each stream, which the job carries too: to be read, and compared with another's |

The workers' Python needs numpy, pandas and pyarrow, as Spark's own Python functions do, and no
cepc. {compiled}

Queries: {queries}.
"""

SHIPPED = """\
Compiled code for Linux on x86-64 processors since 2013 is in the archive; elsewhere
numba makes it in the first task of a worker, and without numba it is interpreted, which is much
slower."""

NOT_SHIPPED = """\
With numba matches are counted by compiled code, which is much faster; the first
task of a worker then waits some seconds for the compiler."""


def write_bundle(job: GeneratedJob, folder: str) -> None:
    """Write the files, replacing older ones. Raises RunError."""
    root = Path(folder)
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError([unwritable(folder, error)]) from None
    source = "Without `--input` it reads\nwhat the program names by FROM. " if job.declared else ""
    write_text(str(root / JOB), job.text)
    write_bytes(str(root / ARCHIVE), runtime_archive())
    plans = {plan.stream.name: to_data(plan) for plan in job.plans}
    write_text(str(root / PLANS), json.dumps(plans, indent=2) + "\n")
    queries = ", ".join(_plain(name) for name in job.queries)
    compiled = SHIPPED if files("cepc_runtime.kernel").joinpath(FOLDER).is_dir() else NOT_SHIPPED
    write_text(str(root / README), TEXT.format(source=source, queries=queries, compiled=compiled))


def runtime_archive() -> bytes:
    """The package `cepc_runtime` as a zip file for `--py-files`."""
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in _files(files("cepc_runtime"), "cepc_runtime"):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return found.getvalue()


def _files(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry, f"{name}/{entry.name}")
        elif not entry.name.endswith((".pyc", ".nbi", ".nbc")):
            yield f"{name}/{entry.name}", entry


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in " _-." else "?" for c in name)
