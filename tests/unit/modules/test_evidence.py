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


TRIED = {
    "a": "PostgreSQL 18.6 (Debian 18.6-3)",
    "b": "PostgreSQL 9.6, as installed",
    "c": "Extended 2.31.0 on PostgreSQL 17.11",
    "d": "Built 2021-09-02 (revision eb125a342)",
}


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("PostgreSQL 18.6 (Debian 18.6-9)", "PostgreSQL 18.6: tried"),
        ("PostgreSQL 17.2", "PostgreSQL 17.2: tried with 9.6, 17.11 and 18.6"),
        ("PostgreSQL 18.10", "PostgreSQL 18.10: newer than any that was tried (18.6)"),
        ("PostgreSQL 19beta1", "PostgreSQL 19beta1: newer than any that was tried (18.6)"),
        ("PostgreSQL 9.5", "PostgreSQL 9.5: older than any that was tried (9.6)"),
        (
            "Extended 2.9.0 on PostgreSQL 19.1 (Debian 19.1-1)",
            (
                "Extended 2.9.0: older than any that was tried (2.31.0); "
                "PostgreSQL 19.1: newer than any that was tried (18.6)"
            ),
        ),
        (
            "PostgreSQL 18.6 with Other 1.0",
            "PostgreSQL 18.6: tried; Other 1.0: never tried with this module",
        ),
        ("Built 2.4.1", "Built 2.4.1: tried with 2021-09-02"),
        ("Built 2023-01-01", "Built 2023-01-01: tried with 2021-09-02"),
        (
            "Built (without a version)",
            (
                "Built (without a version): tried with PostgreSQL 18.6, 9.6; "
                "Extended 2.31.0 on PostgreSQL 17.11; Built 2021-09-02"
            ),
        ),
    ],
)
def test_a_server_is_compared_with_those_that_were_tried(server, expected):
    found = Evidence(module="db")
    for target, tried in TRIED.items():
        found = found.with_record(record(target=target, server=tried))

    assert found.compare(server) == expected


def test_a_draft_was_never_tried():
    text = "Db 1.2: draft, never tried on a server; the command contract tests it"
    assert Evidence(module="db").compare("Db 1.2") == text


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
