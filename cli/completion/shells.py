"""The three shells: the script that each loads, and the answer to a word that is completed.

click's own scripts call the program by its name, which works for a command in PATH only; these
call it as it was typed: `./run.py`, `python run.py` or `iotbench`.
"""

import os
import sys
from pathlib import Path

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from cli.completion.skeleton import skeleton
from cli.completion.words import table
from cli.host.program import INSTALLED, program_name

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value
    local words=("${COMP_WORDS[@]}") cword=$COMP_CWORD program=("$1")
    if [[ ${1##*/} == python* ]]; then
        if [[ $cword -lt 2 || ${words[1]##*/} != %(prog_name)s ]]; then
            compopt -o default
            return
        fi
        program=("$1" "${words[1]}") words=("${words[@]:1}") cword=$((cword - 1))
    fi
    response=$(env COMP_WORDS="${words[*]}" COMP_CWORD=$cword \\
        %(complete_var)s=bash_complete "${program[@]}")
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""
_BASH_PYTHON = """\
complete -p python >/dev/null 2>&1 || complete -o nosort -F %(complete_func)s python python3
"""
_ZSH = """\
#compdef %(prog_name)s
%(complete_func)s() {
    local -a completions completions_with_descriptions response
    local program=$words[1]
    [[ $program != */* && -x $program ]] && program=./$program
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \\
        %(complete_var)s=zsh_complete ${~program})}")
    for type key descr in ${response}; do
        if [[ $type == plain ]]; then
            if [[ $descr == _ ]]; then
                completions+=("$key")
            else
                completions_with_descriptions+=("$key":"$descr")
            fi
        elif [[ $type == dir ]]; then
            _path_files -/
        elif [[ $type == file ]]; then
            _path_files -f
        fi
    done
    [[ -n $completions_with_descriptions ]] &&
        _describe -V unsorted completions_with_descriptions -U
    [[ -n $completions ]] && compadd -U -V unsorted -a completions
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""
_FISH = """\
function %(complete_func)s
    set -l typed (commandline -opc)
    set -l words (commandline -cp | string collect)
    set -l word (commandline -t | string collect)
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=$words COMP_CWORD=$word \\
        $typed[1])
    for completion in $response
        set -l parts (string split -m 1 "," $completion)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain
                echo $parts[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""


class _Bash(BashComplete):
    source_template = _BASH

    def source(self) -> str:
        template = _BASH if self.prog_name == INSTALLED else _BASH + _BASH_PYTHON
        return template % self.source_vars()

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor; bash makes `=` a word of its own."""
        args, incomplete = super().get_completion_args()
        return [word for word in args if word != "="], incomplete


class _Zsh(ZshComplete):
    source_template = _ZSH


class _Fish(FishComplete):
    source_template = _FISH


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
_STARTUP: dict[str, str] = {
    "bash": '# in ~/.bashrc:  eval "$({variable}=bash_source {command})"',
    "zsh": '# in ~/.zshrc, after compinit:  eval "$({variable}=zsh_source {command})"',
    "fish": "# in ~/.config/fish/config.fish:  {variable}=fish_source {command} | source",
}
"""The line for the startup file: it prints the script without loading the commands."""


def script(shell: str) -> str:
    """Return what a shell loads, with the line for its startup file."""
    name = program_name()
    command = name if name == INSTALLED else Path(sys.argv[0]).absolute()
    line = _STARTUP[shell].format(variable=_variable(), command=command)
    return f"{line}\n{_shell(shell).source()}"


def asked() -> bool:
    """Whether a shell asks for completions or its script."""
    return _variable() in os.environ


def answer() -> None:
    """Print what a shell asks for: completions, or its script."""
    shell, _, what = os.environ[_variable()].partition("_")
    if shell in SHELLS:
        text = script(shell) if what == "source" else f"{_shell(shell).complete()}\n"
        click.echo(text, nl=False)


def _shell(name: str) -> ShellComplete:
    return SHELLS[name](skeleton(table()["commands"]), {}, program_name(), _variable())


def _variable() -> str:
    return f"_{program_name().replace('-', '_').replace('.', '_')}_COMPLETE".upper()
