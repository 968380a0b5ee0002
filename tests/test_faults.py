"""Streams that are killed and checkpoints that are damaged; `python -m tests.faults` does it by the thousand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.process import FAULTS, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.long
def test_faults_at_every_kind_of_place_change_no_row(tmp_path: Path) -> None:
    told = run(tmp_path, faults=100)
    assert told.wrong == []
    assert told.faults.keys() == {*FAULTS}
    assert len(told.places) >= 20, told.places
