"""The command `cepc`.

Each command is a module of `commands/`, imported when it is used; what takes long to import (pyspark, numpy, pyarrow,
numba, rich) is imported by those that need it, when they need it: `cepc check` answers faster than an editor's reader
notices.

Exit codes: 0 fine, 1 the program is wrong, 2 the command is wrong.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from .own_process import OWN_PROCESS, keep_numpy_from_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

# Each is a module of commands/.
COMMANDS = (
    "init",
    "run",
    "compile",
    "check",
    "fmt",
    "explain",
    "why",
    "test",
    "analyze",
    "functions",
    "doc",
    "lsp",
    "completion",
)

INTERRUPTED, BROKEN_PIPE = 130, 141  # as a shell reports the signals
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class Commands(click.Group):
    """A group whose commands are found by name in `commands/`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f".commands.{cmd_name}", __package__), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from .diagnostics.near import did_you_mean

        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if name.endswith(".cep") or os.path.sep in name:
            raise click.UsageError(f"`{name}` is no command; did you mean `cepc check {name}`?", ctx)
        near = did_you_mean(name, COMMANDS)
        raise click.UsageError(f"there is no command `{name}`{'; ' + near if near else ''}", ctx)

    def make_context(self, *given: Any, **named: Any) -> click.Context:
        with _visible_errors():
            return super().make_context(*given, **named)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _visible_errors():
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            _close_output()
            ctx.exit(BROKEN_PIPE)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except Exception as error:
            if os.environ.get("CEPC_DEBUG") == "1" or _is_of_output(error):
                raise
            _report(error)
            ctx.exit(2)


@contextmanager
def _visible_errors() -> Iterator[None]:
    """Usage errors repeat names of a program and what was typed: on these a terminal must not act, and they may be
    long.
    """
    try:
        yield
    except click.ClickException as error:
        from cepc_grammar.diagnostic import shortened

        from .visible import visible_lines

        shown = "\n".join(map(shortened, visible_lines(error.format_message()).split("\n")))
        error.format_message = lambda: shown  # type: ignore[method-assign]
        raise


def _version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from .version import version

        click.echo(f"cepc {version()}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Print the version."
)
def cepc() -> None:
    """Complex-event queries: checked, formatted, explained, run, and compiled to Spark jobs.

    Several FILES together are one program. `-` is standard input.
    """


def main() -> None:
    """The console command."""
    # What a program becomes lives to the end: looking for garbage as often as usual is a sixth of the time of `check`,
    # and once is a twentieth of a short run.
    gc.set_threshold(300_000, 20, 20)
    keep_numpy_from_threads()
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that cannot show a character gets its escape instead of a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _terminated)
    code: str | int | None = 0
    try:
        cepc.main(prog_name="cepc", obj=OWN_PROCESS)
    except SystemExit as end:
        code = end.code
    except OSError as error:
        if not _is_of_output(error):
            raise
        code = _unwritten(error)
    try:
        # Here and not by the interpreter at its end, which some versions end with a status and words of their own.
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        code = code or BROKEN_PIPE
        _close_output()
    except OSError as error:
        code = code or _unwritten(error)
        _close_output()
    gc.freeze()  # the interpreter looks for garbage in all that was loaded before it ends: a tenth of a short run
    sys.exit(code)


def _terminated(number: int, _frame: object) -> NoReturn:
    """The first one ends like an interruption, with no half files left; a second one at once."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)


def _is_of_output(error: Exception) -> bool:
    """Whether standard output took no more. Commands answer for files, whose errors have names."""
    return isinstance(error, OSError) and error.filename is None and error.errno in UNWRITABLE


def _unwritten(error: OSError) -> int:
    """Say that standard output takes nothing; the exit code."""
    from .files.messages import unwritable
    from .output import print_diagnostics

    _close_output()
    print_diagnostics([unwritable("<stdout>", error)], {})
    return 2


def _report(error: Exception) -> None:
    from .bug import a_bug
    from .version import version

    click.echo(f"cepc {version()} has {a_bug(error)}", err=True)


def _close_output() -> None:
    """Nobody reads the output any more: keep the interpreter from complaining about that when it flushes at the end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
