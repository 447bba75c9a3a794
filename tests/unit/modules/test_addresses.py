"""Options that are addresses, of every module that has them."""

import pytest
import yaml

from cli.targets import config
from simulator.errors import ConfigError
from simulator.modules import MODULES, database_class

REQUIRED = {
    "url": "http://h",
    "search_url": "http://h",
    "host": "h",
    "hosts": "h",
    "user": "u",
    "database": "d",
    "token": "t",
}


def fields_of(module):
    return database_class(module).options_model.model_fields


PORTS = [
    (name, option)
    for name in MODULES
    for option in fields_of(name)
    if option == "port" or option.endswith("_port")
]
URLS = [
    (name, option)
    for name in MODULES
    for option in fields_of(name)
    if option == "url" or option.endswith("_url")
]


def resolved(folder, module, **options):
    required = {name: REQUIRED[name] for name, f in fields_of(module).items() if f.is_required()}
    path = folder / "config.yaml"
    entry = {"module": module, "runner": "local", **required, **options}
    path.write_text(yaml.safe_dump({"targets": {"t": entry}}))
    return config.load(path).resolve("t", {}).options


@pytest.mark.parametrize(("module", "option"), PORTS)
@pytest.mark.parametrize("port", [-1, 0, 65536, 2**63, "99999"])
def test_a_port_that_cannot_be_is_refused(tmp_path, module, option, port):
    with pytest.raises(ConfigError, match=rf"targets\.t\.{option}: .*(65,?535|at least 1)"):
        resolved(tmp_path, module, **{option: port})


@pytest.mark.parametrize(("module", "option"), PORTS)
@pytest.mark.parametrize("port", [1, 65535, "9042"])
def test_every_other_port_is_accepted(tmp_path, module, option, port):
    assert getattr(resolved(tmp_path, module, **{option: port}), option) == int(port)


@pytest.mark.parametrize(("module", "option"), URLS)
@pytest.mark.parametrize("port", ["0", "65536", "-1", "x"])
def test_a_url_with_a_port_that_cannot_be_is_refused(tmp_path, module, option, port):
    with pytest.raises(ConfigError, match=rf"targets\.t\.{option}: expected http://"):
        resolved(tmp_path, module, **{option: f"http://h:{port}"})
