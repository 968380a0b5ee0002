"""Programs for the tests of resolution, and checked programs in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc import model
from cepc.resolve import check
from cepc_grammar.ast import Program
from cepc_grammar.diagnostic import Diagnostic
from cepc_grammar.parser import parse
from cepc_grammar.pattern import And, Named, Not, Or, Repeat, Selected, Seq, Some
from cepc_grammar.source import NOWHERE, Source
from cepc_runtime.sql.expression import Aggregate, Call, Expression, Field, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc.resolve import Resolved

STREAM = """
STREAM s (at TIMESTAMP, kind STRING, k INT, g STRING, x INT, y INT, m MAP<STRING, INT>, p STRUCT<a: INT>)
EVENT TIME at
EVENT TYPE kind IN ('A', 'B', 'C', 'D');
"""


def checked(text: str, files: Mapping[str, str] | None = None, name: str = "main.cep") -> Resolved:
    """Check a text that the parser accepts; `files` can be imported."""
    sources = dict(files or {})

    def load(path: str) -> Source | Diagnostic:
        if path in sources:
            return Source(path, sources[path])
        return Diagnostic("E0001", f"there is no file `{path}`", NOWHERE)

    source = Source(name, text)
    parsed = parse(source)
    return check(Program(parsed.program.statements), load, parsed.lost)


def codes(text: str, files: Mapping[str, str] | None = None) -> list[str]:
    """The codes of all diagnostics, sorted, each as often as it comes."""
    return sorted(d.code for d in checked(text, files).diagnostics)


def query_text(
    pattern: str,
    *,
    returns: str = "TRY_COUNT(*) AS n",
    clauses: str = "",
    within: str = "9 s SLIDE 1 s",
    before: str = "",
) -> str:
    """A program of one query `q` over the stream `s`."""
    return f"{STREAM}{before}\nQUERY q RETURN {returns} PATTERN {pattern} {clauses} WITHIN {within};"


def resolved(
    pattern: str,
    *,
    returns: str = "TRY_COUNT(*) AS n",
    clauses: str = "",
    within: str = "9 s SLIDE 1 s",
    before: str = "",
) -> model.Query:
    """The checked query of a program without errors."""
    text = query_text(pattern, returns=returns, clauses=clauses, within=within, before=before)
    found = checked(text)
    assert found.program is not None, [f"{d.code} {d.title}" for d in found.diagnostics]
    return found.program.queries[0]


def show(expression: Expression) -> str:
    """An expression in short: `PREV(v).x`, `(a.x > 3)`; casts are left out."""
    match expression:
        case Literal(value):
            return str(value)
        case Field(None, column):
            return column
        case Field(_, column):
            return f"{expression.event}.{column}"
        case Call("cast", (argument, *_)):
            return show(argument)
        case Call(function, (left, right)) if not function.isalnum() or function in ("and", "or"):
            return f"({show(left)} {function} {show(right)})"
        case Call(function, arguments):
            return f"{function}({', '.join(map(show, arguments))})"
        case Aggregate(function, variable, argument):
            return f"{function.written}({show(argument) if argument is not None else variable or '*'})"


def show_pattern(pattern: model.Pattern) -> str:
    """A pattern in short, with the conditions of occurrences and scopes in brackets."""
    match pattern:
        case model.Event(variable, conditions):
            return variable + _conditions([show(c) for c in conditions])
        case Seq(parts):
            return f"SEQ({', '.join(map(show_pattern, parts))})"
        case And(parts):
            return f"AND({', '.join(map(show_pattern, parts))})"
        case Or(parts):
            return f"OR({', '.join(map(show_pattern, parts))})"
        case Some(parts):
            return f"SOME({', '.join(map(show_pattern, parts))})"
        case Selected(body, select):
            return f"{select}({show_pattern(body)})"
        case Repeat(body, least, most, reluctant):
            return f"{show_pattern(body)}{{{least},{'' if most is None else most}}}{'?' if reluctant else ''}"
        case Not(body, within):
            return f"NOT {show_pattern(body)}" + ("" if within is None else f" WITHIN {within}")
        case Named(body, model.Scope(name, conditions)):
            return f"{name}:{show_pattern(body)}{_conditions([show(c.expression) for c in conditions])}"


def show_variables(query: model.Query) -> str:
    """The variables in short: `a:A`, `b*:B` for a list, `!c:C` for a negated one, tests in brackets."""
    found = []
    for v in query.variables:
        name = f"{'!' if v.negated else ''}{v.name}{'*' if v.is_list else ''}:{v.test.raw_type or 'ANY'}"
        found.append(name + _conditions([show(c) for c in v.test.conditions]))
    return " ".join(found)


def _conditions(texts: list[str]) -> str:
    return f"[{' '.join(texts)}]" if texts else ""
