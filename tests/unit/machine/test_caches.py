"""File caches: dropped where this machine allows it, with the reason where it does not."""

import pytest

from iotbench.machine import disk
from iotbench.machine.disk import DROPPED, drop_caches
from iotbench.machine.listener import elsewhere
from simulator.modules import database_class


def test_the_kernel_is_asked_to_drop_everything(tmp_path, monkeypatch):
    switch = tmp_path / "drop_caches"
    switch.write_text("")
    monkeypatch.setattr(disk, "_DROP", switch)

    assert drop_caches() == DROPPED
    assert switch.read_text() == "3"


def test_a_machine_that_does_not_allow_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "_DROP", tmp_path / "missing")
    assert drop_caches() == f"{tmp_path / 'missing'}: No such file or directory"
    assert not (tmp_path / "missing").exists()


def test_nothing_is_dropped_for_a_server_that_is_elsewhere(tmp_path, monkeypatch):
    switch = tmp_path / "drop_caches"
    switch.write_text("")
    monkeypatch.setattr(disk, "_DROP", switch)

    assert drop_caches("the server is on another host") == "the server is on another host"
    assert not switch.read_text()


@pytest.mark.parametrize(
    ("host", "embedded", "reason"),
    [
        ("127.0.0.1", False, ""),
        ("192.0.2.1", False, "the server is on another host"),
        ("192.0.2.1", True, ""),
    ],
)
def test_a_server_is_here_if_its_address_is(host, embedded, reason):
    options = database_class("mysql").options_model(host=host, user="u", database="d")
    assert elsewhere(options, embedded=embedded) == reason
