"""`cepc lsp` as an editor has it: a process, and messages over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from cepc.cli import cepc

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

types = pytest.importorskip("lsprotocol.types", reason="pygls is not installed")
LanguageClient = pytest.importorskip("pygls.lsp.client", reason="pygls is not installed").LanguageClient

STREAM = """\
STREAM orders (at TIMESTAMP, kind STRING, id BIGINT, amount DOUBLE)
EVENT TIME at EVENT TYPE kind IN ('Order', 'Payment');
"""
QUERY = """\
IMPORT './orders.cep';
QUERY paid RETURN MATCH id, '😀' AS face, Payment.amonut AS amount PATTERN SEQ(Order o, Payment) WHERE [id] WITHIN 1 DAY;
TEST of_three FOR paid
  GIVEN (at, kind, id, amount) VALUES ('2026-01-01 00:00:01', 'Order', 1, 2.0), ('2026-01-01 00:00:02', 'Payment', 1, 3.0)
  EXPECT (id, amount) VALUES (1, 4.0);
"""
SECONDS = 60


class Client:
    """An editor with two files, of which only one is saved on disk."""

    def __init__(self, folder: Path) -> None:
        self.asked = LanguageClient("test", "1")
        self.main, self.library = ((folder / name).as_uri() for name in ("main.cep", "orders.cep"))
        self.published: asyncio.Queue[Any] = asyncio.Queue()
        self.said: list[str] = []

        @self.asked.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def _published(params: Any) -> None:
            self.published.put_nowait(params)

        @self.asked.feature(types.WINDOW_SHOW_MESSAGE)  # type: ignore[untyped-decorator]
        @self.asked.feature(types.WINDOW_LOG_MESSAGE)  # type: ignore[untyped-decorator]
        def _said(params: Any) -> None:
            self.said.append(params.message)

    async def start(self, options: dict[str, str]) -> Any:
        await self.asked.start_io(sys.executable, "-m", "cepc", "lsp", "--stdio")
        rename = types.RenameClientCapabilities(prepare_support=True)
        capabilities = types.ClientCapabilities(text_document=types.TextDocumentClientCapabilities(rename=rename))
        found = await self.asked.initialize_async(
            types.InitializeParams(capabilities=capabilities, initialization_options=options)
        )
        self.asked.initialized(types.InitializedParams())
        return found.capabilities

    async def stop(self) -> tuple[int, str]:
        await self.asked.shutdown_async(None)
        self.asked.exit(None)
        process = self.asked._server
        return await process.wait(), (await process.stderr.read()).decode()

    def open(self, uri: str, text: str) -> None:
        item = types.TextDocumentItem(uri, "cep", 1, text)
        self.asked.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, uri: str, version: int, text: str) -> None:
        document = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        self.asked.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    async def diagnostics(self, uri: str) -> list[Any]:
        """The next that are published for the document."""
        while True:
            params = await self.published.get()
            if params.uri == uri:
                return list(params.diagnostics)

    def at(self, text: str, place: str, kind: Callable[..., Any], **more: Any) -> Any:
        offset = text.index(place)
        line = text.count("\n", 0, offset)
        before = text[text.rfind("\n", 0, offset) + 1 : offset]
        position = types.Position(line, len(before.encode("utf-16-le")) // 2)
        return kind(text_document=types.TextDocumentIdentifier(self.main), position=position, **more)


def run(folder: Path, session: Callable[[Client], Awaitable[None]], options: dict[str, str] | None = None) -> Client:
    client = Client(folder)

    async def whole() -> None:
        await client.start(options or {})
        await session(client)
        status, errors = await client.stop()
        assert (status, errors) == (0, "")

    try:
        asyncio.run(asyncio.wait_for(whole(), SECONDS))
    except TimeoutError:
        raise AssertionError(f"no answer in {SECONDS} s; the server said {client.said}") from None
    return client


@pytest.mark.process
def test_an_editor_is_served(tmp_path: Path) -> None:
    async def session(client: Client) -> None:
        client.open(client.library, STREAM)  # as no file on disk has it
        client.open(client.main, QUERY)
        (wrong,) = await client.diagnostics(client.main)
        line = QUERY.splitlines()[1]
        column = line.index("amonut")  # in characters; the one before it is two units
        assert (wrong.code, wrong.range.start.line, wrong.range.start.character) == ("E0204", 1, column + 1)
        assert wrong.range.end.character - wrong.range.start.character == len("amonut")
        assert "did you mean `amount`?" in wrong.message

        document = types.TextDocumentIdentifier(client.main)
        context = types.CodeActionContext([wrong])
        (cure,) = await client.asked.text_document_code_action_async(
            types.CodeActionParams(document, wrong.range, context)
        )
        (edit,) = cure.edit.changes[client.main]
        assert (edit.new_text, edit.range) == ("amount", wrong.range)

        right = QUERY.replace("amonut", "amount")
        client.change(client.main, 2, right)
        assert await client.diagnostics(client.main) == []

        shown = await client.asked.text_document_hover_async(client.at(right, "paid RETURN", types.HoverParams))
        assert "A match is an Order, then a Payment" in shown.contents.value
        assert shown.range.start == types.Position(1, 6)

        found = await client.asked.text_document_completion_async(client.at(right, "amount AS", types.CompletionParams))
        assert [item.label for item in found.items] == ["at", "kind", "id", "amount"]

        declared = await client.asked.text_document_definition_async(
            client.at(right, "amount AS", types.DefinitionParams)
        )
        assert (declared.uri, declared.range.start.line) == (client.library, 0)

        named = await client.asked.text_document_references_async(
            client.at(right, "id, '", types.ReferenceParams, context=types.ReferenceContext(include_declaration=True))
        )
        assert [place.uri for place in named].count(client.library) == 1
        assert len(named) == 5

        renamed = await client.asked.text_document_rename_async(
            client.at(right, "o, Pay", types.RenameParams, new_name="first")
        )
        assert [one.new_text for one in renamed.changes[client.main]] == ["first"]
        with pytest.raises(Exception, match="the name of a column in the data"):
            await client.asked.text_document_rename_async(
                client.at(right, "amount AS", types.RenameParams, new_name="x")
            )

        (lens,) = await client.asked.text_document_code_lens_async(types.CodeLensParams(document))
        outcome = await client.asked.workspace_execute_command_async(
            types.ExecuteCommandParams(lens.command.command, arguments=list(lens.command.arguments))
        )
        assert outcome == {"passed": False, "summary": "1 test, 1 failed"}
        (failure,) = await client.diagnostics(client.main)
        assert (failure.source, failure.range.start.line) == ("cepc test", 2)

        (laid_out,) = await client.asked.text_document_formatting_async(
            types.DocumentFormattingParams(document, types.FormattingOptions(2, insert_spaces=True))
        )
        assert "QUERY paid\n  RETURN" in laid_out.new_text
        symbols = await client.asked.text_document_document_symbol_async(types.DocumentSymbolParams(document))
        assert [symbol.name for symbol in symbols] == ["paid", "of_three"]

        client.change(client.library, 2, STREAM.replace("'Payment'", "'Paid'"))
        codes = {diagnostic.code for diagnostic in await client.diagnostics(client.main)}
        assert "E0201" in codes  # the other text is checked as well

    client = run(tmp_path, session)
    assert client.said == ["1 test, 1 failed"]


@pytest.mark.process
def test_the_settings_may_name_a_file_of_statistics(tmp_path: Path) -> None:
    statistics = tmp_path / "stats.json"
    types_ = {"Order": {"rate": 50}, "Payment": {"rate": 50}}
    statistics.write_text(json.dumps({"streams": {"orders": {"types": types_}}}))
    text = STREAM + "QUERY q RETURN COUNT(*) AS n PATTERN SEQ(Order, Payment) WITHIN 1 DAY SLIDE 1 HOUR;"
    shown: list[str] = []

    async def session(client: Client) -> None:
        client.open(client.main, text)
        found = await client.asked.text_document_hover_async(client.at(text, "q RETURN", types.HoverParams))
        shown.append(found.contents.value)

    run(tmp_path, session)
    run(tmp_path, session, {"statistics": str(statistics)})
    assert "one event of each type a second" in shown[0]
    assert "by the statistics" in shown[1]


@pytest.mark.process
def test_whatever_is_typed_the_server_goes_on(tmp_path: Path) -> None:
    """A text that is typed, asked about at once, and checked once in the end."""
    text = STREAM + QUERY.partition("\n")[2]

    async def session(client: Client) -> None:
        client.open(client.main, "")
        await client.diagnostics(client.main)
        for number, end in enumerate(range(0, len(text) + 1, 9)):
            client.change(client.main, number + 2, text[:end])
            await client.asked.text_document_completion_async(
                types.CompletionParams(types.TextDocumentIdentifier(client.main), types.Position(99, 0))
            )
        client.change(client.main, 999, text)
        found = await client.diagnostics(client.main)
        while [d.code for d in found] != ["E0204"]:
            found = await client.diagnostics(client.main)

    assert run(tmp_path, session).said == []


@pytest.mark.process
def test_the_server_ends_when_the_editor_does() -> None:
    done = subprocess.run([sys.executable, "-m", "cepc", "lsp"], input=b"", capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_the_standard_library_declares_is_a_file_to_open() -> None:
    from cepc.language_server.server import path_of, uri_of

    uri = uri_of("<std.shapes>")
    assert uri is not None
    assert Path(path_of(uri)).read_text(encoding="utf-8").startswith("-- std.shapes")
    assert uri_of("untitled:Untitled-1") == path_of("untitled:Untitled-1") == "untitled:Untitled-1"


def test_a_text_is_checked_once_when_nobody_types_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    from cepc.language_server.server import CepServer

    server = CepServer()
    checked: list[str] = []
    monkeypatch.setattr(server, "_check", checked.append)

    async def typing() -> None:
        await asyncio.gather(*(server.check_soon(path) for path in ["/a.cep", "/b.cep", *["/a.cep"] * 5]))

    asyncio.run(typing())
    server.thread_pool.shutdown()
    assert sorted(checked) == ["/a.cep", "/b.cep"]


def test_an_answer_that_ends_in_an_exception_is_a_line_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    from cepc.language_server.server import CepServer, guarded

    def wrong(number: int) -> float:
        return 1 / number

    server, said = CepServer(), []
    monkeypatch.setattr(server, "window_log_message", lambda params: said.append(params.message))
    monkeypatch.delenv("CEPC_DEBUG", raising=False)
    assert guarded(server, wrong)(2) == 0.5
    assert guarded(server, wrong)(0) is None
    assert "has a bug in wrong (ZeroDivisionError: division by zero)" in said[0]
    monkeypatch.setenv("CEPC_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        guarded(server, wrong)(0)


def test_without_pygls_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    for name in [name for name in sys.modules if name.startswith(("pygls.", "cepc.language_server.server"))]:
        monkeypatch.delitem(sys.modules, name)
    done = CliRunner().invoke(cepc, ["lsp"])
    assert done.exit_code == 2
    assert "pip install 'cepc[lsp]'" in done.output


@pytest.mark.parametrize("place", [{"line": -1, "character": 0}, {"line": 0, "character": 2**31}, {"line": "one"}])
def test_a_request_that_is_none_is_answered_with_an_error(place: dict[str, Any]) -> None:
    document = {"uri": "file:///q.cep"}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": "asked", "method": "textDocument/hover", "params": {"textDocument": document, "position": place}},
        {"id": 3, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    sent = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)
    command = [sys.executable, "-m", "cepc", "lsp", "--stdio"]
    ended = subprocess.run(command, input=sent, capture_output=True, timeout=SECONDS, check=True)
    found = [json.loads(line[: line.rindex(b"}") + 1]) for line in ended.stdout.split(b"\r\n\r\n")[1:]]
    answers = {message["id"]: message for message in found if "id" in message}
    assert answers["asked"]["error"]["code"] == -32602
    assert "result" in answers[3]
