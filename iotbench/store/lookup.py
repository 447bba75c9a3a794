"""Finds result files by the names that the user gives."""

import os
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from iotbench.config.options.places import is_url, parse_folder
from iotbench.machine.program import command_line
from iotbench.machine.tables import CUT
from iotbench.results import packed, result_files
from iotbench.results.names import ResultName, id_of, parse_name, results_in
from iotbench.results.result import Result
from simulator.errors import ConfigError

_LAST = re.compile(r"last(?:~(\d{1,9}))?")
NAMES = "a result file, an id, the beginning of one, last, or last~1 for the one before the last"


def find_results(folder: Path, names: Sequence[str]) -> list[tuple[Path, Result]]:
    """Return the results with these names.

    A ConfigError lists the names that do not match exactly one result. The name of an archive
    instead matches all its results of sweeps.
    """
    return [(path, result_files.read(path)) for path in paths_of(folder, names, only_sweeps=True)]


def path_of(folder: Path, name: str) -> Path:
    """Return the file with this name; ConfigError if no file or several files match."""
    path, *others = paths_of(folder, [name])
    if others:
        raise ConfigError(
            f"{name}: has {len(others) + 1:,} results; name one of them, such as {name}/last or"
            f" {name}/{id_of(path)}; `{command_line(['results', 'list', '--output', name])}` lists"
            " them"
        )
    return path


def paths_of(folder: Path, names: Sequence[str], *, only_sweeps: bool = False) -> list[Path]:
    """Return the files with these names.

    A ConfigError lists the names that match no file. An archive or a URL matches all its results
    or, with `only_sweeps`, all its results of sweeps.
    """
    problems: list[str] = []
    paths: list[Path] = []
    known: dict[Path, list[ResultName]] = {}
    for name in names:
        archive, own = _find_place(name)
        is_path = name.endswith(".json") or "/" in name
        # `Path.is_file` raises an error for a long id.
        if archive is None and (is_path or os.path.isfile(name)):  # noqa: PTH113
            paths.append(Path(name))
            continue
        place = archive or folder
        try:
            if place not in known:
                folders = packed.list_folders(place) if archive else [place]
                known[place] = [each for folder in folders for each in results_in(folder)]
            if archive and not own:
                own_paths = sorted(e.path for e in known[place] if e.is_sweep or not only_sweeps)
                if not own_paths:
                    problems.append(f"{archive}: has no results{' of sweeps' * only_sweeps}")
                paths += own_paths
            elif own.endswith(".json"):
                paths.append(place / own)
            else:
                paths.append(_find(place, known[place], own))
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError(problems)
    return paths


def expect_files(paths: Iterable[Path]) -> None:
    """Raise ConfigError if a result is in an archive or at a URL, which are only read."""
    places = dict.fromkeys(path.parent for path in paths if packed.is_only_read(path.parent))
    if places:
        raise ConfigError(
            [
                f"{each}: is an archive, which is only read; unpack it first"
                if packed.is_archive(each)
                else f"{each}: is only read here; change the results of the folder, and copy it"
                for each in places
            ]
        )


def _find_place(name: str) -> tuple[Path | None, str]:
    """Return the archive or the URL in a name, if there is one, and the name of a result in it."""
    if not is_url(name):
        return packed.find_archive(name)
    path = parse_folder(name)
    return (path.parent, path.name) if parse_name(path) else (path, "")


def _find(folder: Path, known: Sequence[ResultName], name: str) -> Path:
    last = _LAST.fullmatch(name)
    if last:
        sweeps = [each for each in known if each.is_sweep]
        back = int(last[1] or 0)
        if back < len(sweeps):
            return sweeps[back].path
        raise ConfigError(f"{name}: {folder} has {len(sweeps)} results")
    begin, _, end = name.partition(CUT)  # as narrow lists show long ids
    meant = [each for each in known if name and each.id.startswith(begin) and each.id.endswith(end)]
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
