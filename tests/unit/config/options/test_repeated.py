"""An option that is given twice: a list is joined, of anything else no value wins in silence."""

import click
import pytest

from iotbench.commands.main import commands
from simulator.errors import ConfigError

VALUES = {
    "TARGET,...": "sqlite,duckdb",
    "a,b,...": "b,a", "A,B,...": "b,a", "A,B": "b,a", "N,N-M,...": "1,4-5",
    "N[@RATE]:DURATION,...": "1:1m,8:5m", "INSERT=N,QUERY=N": "insert=8,query=2",
}  # fmt: skip
"""How the help shows a list -> one of two items, each of which stands alone."""


def commands_within(group: click.Group, *path: str) -> dict[str, click.Command]:
    """Return each command of a group by its words."""
    found, context = {}, click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found[" ".join((*path, name))] = command
        if isinstance(command, click.Group):
            found |= commands_within(command, *path, name)
    return found


COMMANDS = commands_within(commands)


def problems_of(command: click.Command, *words: str) -> list[str]:
    """Parse the words of a command, with its arguments; return what is wrong with them."""
    arguments = [
        each.type.choices[0] if isinstance(each.type, click.Choice) else "argument"
        for each in command.params
        if isinstance(each, click.Argument)
    ]
    try:
        command.make_context(command.name, [*words, *arguments], click.Context(commands))
    except ConfigError as error:
        return list(error.problems)
    return []


def about(name: str, problems: list[str]) -> list[str]:
    return [each for each in problems if each.startswith(f"{name}:")]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_every_option_given_twice_is_joined_or_refused(command: click.Command) -> None:
    for option in command.params:
        if isinstance(option, click.Option):
            expect_joined_or_refused(command, option)


def expect_joined_or_refused(command: click.Command, option: click.Option) -> None:
    first, last = option.opts[0], option.opts[-1]
    metavar = "" if option.is_flag else option.make_metavar(click.Context(command))
    if option.is_flag:
        found = about(first, problems_of(command, first, last))
        opposite = [*option.secondary_opts]
        if not opposite:
            assert not found
            return
        contrary = about(first, problems_of(command, first, *opposite))
        long = max(option.opts, key=len)
        assert not found
        assert contrary == [f"{first}: is given 2 times, as {long} and {opposite[0]}; give one"]
    elif option.multiple:
        assert not any("is given" in each for each in problems_of(command, first, "a", last, "b"))
    elif "," in metavar:
        one, other = VALUES[metavar].split(",")
        both = problems_of(command, first, one, f"{max(option.opts, key=len)}={other}")
        assert about(first, both) == about(first, problems_of(command, first, f"{one},{other}"))
        assert about(first, both) == []
    else:
        given = (first, "left", f"{max(option.opts, key=len)}=right")
        found = about(first, problems_of(command, *given))
        assert found == [f"{first}: is given 2 times, as 'left' and 'right'; give one"]


def test_joined_values_are_those_of_one_list() -> None:
    insert = commands.get_command(click.Context(commands), "insert")
    assert insert is not None
    words = ["-t", "sqlite", "--tags", "rack", "--tags=room", "-w", "1,2", "--workers", "8"]
    params = insert.make_context("insert", words, click.Context(commands)).params

    assert (params["tags"], params["workers"]) == (("rack", "room"), (1, 2, 8))


def test_a_value_that_may_hold_a_credential_is_not_repeated() -> None:
    insert = commands.get_command(click.Context(commands), "insert")
    assert insert is not None
    url = "--metrics-out=http://anna:geheim@push.example/"

    (problem,) = about("--metrics-out", problems_of(insert, "-t=sqlite", url, url))
    assert problem == (
        "--metrics-out: is given 2 times, as text of 32 characters and text of 32 characters;"
        " give one"
    )
