"""Programs that are another in one place: what a user may have edited between two goes of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_grammar.source import Source
from cepc_grammar.tokens import tokenize
from tests.generators import KEYWORDS
from tests.programs import Case, case, with_forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from cepc_grammar.raw_tokens import RawToken
    from tests.programs import Form

FUNCTIONS: Final = """FUNCTION tidy(text) AS REPLACE(text, '.', '');
FUNCTION less(of, by) AS of - by;
"""
FORMS: Final[tuple[Form, ...]] = (
    ("g STRING", "G STRING", "plain AS tidy(G), g AS NULLIF(plain, 'none')", lambda g: f".{g}"),
    ("x INT", "more BIGINT", "most AS less(more, 1), x AS CAST(most AS INT)", lambda x: x + 1),
    ("kind STRING", "raw STRING", "low AS LOWER(raw), kind AS UPPER(low)", str.lower),
    ("k INT", "own STRUCT<k: BIGINT, more: INT>", "whole AS own.k, k INT AS whole", lambda k: {"k": k, "more": 1}),
    ("word INT", "w BIGINT", "half AS w / 2, word AS CAST(half AS INT)", lambda word: word * 2),
    ("seq INT", "place BIGINT", "seq AS CAST(less(place, 5) AS INT)", lambda seq: seq + 5),
)
"""Columns that are computed of computed ones and by FUNCTIONs."""

ALIKE: Final = tuple(
    words.split()
    for words in (
        "= <> < <= > >= <=>", "AND OR", "+ - * / %", "+ * ?", "SEQ AND OR ANY SOME", "NEXT CONTIGUOUS ANY", "FIRST LAST PREV",
        "COUNT SUM AVG MIN MAX COLLECT FIRST LAST", "VARIANCE VAR_POP STDDEV STDDEV_POP", "LOWER UPPER TRIM REVERSE",
        "REPLACE TRANSLATE", "INT BIGINT SMALLINT DOUBLE STRING TIMESTAMP", "ms s MINUTES", "TRUE FALSE NULL",
        "SLIDE OFFSET",
    )
)  # fmt: skip
"""What may stand for one another."""
OF_A_CLAUSE: Final = frozenset(
    {"WHERE", "GROUP", "HAVING", "SELECT", "AFTER", "ORDER", "WATERMARK", "SLIDE", "OFFSET", "EVENT"}
)
"""What begins a clause that may be left out, or a statement."""


def program(chance: Random) -> Case:
    """With one to three queries, FUNCTIONs, and columns of both kinds that some query reads or none."""
    one = with_forms(case(chance, chance.choice((1, 2, 3))), chance.sample(FORMS, chance.randint(1, 5)))
    late = chance.choice(("", " WATERMARK 5 SECONDS"))
    return Case(FUNCTIONS + one.text.replace("\nEVENT TYPE", f"{late}\nEVENT TYPE", 1), one.rows, one.words)


def changes(text: str, chance: Random) -> Iterator[str]:
    """The text with something else in one place, without end; most are programs. Half of the places are before the
    first query.
    """
    tokens = [token for token in tokenize(Source("", text)).tokens if token.start < token.end]
    queries = next((i for i, token in enumerate(tokens) if token.upper == "QUERY"), len(tokens))
    while True:
        at = chance.randrange(queries if chance.random() < 0.5 else len(tokens))
        start, end, new = chance.choice(WAYS)(tokens, at, chance)
        changed = f"{text[: tokens[start].start]} {new} {text[tokens[end - 1].end :]}"
        if "".join(changed.split()) != "".join(text.split()):
            yield changed


def _other(tokens: Sequence[RawToken], at: int, chance: Random) -> tuple[int, int, str]:
    """Another token of its kind."""
    token = tokens[at]
    if (token.kind == "WORD" and token.upper in KEYWORDS) or token.kind not in ("WORD", "STRING", "NUMBER", "INTEGER"):
        others = [word for words in ALIKE if token.upper in words or token.text in words for word in words]
    elif token.kind in ("WORD", "STRING"):
        others = [one.text for one in tokens if one.kind == token.kind and one.upper not in KEYWORDS]
        others += [word for words in ALIKE if token.upper in words for word in words]
    else:
        others = ["0", "1", "2", "3", "7", "1.5"]
    return at, at + 1, chance.choice(others or [token.text])


def _left_out(tokens: Sequence[RawToken], at: int, chance: Random) -> tuple[int, int, str]:
    return at, min(len(tokens), at + chance.choice((1, 1, 2, 3, 4))), ""


def _clause_left_out(tokens: Sequence[RawToken], at: int, chance: Random) -> tuple[int, int, str]:
    """From the head of a clause to the next one, or to the end of the statement."""
    heads = [i for i, token in enumerate(tokens) if token.upper in OF_A_CLAUSE]
    start = chance.choice(heads or [at])
    stops = {*OF_A_CLAUSE, "WITHIN", "FROM", ";"}
    end = next(i for i in range(start + 1, len(tokens) + 1) if i == len(tokens) or tokens[i].upper in stops)
    return start, end, ""


def _twice(tokens: Sequence[RawToken], at: int, chance: Random) -> tuple[int, int, str]:
    return at, at + 1, f"{tokens[at].text} {chance.choice(('+', '+ 1 -', 'AND', ',', '.', ''))} {tokens[at].text}"


def _swapped(tokens: Sequence[RawToken], at: int, chance: Random) -> tuple[int, int, str]:
    """With the next token, or with the one after it: around a comma or an operator."""
    end = min(len(tokens), at + chance.choice((2, 3)))
    part = [token.text for token in tokens[at:end]]
    return at, end, " ".join([part[-1], *part[1:-1], part[0]] if len(part) > 1 else part)


def _more(tokens: Sequence[RawToken], at: int, chance: Random) -> tuple[int, int, str]:
    """Something before it that often fits."""
    words = ("NOT", "-", "DISTINCT", "later INT,", "later AS 1 + 1,", "ANY,", "1 +", "x > 0 AND", "COUNT(*) AS later,")
    statements = ("EVENT Later AS A WHERE x > 0;", "PATTERN later AS SEQ(A, B);", "FUNCTION later(of) AS of;")
    query = "QUERY later RETURN COUNT(*) AS n PATTERN SEQ(A, B) WITHIN 9 s SLIDE 3 s;"
    began = at == 0 or tokens[at - 1].text == ";"
    return at, at + 1, f"{chance.choice((*statements, query) if began else words)} {tokens[at].text}"


WAYS: Final = (_other, _other, _other, _left_out, _clause_left_out, _twice, _swapped, _more)
