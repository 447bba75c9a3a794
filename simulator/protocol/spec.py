"""The specification of a run: written by the command line, read by collector and workers.

Credentials are passed separately; see run_input.
"""

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange
from simulator.errors import ConfigError
from simulator.protocol.messages import SILENCE_S, WorkerReport
from simulator.protocol.verdict import VerifyMode


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


class WorkerPlan(BaseModel):
    """The rows of one worker: prefill before the barrier, timed rows after it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prefill: tuple[RowRange, ...] = ()
    timed: tuple[RowRange, ...] = ()


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
    workers: tuple[WorkerPlan, ...]
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
    queries: dict[str, str] = {}
    """Query name -> the target's own text for it, or empty."""
    repeats: int = 1

    @property
    def after(self) -> Dataset:
        """The contents of the tables once every row of the run is written."""
        return self.stored(())

    def stored(self, reports: Iterable[WorkerReport]) -> Dataset:
        """Return the contents of the tables by what the workers of a finished run report."""
        written = {r.index: r.written for r in reports if r.written is not None}
        ranges = [
            item
            for index, plan in enumerate(self.workers)
            for item in (*plan.prefill, *written.get(index, plan.timed))
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
