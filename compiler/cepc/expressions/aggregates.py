"""COUNT, SUM and their like, and FIRST, LAST, PREV: what relates an expression to the events that a match binds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.diagnostic import Diagnostic
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import aggregate_written, has_exact_squares
from cepc_runtime.sql.expression import (
    Aggregate,
    At,
    Call,
    Expression,
    Field,
    Literal,
    aggregates,
    fields,
    rewrite,
    variables,
    walk,
)
from cepc_runtime.sql.functions.coercion import INTERVALS, NUMERIC, cast_to, describe, implicit_type
from cepc_runtime.sql.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    NULL,
    STRING,
    DataType,
    Decimal,
    is_integer,
    is_numeric,
    is_orderable,
)

from . import messages as say
from .scope import ExpressionContext, Scope, VariableInfo

if TYPE_CHECKING:
    from collections.abc import Callable

    from cepc_runtime.sql.aggregate_functions import AggregateFunction

_AT: Final[dict[str, At]] = {"FIRST": "first", "LAST": "last", "PREV": "prev"}

FARTHEST: Final = 100
"""Of FIRST, LAST and PREV: so many events are kept in mind for each partial match."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where a call stands: `inside` is the aggregate, or the FIRST, LAST or PREV, in whose argument. `argument` types
    the argument of one of a name, with a scope of its own where that is of each event of a match; None where it has
    errors, which are reported already.
    """

    scope: Scope
    context: ExpressionContext
    inside: str
    argument: Callable[[str, ast.Expression, Scope | None], Expression | None]


# ---- columns in their place ------------------------------------------------------------------------------------------


def several_values(
    typed: Expression, written: ast.Reference, scope: Scope, context: ExpressionContext, inside: str
) -> Diagnostic | None:
    """What is wrong with a list variable's column in the row of a match, which has one value in each column."""
    if not context.is_match or context == ExpressionContext.EACH or inside or aggregates(typed):
        return None
    for field in fields(typed):
        if field.variable is not None and field.at == "each" and scope.info(field.variable).is_list:
            return say.list_without_aggregate(written.span, field.variable, field.column)
    return None


# ---- FIRST, LAST, PREV -----------------------------------------------------------------------------------------------


def navigation_of_variable(
    site: CallSite, call: ast.Call, column: ast.Name
) -> tuple[Expression | Diagnostic | None] | None:
    """`FIRST(v).x`, or what is wrong with it, in a tuple; None where the argument is no variable."""
    if site.context in (ExpressionContext.EVENT, ExpressionContext.COLUMN):  # where there are no variables
        return (_navigation_refused(site, call, call.function.text.upper()),)
    match call.arguments:
        case (ast.Reference() as reference,) | (ast.Reference() as reference, _):
            variable = site.scope.variable(reference)
            if isinstance(variable, Diagnostic):
                # A name alone that is no column either was meant as a variable.
                is_column = not isinstance(site.scope.reference(reference), Diagnostic)
                return None if len(reference.parts) > 1 or is_column else (variable,)
            of_column = ast.Reference((*reference.parts, column), reference.span.to(column.span))
            return (_navigate(site, call, of_column),)
    return None


def is_variable(scope: Scope, reference: ast.Reference) -> bool:
    """Whether it names a variable and no value."""
    return isinstance(scope.variable(reference), VariableInfo) and isinstance(scope.reference(reference), Diagnostic)


def navigation(site: CallSite, call: ast.Call) -> Expression | Diagnostic | None:
    """`FIRST(v.x)`; without a column it is an event, not a value. None where the argument has errors."""
    name = call.function.text.upper()
    if not call.arguments:
        return say.navigation_argument(call.span, name)
    if len(call.arguments) > 2:
        return say.argument_count(call.span, f"{name}(v.x, n)", 1, 2, len(call.arguments))
    argument = call.arguments[0]
    if isinstance(argument, ast.Reference):
        variable = site.scope.variable(argument)
        if isinstance(variable, VariableInfo) and is_variable(site.scope, argument):
            from cepc_grammar.printer import to_text  # here, because most programs start without the printer

            shown = f"{name}({', '.join(map(to_text, call.arguments))})"
            return say.event_as_value(call.span, shown, _some_column(variable))
    return _navigate(site, call, argument)


