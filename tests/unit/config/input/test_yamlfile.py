"""YAML files within bounds: whatever stands in one, an error is one line with the file's name."""

import os
import time
import tracemalloc
from pathlib import Path

import pytest

from iotbench.config.input.records import MAX_BYTES, read_yaml
from simulator.errors import ConfigError

BOMB = "a: &a [" + "x, " * 9 + "x]\n" + "".join(
    f"{name}: &{name} [" + ", ".join([f"*{before}"] * 10) + "]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)  # fmt: skip
MERGES = "a: &a {x: 1, y: 2}\n" + "".join(
    f"{name}: &{name} {{<<: [" + ", ".join([f"*{before}"] * 10) + "]}\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "c.yaml"


def problem_of(file, content):
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as error:
        read_yaml(file)
    (problem,) = error.value.problems
    assert "\n" not in problem
    return problem.removeprefix(f"{file}: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2020-13-45", "is not YAML: line 2: not a valid timestamp"),
        ("a: 0x_", "is not YAML: line 1: not a valid int"),
        ("a: " + "9" * 5000, "is not YAML: line 1: not a valid int"),
        ("a: 0x" + "f" * 5000, "is not YAML: line 1: a number of more than 64 bits"),
        ("a: !!int x", "is not YAML: line 1: not a valid int"),
        ("a: !!float x", "is not YAML: line 1: not a valid float"),
        ("a: !!bool x", "is not YAML: line 1: not a valid bool"),
        ("a: !!timestamp x", "is not YAML: line 1: not a valid timestamp"),
        ("a: !!binary x", "is not YAML: line 1: failed to decode base64 data"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("{a: 1}: 2", "found unhashable key"),
        ("a: 1\n\tb: 2", "line 2: "),
        ("a: *b", "line 1: an alias that is not defined above it"),
        ("a: &a [*a]", "line 1: an alias that is not defined above it"),
        ("a: 1\n--- \nb: 2", "but found another document"),
        ("[" * 3000 + "]" * 3000, "line 1: nested deeper than 50 levels"),
        ("{a: " * 3000 + "}" * 3000, "line 1: nested deeper than 50 levels"),
        ("- " * 3000, "line 1: nested deeper than 50 levels"),
        (BOMB, "more than 50,000 keys and values, aliases included"),
        (MERGES, "more than 50,000 keys and values, aliases included"),
        ("a: 1\nb: \0", "line 2: a character that YAML does not allow (#x0000)"),
        ("\u00e9: 1\n\u00e9: \a", "line 2: a character that YAML does not allow (#x0007)"),
        ("a: [1, 2", "is not YAML: line 1: "),
        (b"a: 1\nb: \xff", "line 2: is not valid UTF-8"),
        ("a: " + "x" * MAX_BYTES, "is larger than 1 MiB"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_cannot_be_read_is_one_line_with_its_place(file, text, problem):
    assert problem in problem_of(file, text)


@pytest.mark.parametrize("text", [BOMB, MERGES], ids=["lists", "merges"])
def test_an_alias_bomb_takes_neither_time_nor_memory(file, text):
    begun = time.process_time()
    tracemalloc.start()
    problem_of(file, text)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert time.process_time() - begun < 2
    assert peak_bytes < 10 << 20


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    for path, kind in ((tmp_path, "a folder"), (fifo, "a pipe"), (Path("/dev/zero"), "a pipe")):
        with pytest.raises(ConfigError, match=f"is {kind}.*, expected a regular file"):
            read_yaml(path)


def test_a_path_that_no_system_takes_is_refused():
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml(Path("a\0b"))
    with pytest.raises(ConfigError, match="File name too long"):
        read_yaml(Path("x" * 5000))


def test_a_byte_order_mark_is_skipped(file):
    file.write_bytes(b"\xef\xbb\xbfa: 1")

    assert read_yaml(file) == {"a": 1}


def test_aliases_and_merges_within_bounds_are_read(file):
    file.write_text("a: &a {x: 1}\nb: {<<: *a, y: 2}\nc: [*a, *a]\n")

    assert read_yaml(file) == {"a": {"x": 1}, "b": {"x": 1, "y": 2}, "c": [{"x": 1}, {"x": 1}]}
