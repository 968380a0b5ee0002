"""The Language Server Protocol over pygls: what an editor asks, put to the features, and their answers given back.

Documents are sent whole at each change: pygls cuts texts into lines at more characters than the protocol does, so that
parts of a text that has one of those would be put in other places.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import sys
from dataclasses import field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeVar

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcException, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.uris import from_fs_path, to_fs_path

from cepc_grammar import ast
from cepc_grammar.formatter import format_source
from cepc_grammar.source import Source
from cepc_runtime.cheap_dataclass import dataclass

from ..bug import a_bug
from ..errors import CepcError
from ..resolve.imports import imported_path
from ..statistics.read import read_statistics
from ..version import version
from .completion import completion
from .cures import cures
from .editor import Editor, normal
from .hover import hover
from .outline import outline
from .positions import ClientPositions
from .program_tests import named_tests, run_tests
from .rename import rename, renameable, uses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.source import Span

    from ..passes.rates import Rates
    from .completion import SuggestionKind
    from .outline import OutlineEntry
    from .program import EditedProgram
    from .references import SymbolKind

QUIET: Final = 0.25
"""Seconds without a change before a text is checked."""

RUN_TESTS: Final = "cepc.runTests"

T = TypeVar("T")

_SYMBOLS: Final[dict[SymbolKind, types.SymbolKind]] = {
    "stream": types.SymbolKind.Class,
    "event type": types.SymbolKind.Event,
    "pattern": types.SymbolKind.Interface,
    "function": types.SymbolKind.Function,
    "query": types.SymbolKind.Method,
    "test": types.SymbolKind.Boolean,
    "column": types.SymbolKind.Field,
}
_SUGGESTED: Final[dict[SuggestionKind, types.CompletionItemKind]] = {
    "keyword": types.CompletionItemKind.Keyword,
    "stream": types.CompletionItemKind.Class,
    "event type": types.CompletionItemKind.Event,
    "pattern": types.CompletionItemKind.Interface,
    "function": types.CompletionItemKind.Function,
    "query": types.CompletionItemKind.Method,
    "variable": types.CompletionItemKind.Variable,
    "column": types.CompletionItemKind.Field,
    "module": types.CompletionItemKind.Module,
    "type": types.CompletionItemKind.TypeParameter,
    "unit": types.CompletionItemKind.Unit,
    "label": types.CompletionItemKind.Constant,
}


class AnsweringProtocol(LanguageServerProtocol):
    """pygls drops a request that is not of the protocol's form, for whose answer an editor then waits."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise


class CepServer(LanguageServer):
    """A server for one editor. `failures` are the tests of a text that failed, until it changes."""

    def __init__(self) -> None:
        super().__init__(
            "cepc", version(), text_document_sync_kind=types.TextDocumentSyncKind.Full, protocol_cls=AnsweringProtocol
        )
        self.editor = Editor()
        self.state = _State()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A line in the editor's log in place of a window in front of the text; a request has its answer already."""
        if source is not FeatureRequestError:
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, f"{type(error).__name__}: {error}"))

    # ---- places

    def positions(self, text: str) -> ClientPositions:
        return ClientPositions(text, types.PositionEncodingKind(self.workspace.position_encoding or "utf-16").value)

    def range(self, text: str, span: Span) -> types.Range:
        return _range(self.positions(text), span)

    def location(self, program: EditedProgram, span: Span) -> types.Location | None:
        source = program.sources.get(span.source)
        uri = None if source is None else uri_of(source.name)
        return None if source is None or uri is None else types.Location(uri, self.range(source.text, span))

    def at(self, params: Any) -> tuple[EditedProgram, int] | None:
        """The program and the offset that a request is about."""
        program = self.editor.program(path_of(params.text_document.uri))
        if program is None:
            return None
        place = params.position
        return program, self.positions(program.source.text).offset(place.line, place.character)

    def statistics(self, program: EditedProgram) -> dict[str, Rates]:
        """What the file of the settings says of the program's streams; nothing where it does not fit."""
        checked = program.checked.program
        if not self.state.statistics or checked is None:
            return {}
        try:
            return dict(read_statistics(self.state.statistics, checked))
        except CepcError:
            return {}

    # ---- diagnostics

    def diagnostics(self, program: EditedProgram) -> list[types.Diagnostic]:
        return [self.diagnostic(program, d) for d in program.checked.diagnostics]

    def diagnostic(self, program: EditedProgram, diagnostic: Diagnostic) -> types.Diagnostic:
        span, elsewhere = diagnostic.span, diagnostic.span.source != program.source.name
        others = [(o.span, o.label) for o in diagnostic.others]
        text = _message(diagnostic)
        if elsewhere:
            text = f"in {span.source}: {text}"
            others.insert(0, (span, diagnostic.title))
            span = _import_of(program, span)
        located = [(self.location(program, place), label) for place, label in others]
        related = [types.DiagnosticRelatedInformation(place, label or "here") for place, label in located if place]
        return types.Diagnostic(
            range=self.range(program.source.text, span),
            message=text,
            severity=types.DiagnosticSeverity.Error
            if diagnostic.severity == "error"
            else types.DiagnosticSeverity.Warning,
            code=diagnostic.code,
            source="cepc",
            related_information=related or None,
        )

    def publish(self, path: str, found: list[types.Diagnostic]) -> None:
        uri = self.state.uris.get(path)
        if uri is not None:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    async def check_soon(self, path: str) -> None:
        """Check a text when nobody has typed for a moment, and the texts that import it."""
        self.state.failures.pop(path, None)
        turn = self.state.turns[path] = self.state.turns.get(path, 0) + 1
        await asyncio.sleep(QUIET if turn > 1 else 0)
        if self.state.turns.get(path) != turn:
            return
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self.thread_pool, guarded(self, self._check), path)

    def _check(self, path: str) -> None:
        for one in (path, *self.editor.importing(path)):
            texts = self.editor.texts
            program = self.editor.program(one)
            if program is None:
                continue
            found = self.diagnostics(program)
            if self.editor.texts.get(one) is texts.get(one):  # else another check is on its way
                self.publish(one, [*found, *self.state.failures.get(one, ())])


