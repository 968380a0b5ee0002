"""What is said about functions of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic, Label
from cepc_grammar.printer import to_text

from ...diagnostics.near import did_you_mean, replacement
from .names import filled_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cepc_grammar import ast
    from cepc_grammar.source import Span


def cycle(span: Span, chain: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0212",
        f"the function `{chain[0]}` calls itself",
        span,
        "a function stands for its expression, which has no end here",
        notes=(" → ".join(chain),),
        hint="write out what is meant",
    )


def arity(call: ast.Call, declaration: ast.Function) -> Diagnostic:
    names = [p.text for p in declaration.parameters]
    wanted = f"{len(names)} argument{'s' if len(names) != 1 else ''}" if names else "no arguments"
    return Diagnostic(
        "E0214",
        f"`{declaration.name.text}` requires {wanted}",
        call.span,
        f"{len(call.arguments) or 'none'} given",
        others=(Label(declaration.name.span, "declared here"),),
        hint=filled_in(declaration.name.text, names, [to_text(argument) for argument in call.arguments]),
    )


def unused_parameter(parameter: ast.Name, function: str) -> Diagnostic:
    return Diagnostic(
        "E0216",
        f"the parameter `{parameter.text}` is never used",
        parameter.span,
        f"the function `{function}` does not mention it",
        hint="use it, or leave it out",
    )


def of_spark(name: ast.Name) -> Diagnostic:
    return Diagnostic(
        "E0223",
        f"there is a function `{name.text.lower()}` already",
        name.span,
        "a name of the language or of Spark",
        notes=("a program's function cannot stand for another that readers know",),
        hint=f"write another name: `my_{name.text.lower()}`, say",
    )


def of_pattern_operator(name: ast.Name) -> Diagnostic:
    return Diagnostic(
        "E0223",
        f"`{name.text.upper()}(…)` is an operator of patterns",
        name.span,
        "a pattern with parameters is written as one",
        hint=f"write another name: `my_{name.text.lower()}`, say",
    )


def no_parameter(reference: ast.Reference, function: str, parameters: Sequence[str]) -> Diagnostic:
    name = reference.parts[0].text
    known = f"its parameters are {', '.join(f'`{p}`' for p in parameters)}" if parameters else "it has no parameters"
    return Diagnostic(
        "E0224",
        f"`{name}` is no parameter of the function `{function}`",
        reference.span,
        "a function knows its parameters alone",
        notes=(known,),
        hint=did_you_mean(name, parameters)
        or f"make it one: `FUNCTION {function}({', '.join((*parameters, name))}) AS …`",
        replacement=replacement(name, parameters) if len(reference.parts) == 1 else None,
    )


def too_large(span: Span, most: int) -> Diagnostic:
    return Diagnostic(
        "E0417",
        "the expression is too large",
        span,
        f"more than {most:,} parts when its functions are written out",
        notes=("functions that call each other twice double at every step",),
        hint="call fewer functions",
    )
