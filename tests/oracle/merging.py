"""Several streams as one: which columns their events have in common, and what a name means for an event of one of them
(docs/language.md, "Several streams in one pattern").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from typing import cast as assume

from .casts import cast
from .errors import Unsupported
from .expressions import field_of
from .typed import Typed
from .types import STRING, Type, common, normal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cepc_grammar import ast

Row = Mapping[str, object]

TAKEN = ("stream", ".place", ".time", ".type")

OF = ".of"
"""In a row: the stream that it is of."""


@dataclass
class Merged:
    """`columns` are those of all streams, as RETURN MATCH * shows them, each of them with what it is called in each
    stream that has it in `called`; `own` are those of each, and `shared` those that have a name in a program.
    `variables` says of which stream the events of a variable are, where they are of one.
    """

    columns: dict[str, Type]
    own: dict[str, dict[str, Type]]
    called: dict[str, dict[str, str]]
    shared: dict[str, Type]
    variables: dict[str, str] = field(default_factory=dict)

    def row(self, stream: str, row: Row) -> Row:
        return {**row, OF: stream}

    def value(self, row: Row, name: str) -> Any:
        """The value of a column that all streams share: in the type of the shared one, null where the stream has none."""
        stream = str(row[OF])
        own = self.called[name].get(stream)
        value = None if own is None else row.get(own)
        return None if value is None or own is None else cast(value, self.own[stream][own], self.columns[name])

    def column(self, parts: tuple[ast.Name, ...], key: object) -> Typed:
        """As `Events.column`: of a variable whose events are of one stream the column of that."""
        name = parts[0].text
        variable = key[1] if isinstance(key, tuple) else key
        stream = None if variable is None else self.variables.get(str(variable))
        columns = self.shared if stream is None else self.own[stream]
        if name not in columns:
            raise Unsupported(f"no column {name}")

        def run(env: Mapping[object, object]) -> Any:
            row = assume("Row | None", env[key])
            if row is None:
                return None
            return self.value(row, name) if stream is None else row.get(name)

        typed = Typed(columns[name], run)
        for part in parts[1:]:
            typed = field_of(typed, part.text)
        return typed


def merged(own: dict[str, dict[str, Type]]) -> Merged:
    """Columns of one name are one, of the type that they have in common; where they have none, or their names differ in
    case, and where the name is one of those of several streams themselves, they are apart, each as `orders.x` and with
    as many `'` as make it no name of a column or field.
    """
    spelled: dict[str, list[tuple[str, str, Type]]] = {}
    for stream, columns in own.items():
        for name, kind in columns.items():
            spelled.setdefault(name.casefold(), []).append((stream, name, kind))
    apart = {key for key, found in spelled.items() if len({name for _, name, _ in found}) > 1 or key in TAKEN}
    found: dict[str, Type] = {}
    for key, same in spelled.items():
        kinds = [kind for _, _, kind in same]
        try:
            if len({kind == STRING for kind in kinds}) > 1:
                raise Unsupported("a text and something else")
            whole = kinds[0]
            for kind in kinds[1:]:
                whole = common(whole, kind)
            found[key] = whole
        except Unsupported:
            apart.add(key)
    names = {name for columns in own.values() for column, kind in columns.items() for name in _paths(column, kind)}
    whole_columns: dict[str, Type] = {}
    called: dict[str, dict[str, str]] = {}
    shared: dict[str, Type] = {}
    for stream, columns in own.items():
        for name in columns:
            key = name.casefold()
            shown, kind = (f"{stream}.{name}", columns[name]) if key in apart else (name, found[key])
            while key in apart and (shown.casefold() in names or shown in whole_columns):
                shown += "'"
            if key not in apart:
                shared[name] = kind
            whole_columns.setdefault(shown, kind)
            called.setdefault(shown, {})[stream] = name
    return Merged(whole_columns, own, called, shared)


def _paths(name: str, kind: Type) -> Iterator[str]:
    """What a program may call the column and the fields in it, in lower case."""
    yield name.casefold()
    for one in kind.fields:
        yield from _paths(f"{name}.{one.name.text}", normal(one.type))
