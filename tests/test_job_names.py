"""The names of a generated job: whatever streams, queries and columns are called, each stands for one thing."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cepc.api import check_text
from cepc.codegen.compiling import job_of
from cepc.codegen.names import CONSTANTS, FUNCTIONS
from cepc_runtime.sql.types import quote_name
from tests.generated_jobs import names_of_job
from tests.properties import portion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def program(streams: Mapping[str, Sequence[str]], column: str = "x") -> str:
    """A program with these streams, and for each the queries that Spark answers alone; every stream has one for the
    kernel.
    """
    texts = []
    for number, (stream, queries) in enumerate(streams.items()):
        a, b = f"A{number}", f"B{number}"
        texts += [
            f"STREAM {quote_name(stream)} (at BIGINT, kind STRING, {quote_name(column)} INT)",
            f"EVENT TIME at UNIT s EVENT TYPE kind IN ('{a}', '{b}');",
            *(
                f"QUERY {quote_name(query)} RETURN COUNT(*) AS n PATTERN {a} FROM {quote_name(stream)} WITHIN 10 s;"
                for query in queries
            ),
            f"QUERY listed__{number} RETURN MATCH {a}.at AS a PATTERN SEQ({a}, {b}) FROM {quote_name(stream)} WITHIN 10 s;",
        ]
    return "\n".join(texts)


def job_text(text: str) -> str:
    checked = check_text(text)
    assert checked.program is not None, checked.text()
    return job_of(checked.program, checked.sources).text


def bound(text: str) -> list[str]:
    """The names bound at the top of a module, each as often as it is bound."""
    found: list[str] = []
    for statement in ast.parse(text).body:
        match statement:
            case ast.Import(names) | ast.ImportFrom(names=names):
                found += [alias.asname or alias.name for alias in names]
            case ast.FunctionDef(name):
                found.append(name)
            case ast.Assign(targets):
                found += [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return found


def hidden(text: str) -> set[str]:
    """The names of the module, or of Python, that a function of the job has for something of its own and another
    uses.
    """
    tree = ast.parse(text)
    return {
        name
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for name in locals_of(function) & {*bound(text), *dir(builtins)} - {"stream", "tables"}
    }


def locals_of(function: ast.FunctionDef) -> set[str]:
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)}


def assert_apart(text: str) -> None:
    names = Counter(bound(text))
    assert [name for name, times in names.items() if times > 1] == []
    assert names.keys() & set(dir(builtins)) == set()
    assert hidden(text) == set()


COLLIDING: dict[str, Mapping[str, Sequence[str]]] = {
    "a stream called like the import of functions": {"f": ["q"]},
    "a stream called like the import of types": {"t": ["q"]},
    "a stream called like the list of streams": {"streams": ["q"], "streamed": ["r"]},
    **{f"a stream called like a constant of another, {part}": {"orders": ["q"], f"orders_{part.lower()}": ["r"]} for part in CONSTANTS},
    **{f"the same the other way round, {part}": {f"orders_{part.lower()}": ["q"], "orders": ["r"]} for part in CONSTANTS},
    **{f"a query of one stream called like a function of another, {part}": {"a": [f"b_{part}"], "a_b": ["q"]} for part in FUNCTIONS},
    **{f"a query called like a function of its stream, {part}": {"a": [part]} for part in FUNCTIONS},
    "names that differ in characters that no identifier has": {"a-b": ["x.y", "x y"], "a b": ["x+y"], "a_b": ["x_y"]},
    "names without any character for an identifier": {"日本": ["中"], "¿?": ["!"], "s": ["s"]},
}  # fmt: skip


@pytest.mark.parametrize("streams", COLLIDING.values(), ids=COLLIDING)
def test_no_name_stands_for_two_things(streams: Mapping[str, Sequence[str]]) -> None:
    text = job_text(program(streams))
    assert_apart(text)
    compile(text, "job", "exec")


def test_each_stream_is_answered_by_its_own_functions() -> None:
    text = program({"a": ["b_events", "b_rows"], "a_b": ["q"], "a_b_2": ["r"]})
    namespace = names_of_job(text)
    for part in namespace["JOB"].parts:
        events, *others = [n for n in part.results.__code__.co_names if n in namespace and n not in ("job",)]
        assert events.endswith("_events")
        word = events.removesuffix("_events")
        assert namespace[word.upper()] is part.stream
        assert namespace[events] is part.events
        assert all(name.lower().startswith(word) for name in others)


WORDS = ("a", "b", "f", "t", "job", "sys", "events", "rows", "results", "types", "plan", "plain", "letters", "classes", "stream",
         "streams", "streamed", "streams_2", "matches", "build", "main", "tables", "print", "none", "class", "def", "2",
         "s")  # fmt: skip
names = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("_".join) | st.text(min_size=1, max_size=6)
hostile = names.filter(lambda name: name.strip() != "" and "\0" not in name)
apart = st.lists(hostile, min_size=1, max_size=5, unique_by=str.casefold)


@pytest.mark.unhurried
@given(streams=apart, queries=apart, column=hostile, data=st.data())
@settings(max_examples=portion(50))
def test_no_name_stands_for_two_things_whatever_streams_queries_and_columns_are_called(
    streams: list[str], queries: list[str], column: str, data: st.DataObject
) -> None:
    asked: dict[str, list[str]] = {stream: [] for stream in streams}
    for query in queries:
        asked[data.draw(st.sampled_from(streams))].append(query)
    checked = check_text(program(asked, column))
    assume(checked.program is not None)
    assert checked.program is not None
    assert_apart(job_of(checked.program, checked.sources).text)
