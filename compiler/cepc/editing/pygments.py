"""A lexer for Pygments, which finds it under the name `cep` where this package is installed."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, Punctuation, String, Whitespace

from .words import AGGREGATES, CONSTANTS, DECLARES, TYPES, keywords, operators, units

_NAME = r"(?:[^\W\d]\w*|`(?:[^`\n]|``)+`)"


def _any(*of: str) -> words:
    return words(of, prefix=r"(?<!\.)", suffix=r"\b(?!\s*\.)")


class CepLexer(RegexLexer):  # type: ignore[misc] # Pygments has no types
    """Programs of cepc. A keyword counts only in its place; the lexer takes a word for one unless it stands beside a
    dot.
    """

    name = "cep"
    aliases: ClassVar = ["cep", "cepc"]
    filenames: ClassVar = ["*.cep"]
    mimetypes: ClassVar = ["text/x-cep"]
    url = ""
    flags = re.IGNORECASE | re.MULTILINE

    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"\s+", Whitespace),
            (r"--.*?$", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
            (r"x'[^'\n]*'", String.Other),
            (r"r'[^'\n]*'|r\"[^\"\n]*\"", String.Other),
            (r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"", String),
            (
                rf"(PATTERN|FUNCTION)(\s+)({_NAME})(?=\s*(?:\([^()]*\))?\s*AS\b)",
                bygroups(Keyword, Whitespace, Name.Function),
            ),
            (r"(EVENT)(\s+)(TIME|TYPE)\b", bygroups(Keyword, Whitespace, Keyword)),
            (
                rf"({'|'.join(word for word in DECLARES if word not in ('PATTERN', 'FUNCTION'))})(\s+)({_NAME})",
                bygroups(Keyword, Whitespace, Name.Class),
            ),
            (
                rf"(\d+(?:\.\d+)?)(\s*)({'|'.join(sorted(units(), key=len, reverse=True))})\b",
                bygroups(Number, Whitespace, Literal.Date),
            ),
            (r"(?:\d+\.\d*|\.\d+|\d+)(?:e[+-]?\d+)?[a-z_]*", Number),
            (words(AGGREGATES, suffix=r"(?=\s*\()"), Name.Builtin),
            (_any(*CONSTANTS), Keyword.Constant),
            (_any(*operators()), Operator.Word),
            (_any(*TYPES), Keyword.Type),
            (_any(*keywords()), Keyword),
            (rf"{_NAME}(?=\s*\()", Name.Function),
            (_NAME, Name),
            (r"<=>|>>>|>>|<<|<=|>=|<>|!=|==|\|\||::|->|=>|[-+*/%=<>&|^~?:]", Operator),
            (r"[(),;.\[\]{}]", Punctuation),
        ],
        "comment": [  # they nest
            (r"/\*", Comment.Multiline, "#push"),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"[^*/]+|[*/]", Comment.Multiline),
        ],
    }