@dataclass(slots=True)
class _State:
    """What a connection knows beside the texts: how the editor calls a path, which change was the last."""

    uris: dict[str, str] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    failures: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
    statistics: str = ""


def path_of(uri: str) -> str:
    """The path of a document, by which it is known here; of one that is no file its address."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return uri if path is None else normal(path)


def uri_of(path: str) -> str | None:
    """The address of a source, for an editor to open."""
    if path.startswith("<"):
        path = str(files("cepc_stdlib").joinpath(f"{path[1:-1].removeprefix('std.')}.cep"))
        return from_fs_path(path) if os.path.isfile(path) else None  # noqa: PTH113 - may be within an archive
    return path if path.startswith("untitled:") else from_fs_path(normal(path))


def guarded(server: CepServer, asked: Callable[..., T]) -> Callable[..., T | None]:
    """The answer, or None where finding it ends in an exception: then the editor's log says so, and typing goes on."""

    @functools.wraps(asked)
    def answer(*args: Any, **given: Any) -> T | None:
        try:
            return asked(*args, **given)
        except Exception as error:
            if os.environ.get("CEPC_DEBUG") == "1":
                raise
            text = f"cepc {version()} has {a_bug(error, f' in {asked.__name__}')}"
            server.window_log_message(types.LogMessageParams(types.MessageType.Error, text))
            return None

    return answer


def _range(positions: ClientPositions, span: Span) -> types.Range:
    start, end = positions.place(span.start), positions.place(max(span.end, span.start))
    return types.Range(types.Position(*start), types.Position(*end))


def _message(diagnostic: Diagnostic) -> str:
    """As the command line has it, a sentence a line."""
    lines = [diagnostic.title, diagnostic.label, *(f"note: {n}" for n in diagnostic.notes)]
    return "\n".join([*filter(None, lines), *([f"help: {diagnostic.hint}"] if diagnostic.hint else [])])


def _import_of(program: EditedProgram, span: Span) -> Span:
    """Where a file is imported that has a mistake, or through which it comes."""
    imports = [s for s in program.parsed.program.statements if isinstance(s, ast.Import)]
    of_it = (s for s in imports if s.file is not None and imported_path(s.file, s.span.source) == span.source)
    found = next(of_it, imports[0] if imports else None)
    return program.parsed.program.span if found is None else found.span


# ---- what the editor asks


def make_server() -> CepServer:
    """A server with all that it answers."""
    server = CepServer()

    def answers(method: str, options: Any = None) -> Callable[[Callable[..., Any]], None]:
        """Registers a function to be called in a thread: the connection stays free meanwhile."""

        def register(asked: Callable[..., Any]) -> None:
            server.thread()(server.feature(method, options)(guarded(server, asked)))

        return register

    answers(types.TEXT_DOCUMENT_HOVER)(_hover)
    answers(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["."]))(_completion)
    answers(types.TEXT_DOCUMENT_DEFINITION)(_definition)
    answers(types.TEXT_DOCUMENT_REFERENCES)(_references)
    answers(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)(_highlights)
    answers(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(_symbols)
    answers(types.TEXT_DOCUMENT_FORMATTING)(_formatting)
    quick_fixes = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    answers(types.TEXT_DOCUMENT_CODE_ACTION, quick_fixes)(_actions)
    answers(types.TEXT_DOCUMENT_CODE_LENS)(_lenses)
    # A refusal is an answer: its sentence has to reach the editor, so these two are not guarded.
    server.thread()(server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(_prepare_rename))
    server.thread()(server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(_rename))
    server.thread()(server.command(RUN_TESTS)(guarded(server, _run_tests)))
    server.feature(types.INITIALIZE)(_initialize)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(_opened)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_changed)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(_saved)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_closed)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(_files_changed)
    return server


