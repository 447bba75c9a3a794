"""A measurement is never lost: not to a full disk, a removed folder or a closed pipe."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import CommandLine

SMALL = ("--workers=1", "--runs=1", "--num-inserts=100", "--batch=10")
SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", *SMALL)


@pytest.fixture
def full_disk(cli: CommandLine) -> Iterator[Path]:
    """A full file system of its own, mounted as the output folder."""
    cli.output.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(cli.output)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
    try:
        with (
            pytest.raises(OSError, match="No space left"),
            (cli.output / "ballast").open("wb") as f,
        ):
            f.write(bytes(1 << 20))
        yield cli.output
    finally:
        subprocess.run(["umount", str(cli.output)], check=True)


def rescued(cli: CommandLine) -> Any:
    """The one result in the fallback folder."""
    (file,) = (cli.state / "results").glob("*.json")
    return json.loads(file.read_text())


def test_on_a_full_disk_the_table_is_printed_and_the_result_rescued(
    cli: CommandLine, full_disk: Path
) -> None:
    done = cli.run("insert", *SQLITE)

    assert done.code == 1
    assert "verified" in done.out
    assert f"error: {full_disk}" in done.err
    assert "No space left on device" in done.err
    assert f"the result is in {cli.state / 'results'}" in done.err
    assert rescued(cli)["runs"][0]["metrics"]["rows"] == 100
    assert [file.name for file in full_disk.iterdir()] == ["ballast"]


PLAN = "{name: tiny, targets: [sqlite], repeats: 1, settings: [{name: bulk, insert: {"
PLAN += "workload: iot, workers: 1, num_inserts: 100, batch: 10}}]}"
CAPACITY = (
    "capacity", "--target=sqlite", "--extra-option=path=bench.db", "--slo=p99_ms < 10000",
    "--workers=1", "--duration=500ms", "--repeats=1", "--tolerance=0.5",
)  # fmt: skip


@pytest.mark.parametrize("words", [CAPACITY, ("run", "plan.yaml")], ids=["capacity", "plan"])
def test_on_a_full_disk_the_record_of_many_sweeps_is_printed_and_rescued(
    cli: CommandLine, full_disk: Path, words: tuple[str, ...]
) -> None:
    (cli.folder / "plan.yaml").write_text(PLAN)
    cli.configure(sqlite={"module": "sqlite", "path": "bench.db"})
    done = cli.run(*words, f"--output={full_disk}")

    assert done.code == 1, done.err
    assert "rows/s" in done.out
    assert "No space left on device" in done.err
    kind = "capacity" if words is CAPACITY else "plan"
    (file,) = (cli.state / "results").glob(f"{kind}-*.json")
    assert f"the result is in {file}" in done.err
    assert [each.name for each in full_disk.iterdir()] == ["ballast"]


@pytest.mark.parametrize("stderr", ["closed", "full"])
def test_standard_error_that_takes_nothing_stops_nothing(cli: CommandLine, stderr: str) -> None:
    if stderr == "closed":
        reader, writer = os.pipe()
        os.close(reader)
    else:
        writer = os.open("/dev/full", os.O_WRONLY)
    try:
        done = cli.finish(cli.start("insert", *SQLITE, stderr=writer))
    finally:
        os.close(writer)

    assert done.code == 0
    assert "verified" in done.out


def test_a_failed_run_names_its_cause_on_standard_error(cli: CommandLine) -> None:
    path = "--extra-option=path=no/such/folder/bench.db"
    done = cli.run("insert", "--target=sqlite", path, *SMALL, "--quiet", "--format=csv")

    assert done.code == 1
    assert done.out == ""
    assert "insert failed: " in done.err
    assert "no/such/folder" in done.err
