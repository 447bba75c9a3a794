"""`insert --data-format`: files of `generate` on real servers, verified by their manifests."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.protocol.records import RecordFormat
from tests import ROOT
from tests.integration.conftest import CommandLine, combined
from tests.standins.splunk import SEARCH_TOKEN, TOKEN, SyntheticSplunk
from tests.standins.web import Web

NULL = ("--target=null", "--runs=1", "--format=json")
FLEET = ("--workload=devops", "--scale=3", "--start=2026-01-01", "--end=2026-01-01T00:20:00Z")
EVENTS = ("--num-inserts=3000", "--devices=3", "--start=2026-01-01")
POINTS = 3 * 120 * 9
RECENT = f"{datetime.now(UTC) - timedelta(hours=2):%Y-%m-%dT%H:%M:%S}"
SECONDS = ("--num-inserts=500", "--devices=3", f"--start={RECENT}", "--tick-ms=1000")
"""Rows that Graphite can store."""
SLOW_S = 240
"""For a command on a server that shares a busy machine."""
OFTEN = [("csv",), ("es-bulk",), ("pgcopy-binary",), ("bson",)]
"""A format of each kind: lines, pairs of lines, records with a length, binary documents."""


def generated(cli: CommandLine, form: str, *words: str) -> Path:
    path = cli.folder / f"rows.{form}"
    done = cli.run("generate", f"--format={form}", f"--output={path}", *words)
    assert done.code == 0, done.err
    return path


def configured(cli: CommandLine, module: str, options: dict[str, Any]) -> tuple[str, ...]:
    target = {"module": module, "runner": "local", **options}
    cli.config = cli.folder / "targets.yaml"
    cli.config.write_text(yaml.safe_dump({"targets": {"bench": target}}))
    return ("--target=bench", "--runs=1", "--format=json")


def fingerprint(cli: CommandLine) -> Any:
    """What the last insert says is stored: the dataset, and every check of every table."""
    result = cli.results()[-1]
    verdict = result["runs"][-1]["outcome"]["verdict"]
    assert verdict["status"] == "verified", verdict
    return result["manifest"]["dataset"], verdict["checks"]


@pytest.mark.parametrize(
    ("server_name", "module", "form", "words"),
    [
        pytest.param(
            server,
            module,
            form,
            words,
            id=f"{module}-{form}",
            marks=[] if server == "postgres" and (form,) in OFTEN else [pytest.mark.rare],
        )
        for server, module, forms, words in [
            ("influxdb", "influxdb", ["influx"], FLEET),
            ("elasticsearch", "elasticsearch", ["es-bulk"], FLEET),
            (
                "postgres",
                "postgres",
                ["csv", "tsv", "pgcopy", "pgcopy-binary"],
                (*FLEET, "--table=redis"),
            ),
            ("ferretdb", "mongodb", ["bson"], EVENTS),
            ("questdb", "questdb", ["influx"], EVENTS),
            ("victoriametrics", "victoriametrics", ["influx"], EVENTS),
            ("opentsdb", "opentsdb", ["opentsdb"], SECONDS),
            ("graphite", "graphite", ["graphite"], SECONDS),
        ]
        for form in forms
    ],
)
def test_records_are_stored_as_by_a_direct_insert(
    cli: CommandLine, server_options: dict[str, Any], module: str, form: str, words: tuple[str, ...]
) -> None:
    path = generated(cli, form, *words)
    plain = {"prefix": ""} if module == "victoriametrics" else {}  # the lines have none
    target = configured(cli, module, {**server_options, **plain})
    sent = ("--batch=100", "--workers=2", "--verify=full")
    file = (f"--data={path}", f"--data-format={form}")
    done = cli.run("insert", *target, *file, *sent)
    assert done.code == 0, done.err + done.out
    dataset, checks = fingerprint(cli)

    asked = cli.run("query", *target[::2], "--count=2", "--workers=1")
    assert asked.code == 0, asked.err + asked.out
    refused = cli.run("insert", *target, *file)
    assert refused.code == 1
    assert "already exists; run with --clean" in refused.err
    if not any(word.startswith("--table=") for word in words):
        alone = ("--batch=100", "--workers=1", "--verify=full")
        direct = cli.run("insert", *target, *words, *alone)
        assert direct.code == 0, direct.err + direct.out
        assert fingerprint(cli) == (dataset, checks)


@pytest.mark.parametrize("form", combined(["csv", "tsv", "pgcopy"], often=[("tsv",)]))
def test_embedded_clickhouse_reads_the_text_as_it_is(cli: CommandLine, form: str) -> None:
    path = generated(cli, form, *FLEET, "--table=redis")
    target = configured(cli, "clickhouse_embedded", {"path": str(cli.folder / "clickhouse")})
    sent = ("--workers=1", "--batch=100", "--verify=full")
    file = (f"--data={path}", f"--data-format={form}")
    done = cli.run("insert", *target, *file, *sent)
    assert done.code == 0, done.err + done.out
    fingerprint(cli)


def test_splunks_collector_takes_events_as_they_are(cli: CommandLine) -> None:
    path = generated(cli, "splunk", *EVENTS)
    with Web(SyntheticSplunk()) as web:
        reach = {"url": web.url, "search_url": web.url, "quiet_s": 0.01}
        options = {**reach, "token": TOKEN, "search_token": SEARCH_TOKEN}
        target = configured(cli, "splunk", options)
        sent = ("--workers=2", "--batch=100", "--verify=full")
        done = cli.run("insert", *target, f"--data={path}", "--data-format=splunk", *sent)
        assert done.code == 0, done.err + done.out
        fingerprint(cli)


def test_a_pipe_stores_what_a_direct_insert_does(cli: CommandLine) -> None:
    program = [sys.executable, str(ROOT / "run.py")]
    script = (
        '"$@" generate --format influx --manifest m.json --scale 3 --workload devops'
        " --start 2026-01-01 --end 2026-01-01T00:20 | "
        f'"$@" insert --config {ROOT}/config.yaml --target null --data - --data-format influx'
        " --manifest m.json --workers 2 --runs 2 --batch 100 --format json --output results"
    )
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script, "-", *program],
        capture_output=True, text=True, check=False, cwd=cli.folder, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [row["workers"] for row in json.loads(done.stdout)["rows"]] == [2]
    (piped,) = cli.results()
    direct = cli.run("insert", *NULL, *FLEET, "--workers=1", "--batch=1000")
    assert direct.code == 0, direct.err
    assert piped["manifest"] == cli.results()[-1]["manifest"]
    assert [run["metrics"]["rows"] for run in piped["runs"]] == [POINTS, POINTS]


def test_a_pipe_that_is_interrupted_leaves_nothing(
    cli: CommandLine, eventually: Callable[[Callable[[], Any]], Any]
) -> None:
    process = cli.start(
        "insert", *NULL, "--data=-", "--data-format=influx", "--workload=iot",
        stdin=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin
    process.stdin.write("events,device_id=a sequence_number=0i,temperature=1 1767225601000\n")
    process.stdin.flush()
    eventually(lambda: any(cli.temporary.glob("*/input")))
    process.send_signal(signal.SIGTERM)
    done = cli.finish(process)

    assert done.code == 130
    assert cli.leftovers() == []
    assert not cli.output.exists()


@pytest.mark.parametrize("form", combined(RecordFormat, often=OFTEN))
def test_a_truncated_file_is_refused_with_record_and_byte(cli: CommandLine, form: str) -> None:
    path = generated(cli, form, *EVENTS, "--tick-ms=1000")
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    insert = ("insert", *NULL, f"--data={path}", f"--data-format={form}", "--workers=1")
    refused = cli.refuse(*insert)
    assert f"{path}: record 3,000 (byte " in refused
    assert not cli.output.exists()

    path.write_bytes(content + content)
    refused = cli.refuse(*insert)
    assert "does not fit" in refused or "record 3,001" in refused
    assert cli.leftovers() == []


@pytest.mark.parametrize(
    ("form", "before", "after"),
    [
        ("influx", b"cpu,", b"cpy,"),
        ("es-bulk", b'"_index":"mem"', b'"_index":"men"'),
    ],
)
def test_a_damaged_record_is_named_or_left_out(
    cli: CommandLine, form: str, before: bytes, after: bytes
) -> None:
    path = generated(cli, form, *FLEET)
    content = path.read_bytes()
    at = content.index(before, len(content) // 2)
    path.write_bytes(content[:at] + content[at:].replace(before, after, 1))
    insert = ("insert", *NULL, f"--data={path}", f"--data-format={form}", "--workers=2")
    refused = cli.refuse(*insert)
    start = content.rfind(b"\n", 0, at) + 1
    assert f"(byte {start:,}): " in refused

    skipped = cli.run(*insert, "--on-error=skip", "--batch=100")
    assert skipped.code == 0, skipped.err
    assert f"1 record left out; {POINTS - 1:,} of {POINTS:,} rows are sent" in skipped.err
    (result,) = cli.results()
    assert result["manifest"]["rows"] == POINTS - 1
    assert result["configuration"]["skipped"] == 1


def test_last_rows_that_the_database_cannot_store_are_refused_before_a_run(
    cli: CommandLine,
) -> None:
    path = generated(cli, "graphite", "--num-inserts=5000", "--devices=3", *SECONDS[2:])
    target = configured(cli, "graphite", {"url": "http://127.0.0.1:1"})
    said = cli.refuse("insert", *target, f"--data={path}", "--data-format=graphite", "--workers=2")

    assert "is in the future, which Graphite does not return" in said


def test_a_file_without_a_manifest_needs_its_tables(cli: CommandLine) -> None:
    path = generated(cli, "influx", *EVENTS)
    Path(f"{path}.json").unlink()
    refused = cli.refuse("insert", *NULL, f"--data={path}", "--data-format=influx")
    assert "give --workload, and only the number of rows is verified" in refused
    taken = cli.run(
        "insert", *NULL, f"--data={path}", "--data-format=influx", "--workload=iot", "--workers=1"
    )
    assert taken.code == 0, taken.err


@pytest.mark.server("postgres")
def test_records_are_sent_over_all_connections(
    cli: CommandLine, server_options: dict[str, Any]
) -> None:
    path = generated(cli, "pgcopy", *EVENTS)
    target = configured(cli, "postgres", server_options)
    sent = (f"--data={path}", "--data-format=pgcopy", "--connections=3", "--batch=100")
    done = cli.run("insert", *target, *sent, "--workers=2", "--verify=full")
    assert done.code == 0, done.err + done.out
    fingerprint(cli)
    (result,) = cli.results()
    metrics = result["runs"][0]["metrics"]
    assert (metrics["connections"], metrics["rows"]) == (6, 3000)
    assert result["configuration"]["connections"] == 3


def test_what_was_sent_until_the_end_of_time_is_known(cli: CommandLine) -> None:
    path = generated(cli, "influx", *FLEET, "--groups=2", "--group=1")
    insert = ("insert", *NULL, f"--data={path}", "--data-format=influx", "--workers=2")
    done = cli.run(*insert, "--batch=10", "--rate=500", "--duration=1s")
    assert done.code == 0, done.err
    (result,) = cli.results()
    manifest, run = result["manifest"], result["runs"][0]
    assert 300 < manifest["rows"] == run["metrics"]["rows"] <= 520
    reader = DatasetReader(Dataset.model_validate(manifest["dataset"]))
    rows = [n for item in manifest["dataset"]["ranges"] for n in RowRange(**item).numbers()]
    assert {int(n) % 2 for n in rows} == {1}
    assert {table.name for table in reader.tables} >= {"cpu", "redis"}

    limited = cli.run(*insert, "--batch=10", "--limit=95")
    assert limited.code == 0, limited.err
    assert cli.results()[-1]["manifest"]["rows"] == 95


def test_a_file_is_sent_to_its_end_without_an_option_about_the_load(cli: CommandLine) -> None:
    path = generated(cli, "influx", *EVENTS)
    drawn, sent = (
        cli.run("insert", "--target=null", *words, "--dry-run").out
        for words in ((), (f"--data={path}", "--data-format=influx"))
    )
    assert "for 0:00:01" in drawn
    assert "for 0:00:01" not in sent


@pytest.mark.rare
@pytest.mark.server("postgres")
def test_without_a_manifest_only_the_number_of_rows_is_verified(
    cli: CommandLine, server_options: dict[str, Any]
) -> None:
    path = generated(cli, "csv", *EVENTS)
    Path(f"{path}.json").unlink()
    target = configured(cli, "postgres", server_options)
    drawn = ("--workload=iot", "--devices=3", "--start=2026-01-01")
    sent = (f"--data={path}", "--data-format=csv", *drawn, "--workers=2", "--batch=100")
    full = cli.refuse("insert", *target, *sent, "--verify=full")
    assert "only their number can be verified" in full
    done = cli.run("insert", *target, *sent)
    assert done.code == 0, done.err + done.out
    verdict = cli.results()[-1]["runs"][0]["outcome"]["verdict"]
    assert verdict["status"] == "verified"
    assert [check["expected"] for check in verdict["checks"]] == ["3000"]
    asked = cli.run("query", *target[::2], "--workers=1")
    assert asked.code == 1
    assert "or not all of its rows are" in asked.err
    known = cli.run("verify", *target[:1], f"--output={cli.output}")
    assert known.code == 0, known.err + known.out  # the options were those of the file
    assert cli.run("query", *target[::2], "--workers=1").code == 0


def test_everything_that_does_not_fit_is_named(cli: CommandLine) -> None:
    path = generated(cli, "csv", *EVENTS)
    both = (f"--data={path}", "--data-format=csv")
    said = cli.refuse("insert", "--target=sqlite", *both, "--steps=2", "--tags=a", "--no-clean")
    assert [line.split(": ")[1] for line in said.splitlines()] == [
        "--steps", "--tags", "--no-clean", "--steps", "--data-format csv"
    ]  # fmt: skip
    alone = cli.refuse("insert", *NULL, f"--manifest={path}.json")
    assert "--manifest: describes a file of --data-format" in alone
    other = cli.refuse("insert", *NULL, f"--data={path}", "--data-format=tsv")
    assert "has format csv, as its manifest says" in other
    again = cli.refuse("insert", *NULL, *both, "--seed=3", "--devices=4")
    assert again.count("the manifest of the file has it; leave it out") == 2
