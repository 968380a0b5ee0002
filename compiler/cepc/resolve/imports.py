"""Imports: the statements of all files of a program, each file once, what is imported before what imports it."""

from __future__ import annotations

import os
from dataclasses import field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.lost import NOTHING_LOST, Lost
from cepc_grammar.parser import Parsed, parse
from cepc_runtime.cheap_dataclass import dataclass

from ..standard_library import standard_module, standard_modules
from .messages import names as say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.source import Source


class Loader(Protocol):
    """Reads the file of an import: its source, named by the path given, or a diagnostic that says why there is none."""

    def __call__(self, path: str, /) -> Source | Diagnostic: ...


@dataclass(frozen=True, slots=True)
class Imported:
    """`statements` of all files; `sources` are the texts that imports brought in, `lost` what could not be read in
    them.
    """

    statements: tuple[ast.Statement, ...]
    sources: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...]
    lost: Lost


def resolve_imports(program: ast.Program, loader: Loader) -> Imported:
    """The program with what it imports. Files of the program itself are known by the spans of their statements."""
    given: dict[str, list[ast.Statement]] = {}
    names: dict[str, str] = {}
    for name, of_file in groupby(program.statements, key=lambda statement: statement.span.source):
        key = _key(name)
        names.setdefault(key, name)
        given.setdefault(key, []).extend(of_file)
    work = _Importing(loader, given, names)
    for key in tuple(given):
        work.visit(key)
    return Imported(tuple(work.statements), tuple(work.sources), tuple(work.diagnostics), work.lost)


@dataclass
class _Importing:
    loader: Loader
    files: dict[str, list[ast.Statement]]  # by key: those of the program, and those read already
    names: dict[str, str]  # by key: as shown
    statements: list[ast.Statement] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    path: list[str] = field(default_factory=list)
    lost: Lost = NOTHING_LOST

    def visit(self, key: str) -> None:
        """Not by recursion: a chain of imports may be longer than Python's stack."""
        if key in self.done:
            return
        pending = [self._begin(key)]
        while pending:
            statement = next(pending[-1], None)
            if statement is None:
                pending.pop()
                self.statements += [s for s in self.files[self.path.pop()] if not isinstance(s, ast.Import)]
                continue
            target = self._read(statement)
            if target is not None and target in self.path:
                chain = [*self.path[self.path.index(target) :], target]
                self.diagnostics.append(say.import_cycle(statement.span, [self.names[k] for k in chain]))
            elif target is not None and target not in self.done:
                pending.append(self._begin(target))

    def _begin(self, key: str) -> Iterator[ast.Import]:
        self.done.add(key)
        self.path.append(key)
        return (statement for statement in self.files[key] if isinstance(statement, ast.Import))

    def _read(self, node: ast.Import) -> str | None:
        """The key of what is imported, its statements read; None where there is nothing."""
        if node.module is not None:
            return self._standard(node, ".".join(part.text for part in node.module))
        if node.file in standard_modules():
            self.diagnostics.append(say.module_in_quotes(node))
            return None
        path = imported_path(node.file or "", node.span.source)
        key = _key(path)
        if key not in self.files:
            source = self.loader(path)
            if isinstance(source, Diagnostic):
                self.diagnostics.append(say.not_imported(node, source))
                return None
            self._add(key, source, parse(source))
        return key

    def _standard(self, node: ast.Import, module: str) -> str | None:
        key = f"<{module}>"
        if key not in self.files:
            found = standard_module(module)
            if found is None:
                self.diagnostics.append(say.no_module(node, module, standard_modules()))
                return None
            self._add(key, *found)
        return key

    def _add(self, key: str, source: Source, parsed: Parsed) -> None:
        self.names[key] = source.name
        self.files[key] = list(parsed.program.statements)
        self.sources.append(source)
        self.diagnostics += parsed.diagnostics
        self.lost |= parsed.lost


def imported_path(file: str, importing: str) -> str:
    """The path of an import, which is relative to the file that has it.

    >>> imported_path("./mine.cep", "queries/all.cep"), imported_path("../x.cep", "q/a.cep")
    ('queries/mine.cep', 'x.cep')
    >>> imported_path("/x.cep", "a.cep")
    '/x.cep'
    """
    folder = Path() if importing.startswith("<") else Path(importing).parent
    return os.path.normpath(folder / file)


def _key(name: str) -> str:
    """What tells files apart, however their paths are written."""
    return name if name.startswith("<") else os.path.normcase(os.path.normpath(Path.cwd() / name))
