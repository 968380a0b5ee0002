"""Explanations as a page that can be looked at and clicked, in one file that asks nothing of a network."""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from .as_svg import legend, still
from .colours import colours
from .describe import listed, queries, streams
from .elements import as_json
from .escaping import escaped
from .graph import has_states
from .panes import strips
from .sharing_words import HOW, nothing
from .strategies import strategy_facts
from .vendor import scripts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .. import model
    from ..passes.engine import Load
    from .describe import Fact
    from .explanation import Explanation, QueryExplanation
    from .graph import View

REACHED = "The patterns of the queries. Arrow keys go from event to event, Enter shows the queries that have it."


def to_html(
    program: model.CheckedProgram,
    explanations: Sequence[Explanation],
    texts: Mapping[str, str],
    warnings: str = "",
) -> str:
    """The page. `texts` are the program's, by the names of the files; `warnings` are shown as they are."""
    resources = files(__package__)
    style = "".join(resources.joinpath(name).read_text("utf-8") for name in ("picture.css", "page.css"))
    code = (scripts(), resources.joinpath("page.js").read_text("utf-8"))
    title = escaped(", ".join(texts) or "cepc")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(code)}">',
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>',
            f"<style>{style}</style></head><body>",
            f"<header><h1>{title}</h1><p>{_summary(explanations)}</p></header>",
            *(
                [f'<section class="warnings"><h2>Warnings</h2><pre>{escaped(warnings)}</pre></section>']
                if warnings
                else []
            ),
            *_streams(program, explanations),
            *(
                f'<details class="source"><summary>{escaped(name)}</summary><pre>{escaped(text)}</pre></details>'
                for name, text in texts.items()
            ),
            *(f"<script>{script}</script>" for script in code),
            "</body></html>\n",
        ]
    )


def _policy(code: Iterable[str]) -> str:
    """These scripts and no others, whatever a name in the program may try, and nothing from anywhere else."""
    allowed = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in code)
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}"


def _summary(explanations: Sequence[Explanation]) -> str:
    number = sum(len(one.executions) for one in explanations)
    alone = sum(one.alone.nanoseconds for one in explanations)
    together = sum(one.together.nanoseconds for one in explanations)
    over = f"{_number(number, 'query', 'queries')} over {_number(len(explanations), 'stream', 'streams')}"
    if not alone or together >= alone:
        return over
    return f"{over}. Sharing is expected to leave <strong>{together / alone:.0%}</strong> of the work."


def _streams(program: model.CheckedProgram, explanations: Sequence[Explanation]) -> Iterator[str]:
    described = {query.name: query.facts for query in queries(program)}
    of_stream = {stream.name: stream.facts for stream in streams(program)}
    for number, one in enumerate(explanations):
        yield f'<section class="stream"><h2>{escaped(one.title)}</h2>'
        yield f'<details class="facts"><summary>The stream</summary>{_facts(of_stream[one.stream])}</details>'
        yield from _cost(one)
        yield '<div class="workload"><nav aria-label="Queries">'
        yield '<input type="search" placeholder="Find a query" aria-label="Find a query"><div class="queries">'
        for q, execution in enumerate(one.executions):
            yield _query(f"{number}-{q}", execution, one, described[execution.query])
        yield f"</div></nav>{_figure(number, one)}</div>"
        yield from _parts(number, one)
        yield from _passes(one)
        if one.obstacles:
            yield f"<h3>Could be</h3><ul>{''.join(f'<li>{escaped(text)}</li>' for text in one.obstacles)}</ul>"
        yield "</section>"


def _figure(number: int, one: Explanation) -> str:
    """The graph for the script to draw, or a picture where none runs; below it the panes and what the signs mean. Where
    automata have more than the patterns' events, the script draws them on demand.
    """
    strip = strips(one, number)
    views: tuple[View, ...] = ("pattern", "states") if has_states(one) else ("pattern",)
    return "".join(
        [
            '<figure><div class="tools"><output aria-live="polite">Click a query or an event; drag to move.</output>',
            '<button data-view aria-pressed="false">The automata</button>' if len(views) > 1 else "",
            '<button data-only disabled>Only what is picked</button><button data-zoom="0.8" title="Smaller">−</button>',
            '<button data-zoom="1.25" title="Larger">+</button><button data-zoom="fit">Fit</button>',
            "<button data-clear>Show all</button></div>",
            f'<div class="graph" role="application" tabindex="0" aria-label="{REACHED}"></div>',
            *(f'<script type="application/json">{as_json(one, number, view)}</script>' for view in views),
            f'<noscript><div class="canvas">{still(one)}</div></noscript>',
            f'<div class="canvas">{strip}</div>' if strip else "",
            *(f"<figcaption{' hidden' if view == 'states' else ''}>{legend(one, view)}</figcaption>" for view in views),
            "</figure>",
        ]
    )


