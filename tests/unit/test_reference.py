import click

from cli.main import commands
from cli.reference import DATABASES, PARTS, README, databases, renewed


def test_the_generated_parts_of_the_readme_are_as_the_code_has_them():
    text = README.read_text()

    assert text == renewed(text), "run `make docs`"


def test_the_document_of_the_databases_is_as_the_code_has_it():
    assert DATABASES.read_text() == databases(), "run `make docs`"


def test_no_generated_part_is_empty():
    assert [name for name, make in PARTS.items() if len(make().splitlines()) < 3] == []


def test_every_command_and_option_has_help():
    bare = [
        f"{name} {parameter.name}"
        for name, command in commands.commands.items()
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.help
    ]

    assert bare == []
    assert [name for name, command in commands.commands.items() if not command.help] == []


def test_every_command_stands_in_the_readme():
    text = README.read_text()

    assert [name for name in commands.commands if f"python run.py {name}" not in text] == []
