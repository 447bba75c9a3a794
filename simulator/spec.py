"""What a run is: the one record that the command line writes and collector and workers read.

Credentials travel apart from it, in a file of their own that only they can read.
"""

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from simulator.dataset import Dataset, RowRange
from simulator.errors import ConfigError
from simulator.modules import database_class
from simulator.modules.base import Database
from simulator.query import Query, Statement, outputs
from simulator.verdict import Level

PREFILL_BATCH_ROWS = 1000


class Kind(StrEnum):
    """What the workers do."""

    INSERT = "insert"
    QUERY = "query"


class WorkerPlan(BaseModel):
    """The rows that one worker writes: before the barrier, and timed after it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prefill: tuple[RowRange, ...] = ()
    timed: tuple[RowRange, ...] = ()


class RunSpec(BaseModel):
    """One run of one sweep."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run_id: str
    kind: Kind
    target: str
    module: str
    options: dict[str, Any]
    """The target's options without credentials."""
    dataset: Dataset
    """What the tables hold before the run."""
    workers: tuple[WorkerPlan, ...]
    batch_rows: int = 0
    rate_rows_per_s: float = 0.0
    """Over all workers; 0: as fast as possible."""
    clean: bool = True
    verify: Level = Level.COUNTS
    timeout_s: float = 0.0
    queries: dict[str, str] = {}
    """Names of the queries to ask -> the target's own text for it, or empty."""
    repeats: int = 1

    @property
    def after(self) -> Dataset:
        """What the tables hold when every row of the run has been written."""
        written = [r for worker in self.workers for r in (*worker.prefill, *worker.timed)]
        return self.dataset.with_ranges([*self.dataset.ranges, *written])

    def open_database(self, secrets: dict[str, str]) -> Database:
        """Return the target's database, its credentials put in."""
        cls = database_class(self.module)
        return cls(cls.options_model(**self.options, **secrets))

    def statement(self, database: Database, name: str, query: Query) -> Statement:
        """Return the query as it is asked: the target's own text if config.yaml has one."""
        tuned = self.queries[name]
        if tuned:
            return Statement(tuned, outputs(query), tuned=True)
        return database.render(query)


def write_private(path: Path, content: str) -> None:
    """Write a file that only its owner can read."""
    path.touch(mode=0o600)
    path.write_text(content)


def load(spec_path: Path, secrets_path: Path) -> tuple[RunSpec, dict[str, str]]:
    """Read a run's specification and the target's credentials."""
    try:
        spec = RunSpec.model_validate_json(spec_path.read_bytes())
        secrets: dict[str, str] = json.loads(secrets_path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"the run's specification cannot be read: {error}") from error
    return spec, secrets
