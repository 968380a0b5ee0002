"""The benchmarks of what sharing gains, on few events: they run, shared rows are the unshared ones', and work is
saved.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest
from bench.gains import windows

if TYPE_CHECKING:
    from bench.gains.report import Report


@pytest.mark.long
@pytest.mark.parametrize("name", ["sharon", "gloria", "hamlet", "motto", "groups", "cut"])
def test_a_table_and_its_picture_come_out(name: str) -> None:
    report: Report = importlib.import_module(f"bench.gains.{name}").report(quick=True)
    assert report.rows
    assert {len(row) for row in report.rows} == {len(report.head)}
    assert all(points for panel in report.panels for points in panel.lines.values())


@pytest.mark.unhurried
def test_shared_windows_take_a_fraction_of_the_row_operations() -> None:
    found = windows.measured("sequence", 100, 2_000, 4, rounds=1)
    assert found["-O2"].operations < found["-O0"].operations / 50
