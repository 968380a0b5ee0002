"""Random programs at the level of syntax: trees that the parser can yield, and texts that say them in a person's
careless way.

Nothing here makes sense beyond grammar: names are resolved nowhere and types never agree.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from cepc_grammar import ast
from cepc_grammar.pattern import And, Not, Or, Repeat, Seq, Some
from cepc_grammar.printer import to_text
from cepc_grammar.source import Source
from cepc_grammar.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from cepc_grammar.raw_tokens import RawToken

KEYWORDS = (
    "AFTER", "AND", "ANY", "AS", "BETWEEN", "BY", "CASE", "CAST", "CONTIGUOUS", "DATE", "DISTINCT", "DIV", "ELSE",
    "END", "ESCAPE", "EVENT", "EXTRACT", "FALSE", "FIRST", "FROM", "GROUP", "GROUPBY", "GROUP_BY", "HAVING",
"ILIKE", "IMPORT", "IN", "INTERVAL", "IS", "LAST", "LIKE", "MATCH", "EACH", "NEXT", "NOT", "NULL", "OFFSET", "OR", "ORDER",
    "PAST", "PATTERN", "QUERY", "REGEXP", "RETURN", "RLIKE", "SELECT", "SEQ", "SESSION", "SKIP", "SLIDE", "SOME", "STREAM", "TEST",
    "THEN", "TIME", "TIMESTAMP", "TIMESTAMP_NTZ", "TO", "TRUE", "TRY_CAST", "TYPE", "UNBOUNDED", "UNIT",
    "UNKNOWN", "WATERMARK", "WHEN", "WHERE", "WINDOW", "WITH", "WITHIN",
    "GIVEN", "EXPECT", "FOR", "NO", "ROWS", "VALUES",
)  # fmt: skip

# ---- names, types, durations -----------------------------------------------------------------------------------------

_PLAIN = st.sampled_from(["a", "b", "x", "e", "T", "T1", "Travel", "driver_id", "_x", "price", "COUNT", "Aa9"])
_KEYWORD = st.sampled_from(KEYWORDS).flatmap(lambda w: st.sampled_from([w, w.lower(), w.capitalize()]))
_WEIRD = st.text(
    st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1, max_size=6
) | st.sampled_from(
    ["`", "a`b", "``", "a b", "1a", "größe", "--", "/*", "*/", ";", "a.b", "'", "x'", "\\", "名", "\u202e"]
)
names = st.builds(ast.Name, _PLAIN | _PLAIN | _KEYWORD | _WEIRD)


def _tuples(of: st.SearchStrategy[Any], least: int = 1, most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, min_size=least, max_size=most).map(tuple)


_TYPE_NAMES = st.sampled_from(["TIMESTAMP", "STRING", "BIGINT", "INT", "DOUBLE", "DATE", "BOOLEAN", "WHAT"])
_SIMPLE_TYPES = st.builds(ast.TypeExpr, _TYPE_NAMES) | st.builds(
    ast.TypeExpr, st.sampled_from(["DECIMAL", "CHAR"]), _tuples(st.integers(0, 99), 1, 2)
)
types = st.recursive(
    _SIMPLE_TYPES,
    lambda inner: st.one_of(
        st.builds(lambda t: ast.TypeExpr("ARRAY", (), (t,)), inner),
        st.builds(lambda k, v: ast.TypeExpr("MAP", (), (k, v)), inner, inner),
        st.builds(
            lambda fields: ast.TypeExpr("STRUCT", (), (), fields), _tuples(st.builds(ast.TypeField, names, inner))
        ),
    ),
    max_leaves=4,
)
_UNITS: Any = st.sampled_from([*ast.MICROSECONDS, "MONTH", "YEAR"])
durations = st.builds(ast.Duration, st.sampled_from(["1", "5", "20", "0", "0.5", ".5", "5.", "1e3"]), _UNITS)
offsets = durations | durations.map(lambda one: replace(one, amount=f"-{one.amount}"))

# ---- expressions -----------------------------------------------------------------------------------------------------

_HOSTILE = (
    "", "'", '"', "''", "\\", "\\\\'", "\\%", "\\n", "\n", "\r\n", "\0" + "12", "it's", "-- x", "/* x", "*/", ";", "`",
)  # fmt: skip
strings = st.sampled_from(_HOSTILE) | st.text(max_size=12)
_WHOLE = st.integers(0, 10**20).map(str)
_FRACTION = st.sampled_from(["1.5", ".5", "5.", "0.0", "123456789.123456789"])
_EXPONENT = st.sampled_from(["1e3", "1E-3", "1.5e+3", ".5e0", "5.e1"])


def _literal(kind: Any, text: st.SearchStrategy[str]) -> st.SearchStrategy[ast.Literal]:
    return text.map(lambda t: ast.Literal(kind, t))


string_literals = _literal("string", strings)
literals = st.one_of(
    string_literals,
    _literal("integer", _WHOLE),
    _literal("bigint", _WHOLE),
    _literal("smallint", _WHOLE),
    _literal("tinyint", _WHOLE),
    _literal("decimal", _WHOLE | _FRACTION | _EXPONENT),
    _literal("double", _WHOLE | _FRACTION | _EXPONENT),
    _literal("float", _WHOLE | _FRACTION | _EXPONENT),
    _literal("binary", st.sampled_from(["", "1F", "00FF"])),
    _literal("boolean", st.sampled_from(["TRUE", "FALSE"])),
    st.just(ast.Literal("null", "NULL")),
    _literal("date", strings),
    _literal("timestamp", strings),
    _literal("timestamp_ntz", strings),
)
references = st.builds(ast.Reference, _tuples(names))
_AGGREGATED = st.sampled_from([ast.Name(name) for name in ("SUM", "COUNT", "max", "Avg")])
_COUNT = st.just(ast.Call(ast.Name("COUNT"), (ast.Star(),)))
_INTERVALS = st.builds(ast.Interval, _tuples(durations))
_BINARY: Any = st.sampled_from(
    ["OR", "AND", "=", "<=>", "<>", "<", "<=", ">", ">=", "+", "-", "||", "*", "/", "%", "DIV", "&", "^", "|", "<<", ">>", ">>>"]
    + ["AND", "OR"] * 2
)  # fmt: skip
_UNARY: Any = st.sampled_from(["-", "+", "~", "NOT"])
_LIKE: Any = st.sampled_from(["LIKE", "ILIKE", "RLIKE"])
_IS: Any = st.sampled_from(["NULL", "TRUE", "FALSE", "UNKNOWN"])
_FIELDS = st.sampled_from(["YEAR", "MONTH", "DOW"])


def _compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    operands = inner.filter(lambda e: not isinstance(e, ast.Reference))  # `a.b` is a longer Reference
    return st.one_of(
        st.builds(ast.Binary, _BINARY, inner, inner),
        st.builds(ast.Binary, _BINARY, inner, inner),
        st.builds(ast.Unary, _UNARY, inner),
        st.builds(ast.Call, names, _tuples(inner, 0)),
        st.builds(ast.Call, names, _tuples(inner), st.just(True)),
        st.builds(ast.Call, _AGGREGATED, _tuples(inner), running=st.just(True)),
        st.builds(ast.Member, operands, names),
        st.builds(ast.Index, inner, inner),
        st.builds(ast.Between, inner, inner, inner, st.booleans()),
        st.builds(ast.In, inner, _tuples(inner), st.booleans()),
        st.builds(ast.Like, inner, inner, _LIKE, st.none() | strings, st.booleans()),
        st.builds(ast.Is, inner, _IS, st.booleans()),
        st.builds(ast.IsDistinct, inner, inner, st.booleans()),
        st.builds(ast.Case, st.none() | inner, _tuples(st.builds(ast.Branch, inner, inner)), st.none() | inner),
        st.builds(ast.Cast, inner, types, st.booleans()),
        st.builds(ast.Extract, _FIELDS, inner),
    )


expressions = st.recursive(references | references | literals | _INTERVALS | _COUNT, _compound, max_leaves=10)
dotted = st.builds(ast.Reference, st.tuples(names, names))
equivalences = st.builds(ast.Equivalence, _tuples(st.one_of(names, dotted)))
conditions = st.recursive(
    equivalences | expressions,
    lambda inner: st.builds(lambda a, b: ast.Binary("AND", a, b), inner, inner),
    max_leaves=4,
)

# ---- patterns --------------------------------------------------------------------------------------------------------

_NUMBERS = literals.filter(lambda v: v.kind in ("integer", "bigint", "decimal", "double"))
_ARGUMENTS = st.one_of(
    st.builds(lambda n: ast.Reference((n,)), names),
    literals,
    st.builds(lambda n: ast.Unary("-", n), _NUMBERS),
)
atoms = st.builds(ast.Atom, names, st.none() | st.none() | _tuples(_ARGUMENTS, 0), st.none() | names) | st.builds(
    ast.Atom, names, st.none(), st.none() | names, stream=names
)
any_events = st.builds(ast.AnyEvent, st.none() | names)
_BOUNDS = st.sampled_from([(1, None), (0, None), (0, 1), (2, 2), (2, None), (2, 5), (0, 0), (1, 1), (3, 2), (0, 3)])


def _composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = _tuples(inner)
    return st.one_of(
        st.builds(Seq, several),
        st.builds(Seq, several),
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Some, several),
        st.builds(
            lambda body, bounds, reluctant: Repeat(body, bounds[0], bounds[1], reluctant),
            inner,
            _BOUNDS,
            st.booleans(),
        ),
        st.builds(Not, inner, st.none() | durations),
    )


patterns = st.recursive(atoms | atoms | any_events, _composed, max_leaves=10)

# ---- statements ------------------------------------------------------------------------------------------------------

imports = st.builds(ast.Import, _tuples(names), st.none()) | st.builds(ast.Import, st.none(), strings)
_TIME_UNITS: Any = st.none() | st.sampled_from(["s", "ms", "us"])
streams = st.builds(
    ast.Stream,
    names,
    _tuples(st.builds(ast.Column, names, types)),
    st.none() | st.builds(ast.EventTime, names, _TIME_UNITS, _tuples(names, 0), st.none() | durations),
    st.none() | st.builds(ast.EventType, names, st.none() | _tuples(string_literals, 1, 8)),
    st.none() | st.builds(ast.From, st.sampled_from(["parquet", "kafka", "größe", "a b", "from"]), strings),
)
derived_events = st.builds(ast.DerivedEvent, names, names, expressions, stream=st.none() | names)
named_patterns = st.builds(
    ast.NamedPattern, names, st.none() | _tuples(names, 0), patterns, st.none() | conditions
)  # fmt: skip
functions = st.builds(ast.Function, names, _tuples(names, 0), expressions)
items = st.builds(ast.Item, expressions, st.none() | names)
_ALL_COLUMNS = st.just((ast.Item(ast.Star()),))
returns = st.builds(
    lambda items, kind: ast.Return(items, *kind),
    _tuples(items, 1, 5),
    st.sampled_from([(False, False), (True, False), (True, True)]),
) | st.builds(ast.Return, _ALL_COLUMNS, st.just(True))
_SELECT: Any = st.sampled_from(["ANY", "NEXT", "CONTIGUOUS"])
_SKIPS: Any = st.one_of(
    st.builds(ast.AfterMatch, st.sampled_from(["TO NEXT EVENT", "PAST LAST EVENT"])),
    st.builds(ast.AfterMatch, st.sampled_from(["TO FIRST", "TO LAST"]), references.map(lambda one: (one,))),
    st.builds(ast.AfterMatch, st.just("FOR"), duration=durations),
)


def _query(window: ast.Duration | None, *parts: Any) -> ast.Query:
    """Of its `parts`, and a window where one may stand: beside a duration."""
    query = ast.Query(*parts)
    return replace(query, window=window) if isinstance(query.within, ast.Duration) else query


queries = st.builds(
    _query,
    st.none() | durations,
    names,
    returns,
    patterns,
    durations | st.just(ast.Unbounded()) | st.builds(ast.Session, durations),
    st.none() | conditions,
    _tuples(st.builds(ast.GroupItem, _tuples(names)), 0),
    st.none() | expressions,
    st.none() | durations,
    st.none() | offsets,
    st.just(()) | _tuples(names),
    _SELECT,
    st.none() | _SKIPS,
    st.just(()) | _tuples(st.tuples(names, strings)),
)
_values = st.builds(ast.Values, st.none() | _tuples(names), _tuples(st.builds(ast.Row, _tuples(expressions))))
_given = st.builds(ast.Given, st.none() | names, _values)
tests = st.builds(ast.Test, names, names, _tuples(_given), st.none() | _values)
statements = st.one_of(imports, streams, derived_events, named_patterns, functions, queries, queries, tests)
programs = st.builds(ast.Program, _tuples(statements, 0, 4))

# ---- texts -----------------------------------------------------------------------------------------------------------

_SPACES = (" ", " ", " ", " ", "  ", "\t", "\n", "\n  ", "\n\n", "\r\n")
_WORDS = ("why", "--", "a, b", "`", "'", "SEQ(", ";", "*", "ünï", "")


def careless(program: ast.Program, random: Random, comments: float = 0.1) -> str:
    """A text of the program as a hurried person types it.

    Keywords in any case, other spellings, spaces and line ends anywhere, comments in so large a part of the gaps.
    """
    text = to_text(program)
    kept = {name.text for name in _names(program)}
    parts: list[str] = []
    for token in tokenize(Source("", text)).tokens:
        parts.append(token.text if token.text in kept else _spelled(token, random))
        parts.append(random.choice(_SPACES))
        while random.random() < comments:
            parts.append(_comment(random))
    return "".join(parts)


_RESPELLED = {"=": "==", "<>": "!=", "RLIKE": "REGEXP", "MINUTES": "min", "HOUR": "h"}


def _spelled(token: RawToken, random: Random) -> str:
    if token.text in _RESPELLED and random.random() < 0.5:
        return _RESPELLED[token.text]
    style: Callable[[str], str] = random.choice((str, str.lower, str.capitalize))
    return style(token.text) if token.kind == "WORD" else token.text


def _comment(random: Random) -> str:
    words = " ".join(random.choices(_WORDS, k=random.randrange(4)))
    match random.randrange(6):
        case 0 | 1:
            return f"-- {words}\n"
        case 2 | 3:
            return f"/* {words} */{random.choice(_SPACES)}"
        case 4:
            return f"\n-- {words}  \n"
        case _:
            return f"/* {words}\n   more */{random.choice(_SPACES)}"


def _names(node: Any) -> list[ast.Name]:
    match node:
        case ast.Name():
            return [node]
        case tuple():
            return [name for part in node for name in _names(part)]
        case str() | int() | None:
            return []
        case _:
            return [name for slot in node.__slots__ if slot != "span" for name in _names(getattr(node, slot))]


_NEW_STATEMENT = re.compile(r"IMPORT|STREAM|QUERY", re.IGNORECASE)


def bare(several: list[ast.Query], random: Random) -> str | None:
    """The queries in the bare form, or None if a name in them would begin a statement of its own."""
    if any(_NEW_STATEMENT.fullmatch(name.text) for name in _names(tuple(several))):
        return None
    return "\n\n".join(_bare_query(replace(query, labels=()), random) for query in several) + random.choice(("", "\n"))


def _bare_query(query: ast.Query, random: Random) -> str:
    lines = to_text(query).removesuffix(";").split("\n")
    name = lines[0].removeprefix("QUERY ")
    if name.upper() in ("EVENT", "PATTERN", "TEST"):
        name = f"`{name}`"
    shown = [line.strip(" ") + random.choice(("", "", "  ", " -- why", " /* x */")) for line in lines[1:]]
    return "\n".join([name, *(line.replace("GROUP BY", random.choice(("GROUP-BY", "GROUP BY"))) for line in shown)])
