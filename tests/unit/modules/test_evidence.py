"""The record of what the contract tests have shown of each module."""

import datetime as dt

import pytest

from simulator.modules import MODULES
from simulator.modules.evidence import (
    FOLDER,
    STAND_IN,
    Evidence,
    EvidenceRecord,
    Kill,
    evidence,
    write,
)


def record(**changes):
    given = {"target": "t", "server": "Db 1.2", "date": dt.date(2026, 1, 2), "cases": 7}
    return EvidenceRecord(**{**given, **changes})


def test_what_is_written_is_read(tmp_path):
    found = Evidence(module="db").with_record(record(kill=Kill.ALL_KEPT, note="one node"))
    write(found, tmp_path)

    assert evidence("db", tmp_path) == found


def test_a_module_without_a_file_or_with_a_stand_in_only_is_a_draft(tmp_path):
    standing_in = record(server=STAND_IN, kill=Kill.ALL_KEPT)
    for found in (
        evidence("package.file:Class", tmp_path),
        Evidence(module="db").with_record(standing_in),
    ):
        assert (found.draft, found.servers, found.kill) == (True, "draft", Kill.NOT_TRIED)


def test_a_record_replaces_the_earlier_one_of_its_target():
    first = Evidence(module="db").with_record(record()).with_record(record(target="other"))
    second = first.with_record(record(server="Db 1.3", cases=8))

    assert [(each.target, each.cases) for each in second.records] == [("other", 7), ("t", 8)]
    assert second.servers == "Db 1.2, 1.3"


def test_products_are_listed_once_with_their_versions():
    servers = {
        "a": "PostgreSQL 15.18 (Debian 1)",
        "b": "PostgreSQL 17.11",
        "c": "Other 1",
        "d": "Other 1, in part",
    }
    found = Evidence(module="db")
    for target, server in servers.items():
        found = found.with_record(record(target=target, server=server))

    assert found.servers == "PostgreSQL 15.18, 17.11; Other 1"


@pytest.mark.parametrize(
    ("server", "expected"), [("Db 1.2", Kill.SOME_LOST), ("Db 1.3", Kill.ALL_KEPT)]
)
def test_a_loss_stays_on_record_for_the_same_server(server, expected):
    lost = Evidence(module="db").with_record(record(kill=Kill.SOME_LOST))

    assert lost.with_record(record(server=server, kill=Kill.ALL_KEPT)).kill is expected


def test_the_worst_outcome_on_a_real_server_counts():
    found = Evidence(module="db")
    for target, kill in (("a", Kill.ALL_KEPT), ("b", Kill.SOME_LOST), ("c", Kill.NOT_TRIED)):
        found = found.with_record(record(target=target, kill=kill))

    assert found.kill is Kill.SOME_LOST


def test_every_file_belongs_to_a_module_and_is_canonical():
    for path in FOLDER.glob("*.json"):
        found = evidence(path.stem)

        assert found.module == path.stem
        assert found.module in MODULES
        assert path.read_text() == found.model_dump_json(indent=2) + "\n"
