"""Names of places for results: what is a folder, what is a URL, and where in it a path points."""

import os
from pathlib import Path

import pytest

from iotbench.config.options.places import is_url, parse_folder, parse_written
from iotbench.results.places import ObjectPlace, PlacePath, find_place
from iotbench.results.tables import TablePlace
from simulator.errors import ConfigError

FILE = "20261127T150710443Z-insert-influxdb1-465b.json"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current folder, with a file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.db").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "kind", "root", "inside"),
    [
        ("s3://bench/a/b", ObjectPlace, "s3://bench/a/b", ""),
        (f"s3://bench/a/{FILE}", ObjectPlace, "s3://bench/a", FILE),
        ("postgresql://u@h:1/db", TablePlace, "postgresql://u@h:1/db", ""),
        ("postgres://u@h/db/night-1", TablePlace, "postgres://u@h/db", "night-1"),
        ("postgresql://h/db?sslmode=require", TablePlace, "postgresql://h/db?sslmode=require", ""),
        (f"postgresql://h/db?a=b/n/{FILE}", TablePlace, "postgresql://h/db?a=b", f"n/{FILE}"),
        ("postgresql://h/db/n?a=b", TablePlace, "postgresql://h/db?a=b", "n"),
        ("sqlite:x.db", TablePlace, "sqlite:x.db", ""),
        ("sqlite:there.db/n", TablePlace, "sqlite:there.db", "n"),
        ("sqlite:/tmp/x.db", TablePlace, "sqlite:/tmp/x.db", ""),
    ],
)
def test_a_url_is_a_place_and_a_path_in_it(text, kind, root, inside, here):
    path = parse_folder(text)
    found = find_place(path)

    assert found
    place, own = found
    assert (type(place), str(place.path), own) == (kind, root, inside)
    assert str(path) == (f"{root}/{inside}" if inside else root)
    assert str(path / "x.json") == os.fspath(path / "x.json") == f"{path}/x.json"
    assert (path / "x.json").parent == path
    assert find_place(parse_folder(str(path))) is not None
    assert os.listdir(here) == ["there.db"]  # noqa: PTH208 - nothing was opened


@pytest.mark.parametrize("text", ["results", "/tmp/a", "C:/x", "a:b", "a.zip", "sqlite.db"])
def test_everything_else_is_a_folder(text):
    assert not is_url(text)
    assert parse_folder(text) == parse_written(text) == Path(text)
    assert not isinstance(parse_folder(text), PlacePath)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://h/x", "expected a folder, s3://BUCKET/PREFIX, postgresql://USER@HOST/DATABASE or"),
        ("s3://", "expected a folder"),
        ("s3://key:pAssw0rdX9@bucket/x", "without a credential"),
        ("s3://bucket/x?token=pAssw0rdX9", "without a credential"),
        ("postgresql://u:pAssw0rdX9@h/db", "no password on a command line"),
        ("postgresql://u@h/db?password=pAssw0rdX9", "no password on a command line"),
        ("sqlite:", "expected a path"),
    ],
)
def test_another_url_is_one_error_without_its_credentials(url, problem):
    with pytest.raises(ConfigError, match=problem) as caught:
        parse_folder(url)

    assert "pAssw0rdX9" not in str(caught.value)
    assert "--target" not in str(caught.value)
    with pytest.raises(ValueError, match="expected a folder, got a URL"):
        parse_written(url)
