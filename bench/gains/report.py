"""A table and its picture: printed, or put into the documentation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.plots import Panel, draw

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "benchmarks.md"


@dataclass(frozen=True)
class Report:
    """`head` names the columns of `rows`; below them stand `notes`. `name` is that of the picture and of the place in
    the page.
    """

    name: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    panels: Sequence[Panel]
    notes: Sequence[str] = ()

    def text(self) -> str:
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        return "\n\n".join([table, *self.notes])

    def write(self) -> None:
        """Put the table between its marks in docs/benchmarks.md, and draw the picture."""
        begin, end = f"<!-- {self.name} -->", f"<!-- end of {self.name} -->"
        shown = f"{self.text()}\n\n![{self.name}, as a picture](pictures/gains-{self.name}.svg)"
        page, found = re.subn(
            f"{begin}.*?{end}", lambda _: f"{begin}\n{shown}\n{end}", PAGE.read_text(encoding="utf-8"), flags=re.S
        )
        if found != 1:
            raise SystemExit(f"{PAGE.name} has no place for {self.name}")
        PAGE.write_text(page, encoding="utf-8")
        draw(f"gains-{self.name}", self.panels)


def few(number: float) -> str:
    """Three digits, as far as they say something."""
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def change(before: float, after: float) -> str:
    return f"{few(before)} → {few(after)}"
