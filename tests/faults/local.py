"""The files of a checkpoint on a local disk, without a JVM; every operation is a place where something can go wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cepc_runtime.spark.streaming.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable


class LocalStore:
    """As `HadoopStore`. `at` hears what is about to be done, and what was, and may raise."""

    def __init__(self, at: Callable[[str], object] = lambda _: None) -> None:
        self._at = at

    def read(self, path: str) -> str | None:
        try:
            return Path(path).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}") from error

    def create(self, path: str, text: str) -> bool:
        if not Path(path).exists():
            self._at(f"before {_name(path)} is made")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        try:
            with Path(path).open("x", encoding="utf-8") as file:
                self._at(f"{_name(path)} is empty")
                file.write(text)
        except FileExistsError:
            return False
        self._at(f"after {_name(path)} is made")
        return True

    def replace(self, path: str, text: str) -> None:
        self._at(f"before {_name(path)} is written")
        beside = Path(path).with_name(f".{Path(path).name}.tmp")
        beside.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_text(text[: len(text) // 2], encoding="utf-8")
            self._at(f"half of {_name(path)} is written beside it")
            beside.write_text(text, encoding="utf-8")
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}") from error
        beside.replace(path)
        self._at(f"after {_name(path)} is written")

    def delete(self, path: str) -> None:
        self._at(f"before {_name(path)} is deleted")
        Path(path).unlink(missing_ok=True)
        self._at(f"after {_name(path)} is deleted")

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(path.name for path in Path(folder).iterdir())
        except FileNotFoundError:
            return []

    def empty_files(self, folder: str) -> list[str]:
        found = [path for path in Path(folder).rglob("[!.]*") if path.is_file() and not path.stat().st_size]
        return sorted(str(path.relative_to(folder)) for path in found)

    def exists(self, path: str) -> bool:
        return Path(path.removeprefix("file:").replace("///", "/")).exists()


def _name(path: str) -> str:
    return Path(path).name
