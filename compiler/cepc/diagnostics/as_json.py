"""Diagnostics for editors: one JSON object on each line.

    {"code": "E0201", "severity": "error", "title": …, "file": "rides.cep", "start": {"line": 14, "column": 25},
     "end": {"line": 14, "column": 31}, "label": …, "notes": […], "hint": …, "replacement": …,
     "others": [{"file": …, "start": …, "end": …, "label": …}]}

Lines and columns count from 1, columns in characters; the end is the first column after the text. Where there is no
text to point at, `start` and `end` are null. `replacement` is what to write in place of the text from start to end,
null where that is not certain enough.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .locate import locate
from .render import in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Source, Span


def as_json(diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> str:
    """The diagnostics in the order the text form has them, each on a line; "" where there are none."""
    return "".join(json.dumps(as_object(d, sources), ensure_ascii=False) + "\n" for d in in_order(diagnostics, sources))


def as_object(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> dict[str, Any]:
    """One diagnostic as what JSON can say."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "title": diagnostic.title,
        **_place(diagnostic.span, sources),
        "label": diagnostic.label,
        "notes": list(diagnostic.notes),
        "hint": diagnostic.hint,
        "replacement": diagnostic.replacement,
        "others": [{**_place(other.span, sources), "label": other.label} for other in diagnostic.others],
    }


def _place(span: Span, sources: Mapping[str, Source]) -> dict[str, Any]:
    source = sources.get(span.source)
    if source is None:
        return {"file": span.source, "start": None, "end": None}
    at = locate(source, span)
    return {
        "file": span.source,
        "start": {"line": at.line, "column": at.column},
        "end": {"line": at.end_line, "column": at.end_column},
    }
