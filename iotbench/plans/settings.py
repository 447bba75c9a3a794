"""The settings of a plan: options of commands as keys of YAML, and searches for a number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count, takewhile
from statistics import fmean
from typing import Annotated, Any

from pydantic import Field

from iotbench.config.input.records import Record
from iotbench.config.input.values import Count
from iotbench.config.targets.config import Target, as_kept
from iotbench.measurements.change.options import Change
from iotbench.measurements.insert.options import MOST_TABLES, Insert
from iotbench.measurements.query.options import Mixed, Query
from iotbench.measurements.shared.faults import COMMANDS
from iotbench.measurements.shared.options import LARGEST_BATCH_ROWS
from iotbench.results.command import GivenCommand
from simulator.data.dataset import PartsBy
from simulator.errors import counted

FIRST_BATCH_ROWS = 1000
Rates = Mapping[int, Sequence[float]]
"""Number of shards, or rows of a batch -> rates of the repeats."""


class Sought(StrEnum):
    """The number that a search looks for."""

    SHARDS = "shards"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Search:
    """A search for a number, up to the largest that may be tried."""

    sought: Sought
    most: int

    def numbers(self) -> list[int]:
        """Return all numbers that may be measured: 1, 2, 4, ... or 1,000, 3,000, 10,000, ..."""
        doubled = (2**power for power in count())
        rounded = (
            FIRST_BATCH_ROWS * 10 ** (power // 2) * (3 if power % 2 else 1) for power in count()
        )
        series = doubled if self.sought is Sought.SHARDS else rounded
        return [*takewhile(lambda number: number < self.most, series), self.most]

    def next_number(self, rates: Rates) -> int | None:
        """Return the number to measure next; None: the best is found, or the largest was tried.

        The search ends where all repeats are below all repeats of the best number.
        """
        if not rates:
            return self.numbers()[0]
        last = max(rates)
        best, own = rates[best_number(rates)], rates[last]
        if not own or (min(len(best), len(own)) > 1 and min(best) > max(own)):
            return None
        return next((each for each in self.numbers() if each > last), None)


def best_number(rates: Rates) -> int:
    """Return the number with the highest mean rate; the smallest number if rates are equal."""
    return max(sorted(rates), key=lambda number: fmean(rates[number] or (0.0,)))


MOST_REPEATS = 1000
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
"""Name of a plan or a setting: part of file names and of names in Kubernetes."""


def _drop_null(schema: dict[str, Any]) -> None:
    """Leave only the first alternative in the schema of a key."""
    schema |= schema.pop("anyOf")[0]


class Setting(Record):
    """One measurement: an insert into empty tables, optionally followed by sweeps on its rows.

    The sweeps are, in this order: queries; a mixed load, which adds rows and asks about the
    insert's rows; and changes of the stored rows.
    """

    name: Name
    insert: Insert | None = Field(json_schema_extra=_drop_null)
    """The insert. Only the program leaves it out, to measure rows that the target already holds."""
    query: Query | None = None
    mixed: Mixed | None = None
    change: Change | None = None
    resources: bool = False
    """Measure CPU, load and memory."""
    options: dict[str, Any] = Field({})
    """Options of the target, in addition to its entry in the configuration."""
    modules: dict[str, dict[str, Any]] = Field({})
    """Module -> the options that replace `options` for it."""
    only: tuple[str, ...] = ()
    """Modules that are measured with it; empty: all."""
    shards: Annotated[int, Field(ge=2, le=MOST_TABLES)] | None = None
    """Find the best number of tables, each with its own worker: 1, 2, 4, ... up to this."""
    batches: Annotated[Count, Field(gt=FIRST_BATCH_ROWS, le=LARGEST_BATCH_ROWS)] | None = None
    """Find the best size of a batch: 1,000, 3,000, 10,000, ... up to this."""
    batch_of: Name | None = None
    """Use the batch that this other setting, which has `batches`, found best for the target."""
    repeats: Annotated[Count, Field(ge=1, le=MOST_REPEATS)] | None = None
    """Number of repeats, instead of the plan's."""

    @property
    def sweeps(self) -> Mapping[str, Insert | Query | Mixed | Change]:
        """Sweeps of an item, in order: kind -> its options."""
        return {**({"insert": self.insert} if self.insert else {}), **self.asked}

    @property
    def inserting(self) -> Insert:
        """The insert; the setting must have one."""
        assert self.insert
        return self.insert

    @property
    def asked(self) -> Mapping[str, Query | Mixed | Change]:
        """Sweeps after the insert, in order: kind of sweep -> its options."""
        given = {"query": self.query, "mixed": self.mixed, "change": self.change}
        return {kind: options for kind, options in given.items() if options}

    def options_of(self, module: str) -> Mapping[str, Any]:
        """Return the options of a target with this module."""
        found: Mapping[str, Any] = self.modules.get(module, self.options)
        return found

    @property
    def search(self) -> Search | None:
        """Search of the setting, if it has one."""
        if self.shards:
            return Search(Sought.SHARDS, self.shards)
        return Search(Sought.BATCH, self.batches) if self.batches else None

    def with_number(self, number: int) -> "Setting":
        """Return the setting with a number of its search: tables with a worker each, or a batch."""
        changes: dict[str, Any] = {"batch": number}
        if self.shards:
            by = PartsBy.WORKER if number > 1 else PartsBy.ROW
            changes = {"workers": (number,), "tables": number, "tables_by": by}
        return self.model_copy(update={"insert": self.inserting.model_copy(update=changes)})

    def format_number(self, number: int) -> str:
        """Return a number of the search as text."""
        return counted(number, "shard") if self.shards else f"batches of {number:,}"

    @property
    def number(self) -> int:
        """The current number of the search."""
        return self.inserting.tables if self.shards else self.inserting.batch

    def with_before_run(self, command: str) -> "Setting":
        """Return the setting with a command before each run, unless the setting has a command."""
        given = {"insert": self.insert, "query": self.query}
        changes = {
            name: each.model_copy(update={"before_run": command})
            for name, each in given.items()
            if each and each.before_run is None
        }
        return self.model_copy(update=changes)

    def concerns(self, module: str) -> bool:
        """Return whether targets with this module are measured with the setting."""
        return not self.only or module in self.only


def build_command(
    setting: Setting, kind: str, target: Target, given: Mapping[str, Any]
) -> GivenCommand:
    """Return the command that runs a sweep of a setting.

    `given`: further options, by name without dashes.
    """
    own = setting.options_of(target.module).items()
    about = {
        "target": target.word,
        **given,
        "runner": target.runner,
        "extra-option": tuple(as_kept(key, value, target.options) for key, value in own),
        "runs": 1 if kind == "insert" else None,
        "resources": setting.resources,
    }
    options: dict[str, bool | tuple[str, ...]] = {
        name.replace("_", "-"): value
        if value is True
        else tuple(map(str, value if isinstance(value, tuple) else (value,)))
        for name, value in about.items()
        if value not in (None, False, ())
    }
    options |= _list_own_options(setting.sweeps[kind], target)
    return GivenCommand(name=kind, options=options)


def _list_own_options(
    options: Insert | Query | Mixed | Change, target: Target
) -> dict[str, bool | tuple[str, ...]]:
    """Return the options that differ from the defaults, without credentials."""
    commands = {
        name: target.options.redact_command(command)
        for name in ("before_run", *COMMANDS)
        if (command := getattr(options, name, None))
    }
    options = options.model_copy(update=commands)
    staged = isinstance(options, Mixed | Change) or options.stages
    return options.list_stored(*() if staged else ("workers",))
