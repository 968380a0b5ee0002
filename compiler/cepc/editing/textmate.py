"""A grammar for editors that read TextMate's: what Pygments' lexer shows, under the scopes that themes colour."""

from __future__ import annotations

import json
from typing import Any

from .words import AGGREGATES, CONSTANTS, TYPES, keywords, operators, units

_NAME = "(?:[A-Za-z_][A-Za-z_0-9]*|`(?:[^`]|``)+`)"


def grammar() -> dict[str, Any]:
    """The grammar, as JSON has it."""
    return {
        "$schema": "https://json.schemastore.org/tmlanguage.json",
        "name": "cep",
        "scopeName": "source.cep",
        "fileTypes": ["cep"],
        "patterns": [{"include": f"#{name}"} for name in _repository()],
        "repository": _repository(),
    }


def to_json() -> str:
    return json.dumps(grammar(), indent=2) + "\n"


def _repository() -> dict[str, Any]:
    return {
        "line-comment": {"name": "comment.line.double-dash.cep", "match": "--.*$"},
        "comment": {
            "name": "comment.block.cep", "begin": r"/\*", "end": r"\*/", "patterns": [{"include": "#comment"}],
        },
        "raw-string": {"name": "string.quoted.other.cep", "match": "(?i)[rx]'[^']*'|r\"[^\"]*\""},
        "string": {
            "name": "string.quoted.single.cep", "begin": "'", "end": "'(?!')",
            "patterns": [{"name": "constant.character.escape.cep", "match": r"\\.|''"}],
        },
        "double-string": {
            "name": "string.quoted.double.cep", "begin": '"', "end": '"(?!")',
            "patterns": [{"name": "constant.character.escape.cep", "match": r'\\.|""'}],
        },
        "named-pattern": {
            "match": rf"(?i)\b(PATTERN|FUNCTION)\s+({_NAME})(?=\s*(?:\([^()]*\))?\s*AS\b)",
            "captures": {"1": {"name": "keyword.control.cep"}, "2": {"name": "entity.name.function.cep"}},
        },
        "event-clause": {
            "match": r"(?i)\b(EVENT)\s+(TIME|TYPE)\b",
            "captures": {"1": {"name": "keyword.control.cep"}, "2": {"name": "keyword.control.cep"}},
        },
        "declared": {
            "match": rf"(?i)\b(EVENT|QUERY|STREAM|TEST)\s+({_NAME})",
            "captures": {"1": {"name": "keyword.control.cep"}, "2": {"name": "entity.name.type.cep"}},
        },
        "duration": {
            "match": rf"(?i)\b(\d+(?:\.\d+)?)\s*({'|'.join(sorted(units(), key=len, reverse=True))})\b",
            "captures": {"1": {"name": "constant.numeric.cep"}, "2": {"name": "keyword.other.unit.cep"}},
        },
        "number": {"name": "constant.numeric.cep", "match": r"(?i)\b(?:\d+\.\d*|\d+)(?:e[+-]?\d+)?[a-z_]*"},
        "aggregate": {"name": "support.function.cep", "match": rf"(?i)\b(?:{'|'.join(AGGREGATES)})(?=\s*\()"},
        "constant": _words("constant.language.cep", CONSTANTS),
        "operator": _words("keyword.operator.word.cep", operators()),
        "type": _words("storage.type.cep", TYPES),
        "keyword": _words("keyword.control.cep", keywords()),
        "function": {"name": "entity.name.function.call.cep", "match": rf"{_NAME}(?=\s*\()"},
        "name": {"name": "variable.other.cep", "match": _NAME},
    }  # fmt: skip


def _words(scope: str, words: tuple[str, ...]) -> dict[str, str]:
    """A word that stands beside a dot is a name."""
    return {"name": scope, "match": rf"(?i)(?<!\.)\b(?:{'|'.join(words)})\b(?!\s*\.)"}
