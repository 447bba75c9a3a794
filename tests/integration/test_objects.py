"""`insert --data s3://BUCKET/KEY`: rows of a file in an object store."""

import gzip
import secrets

import pytest

from tests.files import ohlcv
from tests.integration.conftest import CommandLine
from tests.servers.versitygw import SECRET, VersityGw

pytestmark = pytest.mark.server("versitygw")

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db")
INSERT = ("insert", *SQLITE, "--workers=2", "--runs=1", "--batch=100", "--verify=full")
CSV = "time,rack,load\n2024-05-01T00:00:00Z,7,21.5\n2024-05-01T00:01:00Z,12,\n"


@pytest.fixture
def bucket(server: VersityGw) -> str:
    """The name of an empty bucket."""
    name = f"fleet-{secrets.token_hex(4)}"
    server.create_database(name)
    return name


@pytest.fixture
def s3(cli: CommandLine, server: VersityGw) -> CommandLine:
    cli.environment.update(server.client)
    return cli


@pytest.mark.parametrize("name", ["bars.csv", "bars.parquet", "days/monday/bars.csv.gz"])
def test_a_file_is_inserted_asked_about_and_verified(
    s3: CommandLine, server: VersityGw, bucket: str, name: str
) -> None:
    path = server.bucket(bucket) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(CSV.encode()))
    else:
        ohlcv.write(path, rows=5000)
    inserted = s3.run(*INSERT, f"--data=s3://{bucket}/{name}")
    asked = s3.run("query", *SQLITE, "--runs=1")
    path.write_bytes(path.read_bytes() + b"\n")
    changed = s3.run("query", *SQLITE, "--runs=1")

    assert (inserted.code, asked.code, changed.code) == (0, 0, 2), inserted.err + asked.err
    result = s3.results()[0]
    assert result["configuration"]["data"] == f"s3://{bucket}/{name}"
    assert result["manifest"]["rows"] == (2 if name.endswith(".gz") else 5000)
    assert f"s3://{bucket}/{name}: the file has changed" in changed.err
    assert s3.leftovers() == []


def test_a_file_is_prepared_for_pods(s3: CommandLine, server: VersityGw, bucket: str) -> None:
    (server.bucket(bucket) / "racks.csv").write_text(CSV)
    done = s3.run("prepare", f"s3://{bucket}/racks.csv", "--tags=rack")
    inserted = s3.run(*INSERT, "--data=racks.csv.rows")

    assert (done.code, inserted.code) == (0, 0), done.err + inserted.err
    assert s3.results()[0]["manifest"]["rows"] == 2


def test_what_cannot_be_read_is_one_clear_error(
    s3: CommandLine, server: VersityGw, bucket: str
) -> None:
    (server.bucket(bucket) / "racks.csv").write_text(
        CSV.replace("21.5", "warm") + "2024-05-01T00:02:00Z,7,1.5\n" * 3
    )
    bad = s3.run(*INSERT, f"--data=s3://{bucket}/racks.csv", "--tags=rack")
    missing = s3.run(*INSERT, f"--data=s3://{bucket}/nothing.csv")
    s3.environment["AWS_SECRET_ACCESS_KEY"] = "wrong"
    denied = s3.run(*INSERT, f"--data=s3://{bucket}/racks.csv")
    s3.environment["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1"
    gone = s3.run(*INSERT, f"--data=s3://{bucket}/racks.csv")

    for done in (bad, missing, denied, gone):
        assert done.code == 2
        assert "Traceback" not in done.err
        assert SECRET not in done.err + done.out
    assert f"s3://{bucket}/racks.csv: line 2, column 'load': 'warm' is not" in bad.err
    assert "nothing.csv: cannot be read: " in missing.err
    assert "ACCESS_DENIED" in denied.err
    assert "check bucket and key, and AWS_ACCESS_KEY_ID" in denied.err
    assert "127.0.0.1" in gone.err
    assert s3.results() == []
    assert s3.leftovers() == []
