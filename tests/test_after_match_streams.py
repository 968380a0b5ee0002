"""AFTER MATCH in streams and in pieces of large groups; `python -m tests.after_match_streams` does it by the hundred
thousand.
"""

from __future__ import annotations

from itertools import product

import pytest

from tests.after_match_streams import KINDS, MODES, SELECTS, STREAMS, run, table


@pytest.mark.long
def test_rows_of_after_match_are_those_of_a_batch_and_of_the_oracle_in_streams_and_in_pieces() -> None:
    tally = run(1700)
    assert not tally.failures, tally.failures
    shown = table(tally)
    assert {*tally.streams} == {*product(KINDS, SELECTS, MODES)}, shown
    assert all(tally.with_rows[cell] for cell, streams in tally.streams.items() if streams >= STREAMS), shown
    assert tally.with_rows.total() > 0.6 * tally.streams.total(), shown
    assert tally.skipping.total() > 0.4 * tally.streams.total(), shown
    assert tally.by_oracle > 50, shown
