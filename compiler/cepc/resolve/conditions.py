"""Conditions by kind (docs/language.md, "Conditions"): each conjunct of a WHERE to where it is tested.

A conjunct over one event goes to the tests of its variable, one over shared attributes or constants alone to those of
every variable, and the others stay conditions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar import ast
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.expression import Expression, Field, aggregates, fields, rewrite
from cepc_runtime.sql.expression import variables as mentioned

from .. import model
from ..expressions import ExpressionContext, type_condition
from .events import mentions
from .messages import patterns as say
from .spark_alone import spark_alone
from .walk import conjuncts, references, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cepc_grammar.diagnostic import Diagnostic

    from .scopes import Names, PatternScope
    from .variables import Variable


@dataclass(frozen=True, slots=True)
class Sorted:
    """`tests` of single events by variable, `shared` ones without a variable, and `conditions` on several events."""

    tests: Mapping[str, tuple[Expression, ...]]
    shared: tuple[Expression, ...]
    conditions: tuple[model.Condition, ...]

    def tests_of(self, variable: Variable) -> tuple[Expression, ...]:
        """What every event of the variable must satisfy, in columns of the event itself."""
        own = self.tests.get(variable.name, ())
        return own if variable.negation is not None else (*own, *self.shared)


NOTHING = Sorted({}, (), ())


def equivalences(where: ast.Expression | None) -> list[ast.Equivalence]:
    """The `[a, b]` of a WHERE."""
    return [c for c in conjuncts(where) if isinstance(c, ast.Equivalence)]


def sort_conditions(where: ast.Expression | None, scope: PatternScope) -> tuple[Sorted | None, list[Diagnostic]]:
    """The conjuncts of a WHERE, typed and by kind; None where one is wrong, here or by an error that is reported
    elsewhere.
    """
    problems: list[Diagnostic] = []
    typed: list[tuple[ast.Expression, Expression]] = []
    wrong = False
    single = {v.name for v in scope.names.variables.values() if not v.is_list}
    for conjunct in conjuncts(where):
        if isinstance(conjunct, ast.Equivalence):
            continue
        if is_reported(conjunct, scope):
            wrong = True
            continue
        expression, found = type_condition(conjunct, scope, ExpressionContext.CONDITION)
        problems += found
        if expression is None:
            wrong = True
            continue
        problems += two_negations(conjunct, scope.names)
        typed.append((conjunct, rewrite(expression, lambda node: _plain(node, single))))
    by_kind, of_spark = _sort(typed)
    return (None if wrong or of_spark else by_kind), [*problems, *of_spark]


def _sort(typed: Iterable[tuple[ast.Expression, Expression]]) -> tuple[Sorted, list[Diagnostic]]:
    """Typed conjuncts by kind, and what in those that relate events Spark alone computes."""
    of_spark: list[Diagnostic] = []
    tests: dict[str, list[Expression]] = {}
    shared: list[Expression] = []
    conditions: list[model.Condition] = []
    for written, expression in typed:
        about = mentioned(expression)
        if not about:
            shared.append(expression)
        elif len(about) == 1 and all(f.at == "each" for f in fields(expression)) and not aggregates(expression):
            tests.setdefault(about[0], []).append(rewrite(expression, _of_event))
        else:
            from cepc_grammar.printer import to_text  # here, because most programs start without the printer

            if (alone := spark_alone(written, expression, "what relates events")) is not None:
                of_spark.append(alone)
            conditions.append(model.Condition(expression, about, to_text(written), written.span))
    return Sorted({v: tuple(t) for v, t in tests.items()}, tuple(shared), tuple(conditions)), of_spark


def is_reported(expression: ast.Expression, scope: PatternScope) -> bool:
    """Whether it mentions what has its error already, so that one more would say nothing new."""
    if mentions(expression, scope.reported | scope.stream.broken):
        return True
    if any(isinstance(node, ast.Equivalence) for node in walk(expression)):
        return True  # the parser says that it stands in the wrong place
    names = scope.names
    return not names.complete and any(len(r.parts) > 1 and names.split(r) is None for r in references(expression))


def two_negations(conjunct: ast.Expression, names: Names) -> Iterator[Diagnostic]:
    """A conjunct over variables of two NOTs."""
    first: Variable | None = None
    for reference in references(conjunct):
        found = names.split(reference)
        if found is None or found[0].negation is None:
            continue
        variable = found[0]
        if first is None:
            first = variable
        elif first.negation is not None and variable.negation is not None and variable.negation is not first.negation:
            yield say.two_negations(
                conjunct.span, (first.name, variable.name), (first.negation.span, variable.negation.span)
            )
            return


def _plain(node: Expression, single: set[str]) -> Expression:
    """The first and the last event of a single variable are the event; it has no others."""
    if isinstance(node, Field) and node.at in ("first", "last") and node.variable in single:
        return Field(node.variable, node.column, "each", node.type)
    return node


def _of_event(node: Expression) -> Expression:
    return Field(None, node.column, "each", node.type) if isinstance(node, Field) else node
