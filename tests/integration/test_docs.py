"""The commands in the documentation run as they are printed.

A block "```sh" runs as it is, in a copy of the checkout, after the earlier blocks of its page.
"```sh SERVER" needs that database server and runs where it is installed. "```sh cluster" and
"```sh developer" need more than a test should start. What `make test` does not run is checked for
form there: options parse, files and make targets exist. The notebook is a page whose cells of code
are blocks of Python.
"""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest
from psycopg2.extensions import parse_dsn

from iotbench.commands.main import commands
from simulator.errors import ConfigError
from tests import ROOT
from tests.pictures import FOLDER, PICTURES, write_pictures
from tests.servers import SERVERS

PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "results/README.md"]
PAGES += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
NOTEBOOK = "docs/notebook.ipynb"
PAGES.append(NOTEBOOK)
TUTORIAL = "docs/tutorial.md"
CHECKED = ("cluster", "developer")
TOOLS = ("docker", "helm", "kind", "kubectl", "minikube", "openssl", "podman", "sudo")
"""Programs whose arguments are checked for files of this repository only."""
_FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(rf"^\$? *(python|make|iotbench|pip|pytest|{'|'.join(TOOLS)}) ", re.MULTILINE)
_PROGRAM = re.compile(r"(python run\.py|iotbench) ")
_VARIABLE = re.compile(r"^export (\w+)=.*\n", re.MULTILINE)
"""How a page sets what the reader must fill in; the test fills it in."""
_WITHIN_S = 240
_OFTEN = ("README.md", "SECURITY.md", "results/README.md", "docs/README.md", "docs/security.md")
"""Pages whose commands run in `make test`; the others show options that tests here claim."""


@dataclass(frozen=True)
class Block:
    """A fenced block of commands."""

    page: str
    number: int
    needs: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page}-{self.number}"

    @property
    def commands(self) -> list[str]:
        """The commands, one string each, without comments."""
        joined = self.text.replace("\\\n", " ")
        lines = [re.sub(r"\s+#.*$", "", line).strip() for line in joined.splitlines()]
        parts = [part for line in lines for part in re.split(r" *(?:&&|\|) *", line)]
        return [" ".join(part.split()) for part in parts if part]


def read(page: str) -> str:
    """The Markdown of a page; the code of a notebook is in fenced blocks."""
    text = (ROOT / page).read_text()
    if page != NOTEBOOK:
        return text
    around = {"markdown": "{}\n", "code": "```python\n{}\n```\n"}
    cells = json.loads(text)["cells"]
    return "\n".join(around[c["cell_type"]].format("".join(c["source"])) for c in cells)


def fences(page: str) -> Iterator[tuple[str, str]]:
    """The language and the text of every fenced block."""
    for indent, language, text in _FENCE.findall(read(page)):
        yield language.strip(), re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)


def blocks() -> Iterator[Block]:
    for page in PAGES:
        for number, (language, text) in enumerate(fences(page)):
            kind, _, needs = language.partition(" ")
            if kind == "sh":
                yield Block(page, number, needs, text)


BLOCKS = list(blocks())
RUNNABLE = {page: [b for b in BLOCKS if b.page == page and not b.needs] for page in PAGES}
ON_SERVERS = [b for b in BLOCKS if b.needs and b.needs not in CHECKED]
CHECKS = [block for block in BLOCKS if block.needs in CHECKED or block.page not in _OFTEN]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout with a link to the environment, as a reader has it after make venv."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, capture_output=True, check=True, cwd=ROOT).stdout.decode()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / name)
    for room in ("iotbench", "simulator"):  # or each page would compile them
        for cache in (ROOT / room).rglob("__pycache__"):
            being_written = shutil.ignore_patterns("*.pyc.*")
            shutil.copytree(cache, tmp_path / cache.relative_to(ROOT), ignore=being_written)
    (tmp_path / ".venv").mkdir()
    for path in (ROOT / ".venv").iterdir():
        if not path.name.startswith("ready"):
            (tmp_path / ".venv" / path.name).symlink_to(path)
    for name in ("ready", "ready-dev"):
        (tmp_path / ".venv" / name).touch()
    return tmp_path


