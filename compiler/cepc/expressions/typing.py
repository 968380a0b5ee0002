"""From syntax to typed expressions.

`Typer` walks an expression once. A part with an error is None, and so is all that contains it; the other parts are
still looked at, so that every error is found.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import aggregate_written
from cepc_runtime.sql.expression import (
    Call,
    Expression,
    Literal,
    children,
    conjuncts,
    fields,
    variables,
)
from cepc_runtime.sql.expression import aggregates as aggregates_in
from cepc_runtime.sql.functions import Mismatch, named
from cepc_runtime.sql.functions.coercion import can_cast, cast_to
from cepc_runtime.sql.functions.conditions import choose, item
from cepc_runtime.sql.functions.operators import OPERATORS, UNARY, between, comparison, membership
from cepc_runtime.sql.functions.spark import find_spark
from cepc_runtime.sql.functions.times import EXTRACT_FIELDS, extract
from cepc_runtime.sql.like import malformed
from cepc_runtime.sql.types import BOOLEAN, NULL, STRING, DataType, is_numeric

from ..diagnostics.near import nearest
from ..standard_library import module_of_function
from . import aggregates, functions, literals, units_first
from . import messages as say
from .beside import beside
from .conversions import hint_for, unquoted_date
from .meant_pattern import meant
from .scope import ExpressionContext, Scope
from .struct_fields import struct_field
from .written_types import data_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cepc_runtime.sql.functions.signature import Build

TypedExpression = tuple["Expression | None", tuple[Diagnostic, ...]]

_COMPARISONS: Final = ("=", "<=>", "<>", "<", "<=", ">", ">=")
_OF_PATTERNS: Final = frozenset(["TO_TIMESTAMP", "TRY_TO_TIMESTAMP", "TO_DATE", "DATE_FORMAT", "UNIX_TIMESTAMP"])
"""Functions whose second argument is a pattern of times."""
_COLUMNS: Final = (ExpressionContext.AGGREGATE, ExpressionContext.MATCH, ExpressionContext.EACH)
"""What has columns, which need a type."""
_OF_BITS: Final[Mapping[tuple[str, DataType], str]] = {
    ("`~`", STRING): "a regular expression is matched by RLIKE: `x RLIKE 'a.*'`",
    ("`~`", BOOLEAN): "write NOT before a condition",
    ("`&`", BOOLEAN): "conditions are joined by AND: `a > 1 AND b < 0`",
    ("`|`", BOOLEAN): "conditions are joined by OR: `a > 1 OR b < 0`",
}
"""What is meant by an operator of bits between values of another type."""
_TRUTH: Final = {"TRUE": Literal(True, BOOLEAN), "FALSE": Literal(False, BOOLEAN)}


def type_expression(
    expression: ast.Expression, scope: Scope, context: ExpressionContext, labels: Mapping[str, str] | None = None
) -> TypedExpression:
    """The expression with types, coercions as casts, or None where it has errors; and all diagnostics about it.
    `labels` are those that LABEL may name, None where it may not stand.
    """
    typer = Typer(scope, context, labels)
    typed = typer.type(expression)
    if typed is not None and typed.type == NULL and context in _COLUMNS:
        typer.found.append(say.no_type(expression.span))
    return typer.result(typed)


def type_condition(
    expression: ast.Expression, scope: Scope, context: ExpressionContext, labels: Mapping[str, str] | None = None
) -> TypedExpression:
    """The same for a condition of WHERE or HAVING, which must be a BOOLEAN."""
    typer = Typer(scope, context, labels)
    typed = typer.type(expression)
    if typed is not None and typed.type not in (BOOLEAN, NULL):
        where = "HAVING" if context.allows_aggregates else "WHERE"
        if isinstance(expression, ast.Binary) and expression.operator == "||" and _of_booleans(typed):
            typer.found.append(say.joined_conditions(expression.span))
        else:
            typer.found.append(say.not_a_condition(expression.span, typed.type, where))
        typed = None
    if typed is not None:
        typer.found += _beside_prev(expression, typed)
        typer.found += _beside_running(expression, typed)
    return typer.result(None if typed is None else cast_to(typed, BOOLEAN))


def _beside_prev(written: ast.Expression, typed: Expression) -> list[Diagnostic]:
    """Conditions with PREV(v) that mention other variables too."""
    errors: list[Diagnostic] = []
    for conjunct in conjuncts(typed):
        previous = next((f.variable for f in fields(conjunct) if f.at == "prev"), None)
        others = [v for v in variables(conjunct) if v != previous]
        if previous is not None and others:
            errors.append(say.prev_beside_others(written.span, previous, others))
    return errors


def _beside_running(written: ast.Expression, typed: Expression) -> list[Diagnostic]:
    """Conditions with what is RUNNING that mention what is not known, at the event at hand, of the same variables."""
    errors: list[Diagnostic] = []
    for conjunct in conjuncts(typed):
        found = aggregates_in(conjunct)
        running = tuple(dict.fromkeys(a.variable for a in found if a.running and a.variable is not None))
        ends = [f for f in fields(conjunct) if f.at != "each" and f.variable in running]
        later = [f for f in ends if f.at == "last" or (f.at == "first" and f.places)]
        whole = [a for a in found if not a.running and a.variable in running]
        if len(running) > 1 and ends:
            errors.append(say.end_beside_running(written.span, running, ends[0].event))
        elif later or whole:
            end, name = (later[0].event, "") if later else ("", whole[0].function.written)
            of = str((later or whole)[0].variable)
            errors.append(say.running_beside_later(written.span, of, end, name, alone=len(running) == 1))
    return errors


LARGEST = 100_000
"""Parts of a typed expression. BETWEEN, NULLIF and CASE mention an operand more than once, nested ones many times."""


class Sizes:
    """How many parts expressions have, counted once for each object: parts may occur in many places."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Expression, int]] = {}

    def of(self, expression: Expression) -> int:
        known = self._known.get(id(expression))
        if known is None:
            size = 1 + sum(self.of(child) for child in children(expression))
            known = self._known[id(expression)] = expression, size
        return known[1]


