"""`pytest --evidence` writes a record only of a target whose cases all ran and passed."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from simulator.modules.evidence import STAND_IN, Kill, Reached, evidence
from tests.contract.evidence import SHARED, Recorder
from tests.contract.targets import STORING


def items(*targets):
    """A case of each shared file for each target."""
    return [
        SimpleNamespace(
            nodeid=f"{file}[{name}]",
            path=Path(file),
            callspec=SimpleNamespace(params={"target": STORING[name]}),
        )
        for file in SHARED
        for name in targets
    ]


def report(case, outcome="passed", **seen):
    return SimpleNamespace(
        nodeid=case.nodeid,
        when="call",
        passed=outcome == "passed",
        failed=outcome == "failed",
        skipped=outcome == "skipped",
        duration=0.25,
        longrepr=("test.py", 1, "Skipped: no reason") if outcome == "skipped" else outcome,
        outcome=outcome,
        user_properties=list(seen.items()),
    )


def recorded(folder, cases, outcomes):
    recorder = Recorder(folder)
    recorder.pytest_collection_modifyitems(cases)
    for case, outcome in zip(cases, outcomes, strict=False):
        recorder.pytest_runtest_logreport(
            report(case, outcome, server="Db 1.2", kill=Kill.ALL_KEPT)
        )
    recorder.pytest_sessionfinish()
    return recorder.lines


def test_a_target_whose_cases_all_passed_is_recorded(tmp_path):
    lines = recorded(tmp_path, items("sqlite"), ["passed", "passed", "skipped", "passed"])

    (record,) = evidence("sqlite", tmp_path).records
    assert (record.server, record.cases, record.kill) == ("Db 1.2", 3, Kill.ALL_KEPT)
    assert lines == ["sqlite: Db 1.2, 3 cases, after kill -9: all kept"]


@pytest.mark.parametrize("outcomes", [["passed", "failed", "passed", "passed"], ["passed"] * 3])
def test_a_failed_or_missing_case_writes_nothing(tmp_path, outcomes):
    lines = recorded(tmp_path, items("sqlite"), outcomes)

    assert not list(tmp_path.iterdir())
    assert "sqlite: not written, 1 cases" in lines[0]


def test_a_target_that_did_not_run_is_not_mentioned(tmp_path):
    assert recorded(tmp_path, items("sqlite"), ["skipped"] * 4) == []


def test_a_stand_in_is_recorded_as_one(tmp_path):
    recorded(tmp_path, items("splunk"), ["passed"] * 4)

    (record,) = evidence("splunk", tmp_path).records
    assert record.server == STAND_IN
    assert evidence("splunk", tmp_path).draft


def test_a_server_at_an_address_is_recorded_as_one(tmp_path, monkeypatch):
    there = STORING["cratedb"].at("cratedb_elsewhere", "cratedb", "built from its public source")
    monkeypatch.setitem(STORING, "cratedb", there)
    recorded(tmp_path, items("cratedb"), ["passed"] * 4)

    (record,) = evidence("cratedb", tmp_path).records
    assert (record.server, record.reached) == ("Db 1.2", Reached.ADDRESS)
    assert record.remark == "reached by its address; built from its public source"
    assert not evidence("cratedb", tmp_path).draft


def test_a_run_without_all_shared_files_is_refused(tmp_path):
    with pytest.raises(pytest.UsageError, match=r"test_kill\.py.*run all of tests/contract"):
        Recorder(tmp_path).pytest_collection_modifyitems(
            [case for case in items("sqlite") if case.path.name != "test_kill.py"]
        )
