"""What is said of programs that can be run but not made into a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic

if TYPE_CHECKING:
    from .. import model


def reserved(column: str, stream: model.Stream) -> Diagnostic:
    return Diagnostic(
        "E0806", f"a Spark job has a column `{column}` of its own", stream.span,
        f"`{stream.name}` has a column of that name",
        hint="rename it in the source, for example by a view",
    )  # fmt: skip