def _cost(one: Explanation) -> Iterator[str]:
    """What is expected of the kernel; nothing where all matches are listed."""
    if not one.alone.operations:
        return
    if all(part.how == "found once" for part in one.parts):
        load = one.alone
        yield (
            f"<p>Counting is expected to take {load.operations:,.4g} row operations, which change {load.numbers:,.4g}"
            f" numbers, for a second of events: about {load.nanoseconds / 1000:,.3g} µs.</p>"
        )
        return
    yield '<table class="cost"><caption>Expected work in a second of events</caption>'
    yield "<tr><th></th><th></th><th>row operations</th><th>numbers</th><th>µs</th></tr>"
    for name, load in (("by themselves", one.alone), ("as shared", one.together)):
        share = load.nanoseconds / one.alone.nanoseconds
        yield (
            f'<tr><th>{name}</th><td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none">'
            f'<rect width="{min(share, 1) * 100:.1f}" height="10"/></svg><span>{share:.0%}</span></td>'
            f"{_load(load)}</tr>"
        )
    yield "</table>"


def _load(load: Load) -> str:
    return f"<td>{load.operations:,.4g}</td><td>{load.numbers:,.4g}</td><td>{load.nanoseconds / 1000:,.3g}</td>"


def _query(identity: str, execution: QueryExplanation, one: Explanation, facts: Sequence[Fact]) -> str:
    shown = [*(fact for fact in facts if fact[0] != "stream"), *_execution(execution, one)]
    ways = {part.how for part in one.parts if execution.query in part.queries}
    mark = (
        "once"
        if ways & {"kept once", "found once"}
        else "basis"
        if "on basis columns" in ways
        else "beside"
        if ways
        else "single"
    )
    return (
        f'<details class="query {mark}" data-query="{identity}"><summary>{escaped(execution.query)}</summary>'
        f"{_facts(shown)}</details>"
    )


def _execution(execution: QueryExplanation, one: Explanation) -> Iterator[Fact]:
    """How the query is executed, and what was said of it."""
    query = execution.query
    yield from strategy_facts(execution.strategy, execution.batch)
    if execution.automaton is not None:
        watched = "; NOT is watched" if execution.automaton.guarded else ""
        yield "automaton", f"of {len(execution.automaton.states)} states{watched}"
        yield "windows open", f"{execution.window.open_at_once} at once"
        load = execution.load
        yield (
            "by itself",
            (f"{load.operations:,.4g} row operations for a second of events, about {load.nanoseconds / 1000:,.3g} µs"),
        )
    yield from listed("as a stream", execution.keeps)
    for part in one.parts:
        if query in part.queries:
            others = ", ".join(other for other in part.queries if other != query)
            yield part.how, f"{', '.join(part.members[part.queries.index(query)])}: with {others}"
    for note in one.notes:
        if query in note.queries:
            yield note.name, note.text
    for obstacle in one.obstacles:
        if obstacle.startswith(f"{query} "):
            yield "could be", obstacle


def _facts(facts: Iterable[Fact]) -> str:
    by_label: list[tuple[str, list[str]]] = []
    for label, text in facts:
        if label and (not by_label or by_label[-1][0] != label):
            by_label.append((label, []))
        by_label[-1][1].append(text)
    rows = (
        f"<dt>{escaped(label)}</dt>{''.join(f'<dd>{escaped(text)}</dd>' for text in texts)}"
        for label, texts in by_label
    )
    return f"<dl>{''.join(rows)}</dl>"


def _parts(number: int, one: Explanation) -> Iterator[str]:
    if not one.parts:
        yield f"<p>{nothing(one)}</p>"
        return
    palette = colours(one.parts)
    place = {execution.query: f"{number}-{q}" for q, execution in enumerate(one.executions)}
    yield "<h3>What is shared</h3>"
    for how, meaning in HOW.items():
        rows = [
            f'<tr data-part="{number}-{p}" data-queries="{" ".join(place[query] for query in part.queries)}"'
            f' tabindex="0">'
            f'<td><svg width="14" height="14"><rect width="14" height="14" rx="3" fill="{palette[p].fill}"'
            f' stroke="{palette[p].line}"/></svg></td>'
            f"<td>{escaped(', '.join(part.states))}</td><td>{escaped(', '.join(part.queries))}</td></tr>"
            for p, part in enumerate(one.parts)
            if part.how == how
        ]
        if rows:
            yield f'<p class="how"><b>{how}</b>: {meaning}</p><table class="parts">'
            what = "part" if how == "found once" else "states"
            yield f"<tr><th></th><th>{what}</th><th>queries</th></tr>{''.join(rows)}</table>"


def _passes(one: Explanation) -> Iterator[str]:
    if not one.notes:
        return
    said: defaultdict[str, list[str]] = defaultdict(list)
    for note in one.notes:
        about = f"<b>{escaped(', '.join(note.queries))}</b>: " if note.queries else ""
        said[note.name].append(f"<li>{about}{escaped(note.text)}</li>")
    yield '<h3>What the passes said</h3><table class="passes">'
    for name, texts in said.items():
        yield f"<tr><th>{escaped(name)}</th><td><ul>{''.join(texts)}</ul></td></tr>"
    yield "</table>"


def _number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
