"""The specification of a run: written by the command line, read by collector and workers.

Credentials are passed separately; see run_input.
"""

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange
from simulator.data.records import RecordFormat
from simulator.errors import ConfigError
from simulator.protocol.messages import SILENCE_S, WorkerReport
from simulator.protocol.verdict import VerifyMode

MOST_INSTANCES = 10_000
"""Different timed instances of a query type in a run; more runs ask them again."""
FIRST_INSTANCE = 1 << 20
"""From here on are the instances of first runs and of the burn-in."""


class Kind(StrEnum):
    """The task of a run."""

    INSERT = "insert"
    QUERY = "query"
    CHECK = "check"
    """No workers: the collector checks whether the target can be used."""
    VERIFY = "verify"
    """No workers: the collector compares what is stored with the dataset."""
    MARKS = "marks"
    """No workers: the collector reads the marks of the database."""


class Insert(BaseModel):
    """The task of a worker that writes rows: prefill before the barrier, timed rows after it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Literal["insert"] = "insert"
    prefill: tuple[RowRange, ...] = ()
    timed: tuple[RowRange, ...] = ()
    batches: tuple[int, int] = (0, 0)
    """First batch, and the one after the last, of the file of records that has the timed rows."""


class Ask(BaseModel):
    """The task of a worker that asks queries: its share of the instances of every type.

    Its timed runs ask instances place, place + every, ... and begin again after its share of
    MOST_INSTANCES. The first run, which is timed apart, and the burn-in ask instances of their own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Literal["ask"] = "ask"
    place: int = Field(ge=0)
    every: int = Field(ge=1)
    runs: int = Field(ge=0)
    """Timed runs of each query; 0: as many as are possible in the time."""
    burn_in: int = Field(default=0, ge=0)
    """Runs of each query between the first one and the timed ones."""

    @property
    def uncounted(self) -> range:
        """The instances of the first run and of the burn-in."""
        return range(self.first, self.first + self.every * (1 + self.burn_in), self.every)

    @property
    def first(self) -> int:
        """The instance of the first run."""
        return FIRST_INSTANCE + self.place

    def instances(self, runs: int) -> range:
        """Return the different instances of so many timed runs; run k asks number k of them."""
        share = max(-(-(MOST_INSTANCES - self.place) // self.every), 1)
        return range(self.place, self.place + self.every * min(runs, share), self.every)


Task: TypeAlias = Annotated[Insert | Ask, Field(discriminator="task")]


class Ramp(BaseModel):
    """How workers are let in one after the other until answers take too long."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: int = Field(ge=1)
    """So many workers begin together."""
    interval_s: float = Field(gt=0)
    window_s: float = Field(gt=0)
    """Of the moving average of the response time."""
    limit_s: float = Field(gt=0)


class QueryLoad(BaseModel):
    """Which queries the workers of a run ask, and for how long."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    queries: dict[str, str] = {}
    """Query type -> the target's own text for it, or empty."""
    duration_s: float = 0.0
    """For how long each type is asked; 0: until each worker has done its runs."""
    aligned: bool = False
    """Whether windows of time are aligned to the buckets of the query."""
    shown_answers: int = 0
    """How many answers to each type the outcome contains."""
    ramp: Ramp | None = None
    """Each query is asked until its ramp is over; None: all workers begin together."""
    digests: bool = False
    """Whether the outcome has the digest of every answer, and the wrong ones."""
    print_interval: int = 0
    """After how many timed runs of a query the collector reports them; 0: never."""


class RecordsFile(BaseModel):
    """A file of encoded rows, which workers send as they are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    format: RecordFormat
    index: str
    """An array as .npy: for each batch where it starts, and the rows of each table before it."""


class RunSpec(BaseModel):
    """One run of one sweep."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str = __version__
    """Version of the command line."""
    sweep_id: str = ""
    run_id: str
    by: str = ""
    """User and machine of the command line."""
    kind: Kind
    target: str
    module: str
    options: dict[str, Any]
    """The target's options without credentials."""
    dataset: Dataset
    """The contents of the tables before the run."""
    complete: bool = True
    """False if an insert of `dataset` did not end, as far as the command line knows."""
    workers: tuple[Task, ...]
    records: RecordsFile | None = None
    """None: workers draw and encode the rows."""
    batch_rows: int = 0
    rate_rows_per_s: float = 0.0
    """Over all workers; 0: as fast as possible."""
    duration_s: float = 0.0
    """The timed part ends after this time even if rows are left; 0: no limit."""
    clean: bool = True
    verify: VerifyMode = VerifyMode.COUNTS
    timeout_s: float = 0.0
    appear_s: float = 120.0
    """How long workers and collector may take to connect to each other."""
    silence_s: float = SILENCE_S
    """A worker or collector that is silent for this long is considered lost."""
    load: QueryLoad = QueryLoad()
    """Of the workers that ask."""

    @property
    def inserts(self) -> tuple[Insert, ...]:
        """The tasks of the workers that write rows."""
        return tuple(task for task in self.workers if isinstance(task, Insert))

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The tasks of the workers that ask queries."""
        return tuple(task for task in self.workers if isinstance(task, Ask))

    @property
    def after(self) -> Dataset:
        """The contents of the tables once every row of the run is written."""
        return self.stored(())

    def stored(self, reports: Iterable[WorkerReport]) -> Dataset:
        """Return the contents of the tables by what the workers of a finished run report."""
        written = {r.index: r.written for r in reports if r.written is not None}
        ranges = [
            item
            for index, task in enumerate(self.workers)
            if isinstance(task, Insert)
            for item in (*task.prefill, *written.get(index, task.timed))
        ]
        return self.dataset.with_ranges([*self.dataset.ranges, *ranges])


def read_secrets(folder: Path) -> tuple[str, dict[str, str]]:
    """Return the run's token and the target's credentials, by option name."""
    try:
        token = (folder / "token").read_text().strip()
        options = folder / "options"
        files = [path for path in options.glob("*") if path.is_file()]
        return token, {path.name: path.read_text() for path in files}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the run's secrets: {error}") from error


def read_spec(path: Path) -> RunSpec:
    """Read a specification; ConfigError if it is for a different version."""
    try:
        content = json.loads(path.read_bytes())
        made_by = content.get("version")
        if made_by != __version__:
            raise ConfigError(
                f"the command line is version {made_by} and the image is version {__version__};"
                " use the image of the same version: `make image` builds it, --image names it"
            )
        return RunSpec.model_validate(content)
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigError(f"cannot read the run's specification: {error}") from error