def run(checkout: Path, script: str, within_s: float = _WITHIN_S, **environment: str) -> str:
    """Run commands in one shell, as a reader who has activated the environment."""
    path = f"{checkout / '.venv' / 'bin'}:{environment.pop('PATH', os.environ['PATH'])}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=checkout,
        env={**os.environ, "PATH": path, "XDG_STATE_HOME": str(checkout / "state"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )
    shown = f"{script}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, shown
    assert not re.search("command not found|Traceback|warning: --metrics-out", done.stderr), shown
    return done.stdout


def marks_of(page: str) -> list[pytest.MarkDecorator]:
    return [] if page in _OFTEN else [pytest.mark.rare, pytest.mark.timeout(600)]


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=marks_of(page)) for page in PAGES if RUNNABLE[page]],
)
def test_the_commands_of_a_page_run_as_they_are_printed(checkout, page):
    printed = [run(checkout, block.text) for block in RUNNABLE[page]]

    assert len(printed) == len(RUNNABLE[page])
    if page == TUTORIAL:
        folder = FOLDER if "PICTURES" in os.environ else checkout / "pictures"
        write_pictures(checkout / "results", folder)
    if page == "README.md":
        (sample, *_) = [text for language, text in fences(page) if not language]
        heading = next(line for line in sample.splitlines() if "Workers" in line)
        # A column with the maximum is shown only if it fits into 80 columns.
        lines = [" ".join(line.split()) for line in printed[0].splitlines()]
        assert " ".join(heading.split()) in [line.replace(" ms ms ms", " ms ms") for line in lines]


def test_the_pictures_of_the_tutorial_are_files_that_it_shows():
    shown = re.findall(r"!\[[^]]+\]\(pictures/([^)]+)\)", (ROOT / TUTORIAL).read_text())

    assert shown == [*PICTURES] == sorted(path.name for path in FOLDER.iterdir())
    for path in FOLDER.iterdir():
        assert path.stat().st_size < 150_000
        assert "prefers-color-scheme: dark" in path.read_text()


def test_the_notebook_answers_its_question_in_an_empty_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(sys, "displayhook", print)
    names: dict[str, Any] = {}
    shown = []
    for language, text in fences(NOTEBOOK):
        assert language == "python"
        # As Jupyter does, print the value of an expression.
        cell = ast.Interactive(ast.parse(text).body)
        exec(compile(cell, NOTEBOOK, "single"), names)
        shown.append(capsys.readouterr().out)

    measured, frame, compared, _ = shown
    assert measured.count("verified, hash") == 4
    assert [*names["rows"]["batch"]] == [10, 10, 1000, 1000]
    assert "rows_per_s" in frame
    assert [*(names["large"] / names["small"]).index] == [1, 2]
    assert "p99_ms" in compared
    assert (tmp_path / "rates.svg").read_text().startswith("<svg")


