"""The folder of a prepared file: what it is known by, in a pod and here, and what is refused."""

import dataclasses
import gzip
import lzma
import shutil

import pytest

from iotbench.config.targets.config import Target
from iotbench.measurements.shared.plan import collector_run, spec_of
from iotbench.rows.files import prepare
from iotbench.rows.files.prepare import convert_file, expect_key, read_folder, reopen
from iotbench.rows.files.request import FilesRequest
from simulator.control.database.checks import scan_file
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.file import File, FileParams, FileReading
from simulator.errors import ConfigError
from simulator.modules.null import NullOptions
from simulator.protocol import records
from simulator.protocol.records import RecordFormat, RecordsFile, ScanTask
from simulator.protocol.spec import Work
from simulator.records.prepared import NAME, describe, is_prepared, read_prepared_file
from tests.unit.specs import run_spec

CSV = "at,rack,load\n2024-05-01,a,1.5\n2024-05-02,b,\n2024-05-02,a,2.5\n"
SHOWN = "claim:fleet/days/x.rows"


@pytest.fixture
def folder(tmp_path):
    source, folder = tmp_path / "x.csv", tmp_path / "days" / "x.rows"
    source.write_text(CSV)
    folder.mkdir(parents=True)
    request = FilesRequest((source,), FileReading(tags=("rack",)), PrimaryKey.NONE)
    params = convert_file(request, folder, quiet=True).model_copy(update={"folder": ""})
    (folder / NAME).write_text(describe(folder, params).model_dump_json())
    return folder


def test_a_folder_is_known_by_its_description(folder):
    assert is_prepared(folder)
    assert not is_prepared(folder.parent)
    assert not is_prepared(folder / "none")
    found = read_prepared_file(folder, "x")
    assert (found.params.rows, found.params.table) == (3, "x")
    assert found.size_bytes == sum(path.stat().st_size for path in folder.glob("[0-9]*.*"))


def test_it_is_read_in_place_here(folder):
    params = read_folder(folder, PrimaryKey.CLIENT)
    assert (params.folder, params.kept, params.claim) == (str(folder), True, "")
    assert params.unique


def test_a_pod_finds_it_in_its_volume_claim(folder, monkeypatch):
    monkeypatch.setattr(records, "VOLUME_FOLDER", str(folder.parent.parent))
    task = ScanTask(prepared=str(folder), volume_claim="fleet")
    found = scan_file(run_spec(work=Work.SCAN, workers=(), scan=task))

    params = FileParams(**found.params)
    assert (params.source, params.claim, params.folder) == (SHOWN, "fleet", str(folder))
    assert found.rows == (3,)
    expect_key(params, PrimaryKey.CLIENT)
    with pytest.raises(ConfigError, match="name more --tags"):
        expect_key(params.model_copy(update={"unique": False}), PrimaryKey.CLIENT)


def test_pods_mount_the_claim_of_a_scan_and_of_the_rows(folder):
    target = Target("x", "null", "kubernetes", NullOptions(), {})
    scan = collector_run(Work.SCAN, "s", target, scan=ScanTask(prepared="/r", volume_claim="fleet"))
    assert scan.volume_claim == "fleet"
    params = read_folder(folder, PrimaryKey.NONE).model_copy(update={"claim": "other"})
    stored = run_spec(workers=()).dataset.model_copy(
        update={"params": params.model_dump(mode="json")}
    )
    assert run_spec(workers=(), dataset=stored).volume_claim == "other"
    here = dataclasses.replace(target, runner="local")
    with pytest.raises(ConfigError, match=r"--runner local: the rows are in .*use --runner kube"):
        spec_of(Work.QUERY, ("s", "1-q"), here, stored)
    assert run_spec(workers=()).volume_claim == ""


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda folder: (folder / "2.values").write_bytes(b"\0" * 24), "another SHA-256; copy"),
        (lambda folder: (folder / "2.values").unlink(), "expected .* with another SHA-256"),
        (
            lambda folder: (folder / NAME).write_text("{}"),
            "not a description of `prepare`: params",
        ),
        (shutil.rmtree, "No such file .*; expected a folder that `prepare`"),
    ],
)
def test_a_damaged_folder_is_refused_by_its_name(folder, damage, words):
    damage(folder)
    with pytest.raises(ConfigError, match=f"--data: {SHOWN}.*{words}"):
        read_prepared_file(folder, SHOWN)


def test_queries_need_the_folder_as_it_was_inserted(folder):
    params = read_folder(folder, PrimaryKey.NONE)
    stored = run_spec(workers=()).dataset.model_copy(
        update={"workload": File.name, "workload_version": File.version, "primary_key": "none",
                "params": params.model_dump(mode="json"), "ranges": ()}
    )  # fmt: skip
    with reopen(stored, quiet=True) as found:
        assert found == stored
    moved = params.model_copy(update={"claim": "fleet", "folder": "/records/none"})
    elsewhere = stored.model_copy(update={"params": moved.model_dump(mode="json")})
    with reopen(elsewhere, quiet=True) as found:
        assert found == elsewhere
    other = params.model_copy(update={"rows": 2})
    changed = stored.model_copy(update={"params": other.model_dump(mode="json")})
    with pytest.raises(ConfigError, match="run insert again"), reopen(changed, quiet=True):
        pass


@pytest.mark.parametrize("name", ["gone.csv", "/proc/self/status", "/proc/kmsg", "/dev/zero", "/"])
def test_no_file_without_content_is_read_again(folder, tmp_path, monkeypatch, name):
    """A result or a database may name any file; reading one of the kernel may never end."""
    monkeypatch.setattr(prepare, "_digest", lambda paths: pytest.fail(f"{paths} was read"))
    params = read_folder(folder, PrimaryKey.NONE).model_copy(
        update={"kept": False, "source": str(tmp_path / name)}
    )
    stored = run_spec(workers=()).dataset.model_copy(
        update={"workload": File.name, "workload_version": File.version,
                "params": params.model_dump(mode="json")}
    )  # fmt: skip
    gone = "cannot be checked without the inserted"
    with pytest.raises(ConfigError, match=gone), reopen(stored, quiet=True):
        pass


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_compressed_file_of_records_in_a_volume_claim_is_named(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(records, "VOLUME_FOLDER", str(tmp_path))
    path = tmp_path / "rows.lp"
    path.write_bytes(pack(b"m v=1 1\n"))
    file = RecordsFile(path=str(path), format=RecordFormat.INFLUX, volume_claim="fleet")
    spec = run_spec(work=Work.SCAN, workers=(), records=file, scan=ScanTask())

    expected = "--data: claim:fleet/rows.lp: is compressed .*; unpack it in the volume claim"
    with pytest.raises(ConfigError, match=expected):
        scan_file(spec)


def test_a_folder_whose_description_is_elsewhere_is_refused_unread(folder):
    (folder / NAME).unlink()
    (folder / NAME).symlink_to("/proc/kmsg")

    with pytest.raises(ConfigError, match=r"file.json is a link, pipe or device, expected a file"):
        read_folder(folder, PrimaryKey.NONE)
