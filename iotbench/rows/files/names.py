"""Names derived from the names of files and columns."""

import re
from collections.abc import Sequence
from pathlib import Path

_MAX_NAME = 40
_LEAST_SHARED = 3
_SUFFIXES = {
    ".csv", ".tsv", ".txt", ".data", ".dat", ".parquet", ".gz", ".zst", ".zstd", ".zip", ".bz2",
    ".xz", ".lz4",
}  # fmt: skip
_UNNAMED = "column_{}"


def table_name(named: Sequence[Path]) -> str:
    """Return the common beginning of files' names, as an identifier that needs no quotes."""
    stems = [_strip(path) for path in named]
    same = [len(set(letters)) == 1 for letters in zip(*stems, strict=False)]
    shared = stems[0][: [*same, False].index(False)]
    if len(stems) > 1 and len(re.sub(r"[^a-z]", "", shared)) < _LEAST_SHARED:
        shared = _strip(named[0].absolute().parent)
    name = re.sub(r"[^a-z0-9]+", "_", shared).strip("_")[:_MAX_NAME] or "data"
    return name if name[0].isalpha() else f"t_{name}"


def _strip(path: Path) -> str:
    name = (path.name or path.absolute().name).lower()
    while (suffix := Path(name).suffix) in _SUFFIXES:
        name = name.removesuffix(suffix)
    if is_pattern(Path(name)):
        name = re.sub(r"\[.*?\]|[*?]", "", name)
        return name if re.search(r"[a-z0-9]", name) else _strip(path.absolute().parent)
    return name


def is_pattern(path: Path) -> bool:
    """Return whether a path is a pattern, such as days/*.csv."""
    return bool(set("*?[") & set(str(path)))


def column_names(heading: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns; an unnamed column, such as pandas' index, gets a name."""
    return tuple(name.strip() or _UNNAMED.format(at) for at, name in enumerate(heading, 1))


def split_names(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Split a comma-separated list of columns, unless the whole text is the name of a column."""
    return (text,) if not text or text in names else tuple(text.split(","))
