"""Small files of a checkpoint, on whatever store it is: HDFS, an object store, a local disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..errors import Py4JJavaError, out_of_space
from ..schema import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


class HadoopStore:
    """By Hadoop's file systems, in the JVM of the driver."""

    def __init__(self, spark: SparkSession) -> None:
        session: Any = spark
        self._jvm, self._gateway = session._jvm, session.sparkContext._gateway
        self._conf = session._jsparkSession.sessionState().newHadoopConf()

    def read(self, path: str) -> str | None:
        try:
            stream = self._system(path).open(self._path(path))
            try:
                return bytes(stream.readAllBytes()).decode(errors="replace")
            finally:
                stream.close()
        except Py4JJavaError as error:
            if _is(error, "FileNotFoundException"):
                return None
            raise _failed("read", path, error) from error

    def create(self, path: str, text: str) -> bool:
        try:
            system = self._system(path)
            if system.exists(self._path(path)):  # also where a store looks only when a file is closed
                return False
            self._fill(system.create(self._path(path), False), text)
        except Py4JJavaError as error:
            if _is(error, "FileAlreadyExistsException"):
                return False
            raise _failed("written", path, error) from error
        return True

    def replace(self, path: str, text: str) -> None:
        folder, _, name = path.rpartition("/")
        beside = f"{folder}/.{name}.tmp"
        try:
            files = self._context(path)
            if files is None:  # an object store, where a file is there when it is closed
                self._fill(self._system(path).create(self._path(path), True), text)
                return
            self._fill(self._system(path).create(self._path(beside), True), text)
            rename = self._jvm.org.apache.hadoop.fs.Options.Rename
            how = self._gateway.new_array(rename, 1)
            how[0] = rename.OVERWRITE
            files.rename(self._path(beside), self._path(path), how)
        except Py4JJavaError as error:
            raise _failed("written", path, error) from error

    def delete(self, path: str) -> None:
        try:
            self._system(path).delete(self._path(path), False)
        except Py4JJavaError as error:
            raise _failed("deleted", path, error) from error

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(
                str(found.getPath().getName()) for found in self._system(folder).listStatus(self._path(folder))
            )
        except Py4JJavaError as error:
            if _is(error, "FileNotFoundException"):
                return []
            raise _failed("read", folder, error) from error

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def _system(self, path: str) -> Any:
        return self._path(path).getFileSystem(self._conf)

    def _context(self, path: str) -> Any:
        """What can rename onto a file that is there; None where a store has no such thing."""
        uri = self._system(path).getUri()
        try:
            return self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(uri, self._conf)
        except Py4JJavaError as error:
            if _is(error, "UnsupportedFileSystemException"):
                return None
            raise

    @staticmethod
    def _fill(stream: Any, text: str) -> None:
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()


def _is(error: Py4JJavaError, name: str) -> bool:
    return str(error.java_exception.getClass().getName()).endswith(f".{name}")


def _failed(what: str, path: str, error: Py4JJavaError) -> StoreError:
    why = f"{error.java_exception.getClass().getSimpleName()}: {error.java_exception.getMessage()}"
    return StoreError(out_of_space(why, path) or f"{path} cannot be {what}: {why.splitlines()[0]}")
