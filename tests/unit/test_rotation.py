"""Credentials that are rotated: their files are read again, and what is wrong changes nothing."""

from contextlib import closing
from types import SimpleNamespace

import pytest
from pydantic import SecretStr, field_validator

from simulator.load.faults.network import Network
from simulator.modules import open_database
from simulator.modules.contract import Options
from simulator.protocol.spec import PlannedFault, Weather
from simulator.rotation import Rotation


@pytest.fixture
def database():
    return open_database("influxdb1", {"url": "http://h:8086", "user": "u"}, {"password": "first"})


@pytest.fixture
def rotation(database, tmp_path):
    (tmp_path / "password").write_text("first\n")
    return Rotation(database, {"password": tmp_path / "password"})


def test_a_new_password_is_used_and_both_are_redacted(database, rotation, tmp_path, capsys):
    (tmp_path / "password").write_text("second")
    rotation.renew()
    (tmp_path / "password").write_text("third\n")
    rotation.renew()

    assert database.options.secrets() == {"password": "third"}
    assert database.options.public()["url"] == "http://h:8086"
    assert database.options.redact("first, second, third") == "***, ***, ***"
    assert capsys.readouterr().err == "credentials were rotated: password\n" * 2


def test_a_file_that_is_the_same_or_missing_or_no_text_has_not_changed(
    database, rotation, tmp_path
):
    before = database.options
    rotation.renew()
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
    rotation = Rotation(database, {"password": tmp_path / "password"})
    rotation.renew()
    rotation.renew()

    assert database.options.secrets() == {"password": "first"}
    assert capsys.readouterr().err == (
        "rotated credentials are not valid, and the earlier ones stay: password\n"
    )


CUT = PlannedFault(
    name="cut-network", instants_s=(1000.0,), lasts_s=1.0, network=Weather(is_cut=True)
)


def test_behind_a_relay_an_address_among_the_credentials_still_leads_to_it(tmp_path):
    """What the file has is compared with what was given, not with the address of the relay."""
    path = tmp_path / "connection_string"
    path.write_text("host=127.0.0.1 port=5 password=first")
    database = open_database("postgres", {}, {"connection_string": path.read_text()})
    with closing(Network(database, CUT)) as network:
        relayed = network.database.options
        rotation = Rotation(database, {"connection_string": path}, network.renew)
        rotation.renew()
        assert network.database.options is relayed

        path.write_text("host=127.0.0.1 port=5 password=second")
        rotation.renew()
        found = network.database.options.secrets()["connection_string"]
        assert found == relayed.secrets()["connection_string"].replace("first", "second")
        assert "second" in found
        assert network.database.options.redact("first second") == "*** ***"


def test_a_file_that_was_rotated_before_the_run_is_read_at_once(database, tmp_path):
    (tmp_path / "password").write_text("second")
    Rotation(database, {"password": tmp_path / "password"}, look_s=1000.0).follow()

    assert database.options.secrets() == {"password": "second"}
