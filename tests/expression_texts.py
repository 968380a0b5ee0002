"""Random expressions as text, of a wanted kind, over the columns of `expression_scope`; what is deterministic and
portable.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

Texts = st.SearchStrategy[str]

_INTEGERS = ("ti", "si", "i", "l")
_NUMBERS = (*_INTEGERS, "f", "d", "de")
_INTEGER_LITERALS = ("0", "1", "-1", "2", "3", "7", "-128", "100L", "5S", "2147483647", "9223372036854775807", "12Y")
_LITERALS = (*_INTEGER_LITERALS, "0.5", "1.25", "-3.333", "1e3", "2.5D", "1.5F", "100000000000000000000", "0.00001")
_STRINGS = ("''", "'a'", "'abc'", "' x '", "'%b%'", "'a_c'", "'12'", "'it\\'s'", "'Ünï'", "'2020-02-29'", "'x,y'")
_INTERVALS = ("INTERVAL 1 DAY", "INTERVAL 90 MINUTES", "INTERVAL 1 HOUR 30 SECONDS", "INTERVAL 500 MILLISECONDS")


def _kind(make: Callable[[int], Texts]) -> Callable[[int], Texts]:
    """One strategy for each depth, which prints as itself and not as all that is in it."""

    @cache
    def kind(depth: int) -> Texts:
        strategy = make(depth)

        @st.composite
        def text(draw: st.DrawFn) -> str:
            return draw(strategy)

        return text()

    return kind


def _one(*texts: str) -> Texts:
    return st.sampled_from(texts)


def _call(name: str, *arguments: Texts) -> Texts:
    return st.tuples(*arguments).map(lambda found: f"{name}({', '.join(found)})")


def _form(form: str, *arguments: Texts) -> Texts:
    return st.tuples(*arguments).map(lambda found: form.format(*found))


@_kind
def numbers(depth: int) -> Texts:
    leaf = st.one_of(_one(*_NUMBERS), _one(*_LITERALS))
    if depth == 0:
        return leaf
    n, s, b, d, t = numbers(depth - 1), strings(depth - 1), booleans(depth - 1), dates(depth - 1), timestamps(depth - 1)
    i = integers(depth - 1)
    return st.one_of(
        leaf,
        _form("({} {} {})", n, _one("+", "-", "*", "/", "%"), n),
        _form("({} {} {})", i, _one("&", "|", "^", "DIV", "%"), i),
        _form("({} {})", _one("-", "+"), n),
        _call("abs", n),
        st.tuples(_one("round", "bround", "ceil", "floor"), n, _one("", ", 1", ", -1", ", 3")).map(
            lambda f: f"{f[0]}({f[1]}{f[2]})"
        ),
        _form("{}({}, {})", _one("try_add", "try_subtract", "try_multiply", "try_divide", "try_mod", "pmod"), n, n),
        _form("{}({}, {})", _one("greatest", "least", "coalesce", "nullif", "nvl", "nanvl"), n, n),
        _call("if", b, n, n),
        _form("CASE WHEN {} THEN {} WHEN {} THEN {} ELSE {} END", b, n, b, n, n),
        _form("CASE {} WHEN {} THEN {} END", n, n, n),
        _form("{}({})", _one("sign", "sqrt", "rint", "degrees"), n),
        _form(
            "CAST({} AS {})", n, _one("INT", "BIGINT", "DOUBLE", "FLOAT", "DECIMAL(12,3)", "DECIMAL(38,10)", "TINYINT")
        ),
        _form("TRY_CAST({} AS {})", st.one_of(n, s), _one("INT", "BIGINT", "DOUBLE", "DECIMAL(12,3)", "SMALLINT")),
        integers(depth),
        _form("EXTRACT(SECOND FROM {})", t),
        _form("{}({})", _one("unix_seconds", "unix_millis", "unix_timestamp"), t),
        _call("datediff", d, d),
    )


@_kind
def integers(depth: int) -> Texts:
    leaf = st.one_of(_one(*_INTEGERS), _one(*_INTEGER_LITERALS))
    if depth == 0:
        return leaf
    i, s, d, t = integers(depth - 1), strings(depth - 1), dates(depth - 1), timestamps(depth - 1)
    return st.one_of(
        leaf,
        _form("(~ {})", i),
        _form("(si {} {})", _one("<<", ">>", ">>>"), _one("1", "3", "ti")),
        _form("{}({})", _one("length", "octet_length", "ascii", "char_length"), s),
        _form("{}({}, {})", _one("instr", "locate"), s, s),
        _form("{}({})", _one("year", "month", "day", "dayofweek", "weekday", "dayofyear", "quarter", "weekofyear"), d),
        _form("{}({})", _one("hour", "minute", "second"), t),
        _form("EXTRACT({} FROM {})", _one("YEAR", "WEEK", "DOW", "DAY"), d),
        _one("size(ar)", "ar[0]", "ma['x']", "st.x", "element_at(ar, -1)", "bit_count(i)"),
    )


@_kind
def strings(depth: int) -> Texts:
    leaf = st.one_of(st.just("s"), _one(*_STRINGS))
    if depth == 0:
        return leaf
    s, b = strings(depth - 1), booleans(depth - 1)
    small = _one("0", "1", "2", "-1", "-2", "ti", "7")
    # Not floats: how Java writes their last digit depends on its version.
    any_ = st.one_of(integers(depth - 1), s, b, dates(depth - 1), timestamps(depth - 1), intervals(depth - 1))
    return st.one_of(
        leaf,
        _form("({} || {})", s, any_),
        _form("{}({})", _one("upper", "lower", "trim", "ltrim", "rtrim", "reverse"), s),
        _call("substring", s, small),
        _call("substring", s, small, small),
        _form("{}({}, {})", _one("left", "right"), s, small),
        _form("{}({}, 5, {})", _one("lpad", "rpad"), s, s),
        _call("replace", s, s, s),
        _call("translate", s, s, s),
        _call("concat_ws", s, s, any_),
        _form("split_part({}, {}, {})", s, s, _one("1", "2", "-1")),
        _form("CAST({} AS STRING)", any_),
        _form("{}({}, {})", _one("coalesce", "nullif", "greatest", "least"), s, s),
        _form("CASE WHEN {} THEN {} ELSE {} END", b, s, s),
        _form("{}({})", _one("dayname", "monthname"), dates(depth - 1)),
    )


@_kind
def booleans(depth: int) -> Texts:
    leaf = st.one_of(st.just("bo"), _one("TRUE", "FALSE", "CAST(NULL AS BOOLEAN)"))
    if depth == 0:
        return leaf
    b, n, s, d, t, v = (f(depth - 1) for f in (booleans, numbers, strings, dates, timestamps, intervals))
    compare = _one("=", "<>", "<", "<=", ">", ">=", "<=>")
    return st.one_of(
        leaf,
        *(_form("({} {} {})", x, compare, x) for x in (n, s, d, t, v, b)),
        _form("({} {} {})", d, compare, t),
        _form("({} {} {})", b, _one("AND", "OR"), b),
        _form("(NOT {})", b),
        _form("({} IS {})", b, _one("NULL", "NOT NULL", "TRUE", "NOT FALSE", "UNKNOWN")),
        _form("({} IS DISTINCT FROM {})", n, n),
        _form("({} BETWEEN {} AND {})", n, n, n),
        _form("({} {} ({}, {}))", n, _one("IN", "NOT IN"), n, n),
        _form("({} {} ('abc', {}))", s, _one("IN", "NOT IN"), s),
        _form(
            "({} {} {})",
            s,
            _one("LIKE", "NOT LIKE", "ILIKE"),
            _one("'%b%'", "'a_c'", "'%'", "''", "'Ü%'", "'%c'", "'a\\\\%'"),
        ),
        _form("({} RLIKE {})", s, _one("'^a'", "'[a-c]+$'", "'\\\\d'", "'x|y'")),
        _form("{}({}, {})", _one("contains", "startswith", "endswith"), s, s),
        _form("isnan({})", n),
        _form("array_contains(ar, {})", _one("1", "i")),
        _one("ar = ar", "st < st", "ar <=> NULL"),
    )


@_kind
def dates(depth: int) -> Texts:
    leaf = _one("dt", "DATE '2020-02-29'", "DATE '1969-12-31'")
    if depth == 0:
        return leaf
    d, t = dates(depth - 1), timestamps(depth - 1)
    return st.one_of(
        leaf,
        _form("({} {} {})", d, _one("+", "-"), _one("1", "ti", "INTERVAL 2 DAYS")),
        _form("{}({}, {})", _one("date_add", "date_sub", "add_months"), d, _one("1", "ti", "si")),
        _form("last_day({})", d),
        _form("CAST({} AS DATE)", t),
        _form("TRY_CAST({} AS DATE)", strings(depth - 1)),
        _form("{}({}, {})", _one("coalesce", "greatest"), d, d),
    )


@_kind
def timestamps(depth: int) -> Texts:
    leaf = _one("ts", "nt", "TIMESTAMP '2020-02-29 12:34:56.789'", "TIMESTAMP_NTZ '2000-01-01 00:00:00'")
    if depth == 0:
        return leaf
    t, v = timestamps(depth - 1), intervals(depth - 1)
    return st.one_of(
        leaf,
        _form("({} {} {})", t, _one("+", "-"), v),
        _form("date_trunc('{}', {})", _one("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"), t),
        _form("CAST({} AS {})", t, _one("TIMESTAMP", "TIMESTAMP_NTZ")),
        _form("CAST({} AS TIMESTAMP)", dates(depth - 1)),
        _form("TRY_CAST({} AS TIMESTAMP)", strings(depth - 1)),
        _form("timestamp_seconds({})", _one("i", "l", "si")),
        _form("{}({}, {})", _one("coalesce", "least"), t, t),
    )


@_kind
def intervals(depth: int) -> Texts:
    leaf = st.one_of(st.just("iv"), _one(*_INTERVALS))
    if depth == 0:
        return leaf
    t, d, v = timestamps(depth - 1), dates(depth - 1), intervals(depth - 1)
    return st.one_of(
        leaf,
        _form("({} - {})", t, t),
        _form("({} - {})", d, d),
        _form("({} {} {})", v, _one("+", "-"), v),
        _form("({} * {})", v, _one("2", "ti", "0.5", "d")),
        _form("({} / {})", v, _one("2", "3", "1.5", "-0.7D")),
        _form("(- {})", v),
        _form("abs({})", v),
    )


def expressions(depth: int = 3) -> Texts:
    """Any expression."""
    return st.one_of(*(f(depth) for f in (numbers, strings, booleans, dates, timestamps, intervals)))
