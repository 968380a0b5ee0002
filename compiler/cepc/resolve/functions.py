"""Functions of the program: expressions with parameters, written out where they are called, before anything else is
resolved.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from cepc_grammar import ast
from cepc_grammar.source import Span
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.aggregate_functions import spellings
from cepc_runtime.sql.functions import find
from cepc_runtime.sql.functions.spark import spark_functions

from ..expressions.functions import BESIDE, LABEL, NAVIGATION
from .messages import functions as say
from .messages.names import argument_kind
from .names import circles, clashes
from .walk import EXPRESSIONS, references, rewrite, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic

MOST: Final = 10_000
"""Functions that call each other twice double at every step."""


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """Statements without functions: calls are what they stand for, with the span of the call. What is said elsewhere of
    the calls that were `given_up`, and of names that a function does not know, follows from the diagnostics.
    """

    statements: tuple[ast.Statement, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    given_up: frozenset[Span] = frozenset()


def written_out(statements: Iterable[ast.Statement]) -> WrittenOut:
    """The statements with their functions' calls written out."""
    statements = tuple(statements)
    functions = [s for s in statements if isinstance(s, ast.Function)]
    if not functions:
        return WrittenOut(statements)
    named = {key(f.name): f for f in reversed(functions)}
    around = circles({name: [key(c.function) for c in _calls(f.body)] for name, f in named.items()})
    problems = [*clashes("function", [f.name for f in functions]), *(d for f in functions for d in _own(f))]
    problems += (say.cycle(named[name].name.span, [named[n].name.text for n in way]) for name, way in around.items())
    work = _Writing({name: f for name, f in named.items() if name not in around}, frozenset(around))
    found = tuple(work.inside(s) for s in statements if not isinstance(s, ast.Function))
    unknown = {span for f in functions for r in _unknown(f) for span in (r.span, *(part.span for part in r.parts))}
    return WrittenOut(found, (*problems, *work.problems), frozenset(work.given_up | unknown))


def key(name: ast.Name) -> str:
    """Functions are called in any case, as Spark's are."""
    return name.text.casefold()


def _calls(expression: ast.Expression) -> Iterator[ast.Call]:
    return (node for node in walk(expression) if isinstance(node, ast.Call))


def _own(function: ast.Function) -> Iterator[Diagnostic]:
    """What is wrong with a function by itself."""
    name, parameters = function.name, {p.text: p for p in function.parameters}
    if (
        find(name.text) is not None
        or name.text.lower() in spark_functions()
        or name.text.upper() in (*spellings(), *NAVIGATION, *BESIDE, LABEL)
    ):
        yield say.of_spark(name)
    yield from clashes("parameter", function.parameters)
    used = {part.text for reference in references(function.body) for part in reference.parts}
    used |= {node.name.text for node in walk(function.body) if isinstance(node, ast.Member)}
    if not any(isinstance(node, ast.Equivalence) for node in walk(function.body)):  # the parser has said so
        yield from (say.unused_parameter(p, name.text) for p in parameters.values() if p.text not in used)
    yield from (say.no_parameter(reference, name.text, list(parameters)) for reference in _unknown(function))


def _unknown(function: ast.Function) -> Iterator[ast.Reference]:
    """What a function mentions and no parameter of it is."""
    parameters = {p.text for p in function.parameters}
    return (reference for reference in references(function.body) if reference.parts[0].text not in parameters)


class _Writing:
    def __init__(self, functions: Mapping[str, ast.Function], broken: frozenset[str]) -> None:
        self.problems: list[Diagnostic] = []
        self.given_up: set[Span] = set()
        self._functions, self._broken = functions, broken
        self._bodies: dict[str, ast.Expression] = {}

    def inside(self, node: Any) -> Any:
        """A statement or a part of one, with all calls in it written out."""
        if isinstance(node, EXPRESSIONS) and not isinstance(node, ast.Branch):
            return rewrite(node, self._change)
        if isinstance(node, tuple):
            return tuple(map(self.inside, node))
        if not is_dataclass(node) or isinstance(node, Span | ast.Name | type):
            return node
        parts = {field.name: getattr(node, field.name) for field in fields(node)}
        new = {name: changed for name, part in parts.items() if (changed := self.inside(part)) != part}
        return replace(node, **new) if new else node

    def _change(self, node: ast.Expression) -> ast.Expression | None:
        if not isinstance(node, ast.Call):
            return None
        name = key(node.function)
        if name in self._broken:
            return self._instead(node)
        function = self._functions.get(name)
        if function is None:
            return None
        if len(node.arguments) != len(function.parameters):
            self.problems.append(say.arity(node, function))
            return self._instead(node)
        arguments = (rewrite(argument, self._change) for argument in node.arguments)
        given = dict(zip((p.text for p in function.parameters), arguments, strict=True))
        known = len(self.problems)
        body = self._put(self._body(name), given, function)
        if len(self.problems) > known:
            return self._instead(node)
        if sum(1 for _ in walk(body)) > MOST:
            self.problems.append(say.too_large(node.span, MOST))
            return self._instead(node)
        return body if isinstance(body, ast.Star) else replace(body, span=node.span)

    def _put(self, body: ast.Expression, given: Mapping[str, ast.Expression], function: ast.Function) -> ast.Expression:
        """A function's expression with arguments in place of parameters, all of them at once; behind a dot stands a
        name.
        """

        def change(node: ast.Expression) -> ast.Expression | None:
            match node:
                case ast.Reference((first, *rest), span) if first.text in given:
                    found, names = given[first.text], [self._name(name, given, function) for name in rest]
                    if isinstance(found, ast.Reference) and names:
                        return ast.Reference((*found.parts, *names), span)
                    for name in names:
                        found = ast.Member(found, name, span)
                    return found
                case ast.Member(operand, name, span) if name.text in given:
                    return ast.Member(rewrite(operand, change), self._name(name, given, function), span)
            return None

        return rewrite(body, change)

    def _name(self, name: ast.Name, given: Mapping[str, ast.Expression], function: ast.Function) -> ast.Name:
        match given.get(name.text):
            case None:
                return name
            case ast.Reference((only,)):
                return only
            case argument:
                parameter = next(p for p in function.parameters if p.text == name.text)
                self.problems.append(argument_kind(argument.span, parameter, name.span, "a column"))
                return name

    def _instead(self, call: ast.Call) -> ast.Expression:
        """What stands for a call that cannot be written out, which has been said: a NULL, with the arguments in it,
        which may be wrong as well. A name by itself may be an event, a column, or the name of a column.
        """
        self.given_up.add(call.span)
        null = ast.Literal("null", "NULL", call.span)
        read = [a for a in call.arguments if not (isinstance(a, ast.Reference) and len(a.parts) == 1)]
        tests = [ast.Is(rewrite(a, self._change), "NULL", False, a.span) for a in read]
        return ast.Case(None, tuple(ast.Branch(t, null, t.span) for t in tests), None, call.span) if tests else null

    def _body(self, name: str) -> ast.Expression:
        if name not in self._bodies:
            self._bodies[name] = rewrite(self._functions[name].body, self._change)
        return self._bodies[name]
