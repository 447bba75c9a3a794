"""The modules, one for each database: a file or folder of this room, found by its name.

A path "package.file:Class" in config.yaml loads a user's own module.
"""

import importlib
import pkgutil
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from simulator.errors import ConfigError, nearest
from simulator.modules.contract import Database

_FOLDERS = {
    found.name: found.ispkg
    for found in pkgutil.iter_modules(__path__)
    if found.name not in ("contract", "evidence", "shared")
}
MODULES = tuple(_FOLDERS)
"""Names of the modules."""
_LOCATION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_ATTRIBUTES = ("name", "capabilities", "options_model")


def database_class(module: str) -> type[Database]:
    """Import and return a module's Database class; ConfigError if no module has the name."""
    found = _import_own(module) if module in _FOLDERS else _import_users(module)
    missing = sorted(found.__abstractmethods__)
    missing += [each for each in _ATTRIBUTES if not hasattr(found, each)]
    if missing:
        raise ConfigError(f"module {module!r}: {found.__name__} lacks {', '.join(missing)}")
    return found


def _import_own(module: str) -> type[Database]:
    """Return the class with a module's name in this room."""
    path = f"{__name__}.{module}" + ".database" * _FOLDERS[module]
    defined = vars(importlib.import_module(path)).values()
    classes = (each for each in defined if isinstance(each, type) and issubclass(each, Database))
    for found in classes:
        if vars(found).get("name") == module:
            return found
    raise ConfigError(f"module {module!r}: {path} has no Database with name = {module!r}")


def _import_users(path: str) -> type[Database]:
    """Return the class at a user's path."""
    package, _, name = path.partition(":")
    if not name:
        hint = nearest(path, MODULES)
        raise ConfigError(f"unknown module ({hint}); write your own as package.file:Class")
    if not _LOCATION.fullmatch(path):
        raise ConfigError("module: expected package.file:Class, with Python names")
    try:
        found = getattr(importlib.import_module(package), name)
    except Exception as error:  # the user's file may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"module {path!r} cannot be imported: {reason}") from error
    if not (isinstance(found, type) and issubclass(found, Database)):
        raise ConfigError(f"module {path!r}: {name} is not a simulator.modules.contract.Database")
    return found


def open_database(module: str, options: Mapping[str, Any], secrets: Mapping[str, str]) -> Database:
    """Return a target's database; `secrets` are the options that are credentials. No I/O."""
    cls = database_class(module)
    try:
        return cls(cls.options_model.model_validate({**options, **secrets}))
    except ValidationError as error:  # its text and traceback may contain a credential
        found = error.errors(include_url=False, include_input=False, include_context=False)
        problems = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in found]
        raise ConfigError([f"module {module!r}: {problem}" for problem in problems]) from None
