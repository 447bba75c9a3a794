"""Settings of databases as installed and as vendors advise, read from dbinstall/settings.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, TypeAlias

from pydantic import Field, RootModel, StrictBool, StrictInt, model_validator

from iotbench.config.input.records import Record, read_yaml
from iotbench.config.input.values import Share
from iotbench.machine.program import find_shipped

_FILE = "dbinstall/settings.yaml"
SUFFIX = "_advised"
"""Suffix of the name of a target with the advised options."""
_GIB = 1024


class SettingsChoice(StrEnum):
    """The choice between the two sets of settings."""

    INSTALLED = "as installed"
    ADVISED = "as the vendor advises"


@dataclass(frozen=True, slots=True)
class ServerSize:
    """The memory and the number of cores of a server."""

    memory_mib: int
    cores: int


class Amount(Record):
    """A value that depends on the size of the server."""

    memory: Share | None = None
    over_half_the_cores: bool = False
    gib_per_core: float | None = None
    per_core: float | None = None
    plus: int = 0
    least: int = 0
    """Minimum, in MiB."""
    most: int | None = None
    """Maximum, in MiB."""

    @model_validator(mode="after")
    def _check_kind(self) -> "Amount":
        given = [self.memory, self.gib_per_core, self.per_core]
        if sum(each is not None for each in given) != 1:
            raise ValueError("expected one of memory, gib_per_core and per_core")
        return self

    def write(self, size: ServerSize, mebibytes: str) -> str:
        """Return the value for a server of a given size.

        `mebibytes`: suffix that means MiB.
        """
        if self.per_core is not None:
            return str(max(round(self.per_core * size.cores) + self.plus, 1))
        if self.gib_per_core is not None:
            mib = round(self.gib_per_core * size.cores * _GIB)
        else:
            halves = max(round(size.cores / 2), 1) if self.over_half_the_cores else 1
            mib = int((self.memory or 0.0) * size.memory_mib / halves)
        mib = max(mib, self.least, 1)
        mib = min(mib, self.most or mib)
        return f"{mib}{mebibytes}"

    def describe(self) -> str:
        """Return the formula as text."""
        if self.per_core is not None:
            more = f" + {self.plus}" if self.plus else ""
            return f"{self.per_core:g} x cores{more}"
        if self.gib_per_core is not None:
            formula = f"{self.gib_per_core:g} GiB x cores"
        else:
            formula = f"{100 * (self.memory or 0.0):g} % of the memory"
            formula += " / half the cores" * self.over_half_the_cores
        bounds = [("at least", self.least), ("at most", self.most or 0)]
        shown = [f"{word} {mib:,} MiB" for word, mib in bounds if mib]
        return ", ".join([formula, *shown])


Value: TypeAlias = Annotated[
    Amount | StrictBool | StrictInt | str | None, Field(union_mode="left_to_right")
]


class SettingAdvice(Record):
    """One setting, with its value in both sets."""

    installed: Value
    advised: Value = None
    """Value that the vendor advises; None if it is the value as installed."""
    source: str
    """Page of the vendor's documentation that gives the advice."""
    note: str = ""

    @property
    def differs(self) -> bool:
        """True if the vendor advises another value."""
        return self.advised is not None and self.advised != self.installed

    def value(self, choice: SettingsChoice) -> Value:
        """Return the value in one of the sets."""
        return self.advised if choice is SettingsChoice.ADVISED and self.differs else self.installed


class Advice(Record):
    """Both sets of settings of a target."""

    product: str
    service: str = ""
    """Means of setting the server's settings."""
    mebibytes: str = ""
    """Suffix that means MiB in the server's settings."""
    server: Mapping[str, SettingAdvice] = {}
    options: Mapping[str, SettingAdvice] = {}
    """Options of the target for its tables and its client."""
    nothing: str = ""
    """Reason why both sets are equal."""
    beyond: Mapping[str, str] = {}
    """Further advice of the vendor -> reason why neither set includes the advice."""

    @property
    def differs(self) -> bool:
        """True if the sets differ."""
        return any(each.differs for each in (*self.server.values(), *self.options.values()))

    def server_settings(self, choice: SettingsChoice, size: ServerSize) -> dict[str, str]:
        """Return the settings of a server of this size."""
        values = {name: each.value(choice) for name, each in self.server.items()}
        return {
            name: value.write(size, self.mebibytes) if isinstance(value, Amount) else str(value)
            for name, value in values.items()
        }

    def target_options(self, choice: SettingsChoice) -> dict[str, Any]:
        """Return the options of the target that differ from the module's defaults."""
        found = {name: each.value(choice) for name, each in self.options.items()}
        return {name: value for name, value in found.items() if value not in (None, "")}


class _File(RootModel[dict[str, Advice]]):
    """Target -> both sets of its settings."""


@cache
def advice() -> Mapping[str, Advice]:
    """Return target -> both sets of its settings."""
    return _File.model_validate(read_yaml(find_shipped(_FILE))).root
