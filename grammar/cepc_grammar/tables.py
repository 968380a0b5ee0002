"""The parsers' tables, which take longer to build than most programs take to check: `tables.json` of programs and
`sql/tables.json` of what is read of SQL, parts of the package.

They are made from the grammars by `python -m cepc_grammar.tables`, and a test holds them equal. No table is read that
did not come with the package, and none is written, so nobody can put one in its place who could not as well change the
package.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import lark
from lark import Lark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lark.lexer import Lexer

GRAMMAR: Final = Path(__file__).with_name("cep.lark")
TABLES: Final = Path(__file__).with_name("tables.json")
SQL_GRAMMAR: Final = Path(__file__).parent / "sql" / "sql.lark"
SQL_TABLES: Final = Path(__file__).parent / "sql" / "tables.json"
STARTS: Final = ("statement", "bare_query")
SQL_STARTS: Final = ("match_recognize", "create_table", "plain_select")
_EXPRESSIONS: Final = b"// ---- expressions"
SHIFT: Final = 0
REDUCE: Final = 1


def parser(lexer: type[Lexer]) -> Lark:
    """The parser of programs."""
    return _parser(GRAMMAR.read_bytes(), TABLES, lexer, STARTS)


def sql_parser(lexer: type[Lexer]) -> Lark:
    """The parser of what is read of SQL."""
    return _parser(_sql_grammar(), SQL_TABLES, lexer, SQL_STARTS)


def _sql_grammar() -> bytes:
    """The expressions of programs, and the rules of SQL."""
    programs = GRAMMAR.read_bytes()
    return programs[programs.index(_EXPRESSIONS) :] + SQL_GRAMMAR.read_bytes()


def _parser(grammar: bytes, tables_file: Path, lexer: type[Lexer], starts: Sequence[str]) -> Lark:
    """From the tables if they are of this grammar and this Lark, else built."""
    try:
        found = json.loads(tables_file.read_bytes())
    except (OSError, ValueError):
        return _built(grammar.decode(), lexer, starts)
    if found["of"] != _origin(grammar):
        return _built(grammar.decode(), lexer, starts)
    data, memo = found["data"], {int(number): value for number, value in found["memo"].items()}
    data["options"]["lexer"] = data["parser"]["lexer_conf"]["lexer_type"] = lexer
    tables = data["parser"]["parser"]
    tables["tokens"] = {name: name for name in tables["tokens"]}
    ways = {state: (SHIFT, state) for state in range(len(tables["states"]))}
    ways |= {-rule: (REDUCE, {"@": rule}) for rule in tables["rules"]}
    tables["states"] = {i: {name: ways[n] for name, n in row.items()} for i, row in enumerate(tables["states"])}
    return Lark.load({"data": data, "memo": memo})  # a dict, as its stand-alone parsers have


def text(lexer: type[Lexer]) -> str:
    """What stands in the file of programs."""
    return _text(GRAMMAR.read_bytes(), lexer, STARTS)


def sql_text(lexer: type[Lexer]) -> str:
    """What stands in the file of SQL."""
    return _text(_sql_grammar(), lexer, SQL_STARTS)


def _text(grammar: bytes, lexer: type[Lexer], starts: Sequence[str]) -> str:
    """What stands in a file: Lark's own form, but tokens are their names, and states are numbered in the order in
    which they are met, for Lark numbers both differently each time. Where a token leads is a state, or below zero a
    rule.
    """
    data, memo = _built(grammar.decode(), lexer, starts).memo_serialize([lark.lexer.TerminalDef, lark.grammar.Rule])
    data["options"]["lexer"] = data["parser"]["lexer_conf"]["lexer_type"] = None
    tables = data["parser"]["parser"]
    names = tables["tokens"]
    states = {
        state: {names[token]: way for token, way in sorted(ways.items(), key=lambda item: str(names[item[0]]))}
        for state, ways in tables["states"].items()
    }
    order = {state: None for _, state in sorted(tables["start_states"].items())}
    for state in (met := list(order)):
        new = [to for action, to in states[state].values() if action == SHIFT and to not in order]
        order |= dict.fromkeys(new)
        met += dict.fromkeys(new)
    number = {state: i for i, state in enumerate(order)}
    data["parser"]["parser"] = {
        "tokens": sorted(names.values()),
        "states": [
            {name: number[to] if action == SHIFT else -to["@"] for name, (action, to) in states[state].items()}
            for state in order
        ],
        "rules": sorted({to["@"] for ways in states.values() for action, to in ways.values() if action == REDUCE}),
        **{
            ends: {rule: number[tables[ends][rule]] for rule in sorted(tables[ends])}
            for ends in ("start_states", "end_states")
        },
    }
    return json.dumps({"of": _origin(grammar), "data": data, "memo": memo}, separators=(",", ":")) + "\n"


def _origin(grammar: bytes) -> dict[str, str]:
    """What the tables depend on: the same for all patches of a version of Lark."""
    return {
        "grammar": hashlib.sha256(grammar).hexdigest(),
        "lark": ".".join(lark.__version__.split(".")[:2]),
    }


def _built(grammar: str, lexer: type[Lexer], starts: Sequence[str]) -> Lark:
    return Lark(
        grammar,
        parser="lalr",
        lexer=lexer,
        start=list(starts),
        propagate_positions=True,
        maybe_placeholders=True,
    )


if __name__ == "__main__":
    from cepc_grammar.keywords import KeywordLexer
    from cepc_grammar.sql.lexer import SqlLexer

    TABLES.write_text(text(KeywordLexer), encoding="utf-8")
    SQL_TABLES.write_text(sql_text(SqlLexer), encoding="utf-8")
