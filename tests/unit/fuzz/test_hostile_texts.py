"""Any text in a result: no output has a control character, HTML, a formula or a link of it."""

import csv
import io
import json
import re
import shutil
import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import cycle, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotbench.machine.cleaning import (
    LONGEST_IN_PICTURE,
    csv_text,
    escape_markdown,
    in_picture,
    in_shell,
    plain,
)
from tests import ROOT
from tests.fuzzing import THOROUGH, fuzzed

SOUND = {path.stem: path.read_bytes() for path in (ROOT / "tests/files/results").glob("*.json")}
TEXTS = {
    "escape": "\x1b[31mred\x1b[0m",
    "title of the terminal": "\x1b]0;owned\x07",
    "NUL": "a\x00b",
    "C1": "a\x9b2Jb",
    "bidi": "a\u202egnp.exe\u2066b",
    "line separators": "a\u2028b\u2029c\rd\x0be\x85f",
    "noncharacter": "a\ufffeb\uffff",
    "lines": "a\nerror: nothing was verified\n# heading",
    "HTML": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "end of JSON in a page": "</script><script>alert(1)</script>",
    "template": "{{ 7*7 }}{% raw %}",
    "link": "[x](https://example.com) ![y](https://example.com/p.png) <https://example.com>",
    "reference": "[x]: https://example.com 'x'",
    "cells": "a|b|c\\|d",
    "code": "a`b```c",
    "command formula": "=cmd|' /C calc'!A0",
    "plus formula": "+cmd|' /C calc'!A0",
    "minus formula": "-2+3+cmd|' /C calc'!A0",
    "at formula": "@SUM(1+1)*cmd|' /C calc'!A0",
    "tab formula": "\t=1+1",
    "quotes": "a'b\"c\\d",
    "expression of Vega": "x'] || alert(1) || datum['y",
    "markup of rich": "[bold red]x[/bold red][/]",
    "long": "n" * 100_000,
}
"""What a stranger may write where a name or a text is expected."""
NUMBERS = [0, -1, 1e308, -1e308, 2**63, 2**70, 10**400, float("nan"), float("inf")]
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


OBEYED = ("Cc", "Cs", "Zl", "Zp")


def unseen(text):
    """The characters of a text that a terminal obeys, or that turn the order of letters."""
    found = {c for c in {*text} - {*"\n\t"} if unicodedata.category(c) in OBEYED}
    return found | ({*text} & {*BIDI})


def places(content, path=()):
    """Every place of a text in a JSON document."""
    if isinstance(content, str):
        yield path
    items = content.items() if isinstance(content, dict) else ()
    items = enumerate(content[:2]) if isinstance(content, list) else items
    for key, value in items:
        yield from places(value, (*path, key))


def with_text(content, path, text):
    parent = content
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = text


CHOSEN = (
    ("target",), ("module",), ("runner",), ("cause",), ("program_version",), ("sweep_id",),
    ("caches",),
)  # fmt: skip
"""Places of any text, which no model restricts."""


def hostile(name, text):
    """A result with this text wherever a text may stand."""
    content = json.loads(SOUND[name])
    for path in CHOSEN:
        with_text(content, path, text)
    content["target_options"] = {text: text}
    content["configuration"] = {**content["configuration"], text: text, "before_run": text}
    content["packages"] = {text: text}
    content["warnings"] = [text, text]
    content["ran_on"] = {"namespace": text, text: text}
    content["command"] = {
        "name": content["kind"],
        "options": {"target": [text], "before-run": [text], "timeout": [text]},
    }
    for key in ("host", "system", "processor", "python"):
        if key in content["machine"]:
            content["machine"][key] = text
    for run in content["runs"]:
        run["run_id"] = text
        run["logs"] = {text: text}
        outcome = run["outcome"]
        outcome["cause"] = ""
        if outcome.get("server"):
            outcome["server"] |= {"version": text, "durability": text, "settings": {text: text}}
        if outcome.get("verdict"):
            outcome["verdict"]["reason"] = text
        for query in outcome.get("queries", []):
            query["name"] = text
    return content


def paired(files, forms):
    """Return each file with each form; a quick run takes one form of each file in turn."""
    return [*product(files, forms)] if THOROUGH else [*zip(files, cycle(forms), strict=False)]


def printed(run, folder, contents):
    """Print results in every form; return what each command and file has."""
    results = folder / "hostile"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    files = []
    for number, content in enumerate(contents):
        created = FIRST + timedelta(minutes=number)
        name = f"{created:%Y%m%dT%H%M%S}000Z-{content['kind']}-lite-{number:04x}.json"
        (results / name).write_text(json.dumps({**content, "created": created.isoformat()}))
        files.append(f"hostile/{name}")
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    all_of_them = (*files, "--output=hostile")
    shown, compared = ("table", "json", "csv"), ("table", "json", "markdown")
    commands = [
        *(("show", file, f"--format={form}") for file, form in paired(files, shown)),
        *(("compare", files[0], file, f"--format={form}") for file, form in
          paired(files[1:], compared)),
        *(("results", "list", "--output=hostile", f"--format={form}") for form in
          ("table", "json", "csv")),
        *(("results", "export", *all_of_them, f"--format={form}", f"--to=out/{form}") for form in
          ("csv", "json", "markdown", "openmetrics")),
        ("compare", files[0], files[2], "--junit=out/junit"),
        ("report", *all_of_them, "--page=out/page.html"),
        ("publish", *all_of_them, "--folder=out/bundle"),
        *(("repeat", file) for file in files),
    ]  # fmt: skip
    found = {}
    for number, command in enumerate(commands):
        done = run(*command)
        what = " ".join(word for word in command if not word.startswith("hostile/"))
        found[f"{number} {what}"] = done.out + done.err
    for path in (folder / "out").rglob("*"):
        if path.is_file() and path.suffix != ".zip":
            found[path.name] = path.read_text()
    return found


