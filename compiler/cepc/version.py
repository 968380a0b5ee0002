"""The version that is installed."""

from __future__ import annotations


def version() -> str:
    """As the package's metadata says; looked up only when it is needed, because that takes a while."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("cepc")
    except PackageNotFoundError:
        return "(not installed)"
