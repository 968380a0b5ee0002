"""Colours in editors: Pygments' lexer and TextMate's grammar, over the examples and the words of the language."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from pygments.token import Comment, Error, Keyword, Literal, Name, Number, Operator, String, Token

from cepc.editing import textmate
from cepc.editing.pygments import CepLexer
from cepc.editing.words import keywords
from cepc_grammar.source import Source
from cepc_grammar.tokens import tokenize

from .pages import PAGES, ROOT, UPDATE, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

GRAMMAR = ROOT / "editors" / "vscode" / "syntaxes" / "cep.tmLanguage.json"
PROGRAMS = {
    **{path.parent.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("examples/*/queries.cep"))},
    **{path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("stdlib/cepc_stdlib/*.cep"))},
    **{block.name: block.text for page in PAGES for block in blocks(page) if block.kind == "cep"},
}

SHOWN = [
    ("STREAM rides (at TIMESTAMP)", "rides", Name.Class, "entity.name.type"),
    ("STREAM rides (at TIMESTAMP)", "TIMESTAMP", Keyword.Type, "storage.type"),
    ("QUERY q RETURN COUNT(*)", "q", Name.Class, "entity.name.type"),
    ("query q", "query", Keyword, "keyword.control"),
    ("QUERY q RETURN COUNT(*)", "COUNT", Name.Builtin, "support.function"),
    ("PATTERN trip AS SEQ(A)", "trip", Name.Function, "entity.name.function"),
    ("PATTERN rise(T, x) AS T+", "rise", Name.Function, "entity.name.function"),
    ("PATTERN SEQ(A, B)", "SEQ", Operator.Word, "keyword.operator.word"),
    ("PATTERN SEQ(A, B)", "A", Name, "variable.other"),
    ("EVENT Big AS A WHERE x > 1", "Big", Name.Class, "entity.name.type"),
    ("EVENT TIME at", "TIME", Keyword, "keyword.control"),
    ("WITHIN 20 MINUTES SLIDE 5 min", "MINUTES", Literal.Date, "keyword.other.unit"),
    ("WITHIN 20 MINUTES SLIDE 5 min", "20", Number, "constant.numeric"),
    ("WHERE e.type = 'it''s'", "type", Name, "variable.other"),
    ("WHERE e.type = 'it''s'", "'it''s'", String, "string.quoted.single"),
    ("WHERE upper(x) = 'A'", "upper", Name.Function, "entity.name.function.call"),
    ("WHERE x IS NOT NULL", "NULL", Keyword.Constant, "constant.language"),
    ("A -- PATTERN", "-- PATTERN", Comment.Single, "comment.line"),
    ("/* /* a */ b */ QUERY q", "QUERY", Keyword, "keyword.control"),
    ("`within` AS w", "`within`", Name, "variable.other"),
]


# ---- Pygments


def pygments(text: str) -> list[tuple[Any, str]]:
    return [(kind, part) for kind, part in CepLexer(ensurenl=False, stripnl=False).get_tokens(text)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_pygments_knows_every_character_of_a_program(name: str) -> None:
    found = pygments(PROGRAMS[name])
    assert "".join(part for _, part in found) == PROGRAMS[name]
    assert [part for kind, part in found if kind is Error] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_pygments_has_the_tokens_of_the_language(name: str) -> None:
    """Where one of ours begins, one of Pygments' begins."""
    begin, at = set(), 0
    for _, part in pygments(PROGRAMS[name]):
        begin.add(at)
        at += len(part)
    assert {token.start for token in tokenize(Source("p.cep", PROGRAMS[name])).tokens} <= begin


@pytest.mark.parametrize(("text", "part", "kind", "_scope"), SHOWN)
def test_pygments_shows(text: str, part: str, kind: Any, _scope: str) -> None:
    assert (kind, part) in [(k if k is not Token.Text else None, p) for k, p in pygments(text)]


def test_pygments_finds_the_lexer_where_the_package_is_installed() -> None:
    (project,) = [tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]]
    module, name = project["entry-points"]["pygments.lexers"]["cep"].split(":")
    assert (module, name) == (CepLexer.__module__, CepLexer.__name__)


# ---- TextMate


def test_the_grammar_for_editors_is_the_one_that_is_written() -> None:
    if UPDATE:
        GRAMMAR.write_text(textmate.to_json(), encoding="utf-8")
    assert GRAMMAR.read_text(encoding="utf-8") == textmate.to_json()


def test_the_extension_names_files_that_are_there() -> None:
    folder = ROOT / "editors" / "vscode"
    contributes = json.loads((folder / "package.json").read_text())["contributes"]
    (language,), (grammar,) = contributes["languages"], contributes["grammars"]
    assert (folder / language["configuration"]).is_file()
    assert (folder / grammar["path"]) == GRAMMAR
    assert json.loads(GRAMMAR.read_text())["scopeName"] == grammar["scopeName"]


