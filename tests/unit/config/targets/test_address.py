"""Addresses: the same for targets that write to the same tables, anyone who connects."""

import pytest

from iotbench.config.targets.config import address_key
from simulator.modules import database_class


def key(module, **options):
    return address_key(database_class(module).options_model(**options))


SAME = {
    "another user and password": (
        ("postgres", {"connection_string": "host=db dbname=app user=a password=x"}),
        ("postgres", {"connection_string": "host=db  dbname=app user=b password='y z'"}),
    ),
    "credentials in a URL": (
        ("postgres", {"connection_string": "postgresql://a:x@db/app"}),
        ("postgres", {"connection_string": "postgresql://db/app"}),
    ),
    "another module": (
        ("postgres", {"connection_string": "host=db"}),
        ("timescaledb", {"connection_string": "host=db"}),
    ),
    "another engine": (
        ("mysql", {"host": "m", "user": "u", "database": "d", "engine": "InnoDB"}),
        ("mysql", {"host": "m", "user": "u", "database": "d", "engine": "MyISAM"}),
    ),
    "a slash at the end": (
        ("questdb", {"url": "http://q:9000"}),
        ("questdb", {"url": "http://q:9000/"}),
    ),
}
OTHER = {
    "host": (
        ("postgres", {"connection_string": "host=a"}),
        ("postgres", {"connection_string": "host=b"}),
    ),
    "database": (
        ("mysql", {"host": "m", "user": "u", "database": "d"}),
        ("mysql", {"host": "m", "user": "u", "database": "e"}),
    ),
    "port": (
        ("mysql", {"host": "m", "user": "u", "database": "d"}),
        ("mysql", {"host": "m", "user": "u", "database": "d", "port": 3307}),
    ),
}


@pytest.mark.parametrize("case", [*SAME, *OTHER])
def test_only_the_same_tables_have_the_same_key(case):
    (one, options), (other, others) = (SAME | OTHER)[case]

    assert (key(one, **options) == key(other, **others)) is (case in SAME)


def test_a_file_is_the_same_from_every_folder(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to(tmp_path / "a")
    monkeypatch.chdir(tmp_path / "a")

    assert key("sqlite", path="x.db") == key("sqlite", path=str(tmp_path / "b" / "x.db"))


def test_what_stores_nothing_has_no_address():
    assert key("null") == ""
