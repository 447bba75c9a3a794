"""Results for Python programs: typed, or as a data frame."""

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from iotbench.figures.figures import FIGURES
from iotbench.results.result_files import expect_whole
from iotbench.store.export import JUDGED, PLACED, Exported, select
from iotbench.store.gathered import read_parts
from iotbench.store.lookup import paths_of
from simulator.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Loaded:
    """Results, each with its ID, its file's content and the summary of its runs."""

    results: tuple[Exported, ...]

    def columns(self) -> dict[str, list[Any]]:
        """Return column -> its values, one for each measured place.

        A place is a worker count, level, stage, query, load, change or check. `results export
        --format csv` has the same columns, with a line instead of a column for each figure. Names
        of figures end with the unit, such as `rows_per_s` and `p99_ms`. A value that was not
        measured is None.
        """
        rows = [
            {**each.describe(row), **figures, "created": each.result.created}
            for each in self.results
            for row, measured in each.rows
            for figures in [{name: found.value for name, found in measured.items()}]
        ]
        known = frozenset[str]().union(*(each.summary.subject.figures for each in self.results))
        names = (*PLACED, *(name for name in FIGURES if name in known), *JUDGED)
        return {name: [row.get(name) for row in rows] for name in names}

    def frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return `columns` as a DataFrame of pandas or polars.

        A ConfigError names the command that installs a missing library.
        """
        try:
            package = import_module(library)
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"the Python package {error.name} cannot be imported: run {sys.executable} -m pip"
                f" install {library}"
            ) from error
        return package.DataFrame(self.columns())


def load_results(folder: Path, names: tuple[str, ...]) -> Loaded:
    """Return the results with these names, and those that a plan gathers."""
    found, parts = read_parts(paths_of(folder, names, only_sweeps=True))
    with expect_whole(", ".join(names)):
        return Loaded(tuple(select(found, parts=parts)))
