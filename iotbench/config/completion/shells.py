"""Completions of a word, and the script that a shell loads, both adapted from click.

click's scripts call the program by its name, which must be in PATH. The scripts of this module call
the program as the user typed it: `./run.py`, `python run.py` or `iotbench`.
"""

import os
import sys
from pathlib import Path
from textwrap import shorten

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
)

from iotbench.config.completion.known import command_tree
from iotbench.machine.program import INSTALLED, program_name

_BASH_PYTHON = """
%(complete_func)s_python() {
    if [[ $COMP_CWORD -lt 2 || ${COMP_WORDS[1]##*/} != %(prog_name)s ]]; then
        compopt -o default
        return
    fi
    local program=$1$'\\n'${COMP_WORDS[1]}
    COMP_WORDS=("${COMP_WORDS[@]:1}") COMP_CWORD=$((COMP_CWORD - 1))
    %(complete_func)s "$program"
}
complete -p python >/dev/null 2>&1 ||
    complete -o nosort -F %(complete_func)s_python python python3
"""
_ZSH_GUARD = "(( ! $+commands[%(prog_name)s] )) && return 1"
_ZSH_PROGRAM = "local program=$words[1]; [[ $program != */* && -x $program ]] && program=./$program"

_LONGEST_HELP = 72


class _Short(ShellComplete):
    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        found = super().get_completions(args, incomplete)
        for each in found:
            each.help = shorten(each.help or "", _LONGEST_HELP, placeholder=" ...")
        return found


class _Bash(_Short, BashComplete):
    def source(self) -> str:
        python = "" if self.prog_name == INSTALLED else _BASH_PYTHON
        return super().source() + python % self.source_vars()

    def get_completion_args(self) -> tuple[list[str], str]:
        args, incomplete = super().get_completion_args()
        return [word for word in args if word != "="], incomplete  # bash separates `=`


class _Zsh(_Short, ZshComplete):
    source_template = ZshComplete.source_template.replace(_ZSH_GUARD, _ZSH_PROGRAM).replace(
        "zsh_complete %(prog_name)s", "zsh_complete ${~program}"
    )


class _Fish(_Short, FishComplete):
    source_template = FishComplete.source_template.replace(
        "(commandline -t) %(prog_name)s", "(commandline -t) (commandline -opc)[1]"
    ).replace("string split", "string split -m 1")  # a value may be a list with commas


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
_STARTUP: dict[str, str] = {
    "bash": '# in ~/.bashrc:  eval "$({variable}=bash_source {command})"',
    "zsh": '# in ~/.zshrc, after compinit:  eval "$({variable}=zsh_source {command})"',
    "fish": "# in ~/.config/fish/config.fish:  {variable}=fish_source {command} | source",
}
"""Shell -> line that evaluates the script, for the shell's startup file."""


def script(shell: str) -> str:
    """Return the script for a shell, with the line for the shell's startup file."""
    name = program_name()
    command = name if name == INSTALLED else Path(sys.argv[0]).absolute()
    line = _STARTUP[shell].format(variable=_name_variable(), command=command)
    return f"{line}\n{_make_shell(shell).source()}"


def is_asked() -> bool:
    """Return whether a shell asks for completions or for its script."""
    return _name_variable() in os.environ


def answer() -> None:
    """Print the completions or the script that a shell asks for."""
    shell, _, what = os.environ[_name_variable()].partition("_")
    if shell in SHELLS:
        text = script(shell) if what == "source" else f"{_make_shell(shell).complete()}\n"
        click.echo(text, nl=False)


def _make_shell(name: str) -> ShellComplete:
    return SHELLS[name](command_tree(), {}, program_name(), _name_variable())


def _name_variable() -> str:
    return f"_{program_name().replace('-', '_').replace('.', '_')}_COMPLETE".upper()
