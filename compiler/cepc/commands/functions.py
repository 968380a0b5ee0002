"""`cepc functions`: what may be called in an expression."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
def functions(name: str | None) -> None:
    """List the functions that mean the same in every engine, or describe one."""
    raise NotImplementedError(name)
