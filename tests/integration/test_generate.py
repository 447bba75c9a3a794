"""`generate`, its files read back by clients and servers that know nothing of this program."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import bson
import psycopg2
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from iotbench.rows.recorded.request import read
from simulator.data.reader import DatasetReader
from simulator.records.formats import FORMATS
from tests import ROOT
from tests.contract.reference import rows_of
from tests.integration.conftest import CommandLine, combined
from tests.servers import Postgres

DEVICES = ("--seed=7", "--start=2026-01-01", "--num-inserts=2500", "--devices=3")
FLEET = ("--workload=devops", "--scale=3", "--start=2026-01-01", "--end=2026-01-01T00:20:00Z")
POINTS = 3 * 120
USUAL = [("influx",), ("csv",), ("pgcopy-binary",), ("parquet",)]
ONE_TABLE = sorted(name for name, form in FORMATS.items() if not form.names_tables)


def generated(cli: CommandLine, form: str, *words: str) -> Path:
    path = cli.folder / f"rows.{form}"
    done = cli.run("generate", f"--format={form}", f"--output={path}", *words)
    assert done.code == 0, done.err
    return path


def drawn(path: Path) -> list[dict[str, Any]]:
    """The rows that the manifest of a file promises, drawn again."""
    dataset = read(path.with_name(f"{path.name}.json")).dataset
    reader = DatasetReader(dataset)
    return rows_of(block for turn in reader.blocks(dataset.ranges) for block in turn)


@pytest.mark.parametrize("form", combined(FORMATS, often=USUAL))
def test_the_manifest_fits_the_file_and_standard_output_is_the_same(
    cli: CommandLine, form: str
) -> None:
    words = (*DEVICES, "--tick-ms=1000")
    path = generated(cli, form, *words)
    manifest, content = read(cli.folder / f"rows.{form}.json"), path.read_bytes()

    assert (manifest.format, manifest.rows) == (form, 2500)
    assert manifest.size_bytes == len(content)
    assert manifest.sha256 == hashlib.sha256(content).hexdigest()
    command = [sys.executable, str(ROOT / "run.py"), "generate", f"--format={form}", *words]
    named = ["--manifest=named.json", "--quiet"]
    piped = subprocess.run([*command, *named], capture_output=True, check=True, cwd=cli.folder)
    assert piped.stdout == content
    assert read(cli.folder / "named.json") == manifest
    assert piped.stderr == b""
    assert sorted(each.name for each in cli.folder.iterdir() if each.is_file()) == sorted(
        ["named.json", path.name, f"{path.name}.json"]
    )


@pytest.mark.parametrize(
    "form",
    combined(
        [name for name, form in FORMATS.items() if form.divisible],
        often=[("csv",), ("es-bulk",), ("pgcopy-binary",)],
    ),
)
def test_several_processes_write_the_same_bytes(cli: CommandLine, form: str) -> None:
    words = ("--seed=7", "--start=2026-01-01", "--num-inserts=50000", "--devices=3")
    path = generated(cli, form, *words, "--tick-ms=1000")
    alone, manifest = path.read_bytes(), read(path.with_name(f"{path.name}.json"))
    generated(cli, form, *words, "--tick-ms=1000", "--workers=3")

    assert path.read_bytes() == alone
    assert read(path.with_name(f"{path.name}.json")) == manifest


def test_several_processes_alternate_the_tables_of_a_fleet_as_one_does(cli: CommandLine) -> None:
    words = ("--workload=devops", "--scale=40", "--start=2026-01-01", "--end=2026-01-01T02:00:00Z")
    path = generated(cli, "influx", *words)
    alone = path.read_bytes()
    generated(cli, "influx", *words, "--workers=4")

    assert path.read_bytes() == alone


def test_one_process_after_another_has_no_more_rows(cli: CommandLine) -> None:
    few = generated(cli, "csv", *DEVICES, "--workers=5").read_bytes()

    assert few.count(b"\n") == 2501
    refused = cli.refuse("generate", "--format=parquet", "--workers=2", "--output=f", *DEVICES)
    assert "--workers: format parquet is written by one process" in refused


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_pyarrow_reads_the_same_rows(cli: CommandLine, form: str) -> None:
    path = generated(cli, form, *FLEET, "--table=redis")

    if form == "parquet":
        found = parquet.read_table(path)
    else:
        parsing = csv.ParseOptions(delimiter="," if form == "csv" else "\t")
        numbers = ("rack", "service", "service_version", "port")  # tags, which are text
        converting = csv.ConvertOptions(column_types=dict.fromkeys(numbers, pa.string()))
        found = csv.read_csv(path, parse_options=parsing, convert_options=converting)
    rows = drawn(path)
    assert len(rows) == POINTS
    assert found.column_names == list(rows[0])
    times = found.column("time").cast(pa.timestamp("ns", "UTC")).cast(pa.int64()).to_pylist()
    unit = rows[0]["time"]
    assert [each // (times[0] // unit) for each in times] == [row["time"] for row in rows]
    others = found.drop_columns(["time"]).to_pylist()
    assert others == [{k: v for k, v in row.items() if k != "time"} for row in rows]


def test_the_drivers_bson_reads_the_same_documents(cli: CommandLine) -> None:
    path = generated(cli, "bson", *DEVICES)

    assert bson.decode_all(path.read_bytes()) == drawn(path)


def test_bulk_lines_are_actions_and_documents_in_the_order_of_time(cli: CommandLine) -> None:
    lines = generated(cli, "es-bulk", *FLEET).read_text().splitlines()
    actions = [json.loads(line)["create"]["_index"] for line in lines[::2]]
    documents = [json.loads(line) for line in lines[1::2]]

    assert {name: actions.count(name) for name in actions} == dict.fromkeys(
        ("cpu", "diskio", "disk", "kernel", "mem", "net", "nginx", "postgresql", "redis"), POINTS
    )
    assert len(set(actions[:100])) > 1, "the tables alternate"
    times: dict[str, list[int]] = defaultdict(list)
    for name, document in zip(actions, documents, strict=True):
        times[name].append(document["time"])
    assert all(each == sorted(each) for each in times.values())


@pytest.mark.server("postgres")
@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("csv", "FORMAT csv, HEADER"),
        ("pgcopy", "FORMAT text"),
        ("pgcopy-binary", "FORMAT binary"),
    ],
)
def test_postgresql_copies_the_same_rows(
    cli: CommandLine, server: Postgres, server_database: str, form: str, options: str
) -> None:
    path = generated(cli, form, *DEVICES)
    reach = f"{server.connection_string(server_database)} password={server.password}"
    with psycopg2.connect(reach) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (at bigint, device text, number bigint, degrees real)")
        with path.open("rb") as file:
            cursor.copy_expert(f"COPY t FROM STDIN ({options})", file)
        cursor.execute("SELECT * FROM t ORDER BY number")
        assert cursor.fetchall() == [tuple(row.values()) for row in drawn(path)]
    connection.close()


@pytest.mark.parametrize(
    ("form", "name"), [("csv", "CSVWithNames"), ("tsv", "TSVWithNames"), ("parquet", "Parquet")]
)
def test_clickhouse_reads_the_same_rows(cli: CommandLine, form: str, name: str) -> None:
    path = generated(cli, form, *DEVICES)
    script = (
        "import chdb, sys; "
        f"print(chdb.query(\"SELECT * FROM file('{path}', {name}) FORMAT JSONCompact\"))"
    )
    # chdb stays in a process once it is loaded.
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    found = json.loads(done.stdout)["data"]
    assert [[int(a), b, int(c), d] for a, b, c, d in found] == [
        list(row.values()) for row in drawn(path)
    ]


@pytest.mark.parametrize("words", [DEVICES, FLEET])
def test_groups_are_disjoint_and_together_everything(
    cli: CommandLine, words: tuple[str, ...]
) -> None:
    parts = []
    for group in range(3):
        path = generated(cli, "influx", *words, "--groups=3", f"--group={group}")
        parts.append(path.read_text().splitlines())
    lines = [line for part in parts for line in part]
    assert len(set(lines)) == len(lines)
    if words is FLEET:
        assert sorted(lines) == sorted(generated(cli, "influx", *FLEET).read_text().splitlines())
        assert {len(part) for part in parts} == {POINTS * 9 // 3}
    else:
        assert parts[0] == generated(cli, "influx", *DEVICES).read_text().splitlines()


@pytest.mark.parametrize("form", ONE_TABLE)
def test_a_format_without_names_of_tables_has_one_table(cli: CommandLine, form: str) -> None:
    refused = cli.refuse("generate", f"--format={form}", *FLEET, "--output=f")
    assert "--table: a file of format" in refused
    assert "cpu, diskio" in refused
    assert not (cli.folder / "f").exists()


def test_everything_that_is_wrong_is_named_at_once(cli: CommandLine) -> None:
    said = cli.refuse(
        "generate", "--format=influxx", "--groups=2", "--group=2", "--scale=3", "--num-inserts=0"
    )
    assert [line.split(": ")[1] for line in said.splitlines()] == [
        "--num-inserts", "--group", "--format", "--scale"
    ]  # fmt: skip
    assert "did you mean 'influx'?" in said
    ended = cli.run("generate", "--format=influx", *FLEET, "--num-inserts=5")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "error: --num-inserts: workload devops has an end; leave it out\n"


def test_a_file_of_the_users_is_not_replaced(cli: CommandLine) -> None:
    rows = ("generate", "--workload=iot", "--num-inserts=5", "--format=csv")
    file = cli.folder / "rooms.csv"
    file.write_text("mine\n")
    said = cli.refuse(*rows, f"--output={file}")
    assert f"{file}: exists and has no manifest of this program" in said
    assert file.read_text() == "mine\n"

    made = cli.folder / "made.csv"
    assert cli.run(*rows, f"--output={made}").code == 0
    assert cli.run(*rows, f"--output={made}", "--seed=2").code == 0
    other = cli.folder / "made.csv.json"
    other.write_text("{}")
    said = cli.refuse(*rows, f"--output={made}")
    assert f"{other}: exists and is not a manifest of this program" in said
    assert other.read_text() == "{}"


@pytest.mark.parametrize("name", ["rooms.csv", "made.csv", "made.csv.gz"])
def test_a_manifest_of_another_file_lets_none_of_the_users_be_replaced(
    cli: CommandLine, name: str
) -> None:
    rows = ("generate", "--workload=iot", "--num-inserts=5", "--format=csv", "--manifest=m.json")
    made = f"made.csv{'.gz' * name.endswith('.gz')}"
    assert cli.run(*rows, f"--output={made}").code == 0
    file = cli.folder / name
    file.write_text("mine\n")
    said = cli.refuse(*rows, f"--output={name}")
    assert f"--output: {name}: exists and is not the file that m.json describes" in said
    assert file.read_text() == "mine\n"


def test_a_file_is_not_its_own_manifest(cli: CommandLine) -> None:
    said = cli.refuse("generate", "--format=csv", "--output=a.csv", "--manifest=./a.csv")
    assert "--manifest: a.csv: --output names the same file" in said
    assert not (cli.folder / "a.csv").exists()


def test_a_reader_that_has_enough_ends_it_silently(cli: CommandLine) -> None:
    command = f"{sys.executable} {ROOT / 'run.py'} generate --format csv --num-inserts 100M"
    done = subprocess.run(
        ["bash", "-c", f"{command} --manifest m.json | head -n 2; exit ${{PIPESTATUS[0]}}"],
        capture_output=True, text=True, timeout=60, check=False, cwd=cli.folder,
    )  # fmt: skip

    assert done.stdout.splitlines()[0] == "timestamp,device_id,sequence_number,temperature"
    assert (done.returncode, done.stderr) == (1, "")
    assert list(cli.folder.iterdir()) == []


def test_a_full_disk_is_named_and_nothing_is_left(cli: CommandLine) -> None:
    to_device = cli.run("generate", "--format=csv", "--output=/dev/full", *DEVICES)
    assert (to_device.code, to_device.err) == (
        1, "error: /dev/full: cannot be written: No space left on device\n"
    )  # fmt: skip
    with Path("/dev/full").open("wb") as full:
        process = cli.start("generate", "--format=csv", "--manifest=m.json", stdout=full)
        done = cli.finish(process)
    assert done.code == 1
    assert done.err == "error: standard output: No space left on device\n"
    assert not (cli.folder / "m.json").exists()


def children(process: subprocess.Popen[str]) -> list[int]:
    """The processes that encode rows."""
    return [
        int(stat.parent.name)
        for stat in Path("/proc").glob("[0-9]*/stat")
        if _parent(stat) == process.pid
    ]


def _parent(stat: Path) -> int | None:
    with suppress(OSError):
        return int(stat.read_text().rpartition(")")[2].split()[1])
    return None


def test_a_process_that_is_killed_is_named_and_nothing_is_left(
    cli: CommandLine, eventually: Callable[[Callable[[], Any]], Any]
) -> None:
    process = cli.start(
        "generate", "--format=csv", "--num-inserts=1000M", "--output=f.csv", "--workers=3"
    )
    eventually(lambda: any(f.stat().st_size > 1e6 for f in cli.folder.glob(".f.csv.*")))
    *_, last = sorted(children(process))
    os.kill(last, signal.SIGKILL)
    done = cli.finish(process)

    assert done.code == 1
    assert "a process that encodes rows ended before it was done" in done.err
    assert [each.name for each in cli.folder.iterdir() if each.is_file()] == []
    eventually(lambda: not children(process))


@pytest.mark.parametrize("workers", [1, 3])
def test_an_interrupted_file_does_not_exist(
    cli: CommandLine, eventually: Callable[[Callable[[], Any]], Any], workers: int
) -> None:
    before = cli.folder / "f.csv"
    assert cli.run("generate", "--format=csv", "--num-inserts=5", "--output=f.csv").code == 0
    kept = before.read_bytes()
    process = cli.start(
        "generate", "--format=csv", "--num-inserts=1000M", "--output=f.csv", f"--workers={workers}"
    )
    eventually(lambda: any(f.stat().st_size > 1e6 for f in cli.folder.glob(".f.csv.*")))
    encoding = children(process)
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    done = cli.finish(process)

    assert done.code == 130
    assert len(encoding) >= (workers if workers > 1 else 0)
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in encoding))
    assert time.monotonic() - began < 15
    names = {each.name for each in cli.folder.iterdir() if each.is_file()}
    assert names == {"f.csv", "f.csv.json"}
    assert before.read_bytes() == kept
