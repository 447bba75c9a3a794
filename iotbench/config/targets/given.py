"""The options of a target as given in the configuration and with --extra-option."""

import os
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from iotbench.config.input.quantities import as_option
from iotbench.config.input.validation import describe_value, format_key, problems_of
from iotbench.config.targets.names import Translated, find_name, translate
from iotbench.config.targets.urls import VARIABLE
from simulator.errors import nearest
from simulator.modules.contract import Database, Options
from simulator.protocol.run_input import read_credential

_FROM = "_from"


@dataclass(frozen=True, slots=True)
class SecretRef:
    """A key of an existing Kubernetes Secret in the run's namespace."""

    secret: str
    key: str


class GivenOptions:
    """Reader of the options given for a module; the reader collects their problems."""

    def __init__(
        self,
        cls: type[Database],
        entry: Mapping[str, Any],
        extra: Mapping[str, Any],
        place_of: Callable[[str], str],
        folder: Path,
    ) -> None:
        """Store the options.

        `place_of` returns the place of an option for messages; `folder` contains the config.yaml.
        """
        self._cls, self._place_of = cls, place_of
        fields = cls.options_model.model_fields
        read, read_extra = translate(cls.name, fields, entry), translate(cls.name, fields, extra)
        self.problems = [
            *(f"{place_of(key)}: {why}" for key, why in read.problems.items()),
            *(f"--extra-option {key}: {why}" for key, why in read_extra.problems.items()),
        ]
        self._places = _find_places(place_of, read, fields)
        self._places |= _find_places("--extra-option {}".format, read_extra, fields)
        credentials = cls.options_model.credentials()
        references = {f"{name}{_FROM}" for name in credentials} & read.options.keys()
        self._values = {
            key: value
            for key, value in {**read.options, **read_extra.options}.items()
            if key not in references
        }
        # An option that is given directly takes precedence.
        found = {
            name: _parse_source(place_of(key), value, folder, self.problems)
            for key, value in read.options.items()
            if key in references and (name := key.removesuffix(_FROM)) not in self._values
        }
        self.files = {name: each for name, each in found.items() if isinstance(each, Path)}
        """Option -> file that contains its value."""
        self.from_secrets = {
            name: each for name, each in found.items() if isinstance(each, SecretRef)
        }
        """Option -> Secret that contains its value."""
        self.variables = {
            name for key in credentials for name in _list_variables(self._values.get(key))
        }
        """Names of the environment variables with credentials."""

    def read(self, *, in_pods: bool) -> Options | None:
        """Return the validated options; None if problems were added to `problems`."""
        if not in_pods:
            self.from_secrets = {}
        expanded = {
            key: _expand(self._places[key], value, self.problems)
            for key, value in self._values.items()
        }
        for option, path in self.files.items():
            place = self._place_of(f"{option}{_FROM}")
            expanded[option] = _read_file(place, path, self.problems)
        return self._validate(expanded)

    def _validate(self, values: Mapping[str, Any]) -> Options | None:
        known = self._cls.options_model.model_fields
        given = {
            key: as_option(key, known[key].annotation, value) if key in known else value
            for key, value in values.items()
        }
        try:
            return self._cls.options_model.without(self.from_secrets)(**given)
        except ValidationError as error:
            for kind, key, sentence in problems_of(error, known, given):
                place = self._places.get(
                    key, self._place_of(key if key in known else format_key(key))
                )
                row = find_name(key, self._cls.name)
                if kind == "extra_forbidden":
                    hint = nearest(key, known)
                    self.problems.append(
                        f"{place}: module {self._cls.name} has no such option ({hint})"
                    )
                else:
                    here = f"; here: {row.here}" if row else ""
                    self.problems.append(f"{place}: {sentence}{here}")
            return None


def _parse_source(
    where: str, given: Any, folder: Path, problems: list[str]
) -> SecretRef | Path | None:
    """Return the source of a credential; a path is relative to the folder with config.yaml."""
    words = given if isinstance(given, dict) else {}
    if all(isinstance(value, str) and value for value in words.values()):
        if set(words) == {"secret", "key"}:
            return SecretRef(words["secret"], words["key"])
        if set(words) == {"file"}:
            return (folder / Path(words["file"]).expanduser()).absolute()
    problems.append(
        f"{where}: expected {{secret: NAME, key: KEY}} of a Kubernetes Secret, or {{file: PATH}},"
        f" got {describe_value(given)}"
    )
    return None


def _read_file(where: str, path: Path, problems: list[str]) -> str:
    try:
        return read_credential(path)
    except OSError as error:
        problems.append(f"{where}: cannot read {path}: {error.strerror}")
    except UnicodeDecodeError:
        problems.append(f"{where}: {path} is not valid UTF-8")
    return ""


def _expand(where: str, value: Any, problems: list[str]) -> Any:
    """Return a value in which each ${NAME} is replaced by the environment variable NAME."""
    if not isinstance(value, str):
        return value

    def variable(match: re.Match[str]) -> str:
        name = match[1]
        found = os.environ.get(name)
        if found is None:
            problems.append(f"{where}: the environment variable {name} is not set")
        elif any("\ud800" <= letter <= "\udfff" for letter in found):  # bytes beyond UTF-8
            problems.append(f"{where}: the environment variable {name} is not valid UTF-8")
        return found or ""

    return VARIABLE.sub(variable, value)


def _list_variables(value: Any) -> list[str]:
    """Return the names of all ${NAME} in a value."""
    return VARIABLE.findall(value) if isinstance(value, str) else []


def _find_places(
    place: Callable[[str], str], read: Translated, known: Container[str]
) -> dict[str, str]:
    """Return option -> its place as the user wrote it, for messages."""
    names = {key: key if key in known else format_key(key) for key in read.options}
    return {key: place(read.there.get(key, name)) for key, name in names.items()}
