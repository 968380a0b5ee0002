"""What a format of events is: a `Reader`, at the end of the module that reads it. `readers.py` lists them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cepc_runtime.cheap_dataclass import dataclass

from .bad_records import BadRecord
from .files import OptionError
from .uses import NONE_KNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from cepc_grammar.diagnostic import Diagnostic
    from cepc_runtime.numbers.columns import Ints
    from cepc_runtime.sql.types import DataType

    from .bad_records import Wrong
    from .files import DataFile
    from .uses import Uses

ColumnTypes = tuple[tuple[str, "DataType"], ...]
FormatOptions = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read of a file: `columns`; `declared`, which has these and the stream's others, must be there. Not more
    bad records than `most` are looked for, if that is a number. A reader may give the strings of the column `encoded`
    with a dictionary, and parse text on so many `threads`. `uses` says what the columns are for, if it is known.
    """

    stream: str
    columns: ColumnTypes
    declared: ColumnTypes
    most: int | None = 1
    encoded: str | None = None
    threads: int = 1
    uses: Uses = NONE_KNOWN

    def without(self, names: Collection[str]) -> Wanted:
        """What is left to read where some columns come from elsewhere."""
        columns, declared = (tuple(c for c in these if c[0] not in names) for these in (self.columns, self.declared))
        return replace(self, columns=columns, declared=declared)


@dataclass(frozen=True, slots=True)
class Batch:
    """`table` has the wanted columns, or is None where nothing was found; so many bytes of the file are `done`. What is
    `wrong` with records is said, and they are not in the table, whose rows have these `numbers` then; without them they
    follow each other. In the `cut` columns times were finer than a microsecond.
    """

    table: Any
    done: int
    keys: frozenset[str] = frozenset()  # of a format without a schema: which of the wanted columns occur
    wrong: tuple[Wrong, ...] = ()
    numbers: Ints | None = None
    cut: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Looked:
    """Some records of a file, or the `whole` of them: an Arrow table, or parsed objects. `bad` counts records that are
    none. `instants` are times that are a TIMESTAMP whatever Arrow says; of values that `are_text` the types are still
    to be guessed.
    """

    rows: Any
    whole: bool
    bad: int = 0
    instants: tuple[str, ...] = ()
    are_text: bool = False


def without_options(options: FormatOptions) -> None:
    """For a format that has none. Raises OptionError."""
    if options:
        raise OptionError(f"there is no option `{options[0][0]}`, nor any other")


def spread(count: int, most: int = 8) -> list[int]:
    """The indices of not more than `most` of so many things, the first and the last included.

    >>> spread(3), spread(100, 4)
    ([0, 1, 2], [0, 33, 66, 99])
    """
    return list(range(count)) if count <= most else [i * (count - 1) // (most - 1) for i in range(most)]


def no_guess(_file: DataFile) -> FormatOptions:
    """For a format that has no options."""
    return ()


def without_lines(file: DataFile, wrong: Sequence[Wrong]) -> Iterator[BadRecord]:
    """The bad records of a format that has no lines."""
    return (BadRecord(file.name, one) for one in wrong)


class NotThisFormatError(Exception):
    """The content of a file is of another format than its reader's."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A format.

    `problems` says what is wrong with a file's columns before a row of any file is read, or raises NotThisFormatError;
    `batches` has the wanted columns of a file without problems, in the Arrow types of the declared ones. Of a format
    without a schema, where a column that a row does not have is null, `keys_of` has the columns of the first rows.
    `shown` has the bad records of a file with their lines. All raise DataError. `check_options` raises OptionError
    for an option that the format does not have.

    `look` takes about so many records of a file, to guess a STREAM from, and `guess_options` says how the file seems to
    be written. Without `look` there is no guessing.
    """

    name: str  # in `--input-format`, in FROM, and for Spark
    title: str  # in messages
    suffixes: tuple[str, ...]  # of its files; messages name these, and not the `aliases`
    looks_like: Callable[[bytes], bool]  # the first bytes of a file
    problems: Callable[[DataFile, Wanted], list[Diagnostic]]
    batches: Callable[[DataFile, Wanted], Iterator[Batch]]
    shown: Callable[[DataFile, Sequence[Wrong]], Iterator[BadRecord]] = without_lines
    keys_of: Callable[[DataFile], list[str]] | None = None
    aliases: tuple[str, ...] = ()
    is_text: bool = True  # which may be compressed as a whole, as in `.csv.gz`
    check_options: Callable[[FormatOptions], object] = without_options
    look: Callable[[DataFile, int], Looked] | None = None
    guess_options: Callable[[DataFile], FormatOptions] = no_guess
    detail: str = ""  # after the title in `--help`
