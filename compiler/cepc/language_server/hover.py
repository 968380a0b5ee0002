"""What is shown of a name under the cursor, in Markdown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cepc_grammar import ast
from cepc_grammar.pattern import OPERATORS, Not
from cepc_grammar.pattern import walk as subpatterns
from cepc_grammar.printer import to_text
from cepc_grammar.spelling import string_text
from cepc_runtime.cheap_dataclass import dataclass
from cepc_runtime.sql.functions.spark import find_spark

from ..commands.functions import described
from ..documenting import comments_above, document
from ..explaining.in_words import in_words, query_in_words
from ..explaining.numbers import number_words, numbers
from ..resolve.inline import inline
from ..resolve.scopes import result_columns
from ..resolve.variables import variables
from .columns import declared_as
from .references import VariableScope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar.source import Span

    from ..passes.rates import Rates
    from .program import EditedProgram
    from .references import NameUse, Symbol

MOST_COLUMNS: Final = 40


@dataclass(frozen=True, slots=True)
class HoverText:
    span: Span
    markdown: str


def hover(program: EditedProgram, offset: int, statistics: dict[str, Rates] | None = None) -> HoverText | None:
    """What is known of the name at the offset; `statistics` are of streams, by name. Of a word of a pattern that is no
    name, such as SEQ, what that part matches.
    """
    use = program.references.at(program.source.name, offset)
    if use is None:
        return _part(program, offset)
    text = "\n\n".join(filter(None, _about(program, use, statistics or {})))
    return HoverText(use.span, text) if text else None


def _part(program: EditedProgram, offset: int) -> HoverText | None:
    """The innermost operator of a pattern around the offset, where a word or mark stands."""
    text = program.source.text
    if not text[offset : offset + 1].strip() and not text[offset - 1 : offset].strip():
        return None
    parts = [
        (statement, part)
        for statement in program.parsed.program.statements
        if isinstance(statement, ast.Query | ast.NamedPattern)
        for part in subpatterns(statement.pattern)
        if isinstance(part, OPERATORS) and part.span.start <= offset <= part.span.end
    ]
    if not parts:
        return None
    statement, part = min(parts, key=lambda found: found[1].span.end - found[1].span.start)
    whole = isinstance(statement, ast.Query) and part is statement.pattern
    words = in_words(part, part=not whole)
    return HoverText(part.span, f"{words}." if isinstance(part, Not) else f"A match is {words}.")


def _about(program: EditedProgram, use: NameUse, statistics: dict[str, Rates]) -> Iterator[str]:
    symbol = use.symbol
    declaration = declaring(program, symbol)
    match symbol.kind:
        case "built-in function":
            yield from _built_in(symbol.name)
        case "stream":
            yield _code(f"STREAM {symbol.name}")
            yield _comment(program, symbol)
            yield from _stream(program, symbol.name)
        case "event type" if isinstance(declaration, ast.DerivedEvent):
            yield _code(to_text(declaration))
            yield _comment(program, symbol)
        case "listed type":
            yield f"`{symbol.name}`: an event type{_listed_in(program, symbol)}"
        case "pattern" if isinstance(declaration, ast.NamedPattern):
            yield _code(to_text(declaration))
            yield _comment(program, symbol)
            yield f"A match is {in_words(declaration.pattern, part=True)}."
        case "function" if isinstance(declaration, ast.Function):
            yield _code(to_text(declaration))
            yield _comment(program, symbol)
        case "query" if isinstance(declaration, ast.Query):
            yield from _query(program, declaration, statistics)
        case "variable":
            yield from _variable(program, use)
        case "column":
            yield from _column(program, symbol)
        case "parameter":
            owner = use.statement.name.text if isinstance(use.statement, ast.NamedPattern | ast.Function) else ""
            yield f"`{symbol.name}`: a parameter of `{owner}`"
        case "result":
            yield from _result(program, symbol)
        case "test" if isinstance(declaration, ast.Test):
            yield f"`{symbol.name}`: a test of the query `{declaration.query.text}`"
        case "module":
            yield from _module(program, symbol)
        case "label" if isinstance(declaration, ast.Query):
            said = next(string_text(value) for name, value in declaration.labels if name.span == symbol.span)
            yield f"`{symbol.name} = {said}`: a label of the query `{declaration.name.text}`"


def declaring(program: EditedProgram, symbol: Symbol) -> ast.Statement | None:
    """The statement in which something is declared."""
    found = (
        s
        for s in program.statements
        if s.span.source == symbol.span.source and s.span.start <= symbol.span.start <= symbol.span.end <= s.span.end
    )
    return next(found, None)


def _built_in(name: str) -> Iterator[str]:
    found = described(name)
    for usage, text in found:
        yield f"`{usage}`: {text}"
    if not found and (other := find_spark(name, 1)) is not None and other.kind == "scalar":
        yield f"`{other.name}`: a function of Spark's; a query that calls it runs on Spark alone"


def _stream(program: EditedProgram, name: str) -> Iterator[str]:
    statement = program.names.streams[name]
    if statement.event_type is None:
        yield f"All events are of one type, `{name}`."
    else:
        listed = ", ".join(f"`{t.text}`" for t in statement.event_type.types or ()) or "any"
        yield f"Event types, by `{statement.event_type.column.text}`: {listed}"
    if statement.query is not None:
        yield f"Events: the rows of the query `{statement.query.text}`, with the columns that it returns"
    if statement.event_time is not None:
        late = statement.event_time.watermark
        yield f"Time: `{statement.event_time.column.text}`" + (f", up to {to_text(late).lower()} late" if late else "")
    if statement.columns:
        yield _columns(statement)


def _columns(stream: ast.Stream) -> str:
    rows = [f"{c.name.text} {declared_as(c)}" for c in stream.columns[:MOST_COLUMNS]]
    more = len(stream.columns) - len(rows)
    return _code("\n".join([*rows, *([f"-- and {more} more"] if more else [])]))


def _listed_in(program: EditedProgram, symbol: Symbol) -> str:
    statement = declaring(program, symbol)
    if not isinstance(statement, ast.Stream) or statement.event_type is None:
        return ""
    return f" of the stream `{statement.name.text}`, by its column `{statement.event_type.column.text}`"


def _column(program: EditedProgram, symbol: Symbol) -> Iterator[str]:
    statement = declaring(program, symbol)
    if not isinstance(statement, ast.Stream):
        return
    column = next(c for c in statement.columns if c.name.span == symbol.span)
    yield _code(f"{symbol.name} {declared_as(column)}")
    roles = [
        role
        for role, clause in (("the event time", statement.event_time), ("the event type", statement.event_type))
        if clause is not None and clause.column.text == symbol.name
    ]
    role = f", {' and '.join(roles)}" if roles else ""
    source = program.sources[symbol.span.source].text
    behind = source[column.span.end : (source + "\n").index("\n", column.span.end)].strip(" ,)\t\r")
    remark = f": {behind.removeprefix('--').strip()}" if behind.startswith("--") else ""
    yield f"A column of the stream `{statement.name.text}`{role}{remark}"


def _variable(program: EditedProgram, use: NameUse) -> Iterator[str]:
    """The type of a variable and how many events a match binds to it."""
    statement = use.statement
    pattern = statement.pattern if isinstance(statement, ast.Query | ast.NamedPattern) else None
    if pattern is None:
        return
    atom = next(
        (
            node
            for owner in (statement, declaring(program, use.symbol))
            if isinstance(owner, ast.Query | ast.NamedPattern)
            for node in subpatterns(owner.pattern)
            if isinstance(node, ast.Atom | ast.AnyEvent) and node.alias is not None
            if node.alias.span == use.symbol.span
        ),
        None,
    )
    if isinstance(atom, ast.Atom) and program.names.inside(atom, VariableScope(pattern)) is not None:
        yield f"`{use.symbol.name}`: a match of the pattern `{atom.name.text}`, whose variables stand behind the dot"
        return
    streams = program.names.streams_of(statement) if isinstance(statement, ast.Query) else tuple(program.streams)
    stream = streams[0] if len(streams) == 1 and streams[0] in program.streams else None
    found = inline(pattern, program.declared, program.types_of(stream)).pattern
    known = {} if found is None else variables(found)
    name, variable = use.symbol.name, None
    variable = known.get(name) or next((v for n, v in known.items() if v.span == use.symbol.span), None)
    if variable is None:
        type_ = atom.name.text if isinstance(atom, ast.Atom) else "ANY"
        yield f"`{name}`: a variable of type `{type_}`"
        return
    bound = (0, 0) if found is None or variable.negation is not None else numbers(found)[variable.name]
    number = "no event" if bound == (0, 0) else f"{number_words(bound)} {'event' if bound[1] == 1 else 'events'}"
    of = "any type" if variable.type is None else f"type `{variable.type_name}`"
    yield f"`{variable.name}`: {number} of {of}"
    if stream is not None and program.names.streams[stream].columns:
        yield _columns(program.names.streams[stream])


def _query(program: EditedProgram, query: ast.Query, statistics: dict[str, Rates]) -> Iterator[str]:
    yield _code(f"QUERY {query.name.text}")
    yield "\n".join(f"- {name.text}: {value}" for name, value in query.labels)
    span = program.references.at(query.name.span.source, query.name.span.start)
    if span is not None:
        yield _comment(program, span.symbol)
    yield f"A match is {query_in_words(query)}."
    kind = "match" if query.returns.match else "aggregate"
    length = f" of {to_text(query.window).lower()}" if query.window is not None else ""
    slide = f", every {to_text(query.slide).lower()}" if query.slide is not None else ""
    offset = f", offset by {to_text(query.offset).lower()}" if query.offset is not None else ""
    of_match = "a row for each event of each match" if query.returns.each else "a row for each match"
    rows = of_match if query.returns.match else f"a row for each group and window{length}{slide}{offset}"
    yield f"It gives {rows}, with {' and '.join(f'`{c}`' for c in result_columns(kind))} beside what it returns."
    yield _cost(program, query.name.text, statistics)


def _cost(program: EditedProgram, name: str, statistics: dict[str, Rates]) -> str:
    """How its rows are found and what that is expected to cost by itself; "" while the program has errors."""
    from ..explaining.explanation import explain
    from ..explaining.strategies import strategy_text
    from ..shared_plans import Options, plan_shared

    checked = program.checked.program
    if checked is None or name not in (query.name for query in checked.queries):
        return ""
    one = replace(checked, queries=tuple(q for q in checked.queries if q.name == name), tests=())
    shared = plan_shared(one, Options(level=0, statistics=statistics))
    if shared.diagnostics:
        return ""
    execution = explain(one, shared)[0].executions[0]
    text = f"How: {strategy_text(execution.strategy)}."
    if execution.automaton is not None and execution.load.operations:
        known = "by the statistics" if statistics else "with one event of each type a second"
        text += f" About {execution.load.nanoseconds / 1000:,.3g} µs of work a second of events, {known}."
    return text


def _result(program: EditedProgram, symbol: Symbol) -> Iterator[str]:
    statement = declaring(program, symbol)
    if not isinstance(statement, ast.Query):
        return
    checked = program.checked.program
    outputs = (q.outputs for q in checked.queries if q.name == statement.name.text) if checked is not None else ()
    type_ = next((o.expression.type.sql for found in outputs for o in found if o.name == symbol.name), "")
    yield f"`{symbol.name}{' ' + type_ if type_ else ''}`: a column of what `{statement.name.text}` returns"


def _module(program: EditedProgram, symbol: Symbol) -> Iterator[str]:
    from cepc_grammar.parser import parse

    source = program.sources.get(symbol.span.source)
    if source is None:
        return
    page = document(source, parse(source))
    yield f"`{symbol.name}`: {page.comment}" if page.comment else f"`{symbol.name}`"
    if page.entries:
        yield "It declares " + ", ".join(f"`{entry.usage}`" for entry in page.entries) + "."


def _comment(program: EditedProgram, symbol: Symbol) -> str:
    """The comment above a declaration."""
    from cepc_grammar.parser import parse

    source, declaration = program.sources.get(symbol.span.source), declaring(program, symbol)
    if source is None or declaration is None:
        return ""
    parsed = program.parsed if source is program.source else parse(source)
    return comments_above(source, parsed).get(declaration.span.start, "")


def _code(text: str) -> str:
    return f"```cep\n{text}\n```"
