"""What is said of an error that is a mistake of cepc itself."""

from __future__ import annotations

from .visible import visible


def a_bug(error: Exception, place: str = "") -> str:
    """The end of a sentence that says who has it.

    >>> a_bug(ValueError("no moon\\nat all"), " in tides").split(".")[0]
    'a bug in tides (ValueError: no moon)'
    """
    what = visible(f"{type(error).__name__}: {error}".splitlines()[0])
    please = "Please report it with the program that shows it; CEPC_DEBUG=1 prints the traceback."
    return f"a bug{place} ({what}). {please}"
