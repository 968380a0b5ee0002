"""What people write who know SQL, regular expressions or another language of events, and how it is said here.

Each habit is a function of one name in HABITS: a diagnostic where it recognises the mistake, else None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import brackets, calls, cases, clauses, columns, foreign, operators, patterns, statements, values
from .common import shown_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..diagnostic import Diagnostic
    from ..spot import Spot

__all__ = ["HABITS", "shown_text"]

# The order matters where two recognise the same place: the more specific one stands first.
HABITS: tuple[Callable[[Spot], Diagnostic | None], ...] = (
    patterns.negative_number,
    foreign.foreign,
    foreign.skip_to,
    foreign.absence_for,
    foreign.repetition,
    patterns.other_brackets,
    patterns.where_inside,
    patterns.within_inside,
    patterns.where_mistyped,
    foreign.filter_in_pattern,
    foreign.duration_in_expression,
    calls.words_for_commas,
    operators.operator,
    values.quote_in_text,
    values.parameter,
    values.quoted_column,
    values.function_of_values,
    cases.question,
    cases.if_else,
    cases.unfinished,
    statements.unknown_character,
    statements.other_comments,
    statements.reserved,
    statements.statement_begins,
    statements.equals_for_as,
    statements.interval_type,
    columns.type_of_several_words,
    columns.array_in_brackets,
    columns.name_of_several_words,
    columns.event_types_without_quotes,
    statements.query_without_name,
    statements.hyphen_in_name,
    statements.text_for_name,
    statements.select_in_event,
    statements.condition_in_event,
    statements.connector,
    clauses.other_language,
    operators.over,
    clauses.distinct_rows,
    clauses.select,
    clauses.sql_clause,
    statements.comma_before_pattern,
    patterns.lone_negation,
    statements.source_without_format,
    statements.rows_of_a_query,
    statements.rows_of_a_test,
    statements.constraint,
    statements.import_of_several,
    statements.types_of_a_function,
    statements.body_of_a_function,
    clauses.labels,
    clauses.session,
    clauses.outside_within,
    clauses.slide_behind_offset,
    brackets.unclosed_bracket,
    brackets.closes_nothing,
    patterns.sequence,
    patterns.pattern_operators,
    patterns.from_to,
    patterns.up_to,
    clauses.group_by,
    clauses.equivalence,
    clauses.star_of_variable,
    clauses.comma_in_number,
    clauses.method,
    operators.call,
    operators.value_in,
    operators.none_as_null,
    operators.between_of_two,
    operators.underscore_in_number,
    clauses.second_duration,
    clauses.conjunction,
    clauses.joined_twice,
    clauses.duration,
    statements.ends_before_clause,
)
