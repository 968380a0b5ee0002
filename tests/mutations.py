"""Small changes of a module's code, each of which a test should notice.

Not changed is what no row and no plan depends on: texts, errors, assertions, annotations, decorators, what only a type
checker reads, and the sizes at the head of a module that were chosen by measuring.
"""

from __future__ import annotations

import ast
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
CALLS: Final = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sorted": "list",
    "reversed": "list",
    "minimum": "maximum",
    "maximum": "minimum",
    "bisect_left": "bisect_right",
    "bisect_right": "bisect_left",
    "logical_and": "logical_or",
    "logical_or": "logical_and",
}
SIGNS: Final[dict[type[ast.AST], str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.And: "and",
    ast.Or: "or",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
SIDES: Final = {"left": "right", "right": "left"}
"""Of numpy's searchsorted."""

SIZE: Final = 1000
"""From here on a number with a name of its own is a size that was chosen by measuring, and one more is as good."""


@dataclass(frozen=True)
class Mutation:
    """One change. Lines count from 1, columns are bytes. `covered` are the lines of which a test runs one if it may
    notice the change; none where that is on import.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    new: str
    what: str
    covered: frozenset[int]

    def of(self, source: str) -> str:
        """The source with the change."""
        lines = source.encode().splitlines(keepends=True)
        before, after = lines[self.line - 1][: self.column], lines[self.end_line - 1][self.end_column :]
        changed = [*lines[: self.line - 1], before + self.new.encode() + after, *lines[self.end_line :]]
        return b"".join(changed).decode()


def mutations(source: str) -> list[Mutation]:
    """All changes of a module, by place."""
    finder = _Finder()
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda m: (m.line, m.column, m.end_line, m.end_column, m.new))


@dataclass
class _Finder(ast.NodeVisitor):
    found: list[Mutation] = field(default_factory=list)
    _functions: int = 0
    _statement: ast.stmt | None = None

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            outer, self._statement = self._statement, node
            super().visit(node)
            self._statement = outer
        else:
            super().visit(node)

    def _add(self, old: ast.expr | ast.stmt, new: str, what: str) -> None:
        end_line, end_column = old.end_lineno or old.lineno, old.end_col_offset or 0
        self.found.append(Mutation(old.lineno, old.col_offset, end_line, end_column, new, what, self._covered(old)))

    def _covered(self, node: ast.expr | ast.stmt) -> frozenset[int]:
        """A tracer may tell any line of a simple statement, but of one with a body the head alone is meant."""
        if not self._functions or self._statement is None:
            return frozenset()
        whole = node if hasattr(self._statement, "body") else self._statement
        return frozenset(range(whole.lineno, (whole.end_lineno or whole.lineno) + 1))

    def _replace(self, old: ast.expr, new: ast.expr, what: str | None = None) -> None:
        self._add(old, f"({ast.unparse(new)})", what or f"{_short(old)} → {_short(new)}")

    def _operator(self, old: ast.expr, new: ast.expr, operators: tuple[ast.AST, ast.AST]) -> None:
        self._replace(old, new, f"{SIGNS[type(operators[0])]} → {SIGNS[type(operators[1])]} in {_short(old)}")

    # What is left alone

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self.visit(default)
        self._functions += 1
        for statement in node.body:
            self.visit(statement)
        self._functions -= 1

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and (self._functions or not _is_size(node.value)):
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if self._functions or not any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # which only asserts
            self.generic_visit(node)

    # What is changed

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self._negate(node.test)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        """Where the change of an operator is not the same."""
        operators = test.ops if isinstance(test, ast.Compare) else []
        ordered = any(isinstance(o, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for o in operators)
        if not isinstance(test, ast.Constant | ast.UnaryOp) and (len(operators) != 1 or ordered):
            self._replace(test, ast.UnaryOp(ast.Not(), test))

    def visit_Compare(self, node: ast.Compare) -> None:
        for number, operator in enumerate(node.ops):
            new, other = copy(node), COMPARISONS[type(operator)]()
            new.ops = [*node.ops[:number], other, *node.ops[number + 1 :]]
            self._operator(node, new, (operator, other))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._operator(node, ast.BoolOp(other, node.values), (node.op, other))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self._replace(node, node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        new = OPERATORS.get(type(node.op))
        if new is not None and self._functions and not (_is_sequence(node.left) or _is_sequence(node.right)):
            other = new()
            self._operator(node, ast.BinOp(node.left, other, node.right), (node.op, other))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        new = OPERATORS.get(type(node.op))
        if new is not None and not _is_sequence(node.value):
            changed = ast.AugAssign(node.target, new(), node.value)
            self._add(node, ast.unparse(changed), f"{_short(node)} → {_short(changed)}")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._replace(node, ast.Constant(not value))
        elif isinstance(value, int | float):
            self._replace(node, ast.Constant(value + 1))
        elif isinstance(value, str) and value in SIDES:
            self._replace(node, ast.Constant(SIDES[value]))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else name
        if name in CALLS:
            new: ast.expr = ast.Name(CALLS[name])
            if isinstance(node.func, ast.Attribute):
                new = ast.Attribute(node.func.value, CALLS[name])
            keywords = [k for k in node.keywords if CALLS[name] != "list"]  # a list takes no key
            self._replace(node, ast.Call(new, node.args, keywords))
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper):
            if bound is not None and not isinstance(bound, ast.Constant):
                self._replace(bound, ast.BinOp(bound, ast.Add(), ast.Constant(1)))
                self._replace(bound, ast.BinOp(bound, ast.Sub(), ast.Constant(1)))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and self._functions:
            self._add(node, "pass", f"{_short(node)} left out")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._add(node, "continue", "break → continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(node, "break", "continue → break")


def _is_size(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value >= SIZE


def _is_sequence(node: ast.expr) -> bool:
    """Whether it is written as text or a list, with which other operators mean nothing."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 90 else f"{text[:44]} … {text[-44:]}"


def walk(sources: dict[str, str]) -> Iterator[tuple[str, Mutation]]:
    """All changes of all modules, by path."""
    for path in sorted(sources):
        for mutation in mutations(sources[path]):
            yield path, mutation
