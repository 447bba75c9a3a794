"""Calibrations: the scatter of equal sweeps on this machine, kept in the user's state folder."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from iotbench.comparison.statistics import Scatter, noise_of, scatter_of
from iotbench.machine.outfile import write
from iotbench.machine.program import state_folder
from iotbench.results.result import Result
from simulator.errors import ConfigError
from simulator.frozen import Frozen

KIND = "insert"
"""Kind of the calibrated sweeps; the scatter of queries cannot be derived from inserts."""
LEAST_SWEEPS = 5
"""Minimum number of sweeps; with fewer, Student's bound would cover nearly every difference."""
_Rates = Annotated[tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...],
                   Field(min_length=1)]  # fmt: skip


class Calibration(Frozen):
    """The rates of equal sweeps that ran one after the other on one machine."""

    hardware: str
    module: str
    workers: int
    measured: datetime
    rates: Annotated[tuple[_Rates, ...], Field(min_length=LEAST_SWEEPS)]
    """Sweep -> the rates of its runs, in rows/s."""

    @property
    def scatter(self) -> Scatter:
        """Scatter of the rates between the sweeps."""
        return scatter_of(self.rates)

    def __str__(self) -> str:
        workers = f"{self.workers} worker{'s' * (self.workers > 1)}"
        return (
            f"{self.module}, {workers}: differences below {noise_of(self.scatter):.1%} between"
            f" single sweeps are noise on this machine ({len(self.rates)} equal sweeps of"
            f" {len(self.rates[0])} runs, {self.measured:%F})"
        )


_OWN = re.compile(rb"\[")
_ALL = TypeAdapter(tuple[Calibration, ...])


def calibrations_file() -> Path:
    """Return the path of the file with the calibrations."""
    return state_folder() / "calibrations.json"


def read_calibrations() -> tuple[Calibration, ...]:
    """Return the calibrations of this machine; ConfigError if the file is damaged."""
    path = calibrations_file()
    try:
        return _ALL.validate_json(path.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, ValidationError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is damaged"
        raise ConfigError(
            f"{path}: expected calibrations of this machine, and cannot read them: {reason};"
            " remove the file and run `calibrate` again"
        ) from error


def keep(found: Iterable[Calibration]) -> None:
    """Add calibrations, each in place of the one for the same hardware, module and workers."""
    known = {_make_key(each): each for each in (*read_calibrations(), *found)}
    path = calibrations_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be written: {error.strerror or error}; set XDG_STATE_HOME to a folder"
            " that can be written"
        ) from error
    write(path, _ALL.dump_json(tuple(known.values()), indent=1).decode() + "\n", _OWN)


def calibration_from(results: Sequence[Result], runs: int) -> Calibration:
    """Return the calibration from equal sweeps of `runs` runs each; each result holds one run."""
    first = results[0]
    rates = [run.metrics.rows_per_s for each in results for run in each.runs if run.metrics]
    return Calibration(
        hardware=first.machine.hardware,
        module=first.module,
        workers=first.runs[0].workers,
        measured=first.created,
        rates=tuple(tuple(sweep) for sweep in zip(*[iter(rates)] * runs, strict=True)),
    )


def calibration_of(
    known: Sequence[Calibration], result: Result, workers: int | None
) -> Calibration | None:
    """Return the calibration that applies to a result; None if there is none."""
    wanted = (result.machine.hardware, result.module, workers)
    if result.kind != KIND or result.runner != "local":
        return None
    return next((each for each in known if _make_key(each) == wanted), None)


def _make_key(each: Calibration) -> tuple[str, str, int]:
    return each.hardware, each.module, each.workers
