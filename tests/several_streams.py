"""Random programs over two streams: those of `programs.py`, with the types of their events divided among `one` and `two`.

A case has its rows as they were, each with the stream that it is of, so that the tools for cases of one stream go on
working; `by_stream` gives what each stream is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cepc.planning import plan_program
from cepc_runtime.sql.types import to_arrow
from tests import oracle
from tests.equivalence import Refused, answers_over, checked_text

if TYPE_CHECKING:
    from random import Random

    from cepc import model
    from cepc_grammar import ast
    from tests.programs import Case, Make

HEADER = re.compile(r"STREAM s \((.*?)\)\nEVENT TIME (.*?)\nEVENT TYPE kind IN \(.*?\);\n", re.DOTALL)
WINDOW = re.compile(r"(QUERY [^;]*)(WITHIN (?:(?!WITHIN)[^;])*;)")
OF = "of stream"
KINDS = ("A", "B", "C", "D")

Rows = dict[str, list[dict[str, Any]]]


def two_streams(make: Make) -> Make:
    """The same programs, over two streams."""
    return lambda chance: divided(chance, make(chance))


def beside_wider(make: Make) -> Make:
    """The same programs over two streams that are much alike, of which one has nearly all types, and for each query
    over one of them another over both that agrees on the same columns.
    """

    def drawn(chance: Random) -> Case:
        case = divided(chance, make(chance), alike=True)
        try:
            program = checked_text(case.text)[1]
            wider = [_wider(chance, query) for query in program.queries if not program.stream(query.stream).members]
            found = replace(case, text=case.text + "".join(wider))
            checked_text(found.text)
        except Refused:  # of the wider ones: a column that the streams have in types that do not compare
            return case
        return found

    return drawn


def _wider(chance: Random, query: model.Query) -> str:
    agreed = f" WHERE [{', '.join(query.partition)}]" if query.partition else ""
    pattern = chance.choice(("ANY a", "SEQ(ANY a, ANY b)"))
    return f"QUERY wider_{query.name} RETURN COUNT(*) AS n FROM one, two PATTERN {pattern}{agreed} WITHIN 2 SECONDS;\n"


def divided(chance: Random, case: Case, *, alike: bool = False) -> Case:
    """The case with its events divided among two streams."""
    columns, time = HEADER.search(case.text).groups()  # type: ignore[union-attr]
    queries = HEADER.sub("", case.text)
    most = chance.choice(("one", "two"))
    of = {kind: most if alike else chance.choice(("one", "two")) for kind in KINDS}
    if len({*of.values()}) == 1:
        of[chance.choice(KINDS)] = "two" if of["A"] == "one" else "one"
    both = chance.choice("CD") if chance.random() < 0.25 else None
    if both is not None and re.search(rf"\w_\w+\({both}\b|\b{both}\) WHERE", queries):
        both = None
    rows = tuple({**row, OF: _of(chance, row["kind"], of, both)} for row in case.rows)
    if both is not None:
        queries = re.sub(rf"\b{both}\b", f"{of[both]}.{both}", queries)
    texts = []
    untyped = None
    for name in ("one", "two"):
        types = [kind for kind in KINDS if of[kind] == name or kind == both]
        if len(types) == 1 and types[0] in "CD" and both is None and "Kind" not in columns and chance.random() < 0.5:
            untyped = types[0]
            queries = re.sub(rf"\b{untyped}\b", name, queries)
        texts.append(_stream(chance, name, columns, time, types, alike=alike, typed=untyped not in types))
    chance.shuffle(texts)
    if not alike:
        queries = WINDOW.sub(lambda found: found[1] + _from(chance, found[1]) + found[2], queries)
    return replace(case, text="".join(texts) + queries, rows=rows)


def _of(chance: Random, kind: Any, of: dict[str, str], both: str | None) -> str:
    kind = kind if isinstance(kind, str) else "A"
    return chance.choice(("one", "two")) if kind == both else of.get(kind.upper(), "one")


def _from(chance: Random, query: str) -> str:
    return "FROM one, two\n  " if chance.random() < (0.9 if "ANY" in query else 0.6) else ""


def _stream(chance: Random, name: str, columns: str, time: str, types: list[str], *, alike: bool, typed: bool) -> str:
    """A stream whose columns are often of other types than those of the other, or called otherwise."""
    more = f",\n  only_{name} AS CONCAT('{name}', g)"
    if name == "two":
        for column in ("word", "k", "x"):
            if chance.random() < (0.1 if alike else 0.4):
                columns = columns.replace(f"{column} INT,", f"{column} BIGINT,")
        more += "" if alike else ",\n  other AS seq"
        if chance.random() < 0.5:
            more += ",\n  then AS at"
            time = re.sub(r"^at\b", "then", time)
        if chance.random() < 0.3:
            time = time.replace(" ORDER BY seq", "")
    elif not alike:
        more += ",\n  other AS g"
    kinds = ", ".join(f"'{kind}'" for kind in types)
    type_ = f"\nEVENT TYPE kind IN ({kinds})" if typed else ""
    return f"STREAM {name} ({columns.rstrip()}{more}\n)\nEVENT TIME {time}{type_};\n"


# ---- running them ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compiled:
    tree: ast.Program
    program: model.CheckedProgram


@lru_cache(16)
def compile_text(text: str) -> Compiled:
    tree, checked = checked_text(text)
    if plan_program(checked).diagnostics:
        raise Refused("too large")
    return Compiled(tree, checked)


def by_stream(case: Case) -> Rows:
    """The rows of each stream, in order."""
    found: Rows = {"one": [], "two": []}
    for row in case.rows:
        found[row[OF]].append({name: value for name, value in row.items() if name != OF})
    return found


def tables(case: Case, compiled: Compiled) -> dict[str, pa.Table]:
    """What each stream is given."""
    rows = by_stream(case)
    return {
        stream.name: pa.Table.from_pylist(
            rows[stream.name], schema=pa.schema([(name, to_arrow(type_)) for name, type_ in stream.input.columns])
        )
        for stream in compiled.program.streams
    }


def answered(case: Case, compiled: Compiled) -> dict[str, oracle.Answer] | None:
    """As `equivalence.answered`; matches have the places of their events in the rows of the case."""
    places: dict[str, list[int]] = {"one": [], "two": []}
    for place, row in enumerate(case.rows):
        places[row[OF]].append(place)
    found = answers_over(by_stream(case), compiled)
    return None if found is None else {name: _in_case(answer, places, compiled, name) for name, answer in found.items()}


def _in_case(answer: oracle.Answer, places: dict[str, list[int]], compiled: Compiled, query: str) -> oracle.Answer:
    stream = next(q.stream for q in compiled.program.queries if q.name == query)

    def place(at: Any) -> int:
        of, number = at if isinstance(at, tuple) else (stream, at)
        return places[of][number]

    return oracle.Answer(
        answer.rows, frozenset(frozenset((place(at), variable) for at, variable in one) for one in answer.matches)
    )
