"""Both sets of settings: one declaration, which manifests and targets follow."""

import re

import pytest
import yaml
from pydantic import ValidationError

from iotbench.config.targets.advice import SUFFIX, Amount, ServerSize, SettingsChoice, advice
from iotbench.config.targets.config import load
from simulator.modules import MODULES, database_class
from tests import ROOT
from tests.servers import SERVERS

BENCH = ServerSize(memory_mib=10 * 1024, cores=8)
"""Of the profile `bench`."""
MANIFESTS = {
    "postgresql": "postgresql/values-bench.yaml",
    "timescaledb": "timescaledb/statefulset-bench.yaml",
    "mysql_innodb": "mysql/values-bench.yaml",
    "mariadb": "mariadb/values-bench.yaml",
    "cassandra_sync": "cassandra/datacenter-bench.yaml",
    "opensearch": "opensearch/values-bench.yaml",
    "cratedb": "cratedb/statefulset-bench.yaml",
}
WEAKER = re.compile(
    r"fsync|synchronous_commit|full_page|flush_log_at|sync_binlog|doublewrite|commitlog_sync"
    r"|durability|wal_fsync|commit\.mode|replicas"
)
DIFFERING = [target for target, own in advice().items() if own.differs]


def pairs(node):
    """Yield every NAME=VALUE of a manifest: of mappings, of arguments, and of variables."""
    if isinstance(node, dict):
        if {"name", "value"} <= node.keys():
            yield node["name"], str(node["value"])
        for key, value in node.items():
            yield from pairs(value) if isinstance(value, dict | list) else [(key, str(value))]
            yield from (("heap", word) for word in re.findall(r"-Xmx(\S+)", str(value)))
    elif isinstance(node, list):
        for each in node:
            yield from pairs(each)
            name, equals, value = str(each).partition("=")
            if equals:
                yield re.sub("^(--|-c)", "", name).replace("-", "_"), value


@pytest.mark.parametrize("target", MANIFESTS)
def test_the_profile_bench_has_what_the_vendor_advises(target):
    text = (ROOT / "dbinstall" / MANIFESTS[target]).read_text()
    found = {pair for each in yaml.safe_load_all(text) for pair in pairs(each)}
    found |= {("heap", value) for name, value in found if name == "max_heap_size"}
    wanted = advice()[target].server_settings(SettingsChoice.ADVISED, BENCH)

    assert wanted
    assert {*wanted.items()} - found == set()


@pytest.mark.parametrize("target", DIFFERING)
def test_an_advised_target_differs_in_the_advised_options_only(target):
    loaded, own = load(ROOT / "config.yaml"), advice()[target]
    base, advised = (dict(loaded.entry(name)) for name in (target, f"{target}{SUFFIX}"))

    assert advised == {**base, **own.target_options(SettingsChoice.ADVISED)}
    assert {*base} & {*own.options} == set()
    model = database_class(base["module"]).options_model
    assert {*own.options} <= {*model.model_fields}
    assert all(model.model_fields[name].default != advised[name] for name in own.options)


def test_what_the_vendor_advises_is_known_for_every_database():
    targets = load(ROOT / "config.yaml")

    assert {targets.entry(name)["module"] for name in advice()} == {*MODULES} - {"null"}


def test_every_advised_target_is_declared():
    named = {name for name in load(ROOT / "config.yaml").targets if name.endswith(SUFFIX)}
    assert named == {f"{target}{SUFFIX}" for target in DIFFERING}


def test_the_settings_of_every_server_that_is_measured_are_known():
    named = [server.targets[0] for server in SERVERS.values() if server.targets]

    assert named
    assert {*named} - {*advice()} == set()


@pytest.mark.parametrize("target", advice())
def test_no_set_weakens_durability_and_each_setting_has_its_source(target):
    own = advice()[target]
    settings = {**own.server, **own.options}

    assert not [name for name in settings if WEAKER.search(name)]
    assert all(each.source.startswith("https://") for each in settings.values())
    assert own.differs != bool(own.nothing)
    assert "https://" in own.nothing or not own.nothing


@pytest.mark.parametrize(
    ("amount", "written", "described"),
    [
        ({"memory": "25%"}, "2560MB", "25 % of the memory"),
        ({"memory": "50%", "most": 2047}, "2047MB", "50 % of the memory, at most 2,047 MiB"),
        ({"memory": "1%", "least": 2048}, "2048MB", "1 % of the memory, at least 2,048 MiB"),
        (
            {"memory": "0.125%", "over_half_the_cores": True},
            "3MB",
            "0.125 % of the memory / half the cores",
        ),
        ({"gib_per_core": 0.5}, "4096MB", "0.5 GiB x cores"),
        ({"per_core": 1, "plus": 11}, "19", "1 x cores + 11"),
        ({"per_core": 0.01}, "1", "0.01 x cores"),
    ],
)
def test_an_amount_follows_from_the_size_of_the_server(amount, written, described):
    found = Amount.model_validate(amount)

    assert (found.write(BENCH, "MB"), found.describe()) == (written, described)


@pytest.mark.parametrize("amount", [{}, {"memory": "25%", "per_core": 1}])
def test_an_amount_is_of_one_kind(amount):
    with pytest.raises(ValidationError, match="expected one of memory, gib_per_core and per_core"):
        Amount.model_validate(amount)


def test_as_installed_is_what_the_vendor_does_not_change():
    own = advice()["elasticsearch"]

    assert own.server_settings(SettingsChoice.INSTALLED, BENCH) == {"heap": "5120m"}
    assert own.server_settings(SettingsChoice.ADVISED, BENCH) == {"heap": "5120m"}
    assert own.target_options(SettingsChoice.INSTALLED) == {}
