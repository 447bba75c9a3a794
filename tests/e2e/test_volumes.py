"""A file of records in a volume claim: scanned by a pod, sent by workers, verified."""

import base64
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator import __version__
from simulator.protocol.records import VOLUME_FOLDER
from tests.e2e.harness import ClusterLine, Namespace
from tests.integration.conftest import ROOT

CLAIM, COPIER = "rows", "copier"
ROWS = 2000
INSERT = ("--target=postgresql", "--workers=1,3", "--runs=1", "--batch=100", "--clean")
UNPACK = (
    "import base64, io, sys, tarfile; "
    "tarfile.open(fileobj=io.BytesIO(base64.b64decode(sys.stdin.read()))).extractall('/data')"
)
COPY = "import shutil, sys; shutil.copyfileobj(sys.stdin.buffer, open(sys.argv[1], 'wb'))"
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": COPIER},
    "spec": {
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "fsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationGracePeriodSeconds": 0,
        "containers": [
            {
                "name": COPIER,
                "command": ["python", "-c", "import time; time.sleep(600)"],
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": [{"name": "rows", "mountPath": "/data"}],
            }
        ],
        "volumes": [{"name": "rows", "persistentVolumeClaim": {"claimName": CLAIM}}],
    },
}
VOLUME = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": CLAIM},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


@pytest.fixture
def volume(bench: Namespace) -> Iterator[Namespace]:
    """The namespace with the PostgreSQL, and a pod that can write to a volume claim."""
    pod = json.loads(json.dumps(POD))
    image = bench.kube.image or f"iot-database-benchmark:{__version__}"
    pod["spec"]["containers"][0]["image"] = image
    for manifest in (VOLUME, pod):
        bench.kubectl("apply", "--filename=-", given=json.dumps(manifest))
    try:
        bench.kubectl("wait", "--for=condition=Ready", f"pod/{COPIER}", "--timeout=60s")
        yield bench
    finally:
        bench.kubectl("delete", f"pod/{COPIER}", f"pvc/{CLAIM}", "--ignore-not-found")


def written(namespace: Namespace, folder: Path) -> Path:
    """Generate a file, and copy it to the claim with its manifest."""
    file = folder / "rows.csv"
    generate = ("generate", "--format=csv", f"--num-inserts={ROWS}", f"--output={file}")
    subprocess.run([sys.executable, str(ROOT / "run.py"), *generate], check=True, cwd=folder)
    for path in (file, Path(f"{file}.json")):
        copied(namespace, path.name, path.read_text())
    return file


def copied(namespace: Namespace, name: str, content: str) -> None:
    command = ("python", "-c", COPY, f"/data/{name}")
    namespace.kubectl("exec", "--stdin", COPIER, "--", *command, given=content)


def data(path: str, claim: str = CLAIM) -> tuple[str, str]:
    return f"--data=claim:{claim}/{path}", "--data-format=csv"


def test_a_file_in_a_volume_claim_is_inserted_and_verified(
    cli: ClusterLine, volume: Namespace, tmp_path: Path
) -> None:
    file = written(volume, tmp_path)
    done = cli.insert(*INSERT, *data("rows.csv"), "--verify=full", within_s=180)
    assert done.code == 0, done.err
    result = cli.result()
    assert result["configuration"]["data"] == f"claim:{CLAIM}/rows.csv"
    assert [run["workers"] for run in result["runs"]] == [1, 3]
    for run in result["runs"]:
        assert run["outcome"]["verdict"]["status"] == "verified"
        assert run["metrics"]["rows"] == ROWS
    asked = cli.run("query", "--target=postgresql", "--workers=1", "--count=2")
    assert asked.code == 0, asked.err

    lines = file.read_text().splitlines(keepends=True)
    copied(volume, "rows.csv", "".join([*lines[:100], "damaged\n", *lines[101:]]))
    refused = cli.insert(*INSERT, *data("rows.csv"))
    assert refused.code == 2, refused.err
    place = len("".join(lines[:100]))
    assert f"claim:{CLAIM}/rows.csv: record 100 (byte {place:,}): 'damaged" in refused.err
    absent = cli.insert(*INSERT, *data("nosuch.csv"))
    assert absent.code == 2, absent.err
    assert "nosuch.csv: no such file; its folder has: rows.csv" in absent.err
    assert len(cli.results()) == 2


def test_a_prepared_file_in_a_volume_claim_is_inserted_asked_and_verified(
    cli: ClusterLine, volume: Namespace, tmp_path: Path
) -> None:
    lines = [f"2024-05-01T00:00:{n % 60:02}Z,{n // 60},{n / 4},{'' if n % 7 else 'odd'}"
             for n in range(ROWS)]  # fmt: skip
    (tmp_path / "loads.csv").write_text("\n".join(["at,rack,load,note", *lines, ""]))
    prepare = ("prepare", "loads.csv", "--tags=rack", "--output=loads.rows", "--quiet")
    subprocess.run([sys.executable, str(ROOT / "run.py"), *prepare], check=True, cwd=tmp_path)
    with tarfile.open(tmp_path / "loads.tar", "w") as archive:
        archive.add(tmp_path / "loads.rows", "loads.rows")
    content = base64.b64encode((tmp_path / "loads.tar").read_bytes()).decode()
    volume.kubectl("exec", "--stdin", COPIER, "--", "python", "-c", UNPACK, given=content)

    data_option = f"--data=claim:{CLAIM}/loads.rows"
    done = cli.insert(*INSERT, data_option, "--verify=full", within_s=180)
    assert done.code == 0, done.err
    for run in cli.result()["runs"]:
        assert run["outcome"]["verdict"]["status"] == "verified"
        assert run["metrics"]["rows"] == ROWS
    asked = cli.run("query", "--target=postgresql", "--workers=2", "--runs=2")
    assert asked.code == 0, asked.err
    assert "verified" in asked.out

    volume.kubectl("exec", COPIER, "--", "rm", "/data/loads.rows/2.values")
    damaged = cli.insert(*INSERT, data_option)
    assert damaged.code == 2, damaged.err
    assert f"claim:{CLAIM}/loads.rows: has " in damaged.err
    absent = cli.insert(*INSERT, f"--data=claim:{CLAIM}/nosuch.rows")
    assert absent.code == 2, absent.err
    assert "nosuch.rows: cannot be read: No such file" in absent.err


def test_a_volume_claim_that_is_missing_is_named(cli: ClusterLine) -> None:
    done = cli.insert(*INSERT, *data("rows.csv", "nosuch"))
    assert done.code == 1, done.err
    assert 'persistentvolumeclaim "nosuch" not found' in done.err
    assert "`kubectl get pvc` lists those that it has" in done.err
    assert cli.results() == []


def test_the_server_accepts_what_a_dry_run_prints(cli: ClusterLine) -> None:
    done = cli.insert(*INSERT, *data("rows.csv"), "--dry-run")
    assert done.code == 0, done.err
    assert f"claimName: {CLAIM}" in done.out
    assert f"mountPath: {VOLUME_FOLDER}" in done.out
    cli.namespace.kubectl("apply", "--dry-run=server", "--filename=-", given=done.out)
