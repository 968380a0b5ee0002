"""What a wheel has that a checkout has not: machine code, where it can be made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("grammar", "compiler", "runtime", "stdlib")


class MachineCode(BuildHookInterface):
    """Puts it beside the module that looks for it. Where numba is not there, users make it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root, self._made = Path(self.root), tempfile.mkdtemp()
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(str(root / package) for package in PACKAGES)}
        command = [sys.executable, str(root / "tools" / "machine_code.py"), self._made]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            self.app.display_warning(f"a wheel without machine code: {done.stderr.strip().splitlines()[-1]}")
            return
        for file in Path(self._made).iterdir():
            build_data["force_include"][str(file)] = f"cepc_runtime/kernel/made/{file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if version != "editable":
            shutil.rmtree(self._made, ignore_errors=True)
