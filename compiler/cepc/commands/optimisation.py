"""What `run`, `compile` and `explain` let a user say about sharing."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import model
    from ..shared_plans import Options


def optimisation(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command, which gets them as `sharing`, a dictionary for `check` and `options_of`."""

    names = ("level", "without", "optimizer", "optimizer_budget", "stats")

    @click.option(
        "-O", "level", type=click.Choice(["0", "1", "2"]), default="2", show_default=True,
        help="0: each query by itself; 1: share what is free; 2: also what the optimisers find.",
    )  # fmt: skip
    @click.option(
        "--no-pass", "without", multiple=True, metavar="NAME", help="Leave out a pass; `cepc explain` names them."
    )
    @click.option(
        "--optimizer", metavar="NAME", help="Take this optimiser's plan, whatever it costs; `none` takes none of them."
    )
    @click.option(
        "--optimizer-budget", metavar="4s|STEPS",
        help="How long the optimisers may take: seconds, or steps of each, so that every machine finds the same plan.",
    )  # fmt: skip
    @click.option(
        "--stats",
        metavar="FILE",
        type=click.Path(),
        help="What is known of the events, as `cepc analyze -o FILE` writes it.",
    )
    @functools.wraps(command)
    def with_options(*args: Any, **given: Any) -> Any:
        return command(*args, sharing={name: given.pop(name) for name in names}, **given)

    return with_options


def check(sharing: dict[str, Any]) -> None:
    """Raises UsageError for a pass or an optimiser that there is not, or a budget that is none."""
    from ..diagnostics.near import did_you_mean
    from ..passes import NAMES, OPTIMISERS

    known = (*OPTIMISERS, "none")
    asked = [("pass", name, NAMES) for name in sharing["without"]]
    asked += [("optimiser", name, known) for name in [sharing["optimizer"]] if name is not None]
    for what, name, names in asked:
        if name not in names:
            raise click.UsageError(
                f"there is no {what} `{name}`; {did_you_mean(name, names) or 'there are ' + ', '.join(names)}"
            )
    _budget(sharing["optimizer_budget"])


def options_of(sharing: dict[str, Any], program: model.CheckedProgram, *, timed: bool = True) -> Options:
    """Without a budget given, `timed` bounds the seconds too. Raises DataError for statistics that cannot be read or
    are of another program.
    """
    from ..shared_plans import Options
    from ..statistics.read import read_statistics

    steps, seconds = _budget(sharing["optimizer_budget"])
    statistics = {} if sharing["stats"] is None else read_statistics(sharing["stats"], program)
    if sharing["optimizer_budget"] is None and not timed:
        seconds = None
    level: Any = int(sharing["level"])
    return Options(level, tuple(sharing["without"]), sharing["optimizer"], steps, seconds, statistics)


def _budget(text: str | None) -> tuple[int, float | None]:
    """Steps and seconds."""
    from ..shared_plans import SECONDS, STEPS

    if text is None:
        return STEPS, SECONDS
    try:
        if text.endswith("s"):
            found = float(text[:-1])
            if 0 < found < 86_400:
                return STEPS, found
        elif int(text) > 0:
            return int(text), None
    except ValueError:
        pass
    raise click.UsageError(f"--optimizer-budget is seconds like `4s` or a number of steps, not `{text}`")
