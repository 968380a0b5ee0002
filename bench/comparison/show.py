"""The figures as tables in Markdown, and as a picture."""

from __future__ import annotations

from typing import Any

SIDES = (
    "cepc, in process",
    "cepc, Spark",
    "applyInPandas",
    "collect_list and UDF",
    "DuckDB",
    "polars",
    "Flink, batch",
    "Flink, streaming",
    "Spark's floor",
    "Flink's floor, batch",
    "Flink's floor, streaming",
)


def show(figures: dict[str, Any]) -> None:
    """Print the tables and draw docs/pictures/comparison.svg."""
    for part in ("ticks", "tables", "nexmark"):
        columns = [name for name in figures if name.startswith(part)]
        columns.sort(key=lambda name: int(name.split()[1]))
        if columns:
            print(_table(columns, figures))
    measured = {name: one for name, one in figures.items() if name.startswith("ticks")}
    if len(measured) > 1:
        _picture(measured)


def _table(columns: list[str], figures: dict[str, Any]) -> str:
    heads = [
        f"{_queries(name)}, {figures[name]['events']:,} events, {figures[name]['matches']:,} matches"
        for name in columns
    ]
    lines = ["| | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(columns)]
    for side in SIDES:
        cells = [_cell(figures[name]["took"].get(side)) for name in columns]
        if any(cells):
            lines.append(f"| {side} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _queries(name: str) -> str:
    number = name.split()[1]
    return "1 query" if number == "1" else f"{number} queries"


def _cell(took: dict[str, float] | None) -> str:
    return "" if took is None else f"{took['processor']:.1f} ({took['clock']:.1f})"


def _picture(figures: dict[str, Any]) -> None:
    from bench.plots import Panel, draw

    numbers = sorted(figures, key=lambda name: int(name.split()[1]))
    lines = {
        side: [(int(name.split()[1]), figures[name]["took"][side]["processor"]) for name in numbers]
        for side in SIDES[:8]
        if all(side in figures[name]["took"] for name in numbers)
    }
    ours = dict(lines["cepc, Spark"])
    ratios = {side: [(x, y / ours[x]) for x, y in points] for side, points in lines.items() if side != "cepc, Spark"}
    draw(
        "comparison",
        [
            Panel("Processor time", "queries", "seconds", lines, log_x=True, log_y=True),
            Panel("Against cepc's Spark job", "queries", "times as long", ratios, log_x=True, log_y=True, even=1.0),
        ],
    )
