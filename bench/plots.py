"""Pictures of what was measured, as SVG in docs/pictures: panels side by side, each with lines over a common axis.

The same numbers give the same file, byte for byte. matplotlib is in the dependency group `bench`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PICTURES: Final = Path(__file__).parent.parent / "docs" / "pictures"

_STYLE: Final = {
    "svg.hashsalt": "cepc",
    "svg.fonttype": "none",  # text stays text
    "font.size": 9,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.markersize": 4,
}
_COLOURS: Final = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"]


@dataclass(frozen=True)
class Panel:
    """Lines by name, each as (x, y) points. `even` draws a line where neither side gains."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    log_x: bool = False
    log_y: bool = False
    even: float | None = None


def draw(name: str, panels: Sequence[Panel]) -> Path:
    """Write docs/pictures/NAME.svg; where it is."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    path = PICTURES / f"{name}.svg"
    with rc_context(_STYLE):
        figure = Figure(figsize=(4.2 * len(panels), 3.2), layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            axes.set_prop_cycle(color=_COLOURS)
            for title, points in panel.lines.items():
                axes.plot([x for x, _ in points], [y for _, y in points], marker="o", label=title)
            if panel.even is not None:
                axes.axhline(panel.even, color="#999999", linestyle="--", linewidth=1)
            axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
            axes.set_xscale("log" if panel.log_x else "linear")
            axes.set_yscale("log" if panel.log_y else "linear")
            if not panel.log_y:
                axes.set_ylim(bottom=0)
            if len(panel.lines) > 1:
                axes.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
    text = "\n".join(line.rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    path.write_text(text + "\n", encoding="utf-8")
    return path