@dataclass(slots=True)
class Typer:
    """Types the parts of one expression and collects what is wrong with them.

    `inside` is the aggregate, or the FIRST, LAST or PREV, whose argument is being typed.
    """

    scope: Scope
    context: ExpressionContext
    labels: Mapping[str, str] | None = None
    inside: str = ""
    found: list[Diagnostic] = field(default_factory=list)
    sizes: Sizes = field(default_factory=Sizes)

    def result(self, typed: Expression | None) -> TypedExpression:
        failed = typed is None or any(d.severity == "error" for d in self.found)
        return None if failed else typed, tuple(dict.fromkeys(self.found))

    def _argument(self, name: str, argument: ast.Expression, scope: Scope | None = None) -> Expression | None:
        """The argument of an aggregate and the like; what is found in it comes here. With a scope of its own it is of
        each event of a match.
        """
        if scope is None:
            return replace(self, inside=name).type(argument)
        return replace(self, scope=scope, context=ExpressionContext.EACH, inside=name).type(argument)

    def _site(self) -> aggregates.CallSite:
        return aggregates.CallSite(self.scope, self.context, self.inside, self._argument)

    def keep(self, result: Expression | Diagnostic | None) -> Expression | None:
        if isinstance(result, Diagnostic):
            self.found.append(result)
            return None
        return result

    def all(self, expressions: Sequence[ast.Expression]) -> tuple[Expression, ...] | None:
        """All typed, or None; every one of them is looked at."""
        known: list[Expression] = []
        for e in expressions:  # no comprehension: each level of nesting would take one more frame of Python's stack
            typed = self.type(e)
            if typed is not None:
                known.append(typed)
        return tuple(known) if len(known) == len(expressions) else None

    def type(self, e: ast.Expression) -> Expression | None:
        typed = self._type(e)
        if typed is None or self.sizes.of(typed) <= LARGEST:
            return typed
        return self.keep(say.too_large(e.span))

    def _type(self, e: ast.Expression) -> Expression | None:
        match e:
            case ast.Literal():
                return self.keep(literals.literal(e))
            case ast.Interval():
                return self.keep(literals.interval(e))
            case ast.Reference():
                return self._reference(e)
            case ast.Unary():
                return self._unary(e)
            case ast.Binary():
                return self._binary(e)
            case ast.Call():
                return self._call(e)
            case ast.Member():
                return self._member(e)
            case ast.Cast():
                return self._cast(e)
            case ast.Case():
                return self._case(e)
            case ast.Star():
                return self.keep(say.misplaced_star(e.span, ""))
            case ast.Equivalence():
                raise TypeError("an equivalence is not an expression: the parser lets it stand alone only")
            case ast.Index(ast.Reference() as operand) if aggregates.is_variable(self.scope, operand):
                name = ".".join(part.text for part in operand.parts)
                return self.keep(say.event_by_number(operand.span, name))
            case ast.Index(operand, index):
                return self._built("an element `a[i]`", item, (operand, index), e)
            case ast.Extract():
                return self._extract(e)
        return self._predicate(e)

    # ---- names and calls -----------------------------------------------------------------------------------------

    def _reference(self, e: ast.Reference) -> Expression | None:
        typed = self.keep(self.scope.reference(e))
        if typed is None:
            return None
        error = aggregates.several_values(typed, e, self.scope, self.context, self.inside)
        if error is not None:
            self.found.append(error)
            return None
        return typed

    def _call(self, e: ast.Call, target: DataType | None = None) -> Expression | None:
        """A call; around one whose type only Spark knows, the type of a cast is its `target`."""
        name = e.function.text.upper()
        if e.running:
            return self._counted(e, self.keep(aggregates.running(self._site(), e)))
        if name in functions.NAVIGATION:
            return self.keep(aggregates.navigation(self._site(), e))
        if name in functions.BESIDE:
            return self.keep(beside(self._site(), e))
        if (function := aggregate_written(name)) is not None:
            return self._counted(e, self.keep(aggregates.aggregate(self._site(), e, function)))
        if name == functions.LABEL:
            return self.keep(self._label(e))
        if name == "NEXT":
            hint = (
                "compare the later event with PREV(v); `LEAD(v.x)` is of the event that comes next, in a match or not"
            )
            return self.keep(say.reserved(e.span, "NEXT(v)", hint))
        if e.distinct:
            return self.keep(say.distinct(e.span, name))
        if (unit := units_first.unit_of(e)) is not None:
            return self._unit_first(e, unit)
        if (cast := functions.as_cast(e)) is not None:
            return self._cast(cast)
        if functions.is_unknown(e):
            self.all([a for a in e.arguments if not isinstance(a, ast.Star)])
            function_name = e.function.text
            near, module = functions.near_function(function_name), module_of_function(function_name)
            return self.keep(say.unknown_function(e.function.span, function_name, near, module))
        arguments = self._arguments(e)
        if arguments is None:
            return None
        self._warn_about_pattern(e)
        called = functions.call(e, arguments, target, spark=self.context.may_ask_spark)
        return self._checked(called, arguments, e.arguments)

    def _counted(self, e: ast.Call, made: Expression | None) -> Expression | None:
        if made is not None and aggregates.counts_false(made):
            self.found.append(say.false_is_counted(e.arguments[0].span))
        return made

    def _label(self, e: ast.Call) -> Expression | Diagnostic | None:
        """`LABEL(severity)`: a constant text. That there is no such label has been said."""
        if self.labels is None or self.inside:
            return say.label_out_of_place(e.span, self.inside or self.context.value)
        name = functions.label_named(e)
        if name is None:
            return say.label_argument(e.span)
        return Literal(self.labels[name.text], STRING, name.text) if name.text in self.labels else None

    def _unit_first(self, e: ast.Call, unit: str) -> Expression | None:
        times = self.all(e.arguments[1:])
        if times is None:
            return None
        cure = units_first.cure(e, unit, [t.type for t in times])
        return self.keep(say.form_with_unit(e.span, e.function.text, unit, cure))

    def _warn_about_pattern(self, e: ast.Call) -> None:
        pattern = e.arguments[1] if len(e.arguments) == 2 and e.function.text.upper() in _OF_PATTERNS else None
        if isinstance(pattern, ast.Literal) and pattern.kind == "string":
            better = meant(pattern.text)
            self.found += [] if better is None else [say.pattern_of_times(pattern.span, better)]

    def _warn_about_regex(self, typed: Expression, operands: Sequence[ast.Expression]) -> None:
        match typed:
            case Call("rlike", (_, Literal(value=str(pattern)))):
                wrong = malformed(pattern)
                self.found += [] if wrong is None else [say.no_regular_expression(operands[1].span, wrong)]

    def _arguments(self, e: ast.Call) -> tuple[Expression, ...] | None:
        """The arguments of a scalar function; an aggregate of Spark's, `stddev(*)`, is named before its arguments
        are.
        """
        spark = find_spark(e.function.text, len(e.arguments))
        if spark is not None and spark.kind in ("aggregate", "window"):
            self.found.append(functions.refusal(e.function.span, e.function.text, spark))
            return None
        return self.all(e.arguments)

    def _member(self, e: ast.Member) -> Expression | None:
        call = e.operand
        if isinstance(call, ast.Call) and call.function.text.upper() in functions.NAVIGATION:
            of_variable = aggregates.navigation_of_variable(self._site(), call, e.name)
            if of_variable is not None:
                return self.keep(of_variable[0])
        operand = self.type(e.operand)
        return None if operand is None else self.keep(struct_field(operand, e.name))

    # ---- operators -----------------------------------------------------------------------------------------------

    def _unary(self, e: ast.Unary) -> Expression | None:
        if e.operator == "-" and isinstance(e.operand, ast.Literal) and literals.is_number(e.operand):
            return self.keep(literals.literal(e.operand, "-"))
        return self._built(f"`{e.operator}`", UNARY[e.operator], (e.operand,), e)

    def _binary(self, e: ast.Binary) -> Expression | None:
        if e.operator == "||":
            return self._function("`||`", "concat", (e.left, e.right), e)
        if e.operator in _COMPARISONS and any(map(_joins_between, (e.left, e.right))):
            return self.keep(say.joined_conditions(e.span))
        typed = self._built(f"`{e.operator}`", OPERATORS[e.operator], (e.left, e.right), e)
        if typed is not None and e.operator in _COMPARISONS and e.operator != "<=>":
            self._warn_about_null(e)
        return typed

    def _warn_about_null(self, e: ast.Binary) -> None:
        for side in (e.left, e.right):
            if isinstance(side, ast.Literal) and side.kind == "null":
                instead = "… IS NOT NULL" if e.operator == "<>" else "… IS NULL"
                self.found.append(say.comparison_with_null(e.span, instead))
                return

    def _predicate(self, e: ast.Between | ast.In | ast.Like | ast.Is | ast.IsDistinct) -> Expression | None:
        match e:
            case ast.Between(x, low, high, negated):
                typed = self._built("BETWEEN", between, (x, low, high), e)
            case ast.In(x, options, negated):
                typed = self._built("IN", membership, (x, *options), e)
            case ast.Like():
                typed, negated = self._like(e), e.negated
            case ast.Is(x, "NULL", negated):
                return self._function("IS NULL", "isnotnull" if negated else "isnull", (x,), e)
            case ast.Is():
                return self._is(e)
            case ast.IsDistinct(left, right, same):
                typed, negated = self._built("IS DISTINCT FROM", comparison("<=>"), (left, right), e), not same
        return Call("not", (typed,), BOOLEAN) if negated and typed is not None else typed

    def _is(self, e: ast.Is) -> Expression | None:
        x = self.type(e.operand)
        if x is None:
            return None
        if x.type not in (BOOLEAN, NULL, STRING):
            return self.keep(say.wrong_argument(e.operand.span, f"IS {e.what}", BOOLEAN.sql, x.type))
        truth = cast_to(x, BOOLEAN)
        if e.what == "UNKNOWN":
            return Call("isnotnull" if e.negated else "isnull", (truth,), BOOLEAN)
        equal = Call("<=>", (truth, _TRUTH[e.what]), BOOLEAN)
        return Call("not", (equal,), BOOLEAN) if e.negated else equal

    def _like(self, e: ast.Like) -> Expression | None:
        if isinstance(e.pattern, ast.Call) and e.pattern.function.text.upper() in ("ANY", "SOME", "ALL"):
            return self.keep(say.like_several(e, e.pattern))
        arguments: tuple[ast.Expression, ...] = (e.operand, e.pattern)
        if e.escape is not None:
            if len(e.escape) != 1:
                return self.keep(
                    say.bad_literal(e.span, "ESCAPE is followed by one character", hint="LIKE … ESCAPE '!'")
                )
            arguments = (*arguments, ast.Literal("string", e.escape, e.span))
        return self._function(e.kind, e.kind.lower(), arguments, e)

    def _extract(self, e: ast.Extract) -> Expression | None:
        x = self.type(e.operand)
        if e.field not in EXTRACT_FIELDS:
            return self.keep(say.unknown_extract(e.span, e.field, nearest(e.field, EXTRACT_FIELDS)))
        if x is None:
            return None
        return self._resolved(f"EXTRACT({e.field} FROM …)", lambda one: extract(e.field, *one), (x,), (e.operand,), e)

    # ---- CASE and CAST -------------------------------------------------------------------------------------------

    def _case(self, e: ast.Case) -> Expression | None:
        operand = None if e.operand is None else self.type(e.operand)
        if operand is None and e.operand is not None:
            self.all([x for b in e.branches for x in (b.condition, b.result)])
            return None
        conditions = [self._branch_condition(e, operand, b.condition) for b in e.branches]
        results = [self.type(b.result) for b in e.branches]
        otherwise = Literal(None, NULL) if e.otherwise is None else self.type(e.otherwise)
        parts = [x for pair in zip(conditions, results, strict=True) for x in pair] + [otherwise]
        known = tuple(p for p in parts if p is not None)
        if len(known) != len(parts):
            return None
        written = [x for b in e.branches for x in (b.condition, b.result)]
        return self._resolved("CASE", choose, known, (*written, e.otherwise or e), e)

    def _branch_condition(
        self, e: ast.Case, operand: Expression | None, condition: ast.Expression
    ) -> Expression | None:
        typed = self.type(condition)
        if operand is None or e.operand is None or typed is None:
            return typed
        both = (operand, typed)
        return self._resolved("CASE", comparison("="), both, (e.operand, condition), condition)

    def _cast(self, e: ast.Cast) -> Expression | None:
        target, errors = data_type(e.type)
        self.found += errors
        x = self._call(e.operand, target) if isinstance(e.operand, ast.Call) else self.type(e.operand)
        if x is None or target is None:
            return None
        if not can_cast(x.type, target):
            return self.keep(say.impossible_cast(e.span, x.type, target, _instead_of_cast(x.type, target)))
        computed = aggregates.computed_in(x, target, safe=e.safe)
        return computed or Call("try_cast" if e.safe else "cast", (x,), target)

    # ---- what the catalogue builds -------------------------------------------------------------------------------

    def _function(
        self, what: str, name: str, operands: tuple[ast.Expression, ...], e: ast.Expression
    ) -> Expression | None:
        return self._built(what, named(name).build, operands, e)

    def _built(
        self, what: str, build: Build, operands: tuple[ast.Expression, ...], e: ast.Expression
    ) -> Expression | None:
        arguments = self.all(operands)
        return None if arguments is None else self._resolved(what, build, arguments, operands, e)

    def _resolved(
        self,
        what: str,
        build: Build,
        arguments: tuple[Expression, ...],
        operands: Sequence[ast.Expression],
        e: ast.Expression,
    ) -> Expression | None:
        built = build(arguments)
        if not isinstance(built, Mismatch):
            return self._checked(built, arguments, operands)
        if built.argument is None:
            types = [a.type for a in arguments]
            joins = what == "`+`" and all(t == STRING for t in types)
            hint = "texts are joined by `||`: `a || b`" if joins else _OF_BITS.get((what, types[0]), "")
            hint = hint or unquoted_date(operands, types) or hint_for(arguments, build)
            return self.keep(say.wrong_operands(e.span, what, built.expected, types, hint))
        wrong = arguments[built.argument].type
        hint = _OF_BITS.get((what, wrong), "")
        return self.keep(say.wrong_argument(operands[built.argument].span, what, built.expected, wrong, hint))

    def _checked(
        self, built: Expression | Diagnostic, arguments: tuple[Expression, ...], operands: Sequence[ast.Expression]
    ) -> Expression | None:
        """The call, after a look at what was read as another type without being asked to."""
        typed = self.keep(built)
        if typed is None:
            return None
        self._warn_about_regex(typed, operands)
        for node in _calls_at_top(typed):
            if node.function != "cast" or node.arguments[0].type != STRING:
                continue
            place = next((o for a, o in zip(arguments, operands, strict=False) if a is node.arguments[0]), None)
            if place is not None:
                self._check_reading(node, place)
        return typed

    def _check_reading(self, cast: Call, place: ast.Expression) -> None:
        source = cast.arguments[0]
        if isinstance(source, Literal):
            example = literals.EXAMPLES.get(cast.type, "")
            self.found.append(say.unreadable_text(place.span, str(source.value), cast.type, example))
        elif is_numeric(cast.type):
            self.found.append(say.text_as_number(place.span, cast.type))


