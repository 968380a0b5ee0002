"""Functions of the program: a call is its expression, with the arguments where the parameters stand."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from cepc_grammar import ast


def written_out(program: ast.Program) -> ast.Program:
    functions = {s.name.text.lower(): s for s in program.statements if isinstance(s, ast.Function)}
    if not functions:
        return program

    def out(node: Any, given: dict[str, Any]) -> Any:
        if isinstance(node, tuple):
            return tuple(out(part, given) for part in node)
        if isinstance(node, ast.Reference) and node.parts[0].text in given:
            argument, fields_of_it = given[node.parts[0].text], tuple(name(part, given) for part in node.parts[1:])
            if isinstance(argument, ast.Reference):
                return ast.Reference((*argument.parts, *fields_of_it))
            for field in fields_of_it:
                argument = ast.Member(argument, field)
            return argument
        if isinstance(node, ast.Member):
            return ast.Member(out(node.operand, given), name(node.name, given))
        if isinstance(node, ast.Call) and node.function.text.lower() in functions:
            function = functions[node.function.text.lower()]
            arguments = [out(argument, given) for argument in node.arguments]
            return out(function.body, dict(zip((p.text for p in function.parameters), arguments, strict=True)))
        if is_dataclass(node) and not isinstance(node, type):
            return replace(node, **{f.name: out(getattr(node, f.name), given) for f in fields(node)})
        return node

    def name(part: ast.Name, given: dict[str, Any]) -> Any:
        return given[part.text].parts[0] if part.text in given else part

    found: ast.Program = out(program, {})
    return found
