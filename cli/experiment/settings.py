"""The settings of a plan: what is measured once, with the options of commands as keys of YAML."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from cli.experiment.search import FIRST_BATCH_ROWS, Search, Sought
from cli.input.records import Record
from cli.input.values import Count
from cli.planning.change_options import Change
from cli.planning.options import LARGEST_BATCH_ROWS, MOST_TABLES, Insert
from cli.planning.query_options import Mixed, Query
from simulator.data.dataset import PartsBy

MOST_REPEATS = 1000
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
"""Of a plan or a setting: part of file names and of names in Kubernetes."""


class Setting(Record):
    """What is measured once: an insert into empty tables, and perhaps queries on its rows.

    At last, perhaps, a mixed load: other rows, and queries on those of the insert; and changes of
    what is stored then.
    """

    name: Name
    insert: Insert
    query: Query | None = None
    mixed: Mixed | None = None
    change: Change | None = None
    resources: bool = False
    """Whether CPU, load and memory are measured."""
    options: dict[str, Any] = Field({})
    """Of the target, in addition to its entry in the configuration."""
    modules: dict[str, dict[str, Any]] = Field({})
    """Module -> its options instead of `options`."""
    only: tuple[str, ...] = ()
    """Modules that it is about; empty: all."""
    shards: Annotated[int, Field(ge=2, le=MOST_TABLES)] | None = None
    """Find the best number of tables, each with a worker of its own: 1, 2, 4, ... up to this."""
    batches: Annotated[Count, Field(gt=FIRST_BATCH_ROWS, le=LARGEST_BATCH_ROWS)] | None = None
    """Find the best size of a batch: 1,000, 3,000, 10,000, ... up to this."""
    batch_of: Name | None = None
    """Take the batch that this other setting, which has `batches`, found best for the target."""
    repeats: Annotated[Count, Field(ge=1, le=MOST_REPEATS)] | None = None
    """So many, instead of those of the plan."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The sweeps of an item, in their order."""
        return ("insert", *self.asked)

    @property
    def asked(self) -> Mapping[str, Query | Mixed | Change]:
        """What follows the insert, in its order: kind of sweep -> its options."""
        given = {"query": self.query, "mixed": self.mixed, "change": self.change}
        return {kind: options for kind, options in given.items() if options}

    def options_of(self, module: str) -> Mapping[str, Any]:
        """Return the options of a target with this module."""
        found: Mapping[str, Any] = self.modules.get(module, self.options)
        return found

    def with_shards(self, number: int) -> "Setting":
        """Return the setting with so many tables, each of which one worker writes."""
        by = PartsBy.WORKER if number > 1 else PartsBy.ROW
        changes = {"workers": (number,), "tables": number, "tables_by": by}
        return self.model_copy(update={"insert": self.insert.model_copy(update=changes)})

    def with_batch(self, rows: int) -> "Setting":
        """Return the setting with batches of so many rows."""
        return self.model_copy(update={"insert": self.insert.model_copy(update={"batch": rows})})

    @property
    def search(self) -> Search | None:
        """What is searched for, if anything is."""
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
        """Return the setting with a command before each run, where it has none of its own."""
        given = {"insert": self.insert, "query": self.query}
        changes = {
            name: each.model_copy(update={"before_run": command})
            for name, each in given.items()
            if each and each.before_run is None
        }
        return self.model_copy(update=changes)

    def concerns(self, module: str) -> bool:
        """Whether targets with this module are measured."""
        return not self.only or module in self.only
