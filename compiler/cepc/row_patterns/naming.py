"""The variables of a clause: what PATTERN, SUBSET and DEFINE name, in any case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepc_grammar.pattern import walk
from cepc_grammar.sql.syntax import PatternVariable
from cepc_runtime.cheap_dataclass import dataclass

from . import messages as say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cepc_grammar import ast
    from cepc_grammar.diagnostic import Diagnostic
    from cepc_grammar.sql.syntax import MatchRecognize


@dataclass(frozen=True, slots=True)
class ClauseNames:
    """`variables` are those of the pattern as they are first written, by their names in one case. `members` are the
    variables that each, each union, and None for every row stand for; `conditions` what DEFINE says of them.
    """

    variables: Mapping[str, str]
    members: Mapping[str | None, frozenset[str]]
    conditions: Mapping[str, ast.Expression]

    @property
    def rows(self) -> dict[str, str]:
        """What may stand before a column, by its name in one case."""
        return {name.casefold(): name for name in self.members if name is not None}


def names_of(clause: MatchRecognize) -> tuple[ClauseNames, list[Diagnostic]]:
    """The names, and what is wrong with them."""
    variables: dict[str, str] = {}
    for node in walk(clause.pattern):
        if isinstance(node, PatternVariable):
            variables.setdefault(node.name.text.casefold(), node.name.text)
    members, problems = _members(clause, variables)
    conditions, wrong = _conditions(clause, variables)
    return ClauseNames(variables, members, conditions), problems + wrong


def _members(
    clause: MatchRecognize, variables: Mapping[str, str]
) -> tuple[dict[str | None, frozenset[str]], list[Diagnostic]]:
    found: dict[str | None, frozenset[str]] = {name: frozenset({name}) for name in variables.values()}
    problems: list[Diagnostic] = []
    taken = set(variables)
    for subset in clause.subsets:
        if subset.name.text.casefold() in taken:
            problems.append(say.twice(subset.name, "named"))
            continue
        taken.add(subset.name.text.casefold())
        known = [member for member in subset.members if member.text.casefold() in variables]
        problems += (say.unknown_variable(m, variables.values()) for m in subset.members if m not in known)
        members = {variables[member.text.casefold()] for member in known}
        found[subset.name.text] = frozenset(members or variables.values())  # which of these, has been asked
    found[None] = frozenset(variables.values())
    return found, problems


def _conditions(
    clause: MatchRecognize, variables: Mapping[str, str]
) -> tuple[dict[str, ast.Expression], list[Diagnostic]]:
    found: dict[str, ast.Expression] = {}
    problems: list[Diagnostic] = []
    for definition in clause.definitions:
        variable = variables.get(definition.variable.text.casefold())
        if variable is None:
            problems.append(say.unknown_variable(definition.variable, variables.values()))
        elif variable in found:
            problems.append(say.twice(definition.variable, "defined"))
        else:
            found[variable] = definition.condition
    return found, problems