def _navigate(site: CallSite, call: ast.Call, argument: ast.Expression) -> Expression | Diagnostic | None:
    name = call.function.text.upper()
    refused = _navigation_refused(site, call, name)
    if refused is not None:
        return refused
    typed = site.argument(name, argument, None)
    if typed is None:
        return None
    mentioned = variables(typed)
    if not mentioned:
        return say.navigation_argument(call.span, name)
    if len(mentioned) > 1:
        return say.mixed_variables(call.span, name, mentioned)
    variable, places = site.scope.info(mentioned[0]), _places(name, call)
    if places is None:
        return say.navigation_places(call.arguments[1].span, name, FARTHEST)
    if not variable.is_list and (name == "PREV" or places):
        return say.other_of_single(call.span, name, variable.name)
    if places and name != "PREV" and not _is_column(typed):  # of no event it would not be null, as COALESCE(v.x, 0)
        return say.navigation_of_value(argument.span, name)

    def of_event(node: Expression) -> Expression:
        return replace(node, at=_AT[name], places=places) if isinstance(node, Field) and node.variable else node

    return rewrite(typed, of_event)


def _places(name: str, call: ast.Call) -> int | None:
    """How many events further than FIRST(v), LAST(v) or PREV(v), if it says so in a number."""
    least = 1 if name == "PREV" else 0
    match call.arguments[1:]:
        case ():
            return 0
        case (ast.Literal("integer", text),) if least <= int(text) <= FARTHEST:
            return int(text) - least
    return None


def _is_column(typed: Expression) -> bool:
    """Whether it is a column, or a field of a struct in one."""
    while isinstance(typed, Call) and typed.function == "field":
        typed = typed.arguments[0]
    return isinstance(typed, Field)


def _navigation_refused(site: CallSite, call: ast.Call, name: str) -> Diagnostic | None:
    if site.inside:
        return say.nested_aggregate(call.span, site.inside, name)
    match site.context, name:
        case ExpressionContext.CONDITION, _:
            return None
        case _, "FIRST" | "LAST" if site.context.is_match:
            return None
        case ExpressionContext.EVENT, _:
            hint = "conditions on several events stand in WHERE of a query or of a named pattern"
        case ExpressionContext.COLUMN, _:
            hint = "a column is computed of one record; WHERE and RETURN of a query relate events"
        case ((ExpressionContext.AGGREGATE | ExpressionContext.HAVING_AGGREGATE), _):
            hint = "MIN, MAX, SUM, AVG and COUNT are over all matches; `RETURN MATCH …` gives a row for each match"
        case _:
            hint = "PREV stands in WHERE: `WHERE v.x > PREV(v).x`"
    return say.navigation_not_allowed(call.span, name, site.context.value, hint)


# ---- aggregates ------------------------------------------------------------------------------------------------------


def aggregate(site: CallSite, call: ast.Call, function: AggregateFunction) -> Expression | Diagnostic | None:
    """None where the argument has errors."""
    name = call.function.text.upper()
    if site.context == ExpressionContext.CONDITION:
        return _in_condition(site, call, function)
    refused = _aggregate_refused(site, call, name, function)
    if refused is not None:
        return refused
    if function.alone:
        if call.arguments:
            return say.argument_count(call.span, f"{name}()", 0, 0, len(call.arguments))
        return Aggregate(function, None, None, False, None, function.result(NULL))
    safe = name != function.written
    match call.arguments:
        case (ast.Star() as star,):
            if not function.counts:
                return say.misplaced_star(star.span, f"; {name} requires a column")
            return Aggregate(function, None, None, safe, None, BIGINT, among=_among(site.scope, call))
        case (ast.Reference() as reference,) if isinstance(variable := site.scope.variable(reference), VariableInfo):
            is_event = function.counts or isinstance(site.scope.reference(reference), Diagnostic)
            if is_event and not call.among:
                return _of_event(function, reference, variable, safe=safe, distinct=call.distinct)
    least = 2 if function.by else 1
    if len(call.arguments) != least:
        usage = f"{name}(x, y)" if function.by else f"{name}(x)"
        hint = "write `COUNT(*)`" if usage == "COUNT(x)" and not call.arguments else ""
        return say.argument_count(call.span, usage, least, least, len(call.arguments), hint)
    of_all = site.scope.of_all_events(call.arguments) if site.context.is_match else None
    scope = (of_all or site.scope) if site.context.is_match else None
    typed = [site.argument(name, argument, scope) for argument in call.arguments]
    arguments = tuple(argument for argument in typed if argument is not None)
    if len(arguments) < len(typed):
        return None
    made = _of_values(function, arguments, call, of_all=of_all is not None)
    return replace(made, among=_among(site.scope, call)) if isinstance(made, Aggregate) else made