@pytest.fixture(scope="module")
def outputs(run, folder):
    """What is printed and written of results with every hostile text at every place."""
    contents = [hostile(name, text) for text in TEXTS.values() for name in ("insert", "query")]
    return printed(run, folder, contents)


def test_all_of_it_is_written(outputs):
    written = {
        "csv", "json", "markdown", "openmetrics", "junit", "page.html", "index.html", "README.md",
        "versions.json", "SHA256SUMS",
    }  # fmt: skip
    assert written <= outputs.keys(), {what: text[:300] for what, text in outputs.items()}


def test_no_output_has_a_character_that_a_terminal_obeys(outputs):
    for what, output in outputs.items():
        assert not unseen(output), (what, unseen(output))


def test_json_stays_json(outputs):
    found = [what for what, text in outputs.items() if text.startswith(("[", "{"))]
    assert len(found) > len(TEXTS) / 2
    for what in found:
        json.loads(outputs[what])


def test_pages_have_no_html_of_a_text(outputs):
    for what in ("page.html", "index.html"):
        assert "&lt;script&gt;alert(1)" in outputs[what]
        assert "<script>alert" not in outputs[what]
        assert "<img" not in outputs[what]


def test_markdown_has_no_html_and_no_link_of_a_text(outputs):
    found = {what: text for what, text in outputs.items() if "markdown" in what}
    found["README.md"] = outputs["README.md"]
    assert len(found) > len(TEXTS) / 2
    for what, text in found.items():
        of_us = text.replace("[iotbench", "")
        outside = re.sub(r"`[^`\n]*`|^ {4}.*$", "", of_us, flags=re.MULTILINE)
        assert not re.search(r"(?<!\\)[\[<]", outside), what
        assert "\nerror: nothing" not in text


def test_no_cell_is_a_formula(outputs):
    found = [what for what in outputs if "csv" in what.split("=")[-1]]
    assert len(found) > len(TEXTS) / 2
    for what in found:
        for row in csv.reader(io.StringIO(outputs[what])):
            wrong = [each for each in row if re.match(r"[=+@\t\r]|-.*[^\d.e-]", each)]
            assert not wrong, (what, wrong)


def test_any_number_is_shown_or_refused(run, folder):
    contents = []
    for number in NUMBERS:
        content = json.loads(SOUND["insert"])
        for each in content["runs"]:
            for key, value in each["metrics"].items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    each["metrics"][key] = number
            each["outcome"]["size_bytes"] = number
        contents.append(content)
    found = printed(run, folder, contents)

    assert len(found) > len(NUMBERS)
    for what, output in found.items():
        assert not unseen(output), what


def test_published_commands_are_one_line_each_and_mean_their_words():
    import subprocess  # noqa: PLC0415 - only here

    words = [
        "a b",
        "c'd",
        "e\nf",
        "g\x1bh",
        "$(touch x)",
        "`id`",
        "\\n",
        "",
        "é\u202e",
        "-x",
        "a\\'\tb",
    ]
    line = in_shell(words)
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True,
        env={"LC_ALL": "C.UTF-8"},
    )  # fmt: skip

    assert "\n" not in line
    assert not unseen(line)
    assert done.stdout.decode().split("\0")[:-1] == words


@fuzzed()
@given(text=st.text(max_size=60))
def test_cleaned_texts_have_no_marks_of_their_medium(text):
    assert not unseen(plain(text))
    assert not re.search(
        r"(?<!\\)(?:\\\\)*[\[\]`*|]|[<\n]", escape_markdown(text).replace("\\\\", "")
    )
    _, row = csv.reader(io.StringIO(csv_text([{"a": text, "b": 1.5, "c": None}])))
    assert row[1:] == ["1.5", ""]
    assert len(row[0]) == 1 or not re.match(r"\s*(=|@|[+-](?![\d.,\se%+-]*$))", row[0])
    json.dumps(in_picture({text: [text, {"x": text * 100}]}), ensure_ascii=False).encode()
    assert len(in_picture(text * 100)) <= LONGEST_IN_PICTURE + 3


def test_ordinary_texts_are_as_they_were():
    for text in ("insert of postgres_advised", "p99 20 ms, 4 workers", "5 %", "naïve"):
        assert plain(text) == escape_markdown(text) == text
        assert csv_text([{"a": text}]) in (f"a\n{text}\n", f'a\n"{text}"\n')
    assert csv_text([{"a": "-", "b": "-5.2", "c": "+3 %", "d": -1}]) == "a,b,c,d\n-,-5.2,+3 %,-1\n"
    assert escape_markdown("a <b> & &lt; c -> d") == "a &lt;b> & &amp;lt; c -> d"
