"""A run as a page, in one file that asks nothing of a network and runs no script."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from ..explaining.describe import pattern
from ..explaining.escaping import escaped
from ..explaining.explanation import parts
from ..explaining.sharing_words import HOW, NOTHING
from ..writing.show import rows
from .history import histories
from .plots import is_logarithmic, plot, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cepc_runtime.kernel.run import Effort

    from .. import model
    from ..passes.workload import Workload
    from ..running.local import Report
    from .history import History

BEGINNING = "<!doctype html>"
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def to_html(
    report: Report,
    seconds: Mapping[str, float],
    summary: str,
    warnings: str = "",
) -> str:
    """The page. `seconds` are those of the stages; `summary` is the sentence, and `warnings` the text, that the command
    prints.
    """
    program = report.program
    styles = (files(package).joinpath("page.css") for package in ("cepc.explaining", "cepc.reporting"))
    title = escaped(
        ", ".join(query.name for query in program.queries[:4]) + (", …" if len(program.queries) > 4 else "")
    )
    shown = f'<section class="warnings"><h2>Warnings</h2><pre>{escaped(warnings)}</pre></section>'
    return "\n".join(
        [
            f'{BEGINNING}\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>A run of {title}</title>',
            f"<style>{''.join(style.read_text('utf-8') for style in styles)}</style></head><body>",
            f"<header><h1>A run of {title}</h1><p>{escaped(summary)}</p></header>",
            *([shown] if warnings else []),
            f"<section><h2>Time</h2>{''.join(_stages(seconds))}</section>",
            *_streams(program, report),
            "</body></html>\n",
        ]
    )  # fmt: skip


def _stages(seconds: Mapping[str, float]) -> Iterator[str]:
    total = sum(seconds.values())
    yield '<table class="figures"><tr><th>stage</th><th></th><th>seconds</th></tr>'
    for name, one in seconds.items():
        yield f"<tr><th>{escaped(name)}</th>{_bar(one / total)}<td>{one:.3f}</td></tr>"
    yield f"<tr><th>together</th><td></td><td>{total:.3f}</td></tr></table>"


def _bar(share: float) -> str:
    return (
        '<td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none">'
        f'<rect width="{min(share, 1) * 100:.1f}" height="10"/></svg><span>{share:.0%}</span></td>'
    )


def _streams(program: model.CheckedProgram, report: Report) -> Iterator[str]:
    for workload in report.workloads:
        name = workload.plan.stream.name
        queries = [query for query in program.queries if query.stream == name]
        yield (
            f'<section><h2>{escaped(name)}</h2><table class="figures">'
            "<tr><th>query</th><th>rows</th><th>pattern</th></tr>"
        )
        for query in queries:
            described = escaped(pattern(query.pattern, program.stream(name)))
            rows = report.tables[query.name].num_rows
            labels = "".join(f"<br>{escaped(f'{label}: {value}')}" for label, value in query.labels)
            yield f"<tr><th>{escaped(query.name)}{labels}</th><td>{rows:,}</td><td>{described}</td></tr>"
        yield "</table><h3>What is shared</h3>"
        yield from _planned(workload)
        if name in report.efforts:
            yield from _done(report.efforts[name])
        yield "<h3>Over time</h3>"
        for history in histories(queries, report.tables):
            yield _history(history)
        yield "</section>"


def _planned(workload: Workload) -> Iterator[str]:
    """What the plan that ran says."""
    found = parts(workload)
    if not found:
        yield f"<p>{NOTHING}</p>"
        return
    yield "<table><tr><th>how</th><th>what</th><th>queries</th></tr>"
    for part in found:
        states, queries = escaped(", ".join(part.states)), escaped(", ".join(part.queries))
        yield f"<tr><td>{part.how}</td><td>{states}</td><td>{queries}</td></tr>"
    yield "</table>"
    ways = {part.how for part in found}
    yield from (f'<p class="how"><b>{how}</b>: {meaning}</p>' for how, meaning in HOW.items() if how in ways)


def _done(effort: Effort) -> Iterator[str]:
    """What was decided while the events were there, and done."""
    if effort.operations:
        yield (
            f"<p>Counting took <b>{effort.operations:,}</b> row operations, "
            f"which changed <b>{effort.numbers:,}</b> numbers.</p>"
        )
    together, apart = effort.events_shared, effort.events_split
    if not together + apart:
        return
    yield "<p>Runs of events that queries could share were propagated once for all where that was cheaper:</p>"
    yield '<table class="figures"><tr><th>decided</th><th></th><th>runs</th><th>events</th></tr>'
    for name, runs, events in (
        ("once for all queries", effort.runs_shared, together),
        ("for each query", effort.runs_split, apart),
    ):
        yield f"<tr><th>{name}</th>{_bar(events / (together + apart))}<td>{runs:,}</td><td>{events:,}</td></tr>"
    yield "</table>"
    if effort.own_columns:
        often = f"<b>{effort.own_columns:,}</b> times"
        yield f"<p>In such runs a query got columns of its own {often}, where an event meant something else to it.</p>"


def _history(history: History) -> str:
    name = f"<b>{escaped(history.query)}</b>: {rows(history.rows)}"
    if history.axis is None:
        return f'<div class="history"><p>{name}</p></div>'
    counted = f"{shown(sum(history.counts))} " if history.what.startswith("matches") else ""
    scale = " (heights are logarithms)" if is_logarithmic(history.counts) else ""
    return f'<div class="history"><p>{name}; {counted}{history.what}{scale}</p>{plot(history, history.axis)}</div>'