def _of_booleans(joined: Expression) -> bool:
    return any(
        isinstance(a, Call) and a.function == "cast" and a.arguments[0].type == BOOLEAN for a in children(joined)
    )


def _joins_between(side: ast.Expression) -> bool:
    """Whether a side of a comparison is a comparison with texts joined: `a > 1 || b` in `a > 1 || b < 0`."""
    if not isinstance(side, ast.Binary) or side.operator not in _COMPARISONS:
        return False
    return isinstance(side.right, ast.Binary) and side.right.operator == "||"


def _calls_at_top(typed: Expression) -> list[Call]:
    """The call, its arguments, and theirs: as deep as a build puts its casts."""
    level = [typed]
    calls: list[Call] = []
    for _ in range(3):
        here = [node for node in level if isinstance(node, Call)]
        calls += here
        level = [a for node in here for a in node.arguments]
    return calls


def _instead_of_cast(type_: DataType, target: DataType) -> str:
    if is_numeric(type_) and target.sql.startswith(("DATE", "TIMESTAMP")):
        return "`timestamp_seconds(x)`, `timestamp_millis(x)` and `date_from_unix_date(x)` make times of numbers"
    if target != BOOLEAN and is_numeric(target) and type_.sql.startswith(("DATE", "TIMESTAMP")):
        return "`unix_seconds(x)`, `unix_millis(x)` and `unix_date(x)` make numbers of times"
    return ""
