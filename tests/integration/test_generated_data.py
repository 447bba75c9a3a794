"""`insert --data` of what `generate` wrote, without further options: every format and suffix."""

import lzma
from pathlib import Path
from typing import Any

import pytest

from iotbench.rows.recorded.output import COMPRESSIONS
from iotbench.rows.recorded.request import read
from simulator.data.reader import DatasetReader
from simulator.records.formats import FORMATS
from simulator.records.prepared import read_prepared_file
from tests.contract.reference import rows_of
from tests.integration.conftest import POSTGRES, CommandLine

ROWS = ("--seed=7", "--start=2026-01-01", "--num-inserts=500", "--devices=3")
ONCE = ("--workers=1", "--runs=1", "--batch=100", "--quiet")
COLUMNS = ("csv", "tsv", "influx", "parquet")
"""Formats that any target takes, since they are read into columns."""
FILES = [
    *((form, "") for form in COLUMNS),
    *(("csv", suffix) for suffix in COMPRESSIONS),
    ("influx", ".gz"),
]
RECORDS = sorted({*FORMATS} - {*COLUMNS})


def generated(cli: CommandLine, form: str, suffix: str) -> Path:
    path = cli.folder / f"rows.{form}{suffix}"
    seconds = ("--tick-ms=1000",) if form == "graphite" else ()  # it has no finer times
    done = cli.run("generate", f"--format={form}", f"--output={path}", "--quiet", *ROWS, *seconds)
    assert done.code == 0, done.err
    return path


def promised(path: Path) -> list[tuple[Any, ...]]:
    """Draw the rows of the manifest again: time in microseconds, and the fields."""
    dataset = read(path.with_name(f"{path.name}.json")).dataset
    reader = DatasetReader(dataset)
    rows = rows_of(block for turn in reader.blocks(dataset.ranges) for block in turn)
    return sorted(
        (r["timestamp"] * 1000, r["device_id"], r["sequence_number"], r["temperature"])
        for r in rows
    )


@pytest.mark.parametrize(("form", "suffix"), FILES)
def test_sqlite_holds_the_rows_of_a_file_of_columns(
    cli: CommandLine, form: str, suffix: str
) -> None:
    path = generated(cli, form, suffix)
    target = ("--target=sqlite", "--extra-option=path=bench.db", "--verify=full")
    done = cli.run("insert", *target, f"--data={path}", *ONCE)
    assert done.code == 0, done.err
    table = "events" if form == "influx" else "rows"
    time = "time" if form == "influx" else "timestamp"
    stored = cli.sql(f"SELECT {time}, device_id, sequence_number, temperature FROM {table}")

    assert sorted(stored) == promised(path)
    result = cli.results()[-1]
    assert result["runs"][0]["outcome"]["verdict"]["status"] == "verified"
    assert result["configuration"]["tags"] == ["device_id"]


@pytest.mark.parametrize("form", RECORDS)
def test_another_format_is_sent_as_it_is_also_compressed(cli: CommandLine, form: str) -> None:
    path = generated(cli, form, ".gz")
    done = cli.run("insert", "--target=null", f"--data={path}", *ONCE, "--clean")
    assert done.code == 0, done.err
    result = cli.results()[-1]
    assert result["configuration"]["data_format"] == form
    assert result["runs"][0]["metrics"]["rows"] == 500
    refused = cli.refuse("insert", "--target=sqlite", f"--data={path}", *ONCE)

    assert f"--data-format {form}: target sqlite does not take it" in refused
    assert cli.leftovers() == []


@pytest.mark.server("postgres")
@pytest.mark.parametrize(("form", "suffix"), [("pgcopy-binary", ".zst"), ("influx", ".gz")])
def test_postgresql_holds_the_rows_of_the_file(pg: CommandLine, form: str, suffix: str) -> None:
    path = generated(pg, form, suffix)
    done = pg.run("insert", *POSTGRES, f"--data={path}", "--verify=full", "--clean", *ONCE)
    asked = pg.run("query", *POSTGRES, "--runs=1", "--quiet")

    assert done.code == 0, done.err
    assert asked.code == 0, asked.err
    assert pg.results()[0]["runs"][0]["metrics"]["rows"] == 500


def test_a_damaged_copy_is_refused(cli: CommandLine) -> None:
    path = generated(cli, "bson", ".gz")
    path.write_bytes(path.read_bytes()[:-40])
    said = cli.refuse("insert", "--target=null", f"--data={path}", *ONCE)

    assert f"--data: {path}: cannot be read: " in said
    assert cli.leftovers() == []


def test_a_format_that_is_compressed_inside_has_no_suffix_of_another(cli: CommandLine) -> None:
    said = cli.refuse("generate", "--format=parquet", "--output=rows.parquet.gz", *ROWS)

    assert "--output: rows.parquet.gz: Parquet is compressed inside; leave .gz out" in said
    assert not (cli.folder / "rows.parquet.gz").exists()


def test_a_file_that_is_not_the_one_of_its_manifest_is_refused(cli: CommandLine) -> None:
    for form, suffix in (("csv", ""), ("influx", ".xz")):
        path = generated(cli, form, suffix)
        content = lzma.decompress(path.read_bytes()) if suffix else path.read_bytes()
        rows = content.splitlines(keepends=True)
        altered = b"".join([*rows[:-2], rows[-1], rows[-2]])
        path.write_bytes(lzma.compress(altered) if suffix else altered)
        done = cli.run("insert", "--target=sqlite", f"--data={path}", *ONCE)
        path.with_name(f"{path.name}.json").unlink()
        own = cli.run("prepare", str(path), *(["--time-column=timestamp"] if not suffix else []))

        assert done.code == 2
        assert f"--data: {path}: is not the file of its manifest {path}.json" in done.err
        assert own.code == 0, own.err
    assert cli.leftovers() == []


def test_a_generated_file_is_prepared_without_further_options(cli: CommandLine) -> None:
    path = generated(cli, "csv", ".gz")
    done = cli.run("prepare", str(path), "--output=rows")
    bson = generated(cli, "bson", "")
    refused = cli.run("prepare", str(bson))

    assert done.code == 0, done.err
    assert read_prepared_file(cli.folder / "rows", "rows").params.tags == ("device_id",)
    assert refused.code == 2
    assert f"{bson}: is a file of format bson, whose records are sent as they are" in refused.err
