"""What the editor has open, and the programs made of it, kept until something changes."""

from __future__ import annotations

import os
from dataclasses import field
from typing import TYPE_CHECKING

from cepc_grammar.source import Source
from cepc_runtime.cheap_dataclass import dataclass

from .program import EditedProgram, OpenTexts, edited

if TYPE_CHECKING:
    from collections.abc import Mapping


def normal(path: str) -> str:
    """The one spelling of a path by which a file is known here."""
    return path if path.startswith(("<", "untitled:")) else os.path.normpath(os.path.abspath(path))  # noqa: PTH100


@dataclass(slots=True)
class Editor:
    """Texts by path. They are replaced and never changed, so that another thread may go on with what it has."""

    texts: Mapping[str, str] = field(default_factory=dict)
    _programs: dict[str, tuple[Mapping[str, str], EditedProgram]] = field(default_factory=dict)

    def put(self, path: str, text: str) -> None:
        # A byte-order mark is white space here, so that no place behind it moves.
        text = " " + text[1:] if text.startswith("\ufeff") else text
        self.texts = {**self.texts, normal(path): text}

    def drop(self, path: str) -> None:
        self.texts = {name: text for name, text in self.texts.items() if name != normal(path)}
        self._programs.pop(normal(path), None)

    def forget(self) -> None:
        """Files on disk have changed."""
        self._programs.clear()

    def program(self, path: str) -> EditedProgram | None:
        """The program of an open text; None of one that is not open."""
        path, texts = normal(path), self.texts
        if path not in texts:
            return None
        known = self._programs.get(path)
        if known is not None and known[0] is texts:
            return known[1]
        if known is not None and _same(known[1], known[0], texts):
            program = known[1]
        else:
            program = edited(Source(path, texts[path]), OpenTexts(texts))
        self._programs[path] = texts, program
        return program

    def last(self, path: str) -> EditedProgram | None:
        """The program as it was found last, of a text that may have changed since; None before there is one."""
        known = self._programs.get(normal(path))
        return None if known is None else known[1]

    def importing(self, path: str) -> tuple[str, ...]:
        """The other open texts whose programs the text is a part of, or which miss an import."""
        path = normal(path)
        known = ((name, program) for name, (_, program) in tuple(self._programs.items()))
        return tuple(name for name, program in known if name != path and name in self.texts and _reads(program, path))

    def programs(self) -> tuple[EditedProgram, ...]:
        """Those of all open texts."""
        found = (self.program(path) for path in tuple(self.texts))
        return tuple(program for program in found if program is not None)


def _reads(program: EditedProgram, path: str) -> bool:
    """Whether a program has a file or misses one, as far as that was found when it was checked: nothing is read now."""
    if "checked" not in vars(program):
        return False
    missing = any(d.code in ("E0001", "E0209") for d in program.checked.diagnostics)
    return missing or path in map(normal, program.checked.sources)


def _same(program: EditedProgram, before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether what changed is no part of the program."""
    files = {normal(name) for name in program.files}
    return all(before.get(name) == now.get(name) for name in files) and not any(
        name not in before and name in files for name in now
    )
