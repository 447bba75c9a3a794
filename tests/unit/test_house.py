"""The layout of the modules, which CONTRIBUTING describes."""

import importlib
import inspect
import pkgutil
import re

import pytest

from simulator.modules import MODULES
from tests import ROOT

FOLDER = ROOT / "simulator/modules"
FILES = {
    "__init__.py",
    "database.py",
    "session.py",
    "options.py",
    "signatures.py",
    "driver.py",
    "query.py",
    "server.py",
    "texts.py",
    "wire.py",
    "tables.py",
}
LONGEST_LINES = 460
"""About as much as one reads in one go."""


@pytest.mark.parametrize(
    "folder",
    [FOLDER / module for module in MODULES if (FOLDER / module).is_dir()],
    ids=lambda folder: folder.name,
)
def test_the_folder_of_a_database_has_foreseeable_files(folder):
    files = {path.name for path in folder.iterdir() if path.suffix}

    assert {"__init__.py", "database.py"} <= files <= FILES


@pytest.mark.parametrize("room", ["iotbench", "simulator"])
def test_every_file_can_be_read_in_one_go(room):
    lines = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / room).rglob("*.py")
    }

    assert {name: count for name, count in lines.items() if count > LONGEST_LINES} == {}


def test_every_room_says_what_it_is():
    silent = [
        str(path.relative_to(ROOT))
        for room in ("iotbench", "simulator")
        for path in (ROOT / room).rglob("__init__.py")
        if not path.read_text(encoding="utf-8").startswith('"""')
    ]

    assert silent == []


def test_the_contract_is_imported_from_its_room_never_from_its_files():
    within = [
        str(path.relative_to(ROOT))
        for room in ("iotbench", "simulator", "tests", "tools")
        for path in (ROOT / room).rglob("*.py")
        if FOLDER / "contract" not in path.parents
        if re.search(r"(?m)^\s*from simulator\.modules\.contract\.\w", path.read_text("utf-8"))
    ]

    assert within == []


@pytest.mark.parametrize("room", ["iotbench", "simulator/modules"])
def test_every_public_method_says_what_it_does_or_inherits_it(room):
    silent = [
        f"{kind.__module__}.{kind.__qualname__}.{name}"
        for found in pkgutil.walk_packages([str(ROOT / room)], f"{room.replace('/', '.')}.")
        for kind in vars(importlib.import_module(found.name)).values()
        if inspect.isclass(kind) and kind.__module__ == found.name
        for name, member in vars(kind).items()
        if inspect.isfunction(member) or isinstance(member, property)
        if not name.startswith("_") and not kind.__name__.startswith("_")
        if not any(getattr(vars(base).get(name), "__doc__", "") for base in kind.__mro__)
    ]

    assert silent == []
