"""A program as it stands in an editor, however much of it is written: its syntax, what it imports, what is wrong."""

from __future__ import annotations

import os
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_grammar.parser import parse
from cepc_grammar.source import Source
from cepc_runtime.cheap_dataclass import dataclass

from ..api import check_parsed
from ..files.read import ImportReader
from ..resolve.events import EventTypes
from ..resolve.functions import written_out
from ..resolve.imports import resolve_imports
from ..resolve.names import declarations
from ..resolve.streams import outline, resolve_stream
from .references import DeclaredNames, References, references

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.parser import Parsed

    from ..checked import Checked
    from ..resolve.imports import Imported
    from ..resolve.names import Declarations
    from ..resolve.streams import KnownStream


@dataclass(frozen=True, slots=True)
class OpenTexts:
    """Reads what a program imports: what is open in the editor as it stands there, the rest from disk."""

    texts: Mapping[str, str]  # by path
    files: ImportReader = field(default_factory=ImportReader)

    def __call__(self, path: str, /) -> Source | Diagnostic:
        open_text = self.texts.get(os.path.normpath(os.path.abspath(path)))  # noqa: PTH100 - a string, as paths here are
        if open_text is None or not path.endswith(".cep"):  # what is no program is refused, open or not
            return self.files(path)
        return Source(path, open_text)


@dataclass(frozen=True)
class EditedProgram:
    """A file of an editor with what it imports. All but `parsed` is computed when it is first needed."""

    source: Source
    parsed: Parsed
    reader: OpenTexts

    @cached_property
    def checked(self) -> Checked:
        """As `cepc check` of the file."""
        return check_parsed([(self.source, self.parsed)], self.reader)

    @cached_property
    def imported(self) -> Imported:
        return resolve_imports(self.parsed.program, self.reader)

    @cached_property
    def statements(self) -> tuple[ast.Statement, ...]:
        """Those that can be read, of all files, the imported ones first; imports are those of the file alone."""
        imports = (s for s in self.parsed.program.statements if isinstance(s, ast.Import))
        return (*self.imported.statements, *imports)

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        return {self.source.name: self.source, **{source.name: source for source in self.imported.sources}}

    @cached_property
    def files(self) -> frozenset[str]:
        """Of which files it is made."""
        return frozenset(self.sources)

    @cached_property
    def references(self) -> References:
        return references(self.statements)

    @cached_property
    def names(self) -> DeclaredNames:
        return DeclaredNames(self.statements)

    @cached_property
    def declared(self) -> Declarations:
        statements = written_out(self.imported.statements).statements
        return declarations(statements, self.parsed.lost | self.imported.lost)[0]

    @cached_property
    def streams(self) -> Mapping[str, KnownStream]:
        """Of streams of the rows of queries only their types are known."""
        return {
            name: resolve_stream(statement)[0] if statement.query is None else outline(statement)
            for name, statement in self.declared.streams.items()
        }

    def types_of(self, stream: str | None) -> EventTypes:
        return EventTypes(None if stream is None else self.streams[stream], self.declared, self.streams)


def edited(source: Source, reader: OpenTexts) -> EditedProgram:
    return EditedProgram(source, parse(source), reader)
