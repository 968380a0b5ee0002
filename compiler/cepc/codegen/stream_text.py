"""The part of a job that is about one stream: its schema, its letters, its plan, and four functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cepc_runtime.plan.windows import Unbounded
from cepc_runtime.spark.encoding import needs_encoding
from cepc_runtime.sql.computed import aside
from cepc_runtime.sql.evaluate.evaluator import can_fail
from cepc_runtime.sql.expression import Literal, fields
from cepc_runtime.sql.spark_sql import to_sql
from cepc_runtime.sql.types import is_orderable, quote_name

from ..planning.event_sql import column_of, ticks
from ..planning.plan import member_plan
from .plan_text import plan_text
from .python import Code, PythonText, call, comment, lay_out, listed, mapped, string, tupled
from .spark_types import struct_type
from .stream_job import ALWAYS, type_text
from .streaming import milliseconds, streamed, streamed_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cepc_runtime.events.segments import Segments
    from cepc_runtime.plan.strategy import NativeAggregate, NativeQuery
    from cepc_runtime.plan.windows import TimeParts
    from cepc_runtime.sql.computed import Computed, StreamInput
    from cepc_runtime.sql.expression import Aggregate, Expression, Field
    from cepc_runtime.sql.types import DataType

    from .. import model
    from .names import StreamNames
    from .stream_job import LetterSql, StreamJob


_ROWS: Final = "The rows of all queries; each partition is sorted by group, and the kernel runs over it once."


def stream_text(job: StreamJob, names: StreamNames, program: model.CheckedProgram) -> list[str]:
    """A title, the constants, and each function."""
    name, constant = names.word, names.constant
    functions = {query.name: names.queries[query.name] for query in job.native}
    return [
        comment(f"---- stream {job.stream.name} ".ljust(118, "-")),
        _constants(job, constant, program),
        _events(job, name, constant),
        *([_rows(job, name, constant)] if job.kernel.queries else []),
        *(_native(query, functions[query.name], constant) for query in job.native),
        _results(job, name, functions),
        streamed(job, constant),
    ]


def _options(stream: model.Stream) -> dict[str, PythonText]:
    """Of the source, if it has any."""
    if not stream.options:
        return {}
    return {"options": tupled(tupled(map(string, option)) for option in stream.options)}


def _labels(job: StreamJob) -> dict[str, PythonText]:
    """Of its queries, if any has some."""
    if not job.labels:
        return {}
    return {"labels": mapped((name, mapped((n, string(v)) for n, v in labels)) for name, labels in job.labels)}


# ---- constants -------------------------------------------------------------------------------------------------------


def _declared(stream: model.Stream, given: StreamInput, queries: Iterable[str], **more: PythonText) -> PythonText:
    """A stream, with what is computed of its input."""
    source = Code("None") if stream.source is None else tupled(map(string, stream.source))
    return call(
        "job.Stream",
        name=string(stream.name),
        schema=struct_type(stream.input.columns),
        required=tupled(string(c) for c in (stream.time.column, stream.type_column) if c is not None),
        source=source,
        queries=tupled(map(string, queries)),
        **_computed(stream, given),
        **_options(stream),
        **({} if stream.query is None else {"query": string(stream.query.name)}),
        **more,
    )


def _merged(job: StreamJob, queries: Iterable[str], program: model.CheckedProgram) -> PythonText:
    """Several streams as one."""
    plan = job.plan.stream
    members = []
    for member in job.stream.members:
        stream, own = program.stream(member.stream), member_plan(program, member, plan)
        columns = {column.name: column.expression for column in member.columns}
        types = Code("None") if own.raw_types is None else tupled(map(string, own.raw_types))
        members.append(
            call(
                "job.JobMember",
                _declared(stream, stream.input.needed([name for name, _ in own.columns]), ()),
                columns=tupled(
                    tupled((string(name), string(_as_column(columns[name], type_)))) for name, type_ in plan.given
                ),
                types=types,
                watermark=Code(f"{milliseconds(stream.time.watermark, plan.unit):_}"),
                **_without(job, member, program),
            )
        )
    return call(
        "job.Stream",
        name=string(job.stream.name),
        schema=struct_type(plan.given),
        required=tupled(string(c) for c in (job.stream.time.column, job.stream.type_column) if c is not None),
        source=Code("None"),
        queries=tupled(map(string, queries)),
        members=tupled(members),
        **_labels(job),
    )


def _without(job: StreamJob, member: model.MergedMember, program: model.CheckedProgram) -> dict[str, PythonText]:
    """The queries that see other streams alone, if there are some."""
    of = {query.name: [one.name for one in program.members(query.stream)] for query in program.queries}
    names = [query.name for query in job.plan.queries if member.stream not in of[query.name]]
    return {"without": tupled(map(string, names))} if names else {}


def _as_column(expression: Expression, type_: DataType) -> str:
    match expression:
        case Literal(None):
            return f"CAST(NULL AS {type_.sql})"
    return to_sql(expression, column_of)


def _constants(job: StreamJob, constant: str, program: model.CheckedProgram) -> str:
    """Of a stream as a batch and with --mode stream."""
    blocks = [*_declaration(job, constant, program), *_types(job, constant), *_letters(job, constant)]
    return "\n\n".join([*blocks, *_beside(job, constant), *_plain(job, constant), *_kernel(job, constant)])


def streamed_text(job: StreamJob, names: StreamNames, program: model.CheckedProgram) -> list[str]:
    """A title, and the constants, of a stream that is another with --mode stream than in a batch."""
    constant = names.constant
    return [
        comment(f"---- stream {job.stream.name}, with --mode stream ".ljust(118, "-")),
        *_declaration(job, constant, program),
        *_letters(job, constant),
        *_beside(job, constant),
        *_plain(job, constant),
        *_plan(job, constant),
        streamed(job, constant),
    ]


def _declaration(job: StreamJob, constant: str, program: model.CheckedProgram) -> list[str]:
    names = [q.name for q in job.plan.queries]
    several = bool(job.stream.members)
    declared = _merged(job, names, program) if several else _declared(job.stream, job.input, names, **_labels(job))
    return [lay_out(declared, before=f"{constant} = ")]


def _types(job: StreamJob, constant: str) -> list[str]:
    types = job.plan.stream.raw_types
    if types is None or job.stream.type_column is None:
        return []
    return [lay_out(listed(map(string, types)), before=f"{constant}_TYPES = ")]


def _letters(job: StreamJob, constant: str) -> list[str]:
    title = "# Letter i is the events of this type for which this is true; the plan knows events by their letters."
    return [f"{title}\n{lay_out(listed(map(_letter, job.letters)), before=f'{constant}_LETTERS = ')}"]


def _beside(job: StreamJob, constant: str) -> list[str]:
    """What is of other events."""
    if not job.beside:
        return []
    others = listed(
        call("job.OtherColumn", string(one.name), string(one.sql), tupled(map(string, one.queries)))
        for one in job.beside
    )
    title = comment("Columns of the events before and after, among all of a partition in canonical order.")
    blocks = [f"{title}\n{lay_out(others, before=f'{constant}_BESIDE = ')}"]
    if job.lags is not None:
        title = comment(
            "What a stream knows of each letter as an event comes, and the rest when those before are known."
        )
        blocks.append(f"{title}\n{lay_out(listed(map(_letter, job.known)), before=f'{constant}_KNOWN = ')}")
        blocks.append(plan_text(job.lags, f"{constant}_LAGS"))
    return blocks


def _plain(job: StreamJob, constant: str) -> list[str]:
    if not job.native:
        return []
    title = comment("Queries that Spark answers alone in a batch, as a stream has them.")
    return [f"{title}\n{plan_text(streamed_plan(job), f'{constant}_PLAIN')}"]


def _kernel(job: StreamJob, constant: str) -> list[str]:
    """What workers do in a batch."""
    if not job.kernel.queries:
        return []
    classes = listed(
        call(
            "job.Class",
            keys=tupled(map(string, one.keys)),
            queries=tupled(Code(str(q)) for q in one.queries),
            letters=Code("None") if one.letters is None else tupled(Code(str(i)) for i in one.letters),
            **({} if one.panes is None else {"panes": _panes(one.panes)}),
            **({} if one.segments is None else {"segments": _segments(one.segments)}),
            **({} if one.able is None else {"able": tupled(Code(str(i)) for i in one.able)}),
        )
        for one in job.classes
    )
    title = "# Queries that need the same events in one place: queries and letters by their number."
    return [f"{title}\n{lay_out(classes, before=f'{constant}_CLASSES = ')}", *_plan(job, constant)]


def _plan(job: StreamJob, constant: str) -> list[str]:
    if not job.kernel.queries:
        return []
    title = "# What the kernel does: automata, conditions over several events, results."
    return [f"{title}\n{plan_text(job.kernel, f'{constant}_PLAN')}"]


def _computed(stream: model.Stream, wanted: StreamInput) -> dict[str, PythonText]:
    computed = wanted.computed
    if not computed:
        return {}
    names, given = [column.name for column in computed], dict(stream.input.columns)

    def column(leaf: Field | Aggregate) -> str:
        name = column_of(leaf)
        return aside(name, names) if name in given else name

    clauses = (stream.time.column, stream.type_column)
    keys = dict.fromkeys(stream.input.source_of(name) for name in clauses if name is not None)
    first = stream.input.needed([name for name in clauses if name is not None]).computed
    return {
        "computed": tupled(_computed_column(one, column, one in first) for one in computed),
        "keys": tupled(string(key) for key in keys if key is not None),
    }


def _computed_column(computed: Computed, column: Callable[[Field | Aggregate], str], first: bool) -> PythonText:
    expression = computed.expression
    more: dict[str, PythonText] = {}
    if _told(computed):
        more["read"] = tupled(string(column(field)) for field in fields(expression))
        if first:
            more["first"] = Code("True")
    return call("job.ComputedColumn", string(computed.name), string(to_sql(expression, column)), **more)


def _told(computed: Computed) -> bool:
    """Whether a record without a value can be told from others; Spark has no hash of a map."""
    return can_fail(computed.expression) and is_orderable(computed.expression.type)


def _segments(cut: Segments) -> PythonText:
    begin = {"begin": Code(str(cut.begin))} if cut.begin else {}
    return call("job.Segments", length=Code(str(cut.length)), overlap=Code(str(cut.overlap)), **begin)


def _panes(cut: TimeParts) -> PythonText:
    begin = {"begin": Code(str(cut.begin))} if cut.begin else {}
    return call("job.TimeParts", length=Code(str(cut.length)), **begin)


# ---- functions -------------------------------------------------------------------------------------------------------


def _column(name: str) -> PythonText:
    return string(_bare(name))


def _bare(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else quote_name(name)


def _col(name: str) -> str:
    return f"F.col({string(_bare(name)).text})"


def _events(job: StreamJob, name: str, constant: str) -> str:
    stream = job.stream
    time, type_ = stream.time.column, stream.type_column
    absent = call("job.absent", string(time), string(type_) if type_ is not None else Code("None"))
    select = call(".select", *map(_column, job.read))
    known = [f"{_col(c)}.isNotNull()" for c in (time, type_) if c is not None]
    of_type = Code("None") if type_ is None else string(type_text(stream, type_))
    letters = call(".select", *map(_column, job.passed), Code(f"*job.letters({of_type.text}, {constant}_LETTERS)"))
    lines = [
        f"def {name}_events(events: DataFrame, dropped: Observation | None = None) -> DataFrame:",
        '    """The events that some query looks at, with their letters."""',
    ]
    if job.input.computed:
        lines.append(f"    events = job.with_computed(events, {constant})")
    where = ""
    if job.plan.stream.raw_types is not None and type_ is not None:
        of_type_text = type_text(stream, type_)
        wanted = _col(type_) if of_type_text == quote_name(type_) else f"F.expr({string(of_type_text).text})"
        lines += [
            "    # Events without a time or a type are counted; the filter as a whole is one that a scan can use.",
            f"    needed = {wanted}.isin({constant}_TYPES) | {_col(type_)}.isNull() | {_col(time)}.isNull()",
        ]
        where = ".where(needed)"
    first = job.input.needed([c for c in (time, type_) if c is not None]).computed
    if any(_told(column) and column not in first for column in job.input.computed):
        lines.append(f"    events = events{where}.where(job.computable({constant}))")
        where = ""
    lines += [
        f"    found = {lay_out(select, 4, before='events', after=where)}",
        "    if dropped is not None:",
        f"        found = found.observe(dropped, *{lay_out(absent, 8)})",
    ]
    known_only = f".where({' & '.join(known)})"
    beside = [f".transform(job.with_beside, {constant}_BESIDE)"] * bool(job.beside)
    if _all_have_letters(job) or any(one.letters is None for one in job.classes):  # a query is CONTIGUOUS
        return "\n".join(
            [
                *lines,
                f"    found = found{known_only}",
                *(f"    found = found{one}" for one in beside),
                f"    {lay_out(letters, 4, before='return found')}",
            ]
        )
    chain = [known_only, *beside, lay_out(letters, 8), f".where(job.has_letter(len({constant}_LETTERS)))"]
    return "\n".join([*lines, *_chain("found", chain)])


def _letter(letter: LetterSql) -> PythonText:
    return tupled([Code("None") if letter.type is None else string(letter.type), string(letter.condition)])


def _all_have_letters(job: StreamJob) -> bool:
    """Whether every event of the types that are read has some letter."""
    always = {letter.type for letter in job.letters if letter.condition == ALWAYS}
    types = job.plan.stream.raw_types
    return None in always or (types is not None and always.issuperset(types))


def _chain(start: str, calls: list[str]) -> list[str]:
    """`return start.a(…).b(…)` in parentheses, a call a line."""
    first, *rest = calls
    return ["    return (", f"        {start}{first}", *(f"        {c}" for c in rest), "    )"]


def _rows(job: StreamJob, name: str, constant: str) -> str:
    order = [job.stream.time.column, *job.stream.time.order_by]
    lines = [
        f"def {name}_rows(events: DataFrame, queries: Collection[str], form: job.Form) -> DataFrame:",
        f'    """{_ROWS}"""',
        f"    classes = job.shares({constant}_CLASSES, {constant}_PLAN, queries)",
    ]
    ways = [
        *(["panes"] if any(one.panes is not None for one in job.classes) else []),
        *(["segments that overlap"] if any(one.segments and not one.keys for one in job.classes) else []),
    ]
    hot = any(one.segments and one.keys for one in job.classes)
    several = len(job.classes) > 1
    start = "events"
    if any(one.able is not None for one in job.classes):
        start = "able"
        lines += [
            "    # Few groups have an event that every match needs: they are found first, and the others go nowhere.",
            f"    able = job.in_able_groups(events, classes, len({constant}_LETTERS))",
        ]
    if several:
        lines += [
            "    # An event goes once to each class, so that one read and one shuffle serve them all.",
            f"    copies = job.copies({start}, classes, len({constant}_LETTERS))",
        ]
        start = "copies"
    if ways:
        lines.append(f"    # Without GROUP BY all events are one group, which is cut in time into {' or '.join(ways)}.")
    if hot:
        lines.append("    # Some groups have so many events that they are cut in time into segments that overlap.")
    if ways or hot:
        time = ticks(job.plan.stream, dict(job.plan.stream.columns)[job.stream.time.column])
        lines.append(f"    parts = job.cut({start}, classes, {string(time).text})")
        start = "parts"
    keys: list[PythonText] = []
    if start != "events" or job.classes[0].keys:
        lines.append("    keys = job.keys(classes)")
        keys = [Code("*keys")]
    by_order = [_column(c) for c in order]
    kernel = f"job.kernel({constant}_PLAN, classes, {'job.CLASS' if several else 'None'}, form)"
    chain = [
        lay_out(call(".repartition", *(keys or [Code("1")])), 8),
        # By keys alone, which takes a third of the time: the kernel sorts by time.
        lay_out(call(".sortWithinPartitions", *(keys or by_order)), 8),
        *([".transform(job.encoded)"] if needs_encoding(job.passed) else []),
        ".transform(form.in_tasks)",
        f".mapInArrow({kernel}, job.row_schema({constant}_PLAN, form))",
        ".where(job.no_error())",
        '.drop("error")',
    ]
    return "\n".join([*lines, *_chain(start, chain)])


def _native(query: NativeQuery, function: str, constant: str) -> str:
    """A function that answers the query without the kernel."""
    how = query.strategy
    keys = [_column(key) for key in query.group_by]
    start = "_pane" if how.windows is not None else "_window"
    chain = [
        f".where(job.has_letter(len({constant}_LETTERS), [{how.letter}]))",
        lay_out(call(".groupBy", *keys, _expr(how.pane, start)), 8),
        lay_out(call(".agg", *(_expr(part.of_events, part.name) for part in how.aggregates)), 8),
    ]
    if how.windows is not None:
        span, slide, offset = how.windows.span, how.windows.slide, how.windows.offset
        numbers = f"{span}, {slide}, {offset}" if offset else f"{span}, {slide}"
        windows = Code(f'F.explode(job.windows({numbers})).alias("_window")')
        chain.append(lay_out(call(".select", *keys, windows, *(string(part.name) for part in how.aggregates)), 8))
    chain += [
        lay_out(call(".groupBy", *keys, string("_window")), 8),
        lay_out(call(".agg", *(_expr(part.of_panes, part.name) for part in how.aggregates)), 8),
    ]
    if any(part.fitting for part in how.aggregates):
        values = (_fitting(part, query) for part in how.aggregates)
        chain.append(lay_out(call(".select", *keys, string("_window"), *values), 8))
    if how.having is not None:
        chain.append(lay_out(call(".where", string(how.having)), 8))
    chain.append(lay_out(call(".select", *(_expr(sql, column) for column, sql in how.outputs)), 8))
    title = [
        f"def {function}(events: DataFrame) -> DataFrame:",
        '    """An aggregate over single events, which needs no kernel: over panes, then over windows."""',
    ]
    return "\n".join([*title, *_chain("events", chain)])


def _fitting(part: NativeAggregate, query: NativeQuery) -> PythonText:
    if part.fitting is None:
        return string(part.name)
    name, type_ = string(part.name), string(part.fitting.type)
    if part.fitting.said is None:
        return call("job.fitting", name, type_, Code("None"))
    where = {} if isinstance(query.window, Unbounded) else {"window": tupled(map(string, query.strategy.edges))}
    keys = {"keys": listed(map(string, query.group_by))} if query.group_by else {}
    return call("job.fitting", name, type_, string(part.fitting.said), string(part.fitting.cure), **keys, **where)


def _expr(sql: str, name: str) -> PythonText:
    return Code(f"F.expr({string(sql).text}).alias({string(name).text})")


def _results(job: StreamJob, name: str, functions: Mapping[str, str]) -> str:
    rows = call("job.Rows", Code(f"{name}_rows(found, queries, form)"), Code(f"{name.upper()}_PLAN"))
    alone = mapped((query, Code(f"{function}(found)")) for query, function in functions.items())
    answers = call(
        "job.Answers",
        Code("found"),
        **({"rows": rows} if job.kernel.queries else {}),
        **({"alone": alone} if functions else {}),
    )
    lines = [
        f"def {name}_results(",
        "    events: DataFrame,",
        "    queries: Collection[str],",
        "    dropped: Observation | None,",
        "    form: job.Form,",
        ") -> job.Answers:",
        '    """What answers each query: the rows of the kernel, or Spark alone."""',
        f"    found = {name}_events(events, dropped)",
        f"    return {lay_out(answers, 4)}",
    ]
    return "\n".join(lines)
