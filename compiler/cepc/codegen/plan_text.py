"""A plan as a constant of a job."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from cepc_runtime.plan.as_json import to_data
from cepc_runtime.plan.packed import packed

from .python import long_string

if TYPE_CHECKING:
    from cepc_runtime.plan.physical import PhysicalPlan

READABLE: Final = 200_000
"""Characters. A longer plan is packed: nobody reads that much, and most of it is said again and again."""


def plan_text(plan: PhysicalPlan, name: str) -> str:
    """The plan as JSON in pieces; every query begins a line, so that a change in one changes its lines alone. A long
    one is packed.
    """
    data = to_data(plan)
    queries = data.pop("queries")
    dumped = [json.dumps(part, separators=(",", ":"), ensure_ascii=True) for part in (data, *queries)]
    text, cuts = dumped[0][:-1] + ',"queries":[', []
    if len(text) + sum(map(len, dumped[1:])) > READABLE:
        return _packed(f"{text}{','.join(dumped[1:])}]}}", name)
    for i, query in enumerate(dumped[1:]):
        cuts.append(len(text))
        text += query + ("," if i + 2 < len(dumped) else "")
    return long_string(name, f"{text}]}}", cuts)


def _packed(text: str, name: str) -> str:
    data = packed(text)
    lines = "\n".join(f'    "{data[i : i + 110]}"' for i in range(0, len(data), 110))
    said = f"{len(text) / 1e6:.1f} MB of JSON, packed; `cepc compile --bundle` writes it to plan.json, to be read."
    return f"# {said}\n{name} = job.unpacked(\n{lines}\n)"
