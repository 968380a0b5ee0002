"""Where the parser's tables are kept between runs: building them takes longer than most programs take to check."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import lark


def grammar_cache(grammar: str) -> str | bool:
    """A file name in the user's cache folder that changes with the grammar, Python and Lark.

    False where nothing can be written.
    """
    key = hashlib.sha256(f"{grammar}\n{sys.version_info[:2]}\n{lark.__version__}".encode()).hexdigest()[:16]
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    try:
        folder = base / "cepc"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return False
    return str(folder / f"grammar-{key}.pickle") if os.access(folder, os.W_OK) else False
