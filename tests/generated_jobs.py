"""Generated jobs as if they were imported."""

from __future__ import annotations

from typing import Any

from cepc.api import check_text
from cepc.codegen.compiling import job_of


def names_of_job(program: str) -> dict[str, Any]:
    """What the job of a program defines, `main` and `JOB` among it."""
    checked = check_text(program, "job.cep")
    assert checked.program is not None, checked.text()
    names: dict[str, Any] = {"__name__": "job"}
    exec(compile(job_of(checked.program, checked.sources).text, "job", "exec"), names)
    return names
