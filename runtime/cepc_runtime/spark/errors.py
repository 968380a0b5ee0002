"""What an error of Spark's says, in one sentence: no trace, no plan."""

from __future__ import annotations

import re
from typing import Any, Final

import pyspark
from pyspark.errors import PySparkException

__all__ = [
    "SPARK_ERRORS",
    "Py4JJavaError",
    "may_be_of_a_record",
    "out_of_space",
    "package_for",
    "sentence",
    "submit_with",
]

try:
    from py4j.protocol import Py4JJavaError
except ImportError:  # a client without a JVM
    Py4JJavaError = PySparkException

SPARK_ERRORS: Final[Any] = (PySparkException, Py4JJavaError)
"""What PySpark raises: the second where it has no class of its own for the JVM's error, as for a file that cannot be
read.
"""

_CLASS: Final = re.compile(r"\[([A-Z][A-Z0-9_]+)(?:\.[A-Z0-9_]+)?\] (.*?)(?: *SQLSTATE|\n|$)")
"""Spark's own errors have a class in brackets; causes follow what they caused."""

_OURS: Final = "USER_RAISED_EXCEPTION"
OF_RECORD: Final = "cannot be computed of the record"
_FILE: Final = re.compile(r"reading file (\S+?)\.?(?: +(.*))?$")
_UNIMPORTANT: Final = frozenset(
    ["TASK_WRITE_FAILED", "INTERNAL_ERROR", "FAILED_READ_FILE", "STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR"]
)


_IN_JVM: Final = re.compile(r"^(?:Caused by)?: ([\w.$]+)(?:: (.*))?$", re.MULTILINE)
_UNMADE: Final = re.compile(r"Mkdirs failed to create (\S+?)(?:/_temporary\S*)? \(")

_OTHER_TYPE: Final = re.compile(r"UnsupportedOperationException: org\.apache\.parquet\.column\.values\.dictionary\.\S+")
"""Parquet finds values of a type that it cannot make of them what is asked for."""

_NANOS: Final = re.compile(r"Illegal Parquet type: INT64 \(TIMESTAMP\(NANOS")

_HEADER: Final = re.compile(
    r"CSV header does not conform to the schema\.\s+Header: (.*?)\s+Schema: (.*?)\s+Expected: .*?CSV file: (\S+)",
    re.DOTALL,
)
_LENGTH: Final = re.compile(
    r"Number of column in CSV header is not equal to number of fields in the schema:.*?CSV file: (\S+)", re.DOTALL
)

_LINKAGE: Final = re.compile(
    r"java\.lang\.(?:NoSuchMethod|NoSuchField|AbstractMethod|IncompatibleClassChange|NoClassDefFound)Error"
    r"|terminated with exception: '\S+ org\.apache\.spark\.[\w.$<>]+\("
)
"""A class was compiled against another one than is there; in a stream Spark leaves out the error's name."""

