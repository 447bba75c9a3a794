"""Commands that messages suggest: a name or path in them is quoted for the shell."""

import ast

import pytest

from iotbench.machine.program import command_line
from tests import ROOT

MAY_NAME_THE_PROGRAM = {"iotbench/machine/program.py", "iotbench/config/completion/known.py"}
SOURCES = sorted(path for room in ("iotbench", "simulator") for path in (ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("words", [["show", "my results/a.json"], ["insert", "-t", "a$(id)"]])
def test_a_path_or_name_is_quoted(words):
    assert command_line(words) == f"python run.py {' '.join(words[:-1])} '{words[-1]}'"


def test_no_other_code_joins_the_words_of_a_command():
    found = []
    for path in SOURCES:
        name = str(path.relative_to(ROOT))
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "program(" in text else ():
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if is_call and node.func.id == "program" and name not in MAY_NAME_THE_PROGRAM:
                found.append(f"{name}:{node.lineno}")
    assert not found, "use command_line"
