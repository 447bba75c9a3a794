"""Credentials that are rotated: their files are read again, and what is wrong changes nothing."""

import time
from types import SimpleNamespace

import pytest
from pydantic import SecretStr, field_validator

from simulator.modules import open_database
from simulator.modules.options import Options
from simulator.rotation import Rotation


@pytest.fixture
def database():
    return open_database("influxdb1", {"url": "http://h:8086", "user": "u"}, {"password": "first"})


@pytest.fixture
def rotation(database, tmp_path):
    (tmp_path / "password").write_text("first\n")
    return Rotation([database], {"password": tmp_path / "password"})


def test_what_has_not_changed_is_kept(database, rotation):
    before = database.options
    rotation.renew()

    assert database.options is before


def test_a_new_password_is_used_and_both_are_redacted(database, rotation, tmp_path, capsys):
    (tmp_path / "password").write_text("second")
    rotation.renew()
    (tmp_path / "password").write_text("third\n")
    rotation.renew()

    assert database.options.secrets() == {"password": "third"}
    assert database.options.public()["url"] == "http://h:8086"
    assert database.options.redact("first, second, third") == "***, ***, ***"
    assert capsys.readouterr().err == "credentials were rotated: password\n" * 2


def test_a_file_that_is_missing_or_no_text_has_not_changed(database, rotation, tmp_path):
    before = database.options
    (tmp_path / "password").write_bytes(b"\xff\xfe")
    rotation.renew()
    (tmp_path / "password").unlink()
    rotation.renew()

    assert database.options is before


class Long(Options):
    password: SecretStr

    @field_validator("password")
    @classmethod
    def _long(cls, value):
        if len(value) < 5:
            raise ValueError(f"{value.get_secret_value()} is too short")
        return value


def test_a_value_that_cannot_be_used_is_named_once_and_not_shown(tmp_path, capsys):
    database = SimpleNamespace(options=Long(password="first"))
    (tmp_path / "password").write_text("abc")
    rotation = Rotation([database], {"password": tmp_path / "password"})
    rotation.renew()
    rotation.renew()

    assert database.options.secrets() == {"password": "first"}
    assert capsys.readouterr().err == (
        "credentials were rotated to values that are not valid, and stay: password\n"
    )


def test_the_thread_looks_again_and_again(tmp_path, database):
    path = tmp_path / "password"
    path.write_text("first")
    changed = open_database("influxdb1", {"url": "http://h:8086"}, {"password": "first"})
    rotation = Rotation([database, changed], {"password": path}, look_s=0.01)
    rotation.follow()
    path.write_text("second")
    for _ in range(1000):
        if changed.options.secrets() == {"password": "second"}:
            break
        time.sleep(0.01)
    assert database.options.secrets() == changed.options.secrets() == {"password": "second"}


def test_a_file_that_was_rotated_before_the_run_is_read_at_once(database, tmp_path):
    (tmp_path / "password").write_text("second")
    Rotation([database], {"password": tmp_path / "password"}, look_s=1000.0).follow()

    assert database.options.secrets() == {"password": "second"}
