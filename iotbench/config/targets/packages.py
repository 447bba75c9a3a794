"""Python packages that a module imports when it connects; missing ones are found before a run."""

import ast
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from importlib.util import find_spec
from pathlib import Path

from simulator.modules.contract import Database
from simulator.packages import EXTRAS

_OWN = {"simulator"}


def missing_packages(cls: type[Database]) -> list[str]:
    """Return the missing packages of a module; no package is imported."""
    return sorted(name for name in _find_names(cls) if find_spec(name) is None)


def find_extras(cls: type[Database]) -> list[str]:
    """Return the names of the program's extras that install the packages of a module."""
    return sorted({EXTRAS[name][0] for name in _find_names(cls) & EXTRAS.keys()})


def package_versions(cls: type[Database]) -> dict[str, str]:
    """Return the name in a registry -> the version of each package that a module imports."""
    return dict(sorted(filter(None, map(_find_version, sorted(_find_names(cls) - _OWN)))))


def _find_names(cls: type[Database]) -> set[str]:
    return {name for path in _find_sources(cls) for name in _find_imports(path)}


def _find_version(name: str) -> tuple[str, str] | None:
    for distribution in (name, *EXTRAS.get(name, ())[1:]):
        with suppress(PackageNotFoundError):
            found = metadata(distribution)
            return found["Name"], found["Version"]
    return None


def _find_sources(cls: type[Database]) -> Iterator[Path]:
    """Yield the paths of the files of a module and of its base modules."""
    for base in cls.__mro__:
        if not issubclass(base, Database) or base is Database:
            continue
        file = getattr(sys.modules.get(base.__module__), "__file__", None)
        if file:
            path = Path(file)
            in_folder = (path.parent / "session.py").exists()
            yield from path.parent.glob("*.py") if in_folder else [path]


@cache
def _find_imports(path: Path) -> frozenset[str]:
    """Return the names of the packages that a file imports at run time."""
    found = set[str]()
    tree = ast.parse(path.read_bytes())
    for statement in tree.body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test).endswith("TYPE_CHECKING"):
            statement.body = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in names:
            package = name.partition(".")[0]
            if package not in sys.stdlib_module_names:
                found.add(package)
    return frozenset(found)
