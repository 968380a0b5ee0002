"""Small files of a checkpoint, on whatever store it is: HDFS, an object store, a local disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from ..errors import Py4JJavaError, out_of_space
from ..schema import JobError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


_RAW: Final = "org.apache.hadoop.fs.RawLocalFileSystem"


class StoreError(JobError):
    """A file cannot be read or written; the message names it and says why."""


class Store(Protocol):
    """All raise StoreError."""

    def read(self, path: str) -> str | None:
        """The text of a file; None where there is none."""

    def create(self, path: str, text: str) -> bool:
        """Write a new file; False where there is one. Where the store can tell, of two at once one succeeds."""

    def replace(self, path: str, text: str) -> None:
        """Write a file as a whole or not at all, whatever was there."""

    def delete(self, path: str) -> None:
        """A file, which may be gone already."""

    def names(self, folder: str) -> list[str]:
        """Of files and folders in one; none where it is not there."""

    def empty_files(self, folder: str) -> list[str]:
        """The names, from the folder on, of files in it and below that have no bytes, but of hidden ones."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder of this name."""


class HadoopStore:
    """By Hadoop's file systems, in the JVM of the driver."""

    def __init__(self, spark: SparkSession) -> None:
        session: Any = spark
        self._jvm, self._gateway = session._jvm, session.sparkContext._gateway
        self._conf = session._jsparkSession.sessionState().newHadoopConf()

    def read(self, path: str) -> str | None:
        try:
            system, file = self._at(path)
            stream = system.open(file)
            try:
                return bytes(stream.readAllBytes()).decode(errors="replace")
            finally:
                stream.close()
        except Py4JJavaError as error:
            if _is(error, "FileNotFoundException"):
                return None
            raise failed("read", path, error) from error

    def create(self, path: str, text: str) -> bool:
        try:
            system, file = self._at(path)
            if system.exists(file):  # also where a store looks only when a file is closed
                return False
            fill(system.create(file, False), text.encode())
        except Py4JJavaError as error:
            if _is(error, "FileAlreadyExistsException"):
                return False
            raise failed("written", path, error) from error
        return True

    def replace(self, path: str, text: str) -> None:
        folder, _, name = path.rpartition("/")
        try:
            system, file = self._at(path)
            rename = self._renaming(system)
            if rename is None:  # an object store, where a file is there when it is closed
                fill(system.create(file, True), text.encode())
                return
            _, beside = self._at(f"{folder}/.{name}.tmp")
            fill(system.create(beside, True), text.encode())
            rename(beside, file)
        except Py4JJavaError as error:
            raise failed("written", path, error) from error

    def delete(self, path: str) -> None:
        try:
            system, file = self._at(path)
            system.delete(file, False)
        except Py4JJavaError as error:
            raise failed("deleted", path, error) from error

    def names(self, folder: str) -> list[str]:
        try:
            system, file = self._at(folder)
            return sorted(str(found.getPath().getName()) for found in system.listStatus(file))
        except Py4JJavaError as error:
            if _is(error, "FileNotFoundException"):
                return []
            raise failed("read", folder, error) from error

    def empty_files(self, folder: str) -> list[str]:
        found = []
        try:
            system, at = self._at(folder)
            files = system.listFiles(at, True)
            while files.hasNext():
                file = files.next()
                if file.getLen() == 0 and not file.getPath().getName().startswith("."):
                    found.append(str(file.getPath().toUri().getPath())[len(at.toUri().getPath()) + 1 :])
        except Py4JJavaError as error:
            if _is(error, "FileNotFoundException"):
                return []
            raise failed("read", folder, error) from error
        return sorted(found)

    def exists(self, path: str) -> bool:
        try:
            system, file = self._at(path)
            return bool(system.exists(file))
        except Py4JJavaError as error:
            raise failed("read", path, error) from error

    def _at(self, path: str) -> tuple[Any, Any]:
        """The file system of a path, and the path there. A local one is taken without the files of check sums beside
        it, which are not replaced in one step with their file, whichever class Hadoop finds for it: Hive brings one as
        well.
        """
        named = self._jvm.org.apache.hadoop.fs.Path(path)
        system = named.getFileSystem(self._conf)
        if system.getUri().getScheme() == "file":
            system = self._jvm.org.apache.hadoop.fs.RawLocalFileSystem()
            system.initialize(self._jvm.java.net.URI("file:///"), self._conf)
        return system, system.makeQualified(named)

    def _renaming(self, system: Any) -> Callable[[Any, Any], object] | None:
        """What renames onto a file that is there; None where a store has no such thing."""
        if system.getClass().getName() == _RAW:
            return system.rename  # type: ignore[no-any-return]
        try:
            files = self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(system.getUri(), self._conf)
        except Py4JJavaError as error:
            if _is(error, "UnsupportedFileSystemException"):
                return None
            raise
        options = self._jvm.org.apache.hadoop.fs.Options.Rename
        how = self._gateway.new_array(options, 1)
        how[0] = options.OVERWRITE
        return lambda source, target: files.rename(source, target, how)


def fill(stream: Any, content: bytes) -> None:
    """Write all of a file, whose stream of Hadoop's this is."""
    try:
        stream.write(bytearray(content))
    finally:
        stream.close()


def _is(error: Py4JJavaError, name: str) -> bool:
    return str(error.java_exception.getClass().getName()).endswith(f".{name}")


def failed(what: str, path: str, error: Py4JJavaError) -> StoreError:
    why = f"{error.java_exception.getClass().getSimpleName()}: {error.java_exception.getMessage()}"
    return StoreError(out_of_space(why, path) or f"{path} cannot be {what}: {why.splitlines()[0]}")
