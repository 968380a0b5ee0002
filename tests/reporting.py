"""What a run of the tests says: a failing test by name when it fails, how far the run is, and in the end what
properties compared.

Also with pytest-xdist, whose controller hears of all that its workers do.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.properties import TALLIES, Tally, table

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

EVERY = 10.0
"""Seconds between two lines that say how far the run is."""


class Reporting:
    def __init__(self, reporter: TerminalReporter, total: int | None = None) -> None:
        self._reporter, self._total = reporter, total
        self._begun = self._said = time.monotonic()
        self._running: dict[str, float] = {}
        self._ended: set[str] = set()
        self._failed = 0
        self._of_workers: dict[str, dict[str, Any]] = {}

    # ---- while it runs ----

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._total = self._total or len(session.items)

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._total = len(ids)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._running[nodeid] = time.monotonic()
        self._say_how_far()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self._running.pop(report.nodeid, None)
            self._ended.add(report.nodeid)
        if report.failed:
            self._failed += 1
            crash = getattr(report.longrepr, "reprcrash", None)
            why = str(crash.message).splitlines()[0] if crash is not None and crash.message else report.when
            self._reporter.write_line(
                f"FAILED {report.nodeid} ({report.when}, {report.duration:.1f} s): {why}", red=True
            )

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No dots: lines say how far it is."""
        return ("passed" if report.when == "call" else "", "", "") if report.passed else None

    def _say_how_far(self) -> None:
        now = time.monotonic()
        if now - self._said < EVERY:
            return
        self._said = now
        longest = sorted(self._running.items(), key=lambda item: item[1])[:2]
        running = ", ".join(f"{name} ({now - since:.0f} s)" for name, since in longest if now - since >= 1)
        failed = f", {self._failed} failed" if self._failed else ""
        of = f" of {self._total}" if self._total else ""
        line = f"{now - self._begun:4.0f} s  {len(self._ended)}{of} tests{failed}"
        self._say(f"{line}; running {running}" if running else line)

    def _say(self, line: str, **markup: bool) -> None:
        self._reporter.write_line(line, **markup)
        self._reporter.flush()  # a pipe would keep it

    # ---- in the end ----

    def pytest_testnodedown(self, node: Any) -> None:
        self._of_workers |= getattr(node, "workeroutput", {}).get("tallies", {})

    def pytest_terminal_summary(self) -> None:
        found = {name: Tally.of_plain(plain) for name, plain in self._of_workers.items()} | TALLIES
        if found:
            total = Tally()
            for tally in found.values():
                total.plus(tally)
            self._reporter.section("what properties compared")
            self._reporter.write_line(table({**dict(sorted(found.items())), "all": total}))


class Sending:
    """In a worker of pytest-xdist: hands over what its properties compared."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_sessionfinish(self) -> None:
        output: dict[str, Any] = self._config.workeroutput  # type: ignore[attr-defined]
        output["tallies"] = {name: tally.plain() for name, tally in TALLIES.items()}


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if hasattr(config, "workeroutput"):
        config.pluginmanager.register(Sending(config))
    elif reporter is not None:
        config.pluginmanager.register(Reporting(reporter))
