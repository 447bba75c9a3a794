"""Targets under the names of the original's config.yaml: read as ours, or answered with ours."""

import re
from pathlib import Path

import pytest

from iotbench.config.targets.config import load
from iotbench.config.targets.names import NAMES
from simulator.errors import ConfigError
from simulator.modules import database_class

ROOT = Path(__file__).parents[4]

ORIGINAL = Path(__file__).parents[3] / "files" / "original-config.yaml"
EXPECTED = {
    "arangodb": {"url": "http://arango:8529", "user": "root", "database": "_system"},
    "yugabyte_sql": {"install_extensions": True},
    "yugabyte_cql": {"hosts": "yb-tservers", "consistency": "LOCAL_QUORUM", "max_sync_calls": 1},
    "cockroachdb": {"connection_string": "host=cockroachdb-public port=26257 dbname=postgres"},
    "postgresql": {"use_values_lists": False},
    "cassandra_sync": {"hosts": "dc1-service", "replication_factor": 3, "keyspace": "benchmark"},
    "cassandra_async": {"hosts": "dc1-service", "max_sync_calls": 120},
    "influxdb": {"url": "http://influxdb2", "org": "influxdata"},
    "timescaledb": {"chunk_interval_s": 86400},
    "elasticsearch": {"url": "https://elastic-es-http:9200"},
}


def problems_of(target, **extra):
    with pytest.raises(ConfigError) as error:
        load(ORIGINAL).resolve(target, extra)
    return error.value.problems


def test_every_target_of_the_original_loads():
    config = load(ORIGINAL)

    assert config.targets.keys() == EXPECTED.keys()
    for name, expected in EXPECTED.items():
        public = config.resolve(name, {}).options.public()
        assert {key: public[key] for key in expected} == expected
        assert public.get("password") in {None, "***"}


@pytest.mark.parametrize(
    ("target", "key", "value", "option", "read"),
    [
        ("arangodb", "sync", "true", "wait_for_sync", True),
        ("arangodb", "endpoint", "http://b:1", "url", "http://b:1"),
        ("cassandra_sync", "contact_points", "a,b", "hosts", "a,b"),
        ("cassandra_sync", "consistency_level", "ONE", "consistency", "ONE"),
        ("postgresql", "install_extensions", "pgcrypto", "install_extensions", True),
    ],
)
def test_an_extra_option_of_the_original_is_read_as_ours(target, key, value, option, read):
    assert load(ORIGINAL).resolve(target, {key: value}).options.public()[option] == read


def test_what_cannot_be_taken_is_answered_with_ours_all_at_once():
    assert problems_of(
        "influxdb", device_spread="5", bucket="x", queries="a,b", endpoint="http://u@b"
    ) == (
        (
            "--extra-option device_spread: module influxdb has no such option; here: the option"
            " --devices, on every target"
        ),
        (
            "--extra-option bucket: module influxdb has no such option; here: prefix, such as"
            " benchmark_: the bucket is benchmark_events"
        ),
        "--extra-option queries: module influxdb has no such option; here: query --types a,b",
        (
            "--extra-option endpoint: expected an address without '@'; credentials are options of"
            " their own"
        ),
    )
    assert problems_of("postgresql", install_extensions="postgis") == (
        (
            "--extra-option install_extensions: expected true or false, got text of 7 characters;"
            " here: install_extensions: true, which creates pgcrypto"
        ),
    )
    assert problems_of("arangodb", sync="true", wait_for_sync="true") == (
        "--extra-option sync: is wait_for_sync here, which is given as well; leave out one of them",
    )


def test_a_module_that_has_an_option_of_that_name_keeps_it(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("targets: {s: {module: splunk, url: https://a, search_url: https://a,"
                    " token: t, endpoint: raw}}")  # fmt: skip

    assert load(file).resolve("s", {}).options.public()["endpoint"] == "raw"


def test_every_name_that_is_read_leads_to_an_option():
    for row in NAMES:
        if not row.option:
            continue
        for module in row.modules or ("postgres",):
            assert row.option in database_class(module).options_model.model_fields


def test_the_documentation_has_every_name_that_is_read():
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    tables = page.partition("### Names of document 1")[2]
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", tables, re.MULTILINE)

    for name in NAMES:
        for key in name.keys:
            here = [right for left, right in rows if re.search(rf"`[^`]*\b{key}\b", left)]
            assert here, key
            assert any(name.option in right for right in here), key
