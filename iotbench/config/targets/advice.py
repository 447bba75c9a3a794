"""Settings of databases as installed and as their vendors advise, from dbinstall/settings.yaml."""

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
"""Suffix of a target with the advised options."""
_GIB = 1024


class SettingsChoice(StrEnum):
    """One of the two sets of settings."""

    INSTALLED = "as installed"
    ADVISED = "as the vendor advises"


@dataclass(frozen=True, slots=True)
class ServerSize:
    """The memory and cores of a server."""

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
    """MiB."""
    most: int | None = None
    """MiB."""

    @model_validator(mode="after")
    def _check_kind(self) -> "Amount":
        given = [self.memory, self.gib_per_core, self.per_core]
        if sum(each is not None for each in given) != 1:
            raise ValueError("expected one of memory, gib_per_core and per_core")
        return self

    def write(self, size: ServerSize, mebibytes: str) -> str:
        """Return the value for a server of a size; `mebibytes` is the suffix of MiB."""
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
    """One setting in both sets."""

    installed: Value
    advised: Value = None
    """None: as installed."""
    source: str
    """Page in the vendor's documentation."""
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
    """Way to set the server's settings."""
    mebibytes: str = ""
    """Suffix for MiB in the server's settings."""
    server: Mapping[str, SettingAdvice] = {}
    options: Mapping[str, SettingAdvice] = {}
    """Options of the target, for its tables and its client."""
    nothing: str = ""
    """Reason why both sets are equal."""
    beyond: Mapping[str, str] = {}
    """Further advice of the vendor -> reason why no set has it."""

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
    """Target -> its sets."""


@cache
def advice() -> Mapping[str, Advice]:
    """Return target -> its sets of settings."""
    return _File.model_validate(read_yaml(find_shipped(_FILE))).root
