"""The modules that come with the compiler: their texts, and which of them declares a name."""

from __future__ import annotations

from functools import cache

from cepc_grammar import ast
from cepc_grammar.parser import Parsed, parse
from cepc_grammar.source import Source


@cache
def standard_modules() -> tuple[str, ...]:
    """The names of the modules that come with the compiler."""
    from importlib.resources import files  # takes longer than most programs need; only for those that import

    return tuple(sorted(f"std.{f.name[:-4]}" for f in files("cepc_stdlib").iterdir() if f.name.endswith(".cep")))


def standard_module(module: str) -> tuple[Source, Parsed] | None:
    """The text and the statements of a module, if the standard library has it."""
    return read_standard(module) if module in standard_modules() else None


@cache
def read_standard(module: str) -> tuple[Source, Parsed]:
    """The same, of one of `standard_modules`."""
    from importlib.resources import files

    text = files("cepc_stdlib").joinpath(f"{module.removeprefix('std.')}.cep").read_text(encoding="utf-8")
    source = Source(f"<{module}>", text)
    return source, parse(source)


def module_of_pattern(name: str) -> str | None:
    """The module that declares a pattern of this name."""
    return _declaring()[0].get(name)


def module_of_function(name: str) -> str | None:
    """The module that declares a function of this name, which is called in any case.

    >>> module_of_pattern("rise"), module_of_function("HOURS_BETWEEN"), module_of_function("rise")
    ('std.shapes', 'std.scalars', None)
    """
    return _declaring()[1].get(name.casefold())


@cache
def _declaring() -> tuple[dict[str, str], dict[str, str]]:
    """By name, the modules of patterns and of functions."""
    patterns: dict[str, str] = {}
    functions: dict[str, str] = {}
    for module in standard_modules():
        for statement in read_standard(module)[1].program.statements:
            if isinstance(statement, ast.NamedPattern):
                patterns.setdefault(statement.name.text, module)
            elif isinstance(statement, ast.Function):
                functions.setdefault(statement.name.text.casefold(), module)
    return patterns, functions
