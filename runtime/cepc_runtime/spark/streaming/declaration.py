"""What a checkpoint depends on of a STREAM: its clauses, and the columns that the queries of a run read, each with all
that it is computed from.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ...plan.columns_read import columns_read
from ...plan.query import letters_listed
from ...sql.computed import ASIDE
from ...sql.expression import with_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .query import Continuous

WITH_ROWS: Final = "streams with rows"
"""Those of a chain, among the clauses."""
_LONG: Final = 200
"""A column's expression of more characters is not shown."""
_NAME_OR_TEXT: Final = re.compile(r"'(?:[^'\\]|\\.)*'|`((?:[^`]|``)*)`", re.DOTALL)


def declaration(what: Continuous) -> dict[str, Any]:
    """As JSON, of all links of a chain. A column of the input has its type there, and a computed one its SQL, in which
    FUNCTIONs are their bodies.
    """
    found = _of_link(what)
    for link in what.later:
        name, own = link.streamed.stream.name, _of_link(link)
        found["clauses"] |= {f"{clause} of {name}": said for clause, said in own["clauses"].items()}
        rows = {source.name: source.query for source in link.streamed.stream.sources if source.query is not None}
        found["clauses"] |= {f"FROM QUERY of {source}": query for source, query in rows.items()}
        found["columns"] += [[f"{name}.{column}", text] for column, text in own["columns"]]
    if what.later:
        found["clauses"][WITH_ROWS] = ", ".join(link.streamed.stream.name for link in what.later)
    if unwritten := [name for link in what.links for name in link.queries if name not in link.written]:
        found["clauses"]["queries for their rows as events alone"] = ", ".join(unwritten)
    return found


def _of_link(what: Continuous) -> dict[str, Any]:
    plan, stream = what.plan.stream, what.streamed.stream
    _, *types = stream.required
    clauses = {
        "EVENT TIME": plan.time_column, "UNIT": plan.unit, "ORDER BY": ", ".join(plan.order_by),
        "EVENT TYPE": types[0] if types else "",
    }  # fmt: skip
    if stream.members:
        return _of_several(what, clauses)
    computed = {column.name: column.sql for column in stream.computed}
    columns = {field.name: field.dataType.simpleString() for field in stream.schema.fields}
    columns |= {name: f"AS {sql}" for name, sql in computed.items()}
    needed, waiting = set[str](), [*_read(what)]
    while waiting:
        name = waiting.pop()
        if name in columns and name not in needed:
            needed.add(name)
            waiting += _names(computed.get(name, ""))
    ordered = dict.fromkeys((*plan.all_columns, *columns))
    return {"clauses": clauses, "columns": [[name, columns[name]] for name in ordered if name in needed]}


def _of_several(what: Continuous, clauses: dict[str, str]) -> dict[str, Any]:
    """The same of several streams: the columns of all are computed from those of each, `orders.amount`."""
    plan, stream = what.plan.stream, what.streamed.stream
    clauses["FROM"] = ", ".join(member.stream.name for member in stream.members)
    wanted, columns = {*_read(what)}, list[list[str]]()
    for member in stream.members:
        name, made = member.stream.name, dict(member.columns)
        clauses[f"EVENT TIME of {name}"], *types = member.stream.required
        clauses[f"EVENT TYPE of {name}"] = types[0] if types else ""
        own = {field.name: field.dataType.simpleString() for field in member.stream.schema.fields}
        own |= {column.name: f"AS {column.sql}" for column in member.stream.computed}
        waiting = [*member.stream.required, *(n for one in wanted if one in made for n in _names(made[one]))]
        needed = set[str]()
        while waiting:
            column = waiting.pop()
            if column in own and column not in needed:
                needed.add(column)
                waiting += _names(own[column]) if own[column].startswith("AS ") else ()
        columns += [[f"{name}.{column}", text] for column, text in own.items() if column in needed]
    types_of_all = {field.name: field.dataType.simpleString() for field in stream.schema.fields}
    columns += [[name, types_of_all[name]] for name, _ in plan.given if name in wanted]
    return {"clauses": clauses, "columns": columns}


def _read(what: Continuous) -> Iterator[str]:
    """The columns that these queries and the clauses name; a job's plan has bits in place of letters' conditions."""
    plan = what.plan
    yield from (plan.stream.time_column, *plan.stream.order_by, *what.streamed.stream.required)
    yield from columns_read(plan.queries, (name for name, _ in plan.stream.columns))
    if what.lagging:  # all say which event is before another
        yield from (name for name, _ in plan.stream.given)
    for letter in frozenset[int]().union(*map(letters_listed, plan.queries)):
        yield from _names(what.streamed.letters[letter][1])


def _names(sql: str) -> Iterator[str]:
    """What stands between backquotes: columns of the input and computed ones, and fields of structs."""
    for found in _NAME_OR_TEXT.finditer(sql):
        if found[1] is not None:
            yield found[1].replace("``", "`").removeprefix(ASIDE)


def is_declaration(data: Any) -> bool:
    """Whether it is what `declaration` makes, with whatever names."""
    if not isinstance(data, dict) or data.keys() != {"clauses", "columns"}:
        return False
    clauses, columns = data["clauses"], data["columns"]
    return (
        isinstance(clauses, dict)
        and isinstance(columns, list)
        and all(isinstance(one, list) and len(one) == 2 and all(isinstance(x, str) for x in one) for one in columns)
    )


def declared_otherwise(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What differs, in a user's words."""
    was, is_ = old["clauses"], new["clauses"]
    said = [
        f"{clause} was {was.get(clause) or 'none'} and is {is_.get(clause) or 'none'}"
        for clause in {**is_, **was}
        if was.get(clause) != is_.get(clause)
    ]
    before, now = dict(old["columns"]), dict(new["columns"])
    said += [_otherwise(name, text, now[name]) for name, text in before.items() if now.get(name, text) != text]
    said += [f"column {with_stream(name)} is read and was not" for name in now if name not in before]
    said += [f"column {with_stream(name)} was read and is not" for name in before if name not in now]
    return [*dict.fromkeys(said)] or [f"the columns that are read had the order {', '.join(before)}"]


def _otherwise(name: str, was: str, now: str) -> str:
    if len(was) + len(now) > _LONG:
        return f"column {with_stream(name)} is not computed as it was"
    return f"column {with_stream(name)} was {was} and is {now}"
