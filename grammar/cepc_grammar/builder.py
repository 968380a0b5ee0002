"""What a statement says, as abstract syntax: one method a rule, which are called bottom up."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal, cast

from lark import Token

from . import ast
from .diagnostic import Diagnostic, Label
from .interval_texts import interval_like, interval_parts
from .near import nearest
from .pattern import And, Not, Or, Repeat, Selected, Seq, Some
from .source import Span
from .spelling import name_text
from .tokens import quoted_name, string_value
from .units import UNITS

_NUMBER = re.compile(r"((?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)(.*)", re.DOTALL)
_SUFFIXES: dict[str, ast.LiteralKind] = {
    "L": "bigint", "S": "smallint", "Y": "tinyint", "D": "double", "F": "float", "BD": "decimal"
}  # fmt: skip
_INTEGERS = frozenset({"L", "S", "Y"})
_OPERATORS = {"==": "=", "!=": "<>", "!": "NOT"}

# A clause that a mistake left out gets this in its place, so that checking can go on; the diagnostic is already there.
_NO_RETURN = ast.Return((ast.Item(ast.Call(ast.Name("COUNT"), (ast.Star(),))),))


def _side(written: ast.Expression) -> str | None:
    """The function for BOTH, LEADING or TRAILING, which is no column before FROM unless it is quoted."""
    if not isinstance(written, ast.Reference) or len(written.parts) > 1:
        return None
    word = written.parts[0]
    quoted = word.span.end - word.span.start > len(word.text)
    return None if quoted else {"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}.get(word.text.upper())


_NO_UNITS = frozenset({"event", "events", "row", "rows"})


def _near_unit(word: str) -> str | None:
    near = None if word.lower() in _NO_UNITS else nearest(word.lower(), reversed(UNITS))  # the plural first
    return near.upper() if near is not None and word.isupper() else near


def _unit_hint(word: str, near: str | None) -> str:
    if word.lower() in _NO_UNITS:
        return "windows are of time: `WITHIN 5 MINUTES`, say; there are none of a number of events"
    if near is not None:
        return f"did you mean {near}?"
    return "the units are microseconds, ms, seconds, minutes, hours, days and weeks (us, ms, s, min, h, d, w)"


class Builder:
    """Builds one statement; what is wrong beyond grammar goes to `diagnostics`.

    The method named like a rule makes what the rule's children say. Where Python reserves the name (`in`, `or`, …), it
    has an underscore behind.
    """

    def __init__(self, source_name: str) -> None:
        self.source_name = source_name
        self.diagnostics: list[Diagnostic] = []

    def _token_span(self, token: Token) -> Span:
        return Span(cast("int", token.start_pos), cast("int", token.end_pos), self.source_name)

    def _error(self, code: str, title: str, span: Span, label: str, **parts: Any) -> None:
        self.diagnostics.append(Diagnostic(code, title, span, label, **parts))

    # ---- names, types, durations -------------------------------------------------------------------------------------

    def name(self, span: Span, children: list[Token]) -> ast.Name:
        (token,) = children
        return ast.Name(quoted_name(token) if token.type == "QUOTED" else token.value, span)

    def dotted(self, _span: Span, children: list[ast.Name]) -> tuple[ast.Name, ...]:
        return tuple(children)

    def type(self, span: Span, children: list[Any]) -> ast.TypeExpr:
        name, *numbers, arguments = children
        return self._type(span, name, numbers, arguments or [])

    def plain_type(self, span: Span, children: list[Any]) -> ast.TypeExpr:
        name, *numbers = children
        return self._type(span, name, numbers, [])

    def _type(self, span: Span, name: ast.Name, numbers: list[Token | None], arguments: list[Any]) -> ast.TypeExpr:
        return ast.TypeExpr(
            name.text.upper(),
            tuple(self._whole(n) for n in numbers if n is not None),
            tuple(a for a in arguments if isinstance(a, ast.TypeExpr)),
            tuple(a for a in arguments if isinstance(a, ast.TypeField)),
            span,
        )

    def type_arguments(self, _span: Span, children: list[Any]) -> list[Any]:
        return children

    def type_field(self, span: Span, children: list[Any]) -> ast.TypeField:
        name, type_ = children
        return ast.TypeField(name, type_, span)

    def _whole(self, token: Token) -> int:
        if token.isascii() and token.isdigit() and len(token) < 10:
            return int(token)
        self._error(
            "E0111", f"`{token}` is no whole number", self._token_span(token), "a small whole number is expected here"
        )
        return 1

    def duration(self, span: Span, children: list[Any]) -> ast.Duration:
        number, unit = children
        text = string_value(number).strip() if number.type == "STRING" else str(number)
        amount, glued = found.groups() if (found := _NUMBER.fullmatch(text)) else ("", text)
        glued = glued.strip()
        word = glued or (unit.text if unit else "")
        kind = UNITS.get(word.lower())
        if not amount:
            self._error(
                "E0111", f"`{text}` is no number", self._token_span(number), "a duration is a number and a unit"
            )
        elif glued and unit is not None and kind is not None:
            self._error(
                "E0107", "a duration with two units", unit.span, f"`{glued}` is its unit already",
                hint=f"remove one of them: `{amount} {glued}`",
            )  # fmt: skip
        elif not word:
            self._error(
                "E0107",
                "a duration without a unit",
                span,
                "the unit is missing",
                hint=f"write `{amount} SECONDS`, say",
            )
        elif kind is None:
            self._error(
                "E0107", f"`{word}` is no unit of time", span if glued else unit.span, "unknown unit",
                hint=_unit_hint(word, near := _near_unit(word)), replacement=None if glued else near,
            )  # fmt: skip
        return ast.Duration(amount or "1", kind or "SECOND", span)

    def offset(self, span: Span, children: list[Any]) -> ast.Duration:
        sign, duration = children
        amount = f"-{duration.amount}" if sign == "-" else duration.amount
        return ast.Duration(amount, duration.unit, span)

    # ---- expressions -------------------------------------------------------------------------------------------------

    def number(self, span: Span, children: list[Token]) -> ast.Literal:
        found = _NUMBER.fullmatch(children[0])
        assert found is not None
        digits, suffix = found.groups()
        kind: ast.LiteralKind = "double" if "e" in digits.lower() else "decimal" if "." in digits else "integer"
        whole = kind == "integer"
        if suffix:
            if suffix.upper() not in _SUFFIXES or (suffix.upper() in _INTEGERS and not whole):
                self._error(
                    "E0111", f"`{children[0]}` is no number", span, f"`{suffix}` does not belong here",
                    notes=(
                        (
                            "a number may end in L (BIGINT), S (SMALLINT), Y (TINYINT), D (DOUBLE), F (FLOAT) "
                            "or BD (DECIMAL)"
                        ),
                    ),
                )  # fmt: skip
            else:
                kind = _SUFFIXES[suffix.upper()]
        return ast.Literal(kind, digits, span)

    def string(self, span: Span, children: list[Token]) -> ast.Literal:
        return ast.Literal("string", "".join(string_value(t) for t in children), span)

    def binary_literal(self, span: Span, children: list[Token]) -> ast.Literal:
        digits = children[0][2:-1]
        if not re.fullmatch(r"[0-9a-fA-F]*", digits):
            self._error("E0111", f"`{children[0]}` is no binary literal", span, "only digits and A to F are allowed")
            digits = ""
        return ast.Literal("binary", digits.upper(), span)

    def boolean(self, span: Span, children: list[Token]) -> ast.Literal:
        return ast.Literal("boolean", children[0].upper(), span)

    def null(self, span: Span, _children: list[Token]) -> ast.Literal:
        return ast.Literal("null", "NULL", span)

    def typed_literal(self, span: Span, children: list[Token]) -> ast.Literal:
        keyword, text = children
        return ast.Literal(cast("ast.LiteralKind", keyword.lower()), string_value(text), span)

    def interval(self, span: Span, children: list[ast.Duration]) -> ast.Interval:
        return ast.Interval(tuple(children), span)

    def interval_of_fields(self, span: Span, children: list[Any]) -> ast.Interval | ast.Unary:
        """`INTERVAL '1 02:03' DAY TO MINUTE` is the sum of its fields, as which it is printed."""
        written = string_value(children[0])
        first, last = (name.text.upper() for name in children[1:])
        found = interval_parts(written, first, last)
        if found is None:
            self._error(
                "E0111", f"`{written}` is no interval of {first} TO {last}", span, "this is not how one is written",
                hint=f"write `{interval_like(first, last)}`, say",
            )  # fmt: skip
            return ast.Interval((ast.Duration("1", "DAY", span),), span)
        negative, amounts = found
        interval = ast.Interval(tuple(ast.Duration(amount, unit, span) for amount, unit in amounts), span)
        return ast.Unary("-", interval, span) if negative else interval

    def column_name(self, span: Span, children: list[ast.Name]) -> ast.Reference:
        return ast.Reference(tuple(children), span)

    def reference(self, span: Span, children: list[tuple[ast.Name, ...]]) -> ast.Reference:
        return ast.Reference(children[0], span)

    def member(self, span: Span, children: list[Any]) -> ast.Reference | ast.Member:
        operand, name = children
        if isinstance(operand, ast.Reference):
            return ast.Reference((*operand.parts, name), span)
        return ast.Member(operand, name, span)

    def index(self, span: Span, children: list[Any]) -> ast.Index:
        return ast.Index(children[0], children[1], span)

    def star(self, span: Span, _children: list[Any]) -> ast.Star:
        return ast.Star(span)

    def argument_star(self, _span: Span, children: list[ast.Star]) -> ast.Star:
        return children[0]

    def distinct(self, _span: Span, _children: list[Any]) -> bool:
        return True

    def call(self, span: Span, children: list[Any]) -> ast.Call:
        function, *rest = children
        if isinstance(rest[0], ast.Star):
            return ast.Call(function, (rest[0],), False, span)
        distinct, *arguments = rest
        return ast.Call(function, tuple(a for a in arguments if a is not None), bool(distinct), span)

    def running(self, span: Span, children: list[Any]) -> ast.Call:
        return replace(self.call(span, children), running=True)

    def part_of_text(self, span: Span, children: list[Any]) -> ast.Call:
        """`substring(x FROM 2 FOR 3)`, `trim('x' FROM y)`: calls with commas, as they are printed."""
        function, *arguments = children
        given, name = tuple(a for a in arguments if a is not None), function.text.lower()
        if name == "trim" and (side := _side(given[0])) is not None:
            return ast.Call(ast.Name(side, function.span), given[1:], False, span)
        if name not in ("substring", "substr") and (name, len(given)) != ("trim", 2):
            commas = ", ".join("…" for _ in given)
            self._error(
                "E0101", f"`{function.text}` has no FROM", span, "its arguments are separated by commas",
                hint=f"write `{function.text}({commas})`",
            )  # fmt: skip
        return ast.Call(function, given, False, span)

    def parenthesised(self, _span: Span, children: list[Any]) -> Any:
        return children[0]

    def equivalence(self, span: Span, children: list[tuple[ast.Name, ...] | None]) -> ast.Equivalence:
        dotted = [parts for parts in children if parts is not None]
        names = tuple(
            parts[0] if len(parts) == 1 else ast.Reference(parts, parts[0].span.to(parts[-1].span)) for parts in dotted
        )
        if not names:
            self._error(
                "E0108",
                "`[ ]` names no attribute",
                span,
                "an equivalence needs an attribute",
                hint="write `[driver_id]`, say",
            )
        return ast.Equivalence(names, span)

    def unary(self, span: Span, children: list[Any]) -> ast.Unary:
        operator, operand = children
        spelled = operator.upper()
        return ast.Unary(cast("ast.UnaryOperator", _OPERATORS.get(spelled, spelled)), operand, span)

    def minus(self, span: Span, children: list[Any]) -> ast.Unary:
        return ast.Unary("-", children[0], span)

    def binary(self, span: Span, children: list[Any]) -> ast.Binary:
        left, operator, right = children
        spelled = operator.upper()
        return ast.Binary(cast("ast.BinaryOperator", _OPERATORS.get(spelled, spelled)), left, right, span)

    def negate(self, _span: Span, _children: list[Any]) -> bool:
        return True

    def between(self, span: Span, children: list[Any]) -> ast.Between:
        operand, negated, low, high = children
        return ast.Between(operand, low, high, bool(negated), span)

    def in_(self, span: Span, children: list[Any]) -> ast.In:
        operand, negated, *options = children
        return ast.In(operand, tuple(options), bool(negated), span)

    def like(self, span: Span, children: list[Any]) -> ast.Like:
        operand, negated, kind, pattern, escape = children
        spelled = cast("Literal['LIKE', 'ILIKE', 'RLIKE']", "RLIKE" if kind.upper() == "REGEXP" else kind.upper())
        escaped = string_value(escape) if escape else None
        return ast.Like(operand, pattern, spelled, escaped, bool(negated), span)

    def is_(self, span: Span, children: list[Any]) -> ast.Is:
        operand, negated, what = children
        return ast.Is(operand, what.upper(), bool(negated), span)

    def is_distinct(self, span: Span, children: list[Any]) -> ast.IsDistinct:
        left, negated, right = children
        return ast.IsDistinct(left, right, bool(negated), span)

    def case_operand(self, _span: Span, children: list[Any]) -> Any:
        return children[0]

    def branch(self, span: Span, children: list[Any]) -> ast.Branch:
        return ast.Branch(children[0], children[1], span)

    def case(self, span: Span, children: list[Any]) -> ast.Case:
        operand, *branches, otherwise = children
        return ast.Case(operand, tuple(branches), otherwise, span)

    def cast(self, span: Span, children: list[Any]) -> ast.Cast:
        return ast.Cast(children[0], children[1], False, span)

    def try_cast(self, span: Span, children: list[Any]) -> ast.Cast:
        return ast.Cast(children[0], children[1], True, span)

    double_colon = cast

    def extract(self, span: Span, children: list[Any]) -> ast.Extract:
        return ast.Extract(children[0].text.upper(), children[1], span)

    # ---- patterns ----------------------------------------------------------------------------------------------------

    def name_argument(self, span: Span, children: list[ast.Name]) -> ast.Reference:
        return ast.Reference(tuple(children), span)

    def arguments(self, _span: Span, children: list[Any]) -> tuple[Any, ...]:
        return tuple(c for c in children if c is not None)

    def atom(self, span: Span, children: list[Any]) -> ast.Atom:
        return ast.Atom(children[0], children[1], None, span)

    def of_stream(self, span: Span, children: list[ast.Name]) -> ast.Atom:
        return ast.Atom(children[1], None, None, span, children[0])

    def type_name(self, _span: Span, children: list[ast.Name | None]) -> tuple[ast.Name | None, ast.Name | None]:
        """The stream, where it is said, and the name."""
        first, second = children
        return (None, first) if second is None else (first, second)

    def any_event(self, span: Span, _children: list[Any]) -> ast.AnyEvent:
        return ast.AnyEvent(None, span)

    def group(self, span: Span, children: list[ast.Pattern]) -> ast.Pattern:
        return children[0] if len(children) == 1 else Seq(tuple(children), span)

    def seq(self, span: Span, children: list[ast.Pattern]) -> ast.Pattern:
        return Seq(tuple(children), span)

    def and_(self, span: Span, children: list[ast.Pattern]) -> ast.Pattern:
        return And(tuple(children), span)

    def or_(self, span: Span, children: list[ast.Pattern]) -> ast.Pattern:
        return Or(tuple(children), span)

    def some(self, span: Span, children: list[ast.Pattern]) -> ast.Pattern:
        return Some(tuple(children), span)

    def next(self, span: Span, children: list[ast.Pattern]) -> ast.Pattern:
        return Selected(self.group(span, children), "NEXT", span)

    def contiguous(self, span: Span, children: list[ast.Pattern]) -> ast.Pattern:
        return Selected(self.group(span, children), "CONTIGUOUS", span)

    def plus(self, _span: Span, _children: list[Any]) -> tuple[int, int | None]:
        return 1, None

    def optional(self, _span: Span, _children: list[Any]) -> tuple[int, int | None]:
        return 0, 1

    def reluctant(self, _span: Span, _children: list[Any]) -> bool:
        return True

    def at_least(self, _span: Span, _children: list[Any]) -> bool:
        return True

    def bounds(self, _span: Span, children: list[Any]) -> tuple[int, int | None]:
        least = self._whole(children[0])
        if len(children) == 1 or children[1] is None:
            return least, least
        return least, None if children[1] is True else self._whole(children[1])

    def quantifier(self, span: Span, children: list[Any]) -> tuple[int, int | None, bool, Span]:
        bounds, reluctant = children
        least, most = (0, None) if isinstance(bounds, ast.Star) else bounds
        return least, most, bool(reluctant), span

    def element(self, span: Span, children: list[Any]) -> ast.Pattern:
        body, *quantifiers, alias = children
        if alias is not None:
            body = self._with_alias(body, alias)
        for least, most, reluctant, last in quantifiers:
            body = Repeat(body, least, most, reluctant, span.to(last))
        return cast("ast.Pattern", body)

    def _with_alias(self, body: ast.Pattern, alias: ast.Name) -> ast.Pattern:
        match body:
            case ast.Atom(name, arguments, None):
                return ast.Atom(name, arguments, alias, body.span.to(alias.span), body.stream)
            case ast.AnyEvent():
                return ast.AnyEvent(alias, body.span.to(alias.span))
        self._error(
            "E0114", "an alias on a composed pattern", alias.span, "an alias names an event type or a named pattern",
            notes=(f"if `{alias.text}` is meant as another element, a comma is missing before it",),
            hint="declare the pattern with `PATTERN name AS …` and write `name alias`, "
            "or give each event an alias of its own",
            others=(Label(body.span, "this is neither"),),
        )  # fmt: skip
        return body

    def negation(self, span: Span, children: list[Any]) -> ast.Pattern:
        return Not(children[0], children[1], span)

    # ---- statements --------------------------------------------------------------------------------------------------

    def import_(self, span: Span, children: list[Any]) -> ast.Import:
        (what,) = children
        if isinstance(what, Token):
            return ast.Import(None, string_value(what), span)
        return ast.Import(what, None, span)

    def column(self, span: Span, children: list[Any]) -> ast.Column:
        name, type_, expression = (*children, None)[:3]
        return ast.Column(name, type_, expression, span)

    def computed(self, _span: Span, children: list[ast.Expression]) -> ast.Expression:
        return children[0]

    def time_unit(self, _span: Span, children: list[ast.Name]) -> tuple[str, Any]:
        unit = {"SECOND": "s", "MILLISECOND": "ms", "MICROSECOND": "us"}.get(UNITS.get(children[0].text.lower(), ""))
        if unit is None:
            self._error(
                "E0107", f"`{children[0].text}` is no unit of an event time", children[0].span, "unknown unit",
                hint="the units are s, ms and us",
            )  # fmt: skip
        return "unit", unit

    def time_order(self, _span: Span, children: list[ast.Name]) -> tuple[str, Any]:
        return "order_by", tuple(children)

    def time_watermark(self, _span: Span, children: list[ast.Duration]) -> tuple[str, Any]:
        return "watermark", children[0]

    def event_time(self, span: Span, children: list[Any]) -> ast.EventTime:
        column, *options = children
        chosen: dict[str, Any] = {}
        for key, value in options:
            if key in chosen:
                self._error(
                    "E0105", f"EVENT TIME has {key.replace('_', ' ').upper()} twice", span, "given more than once"
                )
            chosen[key] = value
        return ast.EventTime(column, **chosen, span=span)

    def event_type(self, span: Span, children: list[Any]) -> ast.EventType:
        column, *types = children
        listed = tuple(t for t in types if t is not None)
        return ast.EventType(column, listed or None, span)

    def from_(self, span: Span, children: list[Any]) -> ast.From:
        form, path, *options = children
        return ast.From(form.text.lower(), string_value(path), tuple(filter(None, options)), span)

    def from_query(self, span: Span, children: list[ast.Name]) -> ast.FromQuery:
        return ast.FromQuery(children[0], span)

    def source_option(self, _span: Span, children: list[Any]) -> tuple[ast.Name, str]:
        name, value = children
        return name, value.text

    def stream(self, span: Span, children: list[Any]) -> ast.Stream:
        name, *rest = children
        parts: dict[str, Any] = {}
        for node in rest:
            match node:
                case ast.EventTime():
                    self._once(parts, "event_time", node, "EVENT TIME")
                case ast.EventType():
                    self._once(parts, "event_type", node, "EVENT TYPE")
                case ast.From() | ast.FromQuery():
                    self._once(parts, "source", node, "FROM")
        columns = tuple(c for c in rest if isinstance(c, ast.Column))
        if not columns and not isinstance(parts.get("source"), ast.FromQuery):
            self._error(
                "E0231", f"the stream `{name.text}` has no columns", name.span, "events have columns",
                hint=f"declare them: `STREAM {name_text(name)} (at TIMESTAMP, …)`; a stream of the rows of a query has "
                "theirs: `FROM QUERY q`",
            )  # fmt: skip
        return ast.Stream(name, columns, **parts, span=span)

    def _once(self, parts: dict[str, Any], key: str, node: Any, clause: str) -> None:
        if key in parts:
            first = parts[key][0].span if isinstance(parts[key], tuple) else parts[key].span
            span = node[0].span if isinstance(node, tuple) else node.span
            self._error(
                "E0105", f"{clause} stands twice", span, "the second one", others=(Label(first, "the first one"),),
                hint=f"keep one {clause}",
            )  # fmt: skip
        else:
            parts[key] = node

    def derived_event(self, span: Span, children: list[Any]) -> ast.DerivedEvent:
        name, (stream, base), where = children
        return ast.DerivedEvent(name, base, where, span, stream)

    def parameters(self, _span: Span, children: list[ast.Name | None]) -> tuple[ast.Name, ...]:
        return tuple(c for c in children if c is not None)

    def named_pattern(self, span: Span, children: list[Any]) -> ast.NamedPattern:
        name, parameters, pattern, where = children
        return ast.NamedPattern(name, parameters, pattern, where, span)

    def function(self, span: Span, children: list[Any]) -> ast.Function:
        name, parameters, body = children
        return ast.Function(name, parameters, body, span)

    def item(self, span: Span, children: list[Any]) -> ast.Item:
        return ast.Item(children[0], children[1], span)

    def star_item(self, span: Span, children: list[ast.Star]) -> ast.Item:
        return ast.Item(children[0], None, span)

    def return_(self, span: Span, children: list[Any]) -> tuple[str, str, Any, Span]:
        word, *items = children
        each = word is not None and word.type == "EACH"
        return "returns", "RETURN", ast.Return(tuple(items), word is not None, each, span), span

    def match_pattern(self, span: Span, children: list[Any]) -> tuple[str, str, Any, Span]:
        return "pattern", "PATTERN", children[0], span

    def where(self, span: Span, children: list[Any]) -> tuple[str, str, Any, Span]:
        return "where", "WHERE", children[0], span

    def group_item(self, span: Span, children: list[Any]) -> ast.GroupItem:
        return ast.GroupItem(children[0], span)

    def group_by(self, span: Span, children: list[ast.GroupItem]) -> tuple[str, str, Any, Span]:
        return "group_by", "GROUP BY", tuple(children), span

    def having(self, span: Span, children: list[Any]) -> tuple[str, str, Any, Span]:
        return "having", "HAVING", children[0], span

    def unbounded(self, span: Span, _children: list[Any]) -> ast.Unbounded:
        return ast.Unbounded(span)

    def session(self, span: Span, children: list[ast.Duration]) -> ast.Session:
        return ast.Session(children[0], span)

    def within(self, span: Span, children: list[Any]) -> tuple[str, str, Any, Span]:
        return "within", "WITHIN", children, span

    def window(self, span: Span, children: list[Any]) -> tuple[str, str, Any, Span]:
        return "window", "WINDOW", children, span

    def from_stream(self, span: Span, children: list[Any]) -> tuple[str, str, Any, Span]:
        return "streams", "FROM", tuple(children), span

    def select(self, span: Span, children: list[Token]) -> tuple[str, str, Any, Span]:
        return "select", "SELECT", children[0].upper(), span

    def after_match(self, span: Span, children: list[ast.AfterMatch]) -> tuple[str, str, Any, Span]:
        return "after_match", "AFTER MATCH", children[0], span

    def skip_to_next(self, span: Span, _children: list[Any]) -> ast.AfterMatch:
        return ast.AfterMatch("TO NEXT EVENT", span=span)

    def skip_past_last(self, span: Span, _children: list[Any]) -> ast.AfterMatch:
        return ast.AfterMatch("PAST LAST EVENT", span=span)

    def skip_to_first(self, span: Span, children: list[ast.Reference]) -> ast.AfterMatch:
        return ast.AfterMatch("TO FIRST", (children[0],), span=span)

    def skip_to_last(self, span: Span, children: list[ast.Reference]) -> ast.AfterMatch:
        return ast.AfterMatch("TO LAST", (children[0],), span=span)

    def skip_for(self, span: Span, children: list[ast.Duration]) -> ast.AfterMatch:
        return ast.AfterMatch("FOR", duration=children[0], span=span)

    def clause(self, _span: Span, children: list[Any]) -> Any:
        return children[0]

    def query(self, span: Span, children: list[Any]) -> ast.Query | None:
        name, *clauses = children
        parts: dict[str, Any] = {}
        first: dict[str, Span] = {}
        for key, word, value, clause_span in clauses:
            if key in parts:
                cure = "join the two with AND" if word == "WHERE" else f"keep one {word}"
                self._error(
                    "E0105", f"{word} stands twice in query `{name.text}`", clause_span, "the second one",
                    others=(Label(first[key], "the first one"),), hint=cure,
                )  # fmt: skip
            else:
                parts[key], first[key] = value, clause_span
        self._settle_window(parts, first)
        missing = [
            w for k, w in (("returns", "RETURN"), ("pattern", "PATTERN"), ("within", "WITHIN")) if k not in parts
        ]
        for word in missing:
            if word == "PATTERN" and (taken := _pattern_as_result(parts.get("returns"))) is not None:
                self._error("E0101", "`,` before PATTERN", taken, "read as one more column", hint="remove `,`")
                continue
            pattern = parts.get("pattern")
            taken_by_not = pattern.within if word == "WITHIN" and isinstance(pattern, Not) else None
            self._error(
                "E0106",
                f"query `{name.text}` has no {word}",
                name.span,
                f"a query requires {word}",
                others=() if taken_by_not is None else (Label(taken_by_not.span, "this is the WITHIN of NOT"),),
                hint=_MISSING[word] if taken_by_not is None else _MISSING_BEHIND_NOT,
            )
        if "pattern" not in parts:
            return None
        parts.setdefault("returns", _NO_RETURN)
        window = dict(zip(ast.WINDOW_FIELDS, parts.pop("within", [ast.Unbounded()]), strict=False))
        return ast.Query(name, **parts, **window, span=span)

    bare_query = query

    def query_label(self, _span: Span, children: list[Any]) -> tuple[ast.Name, str]:
        name, value = children
        return name, value.text

    def labels(self, span: Span, children: list[tuple[ast.Name, str]]) -> tuple[str, str, Any, Span]:
        return "labels", "WITH", tuple(children), span

    def row(self, span: Span, children: list[Any]) -> ast.Row:
        return ast.Row(tuple(children), span)

    def value_columns(self, _span: Span, children: list[ast.Name]) -> tuple[ast.Name, ...]:
        return tuple(children)

    def values(self, span: Span, children: list[Any]) -> ast.Values:
        columns, *rows = children
        return ast.Values(columns, tuple(rows), span)

    def no_rows(self, _span: Span, _children: list[Any]) -> None:
        return None

    def given(self, span: Span, children: list[Any]) -> ast.Given:
        stream, values = children
        return ast.Given(stream, values, span)

    def expect(self, _span: Span, children: list[ast.Values | None]) -> ast.Values | None:
        return children[0]

    def test(self, span: Span, children: list[Any]) -> ast.Test:
        name, query, *given, expected = children
        return ast.Test(name, query, tuple(given), expected, span)

    def _settle_window(self, parts: dict[str, Any], first: dict[str, Span]) -> None:
        """`WINDOW d SLIDE s` alone means `WITHIN d SLIDE s`; beside it, WITHIN bounds the matches."""
        window, within = parts.pop("window", None), parts.get("within")
        if within is None and window is None:
            return
        if within is None or window is None:
            length, *others = within or window
            parts["within"] = [length, None, *others]
            return
        (bound, *of_within), (length, *others) = within, window
        if any(of_within):
            self._error(
                "E0523", "SLIDE and OFFSET are of the windows", first["within"], "here WITHIN bounds the matches",
                others=(Label(first["window"], "these are the windows"),), hint="write SLIDE and OFFSET behind WINDOW",
            )  # fmt: skip
        elif not isinstance(bound, ast.Duration) or not isinstance(length, ast.Duration):
            self._error(
                "E0523", "WITHIN and WINDOW in one query are a duration each", first["window"],
                "WITHIN bounds matches, and WINDOW says how long windows are",
                others=(Label(first["within"], "here"),), hint="keep one of the two",
            )  # fmt: skip
            bound, length = length, None
        parts["within"] = [bound, length, *(others if any(others) else of_within)]

    def statement(self, _span: Span, children: list[Any]) -> Any:
        return children[0]


def _pattern_as_result(returns: ast.Return | None) -> Span | None:
    """`RETURN x, PATTERN (A)`: the clause after a comma, where it reads like the call of a function."""
    called = returns.items[-1].expression if returns is not None and len(returns.items) > 1 else None
    return called.function.span if isinstance(called, ast.Call) and called.function.text.upper() == "PATTERN" else None


_MISSING_BEHIND_NOT = "NOT takes the WITHIN behind it: write another one for the query after it"
_MISSING = {
    "RETURN": "add what each row shows, such as `RETURN COUNT(*)`",
    "PATTERN": "add the pattern to find, such as `PATTERN SEQ(A, B)`",
    "WITHIN": "add the longest time a match may take, such as `WITHIN 10 MINUTES`, or `WITHIN UNBOUNDED`",
}
