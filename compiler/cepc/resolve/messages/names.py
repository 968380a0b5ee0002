"""What is said about names and imports: the E02 family."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepc_grammar.diagnostic import Diagnostic, Label
from cepc_grammar.foreign_names import PATTERNS
from cepc_grammar.printer import to_text
from cepc_grammar.spelling import name_text, string_text

from ...diagnostics.listed import listed
from ...diagnostics.near import did_you_mean, nearest, replacement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cepc_grammar import ast
    from cepc_grammar.source import Span
    from cepc_runtime.sql.types import DataType


_PLURAL = {"query": "queries"}


def unknown_type(
    name: ast.Name, types: Iterable[str], patterns: Iterable[str], where: str, untyped: str | None = None
) -> Diagnostic:
    """`where` says what was searched: "the stream `rides`"; `untyped` is the stream if it has no EVENT TYPE."""
    types = list(types)
    near = did_you_mean(name.text, [*types, *patterns])
    hint = PATTERNS.get(name.text.upper(), "")
    if untyped is not None and not hint and not near:
        hint = (
            f"all events of a stream without EVENT TYPE are of the type `{untyped}`; write `EVENT TYPE column` in the "
            f"STREAM, or declare the type: `EVENT {name.text} AS {untyped} WHERE …`"
        )
    return Diagnostic(
        "E0201",
        f"unknown event type `{name.text}`",
        name.span,
        f"no such type in {where}",
        hint=hint or near or (f"the types are {_listed(dict.fromkeys(types))}" if types else ""),
        replacement=None if hint else replacement(name.text, [*types, *patterns]),
    )


def alias_before_type(alias: ast.Name, type_: ast.Name) -> Diagnostic:
    """`SEQ(a Add)`."""
    return Diagnostic(
        "E0201",
        f"`{alias.text}` is no event type, and `{type_.text}` is one",
        alias.span,
        "an alias stands behind its event type",
        hint=f"write `{_written(type_.text)} {_written(alias.text)}`",
    )


def stream_for_type(name: ast.Name, types: Sequence[str]) -> Diagnostic:
    """A stream with EVENT TYPE where a type is to stand."""
    of = _written(name.text)
    several = ", or some of them in `OR(…)`" if len(types) > 1 else ""
    return Diagnostic(
        "E0201",
        f"the stream `{name.text}` is no event type",
        name.span,
        "its events are of several types" if len(types) > 1 else "its events have a type",
        hint=f"write one of them{several}: {_listed(f'{of}.{_written(one)}' for one in types)}",
    )


def unknown_type_of_stream(name: ast.Name, type_: str, stream: str, types: Sequence[str] | None) -> Diagnostic:
    """Of a `type_` with the stream written before it; `types` is None for a stream without EVENT TYPE."""
    of = _written(stream)
    near = nearest(type_, types or ())
    meant = None if near is None else f"{of}.{_written(near)}"
    if types is None:
        meant, hint = of, f"all events of a stream without EVENT TYPE are of the type `{of}`: write that"
    elif meant is not None:
        hint = f"did you mean `{meant}`?"
    else:
        hint = f"the types are {_listed(f'{of}.{_written(one)}' for one in types)}" if types else ""
    return Diagnostic(
        "E0201",
        f"unknown event type `{name.text}`",
        name.span,
        f"no such type in {streams_searched([stream])}",
        hint=hint,
        replacement=meant,
    )


def type_of_other_stream(name: ast.Name, streams: Sequence[str], others: Sequence[str]) -> Diagnostic:
    """`streams` are those that FROM names."""
    return Diagnostic(
        "E0201",
        f"unknown event type `{name.text}`",
        name.span,
        f"no such type in {streams_searched(streams)}",
        notes=(f"`{name.text}` is a type of the stream `{others[0]}`, and FROM says whose events the query sees",),
        hint=f"write `FROM {', '.join((*map(_written, streams), _written(others[0])))}`",
    )


def type_of_several_streams(name: ast.Name, streams: Sequence[str]) -> Diagnostic:
    plain = _written(name.text.removeprefix(f"{streams[0]}."))
    return Diagnostic(
        "E0225",
        f"`{name.text}` is an event type of several streams",
        name.span,
        f"of {listed((f'`{stream}`' for stream in streams), 'or')}",
        hint=f"write {listed((f'`{_written(stream)}.{plain}`' for stream in streams), 'or')}",
    )


def type_like_a_listed_one(name: ast.Name, types: Sequence[str], unlisted: str) -> Diagnostic:
    """It may be a slip, or a type of the only stream that lists none."""
    near = nearest(name.text, types)
    return Diagnostic(
        "E0201",
        f"unknown event type `{name.text}`",
        name.span,
        "no stream lists it",
        hint=f"did you mean `{near}`? If it is a type of `{unlisted}`, which lists none, write "
        f"`{_written(unlisted)}.{_written(name.text)}`",
    )


def column_not_shared(name: ast.Name, lacking: Sequence[str], *, each: bool) -> Diagnostic:
    """`each`: of any event of a match; else of those on which all its events agree."""
    why = "all events of a match agree on it, so the events of each stream need it"
    if each:
        why = "a bare column is of an event of any of the streams, and `v.x` of those alone that are bound to v"
    computed = f"compute it there, as a column of the STREAM: `{_written(name.text)} AS …`"
    return Diagnostic(
        "E0227",
        f"not all streams of the query have a column `{name.text}`",
        name.span,
        f"{listed((f'`{stream}`' for stream in lacking), 'and')} {'has' if len(lacking) == 1 else 'have'} none",
        notes=(why,),
        hint=f"write it with a variable, or {computed}" if each else computed,
    )


def column_apart(name: ast.Name, types: Sequence[tuple[str, DataType | None]], cure: str) -> Diagnostic:
    found = [f"{type_.sql} in `{stream}`" for stream, type_ in types if type_ is not None]
    return Diagnostic(
        "E0227",
        f"the streams of the query do not share a column `{name.text}`",
        name.span,
        f"it is {listed(found, 'and')}" if found else "its values cannot be compared",
        hint=f"{cure}, or compute a column of one type and one spelling in each STREAM",
    )


def streams_searched(streams: Sequence[str]) -> str:
    return f"the stream{'' if len(streams) == 1 else 's'} {listed((f'`{stream}`' for stream in streams), 'and')}"


def _written(name: str) -> str:
    from cepc_grammar import ast

    return name_text(ast.Name(name))


def used_at(problem: Diagnostic, uses: Iterable[Span]) -> Diagnostic:
    """What is wrong in a pattern of another file, with where it is used."""
    return replace(problem, others=(*problem.others, *(Label(use, "used here") for use in uses)))


def over_streams(problem: Diagnostic, query: Span, streams: Sequence[str]) -> Diagnostic:
    """What is wrong with a derived event where a query of these streams uses it."""
    label = f"its events are of {streams_searched(streams)}"
    return replace(problem, others=(*problem.others, Label(query, label)))


def not_imported_pattern(name: ast.Name, module: str) -> Diagnostic:
    return Diagnostic(
        "E0202", f"unknown pattern `{name.text}`", name.span, f"a pattern of {module}",
        hint=f"write `IMPORT {module};` first",
    )  # fmt: skip


def unknown_pattern(name: ast.Name, known: Iterable[str], is_type: bool) -> Diagnostic:
    what = "an event type takes no arguments" if is_type else "no pattern of this name is declared"
    return Diagnostic(
        "E0202",
        f"`{name.text}` is no pattern with parameters",
        name.span,
        what,
        hint=f"write `{name.text}` alone"
        if is_type
        else PATTERNS.get(name.text.upper())
        or did_you_mean(name.text, known)
        or f"declare it: `PATTERN {name.text}(…) AS …`",
        replacement=None if is_type or name.text.upper() in PATTERNS else replacement(name.text, known),
    )


def unknown_variable(
    name: str, span: Span, variables: Sequence[str], aliases: Sequence[str] = (), where: str = "the pattern"
) -> Diagnostic:
    """`aliases` are the variables of the type that has this name, where it has one."""
    if aliases:
        label = f"`{name}` has an alias in {where}"
        hint = f"write {listed((f'`{a}`' for a in aliases), 'or')} instead"
        instead = aliases[0] if len(aliases) == 1 else None
    else:
        label = f"no variable of this name in {where}"
        ends = [v for v in variables if v.rpartition(".")[2] == name]
        hint = f"did you mean `{ends[0]}`?" if ends else did_you_mean(name, variables)
        hint = hint or (f"its variables are {_listed(variables)}" if variables else "")
        instead = ends[0] if ends else nearest(name, variables)
    return Diagnostic("E0203", f"unknown variable `{name}`", span, label, hint=hint, replacement=instead)


def unknown_column(name: ast.Name, columns: Sequence[str], *streams: str) -> Diagnostic:
    joins = name.text.upper() in ("AND", "OR")  # `a AND AND`: the second was taken for a name
    return Diagnostic(
        "E0204",
        f"unknown column `{name.text}`",
        name.span,
        f"no such column in {streams_searched(streams)}",
        hint=did_you_mean(name.text, columns)
        or ("remove it, or add the condition that it joins" if joins else f"its columns are {_listed(columns)}"),
        replacement=replacement(name.text, columns),
    )


def returned_column(name: ast.Name) -> Diagnostic:
    """Of a column of RETURN in WHERE."""
    return Diagnostic(
        "E0204",
        f"`{name.text}` is no column of the events",
        name.span,
        "a column of the result, which is computed of whole matches",
        hint=f"write the condition in HAVING: `HAVING {name_text(name)} …`",
    )


def type_for_text(name: ast.Name) -> Diagnostic:
    """Of the name of an event type where a value stands."""
    text = string_text(name.text)
    return Diagnostic(
        "E0204",
        f"`{name.text}` is an event type, and no column",
        name.span,
        "a value is expected",
        hint=f"its name as a text is in quotes: `{text}`",
        replacement=text,
    )


def unknown_label(name: ast.Name, query: ast.Query) -> Diagnostic:
    known = [label.text for label, _ in query.labels]
    written = "".join(f"{name_text(label)} = {string_text(value)}, " for label, value in query.labels)
    return Diagnostic(
        "E0226",
        f"unknown label `{name.text}`",
        name.span,
        f"query `{query.name.text}` has no such label",
        hint=did_you_mean(name.text, known)
        or f"write `QUERY {name_text(query.name)} WITH ({written}{name_text(name)} = '…')`",
        replacement=replacement(name.text, known),
    )


def unknown_in_having(name: ast.Name, known: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0204",
        f"unknown column `{name.text}`",
        name.span,
        "neither a column of RETURN with a name nor a grouping attribute",
        hint=did_you_mean(name.text, known)
        or (f"HAVING knows {_listed(known)}" if known else "name a column of RETURN with AS"),
        replacement=replacement(name.text, known),
    )


def column_of_result(name: ast.Name, kind: str) -> Diagnostic:
    return Diagnostic(
        "E0204",
        f"`{name.text}` is no column of the events",
        name.span,
        "a column of every result",
        notes=(f"each row of {kind} query has `{name.text}` without asking",),
        hint="leave it out",
    )


def twice(kind: str, name: ast.Name, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0205",
        f"the {kind} `{name.text}` is declared twice",
        name.span,
        "the second one",
        others=(Label(first, "the first one"),),
        hint="rename one of the two, or leave it out",
    )


def listed_twice(kind: str, name: str, span: Span, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0205",
        f"the {kind} `{name}` is listed twice",
        span,
        "the second one",
        others=(Label(first, "the first one"),),
        hint="leave one out",
    )


def case_twins(kind: str, name: str, span: Span, other: str, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0206",
        f"the {_PLURAL.get(kind, f'{kind}s')} `{name}` and `{other}` differ only in case",
        span,
        f"spelled `{name}` here",
        notes=("names are case-sensitive, and two that differ only in case are taken for a mistake",),
        others=(Label(first, f"spelled `{other}` here"),),
        hint="if one is meant, spell it alike; if two are meant, rename one",
    )


def unknown_stream(name: ast.Name, known: Sequence[str]) -> Diagnostic:
    hint = did_you_mean(name.text, known) or (
        f"the streams are {_listed(known)}" if known else "declare it with `STREAM`"
    )
    return Diagnostic(
        "E0207",
        f"unknown stream `{name.text}`",
        name.span,
        "no stream of this name is declared",
        hint=hint,
        replacement=replacement(name.text, known),
    )


def stream_needed(query: ast.Name, streams: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0208",
        f"query `{query.text}` does not say which streams it is about",
        query.span,
        "its pattern names no event type, and several streams are declared",
        notes=(f"the streams are {_listed(streams)}",),
        hint=f"add `FROM {_written(streams[0])}`, or `FROM {', '.join(map(_written, streams))}`",
    )


def no_module(node: ast.Import, module: str, known: Sequence[str]) -> Diagnostic:
    near = nearest(module, known)
    if f"std.{module}" in known:
        hint = f"did you mean `std.{module}`?"
        near = f"std.{module}"
    elif module.endswith(".cep"):
        near = f"'./{module.removesuffix('.cep').replace('.', '/')}.cep'"
        hint = f"write `IMPORT {near}`"
    elif module == "std" or module.startswith("std."):
        hint = did_you_mean(module, known) or f"the modules are {_listed(known)}"
    else:
        hint = did_you_mean(module, known) or f"a file is imported as `IMPORT './{module.replace('.', '/')}.cep'`"
    return Diagnostic(
        "E0209",
        f"unknown module `{module}`",
        node.span,
        "no module of the standard library",
        hint=hint,
        replacement=near and f"IMPORT {near}",
    )


def module_in_quotes(node: ast.Import) -> Diagnostic:
    cure = f"IMPORT {node.file}"
    return Diagnostic(
        "E0209", f"`{node.file}` cannot be imported", node.span, "a file is written in quotes, a module without",
        hint=f"write `{cure}`", replacement=cure,
    )  # fmt: skip


def not_imported(node: ast.Import, why: Diagnostic) -> Diagnostic:
    return Diagnostic(
        "E0209",
        f"`{node.file}` cannot be imported",
        node.span,
        why.title,
        notes=(*why.notes, "the path is relative to the importing file"),
        hint=why.hint,
    )


def import_cycle(span: Span, chain: Sequence[str]) -> Diagnostic:
    what = "a file imports itself" if len(chain) == 2 else "files import each other"
    return Diagnostic(
        "E0210",
        what,
        span,
        "this import closes the circle",
        notes=(" → ".join(chain),),
        hint="move what both need to a file of its own" if len(chain) > 2 else "leave the import out",
    )


def event_cycle(span: Span, chain: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0211",
        f"the event type `{chain[0]}` is derived from itself",
        span,
        "a derived type requires a base that exists without it",
        notes=(" → ".join(chain),),
        hint="derive one of them from a type of the stream",
    )


def pattern_cycle(span: Span, chain: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0212",
        f"the pattern `{chain[0]}` contains itself",
        span,
        "a pattern stands for its text, which has no end here",
        notes=(" → ".join(chain),),
        hint="repetition is written with `+` or `*`",
    )


def alias_taken(alias: ast.Name, kind: str, other: Span) -> Diagnostic:
    """`kind` says whose name it is."""
    article = "an" if kind[0] in "aeiou" else "a"
    comma = "" if kind == "variable" else "write a comma before it, if two events are meant, or "
    return Diagnostic(
        "E0213",
        f"the alias `{alias.text}` is the name of {article} {kind}",
        alias.span,
        "an alias requires a name of its own",
        others=(Label(other, f"the {kind}"),),
        hint=f"{comma}write another alias: `{alias.text.lower()}1`, say",
    )


def arity(atom: ast.Atom, declaration: ast.NamedPattern) -> Diagnostic:
    parameters = declaration.parameters or ()
    given = len(atom.arguments or ())
    wanted = f"{len(parameters)} argument{'s' if len(parameters) != 1 else ''}"
    texts = [to_text(argument) for argument in atom.arguments or ()]
    hint = filled_in(atom.name.text, [p.text for p in parameters], texts) if parameters else f"write `{atom.name.text}`"
    return Diagnostic(
        "E0214",
        f"`{atom.name.text}` requires {wanted if parameters else 'no arguments'}",
        atom.span,
        f"{given or 'none'} given",
        others=(Label(declaration.name.span, "declared here"),),
        hint=hint,
    )


def filled_in(name: str, parameters: Sequence[str], given: Sequence[str]) -> str:
    """How to call it: with what is given, and the other parameters in a form that cannot be taken literally.

    >>> filled_in("rise", ["T", "x"], ["Pickup"])
    'write `rise(Pickup, <x>)`, with what is meant for `<x>`'
    >>> filled_in("rise", ["T", "x"], ["Pickup", "x", "3"])
    'write `rise(<T>, <x>)`, with what is meant for `<T>` and `<x>`'
    """
    if not parameters:
        return f"write `{name}()`"
    kept = list(given) if len(given) < len(parameters) else []
    missing = [f"<{p}>" for p in parameters[len(kept) :]]
    meant = listed([f"`{one}`" for one in missing], "and")
    return f"write `{name}({', '.join([*kept, *missing])})`, with what is meant for {meant}"


def argument_kind(argument: Span, parameter: ast.Name, use: Span, wanted: str) -> Diagnostic:
    """`wanted` is what the parameter stands for: "an event type", "a column"."""
    return Diagnostic(
        "E0215",
        f"the parameter `{parameter.text}` requires {wanted}",
        argument,
        "given here",
        others=(Label(use, f"used as {wanted} here"),),
        hint=f"give the name of {wanted}",
    )


def unused_parameter(parameter: ast.Name, pattern: str) -> Diagnostic:
    return Diagnostic(
        "E0216",
        f"the parameter `{parameter.text}` is never used",
        parameter.span,
        f"the pattern `{pattern}` does not mention it",
        hint="use it, or leave it out",
    )


def query_as_operand(name: ast.Name, query: Span) -> Diagnostic:
    return Diagnostic(
        "E0217",
        "a query's name is no operand",
        name.span,
        "the name of a query",
        others=(Label(query, "declared here"),),
        hint=f"its rows can be events: `STREAM rows_of_it FROM QUERY {name_text(name)}`, and `rows_of_it` here; what "
        "both share is declared with `PATTERN name AS …`; an event type is listed in `EVENT TYPE … IN (…)`",
    )


def pattern_like_type(pattern: ast.Name, other: Span) -> Diagnostic:
    return Diagnostic(
        "E0218",
        f"`{pattern.text}` is both a pattern and an event type",
        pattern.span,
        "declared as a pattern here",
        others=(Label(other, "declared as an event type here"),),
        hint="rename the pattern",
    )


def alias_like_parameter(alias: ast.Name, parameter: Span) -> Diagnostic:
    return Diagnostic(
        "E0219",
        f"the alias `{alias.text}` is the name of a parameter",
        alias.span,
        "a parameter already has this name",
        others=(Label(parameter, "the parameter"),),
        hint="rename one of the two",
    )


def bare_column(
    name: ast.Name, variables: Sequence[str], columns_shared: Sequence[str], *, is_of_all: bool = True
) -> Diagnostic:
    """`is_of_all`: the events of all streams of the query have it, and could agree on it."""
    notes = [f"a match has many events, and they need not agree on `{name.text}`"]
    if columns_shared:
        notes.append(f"they agree on {_listed(columns_shared)}")
    cures = [f"say whose it is: {listed([f'`{v}.{name.text}`' for v in variables][:3], 'or')}"] * bool(variables)
    cures += [f"let all events agree on it: `[{name.text}]` in WHERE"] * is_of_all
    return Diagnostic(
        "E0220",
        f"the column `{name.text}` of which event?",
        name.span,
        "neither in `[ ]` nor in GROUP BY",
        notes=tuple(notes),
        hint="; or ".join(cures),
    )


def bare_column_in_aggregate(name: ast.Name, variables: Sequence[str]) -> Diagnostic:
    of_match = "RETURN MATCH, where an aggregate of bare columns is over all events of one match"
    of_variable = listed([f"`{v}.{name.text}`" for v in variables][:3], "or")
    return Diagnostic(
        "E0220",
        f"the column `{name.text}` of which events?",
        name.span,
        "a variable is missing before it",
        notes=("an aggregate is over the events that matches bind to one variable",),
        hint=f"write {of_variable}; or {of_match}" if variables else "",
    )


def bare_variable(name: str, span: Span, columns: Sequence[str], type_: str | None = None) -> Diagnostic:
    """`type_` is what the variable is called by, if it has no alias."""
    text = "" if type_ is None else f"; the name of the type as a text is `{string_text(type_)}`"
    return Diagnostic(
        "E0221",
        f"`{name}` is an event, not a value",
        span,
        "a column is missing behind it",
        hint=(f"write `{name}.{columns[0]}`, say" if columns else f"write `{name}.` and a column") + text,
    )


def variable_in_event(name: str, span: Span, column: str) -> Diagnostic:
    return Diagnostic(
        "E0222",
        f"`{name}` is no column",
        span,
        "a derived event sees one event",
        notes=("the condition of EVENT … AS is over the columns of the event at hand, which has no name",),
        hint=f"write `{column}`",
    )


def _listed(names: Iterable[str], most: int = 8) -> str:
    names = [f"`{n}`" for n in names]
    shown = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return listed(shown, "and") or "none"
