"""Functions of strings."""

from __future__ import annotations

from typing import Final

from ..expression import Call, Expression, Literal
from ..types import BIGINT, BINARY, BOOLEAN, INT, STRING, Array, DataType
from .coercion import ARRAYS, Expected
from .signature import Build, Function, Mismatch, fixed, of_argument, to_common, with_third

_TEXT: Final = (STRING, BINARY)
_LONGEST: Final = Literal(2**31 - 1, INT)


def concat(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    """CONCAT and `||`: of binaries a BINARY, of arrays an ARRAY, of everything else a STRING."""
    if arguments and all(a.type == BINARY for a in arguments):
        return Call("concat", arguments, BINARY)
    if any(isinstance(a.type, Array) for a in arguments):
        common = to_common(arguments)
        return common if isinstance(common, Mismatch) else Call("concat", *common)
    return fixed("concat", STRING, to=STRING)(arguments)


def _concat_ws(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    expected = (STRING, *((Array(STRING) if isinstance(a.type, Array) else STRING) for a in arguments[1:]))
    return fixed("concat_ws", *expected, to=STRING)(arguments)


def _search(name: str) -> Build:
    """Whether one is in the other: both BINARY, or else both STRING."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        type_ = BINARY if all(a.type == BINARY for a in arguments) else STRING
        return fixed(name, type_, to=BOOLEAN)(arguments)

    return build


def _pad(name: str) -> Build:
    """LPAD and RPAD; of a BINARY without a pad, or with a BINARY one, a BINARY."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        if len(arguments) == 2:
            pad = Literal(b"\0", BINARY) if arguments[0].type == BINARY else Literal(" ", STRING)
            arguments = (*arguments, pad)
        type_ = BINARY if arguments[0].type == arguments[2].type == BINARY else STRING
        return fixed(name, type_, INT, type_, to=type_)(arguments)

    return build


def _trim(name: str) -> Build:
    """`trim(text)` or `trim(characters, text)`; the call has the text first."""

    def build(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
        typed = fixed(name, STRING, to=STRING)(arguments)
        return Call(name, typed.arguments[::-1], STRING) if isinstance(typed, Call) else typed

    return build


def _text(name: str, usage: str, summary: str, *expected: Expected, to: DataType = STRING, least: int = 0) -> Function:
    count = len(expected)
    return Function(name, usage, summary, least or count, count, fixed(name, *expected, to=to))


def _replace(arguments: tuple[Expression, ...]) -> Expression | Mismatch:
    return with_third(fixed("replace", STRING, to=STRING), Literal("", STRING))(arguments)


TEXTS: Final = (
    _text("upper", "upper(text)", "in upper case", STRING),
    _text("lower", "lower(text)", "in lower case", STRING),
    _text("length", "length(text)", "the number of characters, or of bytes of a BINARY", _TEXT, to=INT),
    _text("octet_length", "octet_length(text)", "the number of bytes", _TEXT, to=INT),
    _text("bit_length", "bit_length(text)", "the number of bits", _TEXT, to=INT),
    Function("trim", "trim([characters, ]text)", "without spaces, or these characters, around it", 1, 2, _trim("trim")),
    Function("ltrim", "ltrim([characters, ]text)", "the same before it", 1, 2, _trim("ltrim")),
    Function("rtrim", "rtrim([characters, ]text)", "the same after it", 1, 2, _trim("rtrim")),
    Function("btrim", "btrim(text[, characters])", "trim with the text first", 1, 2, fixed("trim", STRING, to=STRING)),
    Function(
        "substring", "substring(text, start[, length])", "a part; a negative start counts from the end", 2, 3,
        with_third(of_argument("substring", _TEXT, INT), _LONGEST),
    ),
    Function("left", "left(text, length)", "the first characters", 2, 2, of_argument("left", _TEXT, INT)),
    _text("right", "right(text, length)", "the last characters", STRING, INT),
    Function("concat", "concat(x, …)", "one after the other; null if one is", 0, None, concat),
    Function("concat_ws", "concat_ws(separator, x, …)", "joined by a separator, nulls left out", 1, None, _concat_ws),
    Function("contains", "contains(text, part)", "whether the part is in it", 2, 2, _search("contains")),
    Function("startswith", "startswith(text, part)", "whether it starts so", 2, 2, _search("startswith")),
    Function("endswith", "endswith(text, part)", "whether it ends so", 2, 2, _search("endswith")),
    _text("like", "like(text, pattern[, escape])", "as LIKE", STRING, STRING, STRING, to=BOOLEAN, least=2),
    _text("ilike", "ilike(text, pattern[, escape])", "as ILIKE", STRING, STRING, STRING, to=BOOLEAN, least=2),
    _text("rlike", "rlike(text, regex)", "whether the regular expression is found in it", STRING, STRING, to=BOOLEAN),
    Function("replace", "replace(text, part[, by])", "every occurrence of the part replaced", 2, 3, _replace),
    _text("instr", "instr(text, part)", "where the part is, from 1; 0 where it is not", STRING, STRING, to=INT),
    Function(
        "locate", "locate(part, text[, start])", "the same, from a start on", 2, 3,
        with_third(fixed("locate", STRING, STRING, INT, to=INT), Literal(1, INT)),
    ),
    Function("lpad", "lpad(text, length[, pad])", "filled up, or cut, to a length", 2, 3, _pad("lpad")),
    Function("rpad", "rpad(text, length[, pad])", "the same, filled up at its end", 2, 3, _pad("rpad")),
    _text("repeat", "repeat(text, n)", "n times over", STRING, INT),
    Function("reverse", "reverse(x)", "from back to front", 1, 1, of_argument("reverse", (STRING, BINARY, ARRAYS))),
    _text("split_part", "split_part(text, delimiter, n)", "the n-th part, or last but n", STRING, STRING, INT),
    _text("translate", "translate(text, from, to)", "characters replaced one by one", STRING, STRING, STRING),
    _text("ascii", "ascii(text)", "the code of the first character", STRING, to=INT),
    _text("chr", "chr(n)", "the character with code n mod 256", BIGINT),
    _text("space", "space(n)", "n spaces", INT),
)  # fmt: skip

TEXTS_ALIASES: Final = {
    "ucase": "upper", "lcase": "lower", "len": "length", "char_length": "length", "character_length": "length",
    "substr": "substring", "position": "locate", "regexp": "rlike", "regexp_like": "rlike", "char": "chr",
}  # fmt: skip