_NO_MODULE: Final = re.compile(r"^ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)
_RUNTIME: Final = __name__.partition(".")[0]
_RAISED: Final = re.compile(r"[\w.]+(?:Error|Exception)\b")
"""The line of a traceback of Python that says what was raised."""

_FULL: Final = re.compile(r"No space left on device|Disk quota exceeded")
_ON_FULL: Final = (
    re.compile(r"(/\S+) \((?:No space|Disk quota)"),
    re.compile(r"No space left on device: '([^']+)'"),
    re.compile(r"writing rows to (\S+?)\.?\s"),
)
_ABSENT: Final = re.compile(r"Failed to find the data source: (\w+)")
_PACKAGES: Final = {
    "delta": "io.delta:delta-spark_{}_2.13:VERSION",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-{}_2.13:VERSION",
}


_SETTINGS: Final = {
    "delta": " --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension"
    " --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog"
}
"""Without these a package is not enough."""

_DELTA_HAS: Final = (4, 2)
"""The newest line of Spark that Delta had a package for when this was written, as docs/spark.md says."""


def package_for(source: str) -> str | None:
    """What gives Spark a data source that it does not have by itself, each line of Spark its own: a package, or where
    there was none for this line, what it was of another.
    """
    name, line = _PACKAGES.get(source.lower()), pyspark.__version__.split(".")[:2]
    if name is None or source.lower() != "delta" or (int(line[0]), int(line[1])) <= _DELTA_HAS:
        return name and name.format(".".join(line))
    of_newest = name.format(".".join(map(str, _DELTA_HAS)))
    return (
        f"{of_newest} on Spark {_DELTA_HAS[0]}.{_DELTA_HAS[1]} (when cepc was made Delta had none for {'.'.join(line)})"
    )


def submit_with(source: str) -> str | None:
    """What spark-submit is to be given for a data source that Spark does not have by itself, if that is known."""
    package = package_for(source)
    return package and f"--packages {package}{_SETTINGS.get(source.lower(), '')}"


def sentence(error: Exception) -> str:
    """The innermost cause that is meant for people, after the file that was read, if that was it."""
    text = str(error)
    if _OURS not in text and (said := out_of_space(text) or _unmade(text)):
        return said
    if header := _header(text):
        return header
    if _OTHER_TYPE.search(text):
        return (
            "a Parquet file has a column of another type than is declared, such as UINT64 for BIGINT: declare the type"
            " that is written there (of UINT64 it is DECIMAL(20, 0)), or keep the file apart"
        )
    if _NANOS.search(text):
        return (
            "a Parquet file has times in nanoseconds, which Spark does not read: write them in microseconds (of pandas"
            " by `to_parquet(…, coerce_timestamps='us', allow_truncated_timestamps=True)`), or run it in process"
        )
    if _LINKAGE.search(text):
        return _of_another_spark(text)
    said = _cause(error, text)
    absent = _ABSENT.search(said)
    given = submit_with(absent[1]) if absent else None
    return f"{said} Run the job with spark-submit {given}" if given else said


def may_be_of_a_record(error: Exception) -> bool:
    """Whether a record of the input may be what is wrong: not where a job says that something else is."""
    text = str(error)
    return _OURS not in text or OF_RECORD in text


def out_of_space(text: str, path: str | None = None) -> str | None:
    """What to say of an error of this text, for `path` if that is known, where a disk is full."""
    if not _FULL.search(text):
        return None
    found = next((match[1] for pattern in _ON_FULL if (match := pattern.search(text))), path)
    return f"no space is left on the disk{f' of {found}' if found else ''}: free some and run the job again"


def _unmade(text: str) -> str | None:
    """What to say where a directory cannot be made."""
    found = _UNMADE.search(text)
    return found and f"the directory {found[1]} cannot be made: name a place where this user may write"


def _header(text: str) -> str | None:
    """What to say where the header of a CSV file is not the one that is expected: of a batch that of another file, of
    a stream the columns of its STREAM.
    """
    cure = (
        "files of one directory need one header, for a stream that of its STREAM: write the columns in this order, say "
        "how they are separated by --option 'delimiter=…', or keep the file apart"
    )
    if found := _HEADER.search(text):
        return f"{found[3]}: its header is {found[1]}, and {found[2]} is expected; {cure}"
    found = _LENGTH.search(text)
    return found and f"{found[1]}: its header has not as many columns as are expected; {cure}"


def _of_another_spark(text: str) -> str:
    said = f"a package on the class path was made for another Spark than this one, {pyspark.__version__}"
    packages = (package for name in _PACKAGES if name in text.lower() and (package := package_for(name)))
    package = next(packages, None)
    return f"{said}: it needs {package}, or a Spark for which there is one" if package else said


def _cause(error: Exception, text: str) -> str:
    found = [(name, said.strip()) for name, said in _CLASS.findall(text)]
    for name, said in found:
        if name == _OURS:
            return str(said)
    files = [file for _, said in found if (file := _FILE.search(said))]
    if not files and "Traceback (most recent call last)" in text:
        # of a worker: no error of the user's, for these come as rows
        if absent := _NO_MODULE.search(text):
            return _not_on_workers(absent[1])
        lines = [line for line in text.partition("\n\tat ")[0].splitlines() if line.strip() and "SQLSTATE" not in line]
        raised = [line for line in lines if _RAISED.match(line)]  # behind it there may be a plan of Spark's
        return f"a bug in cepc ({(raised or lines)[-1].strip()}); CEPC_DEBUG=1 shows the trace"
    causes = [said for name, said in found if name not in _UNIMPORTANT] or [file[2] for file in files if file[2]]
    if files and not causes:
        return _unread(files[0][1], text)
    said = (causes or [said for _, said in found] or [_without_class(text)])[-1]
    return f"{files[0][1]}: {said}" if files and causes else said or type(error).__name__


def _unread(file: str, text: str) -> str:
    """What to say of a file of which Spark's own error says no more than its name: the cause is not one of Spark's."""
    causes = [said or name for name, said in _IN_JVM.findall(text) if not _CLASS.match(said or "")]
    why = f" ({causes[-1].strip()})" if causes else ""
    return f"{file} cannot be read{why}: if it is damaged or cut off, put the whole file in its place, by the same name"


def _not_on_workers(module: str) -> str:
    """Of a module that there is where the job was started."""
    package = module.partition(".")[0]
    said = f"Spark's workers have no module {module}:"
    if package != _RUNTIME:
        return f"{said} install {package} for the Python that they run, which PYSPARK_PYTHON names"
    return (
        f"{said} start the job with spark-submit --py-files {_RUNTIME}.zip, which `cepc compile --bundle` writes beside"
        f' it, or send that file with spark.addArtifacts("{_RUNTIME}.zip", pyfile=True)'
    )


def _without_class(text: str) -> str:
    """Of an error that has none of Spark's classes: the innermost cause in the JVM, if it comes from there."""
    if causes := _IN_JVM.findall(text):
        name, said = causes[-1]
        return str(said or name)
    return text.partition(" SQLSTATE")[0].partition("\n")[0].strip()
