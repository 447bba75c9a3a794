"""The settings of a plan: what is measured once, with the options of commands as keys of YAML."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from iotbench.config.input.records import Record
from iotbench.config.input.values import Count
from iotbench.measurements.change.options import Change
from iotbench.measurements.insert.options import MOST_TABLES, Insert
from iotbench.measurements.query.options import Mixed, Query
from iotbench.measurements.shared.options import LARGEST_BATCH_ROWS
from iotbench.plans.search import FIRST_BATCH_ROWS, Search, Sought
from simulator.data.dataset import PartsBy

MOST_REPEATS = 1000
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
"""Name of a plan or a setting: part of file names and of names in Kubernetes."""


class Setting(Record):
    """One measurement: an insert into empty tables, and perhaps queries on its rows.

    A mixed load may follow, with other rows and queries on the insert's rows; then changes of
    the stored rows.
    """

    name: Name
    insert: Insert
    query: Query | None = None
    mixed: Mixed | None = None
    change: Change | None = None
    resources: bool = False
    """True if CPU, load and memory are measured."""
    options: dict[str, Any] = Field({})
    """Options of the target, in addition to its entry in the configuration."""
    modules: dict[str, dict[str, Any]] = Field({})
    """Module -> its options instead of `options`."""
    only: tuple[str, ...] = ()
    """Modules that it is about; empty: all."""
    shards: Annotated[int, Field(ge=2, le=MOST_TABLES)] | None = None
    """Find the best number of tables, each with its own worker: 1, 2, 4, ... up to this."""
    batches: Annotated[Count, Field(gt=FIRST_BATCH_ROWS, le=LARGEST_BATCH_ROWS)] | None = None
    """Find the best size of a batch: 1,000, 3,000, 10,000, ... up to this."""
    batch_of: Name | None = None
    """Use the batch that this other setting, which has `batches`, found best for the target."""
    repeats: Annotated[Count, Field(ge=1, le=MOST_REPEATS)] | None = None
    """Number of repeats, instead of the plan's."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The sweeps of an item, in their order."""
        return ("insert", *self.asked)

    @property
    def asked(self) -> Mapping[str, Query | Mixed | Change]:
        """Sweeps after the insert, in order: kind of sweep -> its options."""
        given = {"query": self.query, "mixed": self.mixed, "change": self.change}
        return {kind: options for kind, options in given.items() if options}

    def options_of(self, module: str) -> Mapping[str, Any]:
        """Return the options of a target with this module."""
        found: Mapping[str, Any] = self.modules.get(module, self.options)
        return found

    def with_shards(self, number: int) -> "Setting":
        """Return the setting with `number` tables, each written by one worker."""
        by = PartsBy.WORKER if number > 1 else PartsBy.ROW
        changes = {"workers": (number,), "tables": number, "tables_by": by}
        return self.model_copy(update={"insert": self.insert.model_copy(update=changes)})

    def with_batch(self, rows: int) -> "Setting":
        """Return the setting with batches of `rows` rows."""
        return self.model_copy(update={"insert": self.insert.model_copy(update={"batch": rows})})

    @property
    def search(self) -> Search | None:
        """Search of the setting, if it has one."""
        if self.shards:
            return Search(Sought.SHARDS, self.shards)
        return Search(Sought.BATCH, self.batches) if self.batches else None

    def with_number(self, number: int) -> "Setting":
        """Return the setting with a number of its search."""
        return self.with_shards(number) if self.shards else self.with_batch(number)

    @property
    def number(self) -> int:
        """The present number of its search."""
        return self.insert.tables if self.shards else self.insert.batch

    def with_before_run(self, command: str) -> "Setting":
        """Return the setting with a command before each run, unless it has its own."""
        given = {"insert": self.insert, "query": self.query}
        changes = {
            name: each.model_copy(update={"before_run": command})
            for name, each in given.items()
            if each and each.before_run is None
        }
        return self.model_copy(update=changes)

    def concerns(self, module: str) -> bool:
        """Return whether targets with this module are measured."""
        return not self.only or module in self.only