def _in_condition(site: CallSite, call: ast.Call, function: AggregateFunction) -> Expression | Diagnostic | None:
    """`SUM(v.x)` of all events bound to v in a match."""
    name = call.function.text.upper()
    if function.names:
        return say.variable_of_no_event(call.span, site.context.value)
    if name != function.written or not function.runs:
        return say.aggregate_not_allowed(call.span, name, site.context.value, numbers=function.numbers)
    if site.inside:
        return say.nested_aggregate(call.span, site.inside, name)
    if isinstance(call.arguments[0] if call.arguments else None, ast.Star):
        return say.count_of_all(call.span)
    if call.distinct:
        return say.distinct_in_condition(call.span, name)
    return aggregate(_as_in_match(site), call, function)


def _as_in_match(site: CallSite) -> CallSite:
    """Aggregates are made as in a match; what their arguments may have in them depends on where they are."""
    if site.context.is_match:
        return replace(site, context=ExpressionContext.MATCH)
    argument = site.argument
    return replace(site, context=ExpressionContext.MATCH, argument=lambda name, given, _: argument(name, given, None))


def running(site: CallSite, call: ast.Call) -> Expression | Diagnostic | None:
    """`RUNNING SUM(v.x)`: of the events of v up to the one at hand. None where the argument has errors."""
    name = call.function.text.upper()
    function = aggregate_written(name)
    if function is None or name != function.written or not function.runs:
        return say.no_running(call.span, name, each=site.context == ExpressionContext.EACH)
    if site.inside:
        return say.nested_aggregate(call.span, site.inside, f"RUNNING {name}")
    if site.context not in (ExpressionContext.CONDITION, ExpressionContext.EACH):
        return say.running_not_allowed(call.span, name, site.context.value)
    is_of_all = isinstance(call.arguments[0] if call.arguments else None, ast.Star)
    if is_of_all and site.context == ExpressionContext.CONDITION:
        return say.running_of_all(call.span)
    if call.distinct:
        return say.distinct_running(call.span, name, in_condition=site.context == ExpressionContext.CONDITION)
    made = aggregate(_as_in_match(site), replace(call, running=False), function)
    return replace(made, running=True) if isinstance(made, Aggregate) else made


def _aggregate_refused(site: CallSite, call: ast.Call, name: str, function: AggregateFunction) -> Diagnostic | None:
    if function.names and site.context == ExpressionContext.EACH:
        return None  # in the argument of an aggregate, too
    if function.names:
        return say.variable_of_no_event(call.span, site.context.value)
    if site.context == ExpressionContext.COLUMN:
        return say.aggregate_in_column(call.span, name)
    if not site.context.allows_aggregates:
        return say.aggregate_not_allowed(call.span, name, site.context.value, numbers=function.numbers)
    if site.inside:
        return say.nested_aggregate(call.span, site.inside, name)
    if call.distinct and (not site.context.is_match or function.by or function.alone):
        return say.distinct(call.span, name, of_match=site.context.is_match)
    if function.numbers and not site.context.is_match:
        return say.number_of_matches(call.span)
    if not function.countable and not site.context.is_match:
        return say.list_of_all_matches(call.span, name)
    return None


def _of_event(
    function: AggregateFunction, reference: ast.Reference, variable: VariableInfo, *, safe: bool, distinct: bool
) -> Expression | Diagnostic:
    """COUNT(E); other aggregates are of a column."""
    if not function.counts or distinct:
        shown = ".".join(p.text for p in reference.parts)
        return say.event_as_value(reference.span, shown, _some_column(variable))
    return Aggregate(function, variable.name, None, safe, None, BIGINT)


