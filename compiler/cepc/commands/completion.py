"""`cepc completion`: what makes a shell complete commands, options and files."""

from __future__ import annotations

import click


@click.command(short_help="Print what makes a shell complete.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script for SHELL, after which it completes the commands, their options and values, and files:

    \b
        eval "$(cepc completion bash)"     in ~/.bashrc
        eval "$(cepc completion zsh)"      in ~/.zshrc
        cepc completion fish | source      in ~/.config/fish/completions/cepc.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(ctx.find_root().command, {}, "cepc", "_CEPC_COMPLETE").source())
