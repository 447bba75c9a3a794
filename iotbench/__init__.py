"""The programs on the user's machine: commands, configuration, plans, runners, results, tables."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iotbench.store.frames import Loaded


def load(*names: str | Path, folder: str | Path = "results") -> "Loaded":
    """Return results from their files, for notebooks and programs.

    ```python
    rows = iotbench.load("last~1", "last").frame()
    rows[["target", "workers", "batch", "rows_per_s", "p99_ms"]]
    ```

    A name is a result file, an ID or its beginning, `last`, or `last~1` for the result before it.
    The file of a plan, or an archive of results, means all its results. The default is `last`.
    Files and archives may lie anywhere; other names are looked up in `folder`, which may be a URL,
    such as `sqlite:results.db`.

    `.results` has each result with its `id`, its `result` (the content of the file, in which names
    end with their units) and its `summary` (rows with their figures). `.frame()` has one row for
    each measured place of each result: a worker count, level, stage, query, load, change or check.

    A ConfigError lists all names that match no result, and all files that cannot be read.
    """
    from iotbench.config.options.places import parse_folder  # noqa: PLC0415
    from iotbench.store.frames import load_results  # noqa: PLC0415 - takes long

    return load_results(parse_folder(str(folder)), tuple(map(str, names)) or ("last",))
