"""Every code with its page: why it is an error, a program that has it, and one that is right.

A page is `pages/<code>.md`. Its first line is `# <code>: <title>`; a block fenced as `cep wrong` is a program that
triggers the code, one fenced as `cep right` a program without errors. A code that no program text can trigger shows a
`console` block instead.
"""

from __future__ import annotations

from pathlib import Path

from cepc_runtime.cheap_dataclass import dataclass

from .near import nearest

PAGES = Path(__file__).parent / "pages"


@dataclass(frozen=True, slots=True)
class Page:
    """`text` is the whole page, the title line included."""

    code: str
    title: str
    text: str

    def blocks(self, info: str) -> list[str]:
        """The fenced blocks with exactly this info string, in order."""
        found: list[str] = []
        inside: list[str] | None = None
        wanted = False
        for line in self.text.splitlines():
            if not line.startswith("```"):
                if inside is not None:
                    inside.append(line)
            elif inside is None:
                inside, wanted = [], line[3:].strip() == info
            else:
                if wanted:
                    found.append("\n".join(inside) + "\n")
                inside = None
        return found


def codes() -> tuple[str, ...]:
    """All codes that have a page, errors before warnings."""
    return tuple(sorted(path.stem for path in PAGES.glob("[EW]0*.md")))


def page(code: str) -> Page | None:
    """The page of a code, or None where there is no such code."""
    path = PAGES / f"{code}.md"
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    title = text.partition("\n")[0].removeprefix(f"# {code}: ")
    return Page(code, title, text)


def near(code: str) -> str | None:
    """The code that a mistyped one was most likely meant to be."""
    known = codes()
    return nearest(code, known) or next((c for c in known if c[1:] == code[1:]), None)
