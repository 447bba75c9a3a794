"""Copies results between folders and places that are URLs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from iotbench.config.options.places import place_at
from iotbench.results import packed, result_files
from iotbench.results.names import ResultName, results_in
from iotbench.results.places import NewFile, ResultPlace, digest_of
from iotbench.results.result import Result
from iotbench.store.export import FIGURE, JUDGED, PLACED, list_figures, select
from iotbench.store.gathered import GATHERED, GatheredSweep, parts_of
from simulator.errors import BenchError, ConfigError, SetupError

_RUNNING = "running"
_AT_ONCE = 16
"""Number of files in a transaction, or written at the same time."""
_TYPES: Mapping[str, type] = {
    "created": datetime,
    **dict.fromkeys(("level", "stage", "workers", "runs", "n", "repeat"), int),
    **dict.fromkeys(("value", "low", "high", "spread"), float),
}
COLUMNS = {name: _TYPES.get(name, str) for name in (*PLACED, *FIGURE, *JUDGED)}
"""Column of the figures in a database -> type of its values."""


@dataclass(slots=True)
class Copied:
    """The results that were copied, and those that were not."""

    new: int = 0
    replaced: int = 0
    same: int = 0
    """Number of results that are stored already."""
    problems: list[str] = field(default_factory=list)
    """Results that were not copied, each with the reason."""

    @property
    def done(self) -> int:
        """Number of results that are stored now."""
        return self.new + self.replaced + self.same


@dataclass(frozen=True, slots=True)
class _Source:
    """A result to copy."""

    name: ResultName
    at: str
    """Name of the file in the place."""
    part: GatheredSweep | None
    """Its entry in the result that gathers it."""

    def read(self) -> bytes:
        return packed.read(self.name.path)


def copy(source: Path, to: Path) -> Copied:
    """Copy the results of a folder, archive or URL, and those in its folders, to another.

    A result that is stored already is not written again, but replaced if it has changed. What was
    written is compared afterwards. A SetupError has the number of results copied before it.
    """
    if packed.is_archive(to):
        raise ConfigError(f"{to}: is an archive, which is only read; name a folder")
    place, folder = place_at(to)
    found = list(_list_sources(source, f"{folder}/" if folder else ""))
    if not found:
        raise ConfigError(f"{source}: neither this folder nor a folder in it has results")
    copied = Copied()
    try:
        place.prepare(COLUMNS)
        _copy_all(found, place, copied)
    except BenchError as error:
        words = "; ".join(getattr(error, "problems", ())) or str(error)
        raise SetupError(
            f"{words}; {copied.done:,} of {len(found):,} results are stored; the same command"
            " copies the rest"
        ) from error
    return copied


def _list_sources(source: Path, start: str) -> Iterator[_Source]:
    for folder in packed.list_folders(source):
        own = start if folder == source else f"{start}{folder.name}/"
        names = [*results_in(folder)]
        parts: dict[str, GatheredSweep] = {}
        for name in names:
            if not name.is_sweep:
                with suppress(ConfigError):  # a damaged file gathers nothing, and is named later
                    parts |= {part.file: part for part in parts_of(name.path)}
        for name in names:
            yield _Source(name, f"{own}{name.path.name}", parts.get(name.path.name))


def _copy_all(found: Sequence[_Source], place: ResultPlace, copied: Copied) -> None:
    stored = place.digest([each.at for each in found])
    again = _find_outdated(found, stored)
    written: dict[str, str] = {}
    for start in range(0, len(found), _AT_ONCE):
        files = []
        for each in found[start : start + _AT_ONCE]:
            content = each.read()
            before = stored.get(each.at)
            if before == digest_of(content) and each.name.path not in again:
                copied.same += 1
                continue
            try:
                if before is not None:
                    _expect_same(each, content, place)
                files.append(NewFile(each.at, content, _figures_of(each, content)))
            except ConfigError as error:
                copied.problems += error.problems
        place.write(files)
        written |= {each.name: digest_of(each.content) for each in files}
        copied.new += sum(each.name not in stored for each in files)
        copied.replaced += sum(each.name in stored for each in files)
    after = place.digest(written)
    for name, digest in written.items():
        if after.get(name) != digest:
            copied.problems.append(
                f"{place.path / name}: was written, and something else is stored; copy it again"
            )


def _find_outdated(found: Sequence[_Source], stored: Mapping[str, str]) -> set[Path]:
    """Return the sweeps of plans that have changed, since their figures name setting and repeat."""
    outdated: set[Path] = set()
    for each in found:
        known = "" if each.name.is_sweep else stored.get(each.at, "")
        if known and known != digest_of(each.read()):
            with suppress(ConfigError):  # a damaged file gathers nothing
                outdated |= {each.name.path.with_name(p.file) for p in parts_of(each.name.path)}
    return outdated


def _figures_of(each: _Source, content: bytes) -> list[dict[str, Any]]:
    """Return the figures of a sweep; ConfigError if the file is not a result."""
    path = each.name.path
    if not each.name.is_sweep:
        result_files.parse(path, content, GATHERED[each.name.kind].record)
        return []
    with result_files.expect_whole(path):
        result = result_files.read(path)
        parts = {each.name.id: each.part} if each.part and each.part.part_of else {}
        (exported,) = select([(each.name.id, result)], parts=parts)
        return list_figures(exported)


def _expect_same(each: _Source, content: bytes, place: ResultPlace) -> None:
    """Raise ConfigError if the stored file is not an earlier state of the same result."""
    path, before = each.name.path, place.fetch([each.at]).get(each.at, content)
    try:
        is_same = before == content or _follows(each, content, before)
    except ConfigError:
        is_same = False
    if not is_same:
        raise ConfigError(
            f"{path}: was not copied: {place.path / each.at} is another result, or a later state of"
            " it; copy into a folder of its own, such as"
            f" {place.path / path.parent.name}"
        )


def _follows(each: _Source, content: bytes, before: bytes) -> bool:
    """Return whether a file can replace the stored one without losing anything."""
    path, kind = each.name.path, GATHERED.get(each.name.kind)
    if kind:
        old, new = (result_files.parse(path, text, kind.record) for text in (before, content))
        return {*kind.files(old)} <= {*kind.files(new)}
    old, new = (result_files.parse(path, text, Result) for text in (before, content))
    is_later = new.status != _RUNNING or old.status == _RUNNING
    return is_later and (old.sweep_id, old.created) == (new.sweep_id, new.created)
