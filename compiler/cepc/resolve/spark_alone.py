"""What only Spark computes, where Spark is not asked: in results, in HAVING and in what relates events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.sql.expression import Call, Field, Literal, aggregates, rewrite
from cepc_runtime.sql.expression import walk as parts
from cepc_runtime.sql.functions.portable import calls_of_spark_alone
from cepc_runtime.sql.functions.spark import find_spark
from cepc_runtime.sql.like import malformed

from ..expressions import messages as say
from .walk import walk

if TYPE_CHECKING:
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.sql.expression import Expression


def spark_alone(written: ast.Expression, typed: Expression, where: str) -> Diagnostic | None:
    """The error about the first call that Spark alone computes, at its place in what is written; None without one."""
    call = next((call for call in calls_of_spark_alone(typed) if not _is_malformed(call)), None)
    if call is None:
        return None
    span = next((node.span for node in walk(written) if _calls(node, call.function)), written.span)
    what = f"`{call.function}`" + (" with this pattern" if _is_by_pattern(call) else "")
    return say.spark_alone(span, what, where, _cure(call))


def _calls(node: ast.Expression, function: str) -> bool:
    match node:
        case ast.Call(name):
            return name.text.lower() == function
        case ast.Like(kind=kind):
            return kind.lower() == function
    return False


def _is_malformed(call: Call) -> bool:
    """Whether its pattern is no regular expression for any engine, of which there is a warning."""
    match call:
        case Call("rlike", (_, Literal(value=str(pattern)))):
            return malformed(pattern) is not None
    return False


def _is_by_pattern(call: Call) -> bool:
    """Whether it is the pattern, and not the function, that only Spark knows."""
    return call.function in ("rlike", "to_timestamp", "try_to_timestamp")


def _cure(call: Call) -> str:
    """A column of the stream for what is of one event; what is of several has no place where Spark is asked."""
    from cepc_runtime.sql.spark_sql import describe  # here, because most programs start without it

    of = {(node.variable, node.at) for node in parts(call) if isinstance(node, Field)}
    columns = dict.fromkeys(node.column for node in parts(call) if isinstance(node, Field))
    name = "_".join((call.function, *columns))
    match list(of):
        case [(str(variable), at)] if name.isidentifier() and not aggregates(call):
            here = describe(Field(variable, name, at, call.type))
            column = f"`{name} AS {describe(rewrite(call, _of_event))}`"
            return f"add {column} to the columns of the STREAM, write `{here}` here, and run it on Spark"
    return "write it with functions that `cepc functions` lists, or call it on the rows that come out"


def _of_event(node: Expression) -> Expression:
    """A part of the call as it may stand in a column: what only Spark knows the type of has a cast around it."""
    match node:
        case Field(column=column, type=type_):
            return Field(None, column, "each", type_)
        case Call(function, arguments, type_) if (found := find_spark(function, len(arguments))) and found.type is None:
            return Call("cast", (node,), type_)
    return node
