"""Pages in a real browser, without a window."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from pathlib import Path

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


def browsed(path: Path, fragment: str = "", width: int = 800) -> str:
    """The page's elements after its script has run."""
    if BROWSER is None:
        pytest.skip("no Chromium on this machine (on Debian: apt install chromium)")
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--window-size={width},600",
        f"--user-data-dir={path.parent}/profile",
    ]
    address = f"{path.as_uri()}#{quote(fragment)}"
    done = subprocess.run(
        [*command, "--virtual-time-budget=3000", "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True
    )  # fmt: skip
    return done.stdout