def serve() -> None:
    """Serve the editor at the other end of standard input and output, until it says that it ends."""
    logging.getLogger("pygls").setLevel(logging.DEBUG if os.environ.get("CEPC_DEBUG") == "1" else logging.CRITICAL)
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # what a library prints is no message of the protocol
    make_server().start_io(sys.stdin.buffer, output)


def _initialize(ls: CepServer, params: types.InitializeParams) -> None:
    options = params.initialization_options
    statistics = options.get("statistics") if isinstance(options, dict) else None
    ls.state.statistics = statistics if isinstance(statistics, str) else ""


async def _opened(ls: CepServer, params: types.DidOpenTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    ls.state.uris[path] = params.text_document.uri
    ls.editor.put(path, params.text_document.text)
    await ls.check_soon(path)


async def _changed(ls: CepServer, params: types.DidChangeTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    ls.editor.put(path, ls.workspace.get_text_document(params.text_document.uri).source)
    await ls.check_soon(path)


async def _saved(ls: CepServer, params: types.DidSaveTextDocumentParams) -> None:
    ls.editor.forget()
    await ls.check_soon(path_of(params.text_document.uri))


async def _files_changed(ls: CepServer, params: types.DidChangeWatchedFilesParams) -> None:  # noqa: ARG001
    ls.editor.forget()
    for path in tuple(ls.editor.texts):
        await ls.check_soon(path)


async def _closed(ls: CepServer, params: types.DidCloseTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    importing = ls.editor.importing(path)
    ls.editor.drop(path)
    ls.publish(path, [])
    for memory in (ls.state.uris, ls.state.turns, ls.state.failures):
        memory.pop(path, None)
    for one in importing:
        await ls.check_soon(one)


def _hover(ls: CepServer, params: types.HoverParams) -> types.Hover | None:
    if (place := ls.at(params)) is None:
        return None
    program, offset = place
    found = hover(program, offset, ls.statistics(program))
    if found is None:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, found.markdown)
    return types.Hover(content, ls.range(program.source.text, found.span))


def _completion(ls: CepServer, params: types.CompletionParams) -> types.CompletionList | None:
    path = path_of(params.text_document.uri)
    text = ls.editor.texts.get(path)
    program = ls.editor.last(path) or ls.editor.program(path)
    if text is None or program is None:
        return None
    positions = ls.positions(text)
    offset = positions.offset(params.position.line, params.position.character)
    found = completion(Source(path, text), offset, program)
    where = types.Range(types.Position(*positions.place(found.start)), params.position)
    items = [
        types.CompletionItem(
            label=one.text,
            kind=_SUGGESTED[one.kind],
            detail=one.detail or None,
            documentation=types.MarkupContent(types.MarkupKind.Markdown, one.help) if one.help else None,
            sort_text=f"{number:04}",
            text_edit=types.TextEdit(where, one.text),
        )
        for number, one in enumerate(found.suggestions)
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def _definition(ls: CepServer, params: types.DefinitionParams) -> types.Location | None:
    if (place := ls.at(params)) is None:
        return None
    program, offset = place
    use = program.references.at(program.source.name, offset)
    return None if use is None else ls.location(program, use.symbol.span)


def _references(ls: CepServer, params: types.ReferenceParams) -> list[types.Location]:
    if (place := ls.at(params)) is None:
        return []
    program, offset = place
    use = program.references.at(program.source.name, offset)
    if use is None:
        return []
    programs = [program, *ls.editor.programs()]
    own = params.context.include_declaration
    spans = {found.span for found in uses(programs, use.symbol) if own or not found.declares}
    return _located(ls, programs, sorted(spans, key=lambda s: (s.source != program.source.name, s.source, s.start)))


def _located(ls: CepServer, programs: Iterable[EditedProgram], spans: Iterable[Span]) -> list[types.Location]:
    owners = {name: program for program in programs for name in program.sources}
    found = (ls.location(owners[span.source], span) for span in spans)
    return [location for location in found if location is not None]


def _highlights(ls: CepServer, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
    if (place := ls.at(params)) is None:
        return []
    program, offset = place
    use = program.references.at(program.source.name, offset)
    same = () if use is None else program.references.of(use.symbol)
    text, name = program.source.text, program.source.name
    return [types.DocumentHighlight(ls.range(text, one.span)) for one in same if one.span.source == name]


def _prepare_rename(ls: CepServer, params: types.PrepareRenameParams) -> types.Range | None:
    if (place := ls.at(params)) is None:
        return None
    program, offset = place
    use = renameable(program, offset)
    if isinstance(use, str):
        raise JsonRpcInvalidRequest(use)
    return ls.range(program.source.text, use.span)


def _rename(ls: CepServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    if (place := ls.at(params)) is None:
        return None
    program, offset = place
    others = ls.editor.programs()
    edits = rename(program, others, offset, params.new_name)
    if isinstance(edits, str):
        raise JsonRpcInvalidRequest(edits)
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        (location,) = _located(ls, [program, *others], [edit.span])
        changes.setdefault(ls.state.uris.get(normal(edit.span.source), location.uri), []).append(
            types.TextEdit(location.range, edit.text)
        )
    return types.WorkspaceEdit(changes=changes)


def _symbols(ls: CepServer, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    program = ls.editor.program(path_of(params.text_document.uri))
    if program is None:
        return []
    positions = ls.positions(program.source.text)

    def symbol(entry: OutlineEntry) -> types.DocumentSymbol:
        return types.DocumentSymbol(
            name=entry.name,
            kind=_SYMBOLS[entry.kind],
            range=_range(positions, entry.span),
            selection_range=_range(positions, entry.name_span),
            detail=entry.detail or None,
            children=[symbol(part) for part in entry.parts],
        )

    return [symbol(entry) for entry in outline(program.parsed)]


def _formatting(ls: CepServer, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    """The layout of `cepc fmt`; nothing for a text with a syntax error."""
    path = path_of(params.text_document.uri)
    text = ls.editor.texts.get(path)
    laid_out = None if text is None else format_source(Source(path, text))
    if text is None or not isinstance(laid_out, str) or laid_out == text:
        return None
    end = types.Position(*ls.positions(text).place(len(text)))
    return [types.TextEdit(types.Range(types.Position(0, 0), end), laid_out)]


def _actions(ls: CepServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    path = path_of(params.text_document.uri)
    program = ls.editor.program(path)
    if program is None:
        return []
    text = program.source.text
    positions = ls.positions(text)
    start, end = (positions.offset(p.line, p.character) for p in (params.range.start, params.range.end))
    return [
        types.CodeAction(
            title=cure.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[ls.diagnostic(program, cure.diagnostic)],
            edit=types.WorkspaceEdit(
                changes={params.text_document.uri: [types.TextEdit(_range(positions, cure.edit.span), cure.edit.text)]}
            ),
        )
        for cure in cures(program.checked.diagnostics, program.source.name, start, end)
    ]


def _lenses(ls: CepServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    uri = params.text_document.uri
    program = ls.editor.program(path_of(uri))
    tests = [] if program is None else list(named_tests(program))
    if program is None or not tests:
        return []
    places = [ls.range(program.source.text, test.span) for test in tests]
    lenses = [
        types.CodeLens(place, types.Command("Run test", RUN_TESTS, arguments=[uri, test.name]))
        for test, place in zip(tests, places, strict=True)
    ]
    if len(tests) > 1:
        every = types.Command(f"Run all {len(tests)} tests", RUN_TESTS, arguments=[uri])
        lenses.insert(0, types.CodeLens(places[0], every))
    return lenses


def _run_tests(ls: CepServer, *arguments: Any) -> dict[str, Any] | None:
    """Run the tests of a document, or the one named: failures become diagnostics, the outcome a message."""
    uri, name = (*arguments, None)[:2] if arguments else (None, None)
    path = path_of(uri) if isinstance(uri, str) else ""
    program = ls.editor.program(path)
    if program is None:
        return None
    report = run_tests(program, name if isinstance(name, str) else None)
    text = program.source.text
    ls.state.failures[path] = [
        types.Diagnostic(
            range=ls.range(text, test.span),
            message=said,
            severity=types.DiagnosticSeverity.Error,
            code="test",
            source="cepc test",
        )
        for test, said in report.failures
    ]
    if ls.editor.texts.get(path) is not None:
        ls.publish(path, [*ls.diagnostics(program), *ls.state.failures[path]])
    kind = types.MessageType.Info if report.passed else types.MessageType.Warning
    ls.window_show_message(types.ShowMessageParams(kind, report.summary))
    return {"passed": report.passed, "summary": report.summary}
