"""Names of results, as people type them -> result files."""

import os
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from iotbench.results import result_files
from iotbench.results.names import Named, id_of, results_in
from iotbench.results.result import Result
from simulator.errors import ConfigError

__all__ = ["NAMES", "found", "id_of", "paths_of"]

_LAST = re.compile(r"last(?:~(\d{1,9}))?")
NAMES = "a result file, an id, the beginning of one, last, or last~1 for the one before the last"


def found(folder: Path, names: Sequence[str]) -> list[tuple[Path, Result]]:
    """Return the results that are meant; ConfigError lists every name without exactly one."""
    return [(path, result_files.read(path)) for path in paths_of(folder, names)]


def paths_of(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the files that are meant; ConfigError lists every name without exactly one."""
    problems: list[str] = []
    paths: list[Path] = []
    known: list[Named] | None = None
    for name in names:
        if _is_file(name):
            paths.append(Path(name))
            continue
        known = list(results_in(folder)) if known is None else known
        try:
            paths.append(_path(folder, known, name))
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError(problems)
    return paths


def _is_file(name: str) -> bool:
    """Return whether a name is a file's rather than an id: it exists, or looks like a path."""
    looks_like_path = name.endswith(".json") or "/" in name
    return looks_like_path or os.path.isfile(name)  # noqa: PTH113 - that of Path raises for long ones


def _path(folder: Path, known: Sequence[Named], name: str) -> Path:
    last = _LAST.fullmatch(name)
    if last:
        sweeps = [each for each in known if each.is_sweep]
        back = int(last[1] or 0)
        if back < len(sweeps):
            return sweeps[back].path
        raise ConfigError(f"{name}: {folder} has {len(sweeps)} results")
    meant = [each for each in known if name and each.id.startswith(name)]
    if len(meant) == 1:
        return meant[0].path
    if meant:
        shown = ", ".join(each.id for each in meant[:3])
        raise ConfigError(f"{name}: is the beginning of {len(meant)} ids in {folder}: {shown} ...")
    repeated = [each.path for each in known if each.id.endswith(f"-{name[-4:]}")]
    of_sweep = [path for path in repeated if result_files.read(path).sweep_id == name]
    if of_sweep:
        return of_sweep[0]
    near = get_close_matches(name, [each.id for each in known], n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ConfigError(f"{name}: no such result in {folder}: expected {NAMES}{hint}")