def _some_column(variable: VariableInfo) -> str | None:
    """A column to show in a hint: a number if there is one."""
    numbers = [column for column, type_ in variable.columns if is_numeric(type_)]
    return next(iter(numbers), next((column for column, _ in variable.columns), None))


def _of_values(
    function: AggregateFunction, arguments: tuple[Expression, ...], call: ast.Call, *, of_all: bool
) -> Expression | Diagnostic:
    """Of one value for each event, or of two."""
    name, span = call.function.text.upper(), call.arguments[0].span.to(call.arguments[-1].span)
    nodes = [node for argument in arguments for node in walk(argument)]
    if any(isinstance(node, Aggregate) and not node.function.names for node in nodes):
        return say.nested_aggregate(span, name, "another aggregate")
    for argument, written in zip(arguments, call.arguments, strict=True):
        if not of_all and not variables(argument):
            columns = [node.column for node in walk(argument) if isinstance(node, Field)]
            return say.no_variable(written.span, name, columns, distinct=call.distinct, by=bool(function.by))
    mentioned = tuple(dict.fromkeys(v for argument in arguments for v in variables(argument)))
    if len(mentioned) > 1:
        return say.mixed_variables(span, name, mentioned)
    variable = next(iter(mentioned), None)
    if variable is not None:
        arguments = tuple(_at_variable(argument, variable) for argument in arguments)
    typed = _argument(function, name, arguments[0], call.arguments[0])
    if isinstance(typed, Diagnostic):
        return typed
    others = arguments[1:]
    for one, written in zip(arguments, call.arguments, strict=True):
        if (one in others or call.distinct) and not is_orderable(one.type):
            return say.wrong_argument(written.span, name, "a type with an order", one.type)
    type_, by = function.result(typed.type), next(iter(others), None)
    safe = name != function.written
    return Aggregate(function, variable, typed, safe, None, type_, distinct=call.distinct, by=by)


def counts_false(made: Expression) -> bool:
    """Whether it counts the values of a condition, which is false as often as it is true. A column may be of values
    that are there or not.
    """
    match made:
        case Aggregate(function, argument=Call() as condition, distinct=False):
            return function.counts and condition.type == BOOLEAN
    return False


def _among(scope: Scope, call: ast.Call) -> tuple[str, ...]:
    """The variables whose events it is over, if it is not over all of them."""
    found = (scope.variable(ast.Reference((name,), name.span)) for name in call.among)
    return tuple(variable.name for variable in found if isinstance(variable, VariableInfo))


def _at_variable(argument: Expression, variable: str) -> Expression:
    """With the variable's name in place of VARIABLE()."""

    def change(node: Expression) -> Expression:
        return Literal(variable, STRING) if isinstance(node, Aggregate) and node.function.names else node

    return rewrite(argument, change)


def _argument(
    function: AggregateFunction, name: str, typed: Expression, written: ast.Expression
) -> Expression | Diagnostic:
    match function.takes:
        case "what can be added":
            type_ = implicit_type(typed.type, (NUMERIC, INTERVALS))
            if type_ is None:
                hint = f"write `{name}(CASE WHEN … THEN 1 ELSE 0 END)`" if typed.type == BOOLEAN else ""
                return say.wrong_argument(written.span, name, describe((NUMERIC, INTERVALS)), typed.type, hint)
            return cast_to(typed, type_)
        case "exact numbers" if not has_exact_squares(typed.type):
            return say.no_exact_squares(written.span, name, typed.type)
        case "what has an order" if not is_orderable(typed.type):
            return say.wrong_argument(written.span, name, "a type with an order", typed.type)
    return typed


# ---- the cast around one ---------------------------------------------------------------------------------------------


def computed_in(operand: Expression, target: DataType, *, safe: bool) -> Expression | None:
    """A COUNT, or an exact SUM, that a cast directly around it tells the runtime to compute in the target type."""
    if not isinstance(operand, Aggregate) or operand.target is not None or not operand.function.of_any_size:
        return None
    exact = is_integer(operand.type) or isinstance(operand.type, Decimal)
    wanted = is_integer(target) or isinstance(target, Decimal) or target in (STRING, DOUBLE, FLOAT)
    if not exact or not wanted:
        return None
    return replace(operand, target=target, type=target, safe=operand.safe or safe)
