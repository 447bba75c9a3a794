"""Rows of servers that run elsewhere: addresses, databases, and tags of the results."""

import os
import secrets
import socket
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import yaml

from iotbench.config.targets.advice import SettingsChoice
from iotbench.plans.plan import read_plan
from iotbench.results.result_files import read
from iotbench.store import changes
from simulator.control.database import marks
from simulator.data.schema import PrimaryKey, Table
from simulator.data.workloads import workload_class
from tests.published import MEASURED, PLANS, ROOT
from tests.servers import SERVERS
from tests.servers.elsewhere import Elsewhere, addresses, server_at
from tests.settings import Place

THIS_MACHINE, ANOTHER_MACHINE = "elsewhere:this-machine", "elsewhere:another-machine"
"""Tags of results from a server that the tests did not start, with its machine."""
_SPACES = MEASURED / ".spaces"
"""Folder of names of databases by target. Later calls reuse them, as ids of items contain them."""


def addressed(words: Sequence[str], file: Path | None, only: str) -> dict[str, Place]:
    """Return the targets of config.yaml that are measured on servers that run elsewhere.

    With `only`, the file is read for this target alone. ConfigError with every problem.
    """
    if not words and not file:
        return {}
    entries = yaml.safe_load((ROOT / "config.yaml").read_text())["targets"]
    modules = {name: entry["module"] for name, entry in entries.items()}
    picked = [only] if only and file else []
    found = {}
    for name, address in addresses([*words, *picked], file, modules, os.environ).items():
        server = server_at(address, _tables)
        SERVERS[server.name] = server
        found[name] = Place(server.name, name, SettingsChoice.INSTALLED)
    return found


def _tables() -> list[Table]:
    """Return every table that the plans create."""
    settings = [setting for path in PLANS.values() for setting in read_plan(path).settings]
    names = {setting.insert.workload for setting in settings if setting.insert}
    classes = [workload_class(name) for name in sorted(names)]
    tables = (table for cls in classes for table in cls(cls.params_model(), 0, 0).tables)
    return [marks.TABLE, *(table.stored(PrimaryKey.NONE, 1) for table in tables)]


def database_on(server: Elsewhere, spaces: Path = _SPACES) -> str:
    """Create an empty database with a unique name; return the name.

    Tables that an interrupted call left in it are dropped.
    """
    file = spaces / server.address.target
    if file.exists():
        name = file.read_text()
        server.clear(name)
    else:
        name = f"iotbench_{secrets.token_hex(4)}"
        spaces.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    server.create_database(name)
    return name


def hidden(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return options with environment variables in place of texts, and the variables.

    So no file contains a credential, even after `kill -9`.
    """
    texts = {name: value for name, value in options.items() if isinstance(value, str)}
    variables = {name: f"PUBLISHED_{name.upper()}" for name in texts}
    shown = {name: f"${{{variable}}}" for name, variable in variables.items()}
    return {**options, **shown}, {variables[name]: value for name, value in texts.items()}


def tag_results(folder: Path, hosts: Collection[str]) -> None:
    """Tag the results of a row with the machine of its server."""
    tag = THIS_MACHINE if _are_here(hosts) else ANOTHER_MACHINE
    names = ("insert", "query", "mixed")
    paths = [path for name in names for path in sorted(folder.glob(f"*-{name}-*.json"))]
    ended = [path for path in paths if read(path).status != "running"]
    changes.tag(ended, [tag], remove=False)


def _are_here(hosts: Collection[str]) -> bool:
    """Return whether all hosts are this machine."""
    interfaces = psutil.net_if_addrs().values()
    own = {address.address.partition("%")[0] for each in interfaces for address in each}
    try:
        found = {
            str(entry[4][0]).partition("%")[0]
            for host in hosts
            for entry in socket.getaddrinfo(host.strip("[]"), None)
        }
    except OSError:  # resolved elsewhere only, as by a proxy
        return False
    return bool(found) and found <= own