# The editor and the client are stood in for: what they are asked is printed.
ACTIVATED = """
const Module = require("module"), asked = [];
const settings = { path: process.argv[2], statistics: "" };
const noted = (what) => (...given) => { asked.push([what, ...given]); return { dispose() {} }; };
const vscode = {
  workspace: {
    getConfiguration: () => ({ get: (name) => settings[name] }),
    createFileSystemWatcher: noted("watch"), onDidChangeConfiguration: () => ({ dispose() {} }),
  },
  window: { showWarningMessage: noted("warning"), showErrorMessage: noted("error") },
  commands: { registerCommand: (name) => noted("command")(name) },
};
const client = {
  TransportKind: { stdio: 0 },
  LanguageClient: class {
    constructor(id, name, server, options) { asked.push(["client", server, options.documentSelector]); }
    async start() { if (settings.path === "broken") throw new Error("not found"); asked.push(["start"]); }
    async stop() { asked.push(["stop"]); }
  },
};
const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === "vscode") return vscode;
  if (name !== "vscode-languageclient/node") return load(name, ...rest);
  if (settings.path === "without") throw new Error("no such module");
  return client;
};
const extension = require(process.argv[1]);
extension.activate({ subscriptions: [] }).then(extension.deactivate).then(() => console.log(JSON.stringify(asked)));
"""


@pytest.mark.process
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize(
    ("path", "expected"),
    [("/opt/cepc", ["start", "stop"]), ("broken", ["error"]), ("without", ["warning"])],
)
def test_the_extension_starts_the_command_of_the_settings(path: str, expected: list[str]) -> None:
    extension = str(ROOT / "editors" / "vscode" / "extension.js")
    done = subprocess.run(["node", "-e", ACTIVATED, extension, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    asked = {name: given for name, *given in json.loads(done.stdout)}
    assert [name for name in asked if name in ("start", "stop", "error", "warning")] == expected
    if "client" in asked:
        server, documents = asked["client"]
        assert (server["command"], server["args"]) == (path, ["lsp"])
        assert {one["language"] for one in documents} == {"cep"}
    if "error" in asked:
        assert "pip install 'cepc[lsp]'" in asked["error"][0]


def test_the_extension_reads_the_settings_and_has_the_commands_that_it_declares() -> None:
    folder = ROOT / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text())
    code = (folder / package["main"]).read_text()
    read = {f"cepc.{name}" for name in re.findall(r"settings\.get\(\"(\w+)\"\)", code)}
    assert read == package["contributes"]["configuration"]["properties"].keys()
    registered = set(re.findall(r"registerCommand\(\"([\w.]+)\"", code))
    assert registered == {one["command"] for one in package["contributes"]["commands"]}


def scopes(text: str, grammar: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The parts of a text with their scopes, as an editor finds them: at each place the rule whose match begins first.

    Our grammar's expressions mean the same to Python as to Oniguruma; begin and end are used for strings and comments
    alone.
    """
    rules = grammar["repository"]
    top = [rules[found["include"][1:]] for found in grammar["patterns"]]
    at = 0
    while at < len(text):
        found = [(m.start(), i) for i, rule in enumerate(top) if (m := _begin(rule).search(text, at))]
        if not found:
            return
        _, i = min(found)
        rule, match = top[i], _begin(top[i]).search(text, at)
        assert match is not None
        at = match.end()
        if "begin" in rule:
            at = _end(rule, text, at, rules)
            yield rule["name"], text[match.start() : at]
        elif "captures" in rule:
            yield from ((capture["name"], match.group(int(group))) for group, capture in rule["captures"].items())
        else:
            yield rule["name"], match.group()


def _begin(rule: dict[str, Any]) -> re.Pattern[str]:
    return re.compile(rule.get("match") or rule["begin"], re.MULTILINE)


def _end(rule: dict[str, Any], text: str, at: int, rules: dict[str, Any]) -> int:
    """Behind the end of what was begun; what its patterns match on the way is passed over."""
    inner = [rules[p["include"][1:]] if "include" in p else p for p in rule["patterns"]]
    while at < len(text):
        for one in inner:
            if found := _begin(one).match(text, at):
                at = _end(one, text, found.end(), rules) if "begin" in one else found.end()
                break
        else:
            if found := re.compile(rule["end"]).match(text, at):
                return found.end()
            at += 1
    return at


@pytest.mark.parametrize(("text", "part", "_kind", "scope"), SHOWN)
def test_an_editor_shows(text: str, part: str, _kind: Any, scope: str) -> None:
    assert [found for found, shown in scopes(text, textmate.grammar()) if shown == part and found.startswith(scope)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_editor_shows_words_as_pygments_does(name: str) -> None:
    kinds = {Keyword: "keyword.control", Operator.Word: "keyword.operator", Keyword.Type: "storage.type"}
    expected = [(kinds[kind], part) for kind, part in pygments(PROGRAMS[name]) if kind in kinds]
    found = [(".".join(scope.split(".")[:2]), part) for scope, part in scopes(PROGRAMS[name], textmate.grammar())]
    assert [one for one in found if one[0] in kinds.values()] == expected


def test_the_words_are_those_of_the_grammar() -> None:
    assert {"QUERY", "WITHIN", "SLIDE", "GROUP_BY", "WATERMARK"} <= set(keywords())
    assert not {"SEQ", "TRUE", "DATE"} & set(keywords())