def test_the_notebook_has_the_form_in_which_jupyter_saves_it_and_no_outputs():
    text = (ROOT / NOTEBOOK).read_text()
    notebook = json.loads(text)
    cells = notebook["cells"]

    form = json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False)
    assert text == f"{form}\n"
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in cells]
    assert len({*ids}) == len(ids) <= 8
    assert [each for each in ids if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", each)] == []
    for cell in cells:
        code = {"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {}
        own = {name: cell[name] for name in ("cell_type", "id", "source")}
        assert cell == {"metadata": {}, **own, **code}
        assert cell["source"] == "".join(cell["source"]).splitlines(keepends=True)


@pytest.mark.parametrize(
    ("server_name", "block"),
    [
        pytest.param(block.needs, block, id=block.name, marks=marks_of(block.page))
        for block in ON_SERVERS
    ],
)
def test_the_commands_that_need_a_server_run_on_it(checkout, server_options, block):
    (variable,) = _VARIABLE.findall(block.text)
    if "url" in server_options:  # of a receiver of metrics
        run(checkout, block.text.replace("http://host:8428", server_options["url"]))
        return
    options = dict(server_options)
    reach = options.pop("connection_string")
    reach += "".join(f" {name}={value}" for name, value in options.items())
    words = parse_dsn(reach)
    if f"--target ${variable}" in block.text:
        reach = "postgresql://{user}@{host}:{port}/{dbname}".format_map(words)

    run(checkout, _VARIABLE.sub("", block.text), **{variable: reach},
        POSTGRESQL_PASSWORD=words["password"])  # fmt: skip


@pytest.mark.parametrize("block", [pytest.param(block, id=block.name) for block in CHECKS])
def test_commands_that_do_not_run_are_well_formed(block, pytestconfig):
    for command in block.commands:
        if block.needs in CHECKED or _PROGRAM.match(command):
            expect_form(command, pytestconfig)


def expect_form(command: str, config: pytest.Config) -> None:
    """Check a command without running it; what the shell does with its output is left out."""
    alone = re.split(r" (?:>>?|;|\|\|) ", command)[0]
    words = [word for word in shlex.split(alone) if not re.match(r"[A-Z_]+=", word)]
    match words:
        case [("python" | ".venv/bin/python"), "run.py", *rest] | ["iotbench", *rest]:
            assert_parses(rest)
        case ["python", "-m", module, *_]:
            assert find_spec(module)
        case ["python", script, *_]:
            assert (ROOT / script).is_file()
        case ["make", *targets]:
            dry = ["make", "--dry-run", "--old-file=.venv/ready", "--old-file=.venv/ready-dev"]
            subprocess.run([*dry, *targets], cwd=ROOT, check=True, capture_output=True)
        case ["pytest", *rest]:
            assert [word for word in rest if is_missing(word)] == []
            for option in (word.partition("=")[0] for word in rest if word.startswith("-")):
                config.getoption(option)
        case [tool, *rest]:
            assert tool in (*TOOLS, "tr"), "a new program: say here how it is checked"
            assert [word for word in rest if is_missing(word)] == []


def is_missing(word: str) -> bool:
    """Return whether a word names a file of a folder of this repository that does not exist."""
    folder, slash, _ = word.partition("/")
    return bool(slash) and (ROOT / folder).is_dir() and not (ROOT / word).exists()


def assert_parses(words: list[str]) -> None:
    """Check that the command exists and its options parse, where the files of a page are absent."""
    name, *arguments = words
    command = commands.commands[name]
    if isinstance(command, click.Group):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    problems = []
    try:
        command.make_context(name, arguments).close()
    except ConfigError as error:
        problems = error.problems
    assert [each for each in problems if "No such file" not in each] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_command_stands_in_a_block_that_is_tested(page):
    outside = _FENCE.sub("", read(page))

    assert (
        re.findall(r"^ {4,}(?:python run\.py|make|kubectl|helm) .*$", outside, re.MULTILINE) == []
    )
    for language, block in fences(page):
        kind, _, needs = language.partition(" ")
        assert kind == "sh" or not _COMMAND.search(block), block
        assert {*needs.split()} <= {*CHECKED, *SERVERS}


@pytest.mark.parametrize("page", PAGES)
def test_every_command_in_a_sentence_exists(page):
    outside = _FENCE.sub("", read(page))
    makefile = (ROOT / "Makefile").read_text()

    for text in re.findall(r"`([^`\n]+)`", outside):
        match text.split():
            case ["python", "run.py", name, *_] | ["iotbench", name, *_]:
                assert name in (*commands.commands, "COMMAND"), text
            case ["make", target, *_]:
                assert re.search(rf"^[a-z -]*\b{target}\b[a-z -]*:", makefile, re.MULTILINE), text


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page):
    for link in re.findall(r"\]\(([^)]+)\)", read(page)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        path = (ROOT / page).parent / file if file else ROOT / page
        assert path.exists(), link
        assert not anchor or anchor in anchors(path.read_text()), link


def anchors(text: str) -> list[str]:
    """The anchors that GitHub makes of the headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return [re.sub(r"[^\w -]", "", each).strip().lower().replace(" ", "-") for each in headings]


@pytest.mark.parametrize("page", PAGES)
def test_every_path_in_a_sentence_exists(page):
    folders = "iotbench|dbinstall|deployment|docs|simulator|tests"
    paths = re.findall(rf"`((?:{folders})/[\w./-]*)`", _FENCE.sub("", read(page)))

    missing = [path for path in paths if "NAME" not in path and not (ROOT / path).exists()]
    assert missing == []
