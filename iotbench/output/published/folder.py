"""Writes bundles to folders, and checks bundles."""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from iotbench.machine.inputs import read_bytes
from iotbench.measurements import summary_of
from iotbench.results import result_files
from iotbench.results.packed import find_files, is_archive
from iotbench.results.result_files import expect_whole
from iotbench.store.gathered import find_gathered
from simulator.errors import ConfigError

SUMS = "SHA256SUMS"
RESULTS = "results.zip"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_MAX_BYTES = 256 << 20


def expect_empty(folder: Path) -> None:
    """Raise ConfigError if a bundle cannot be written to a folder."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ConfigError(f"--folder: {folder}: exists and is not a folder")
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"--folder: {folder}: is not empty; name a new folder")
    if not folder.absolute().parent.is_dir():
        raise ConfigError(f"--folder: {folder.absolute().parent}: no such folder")


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files and their checksums to a folder, which appears only when it is complete."""
    sums = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(files.items())
    )
    place = folder.absolute()
    new = ""
    try:
        new = tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}.")
        for name, content in {**files, SUMS: sums.encode()}.items():
            path = Path(new) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        Path(new).chmod(0o755)
        os.replace(new, place)  # noqa: PTH105 - an empty folder may exist
    except BaseException as error:  # also Ctrl-C
        if new:
            shutil.rmtree(new, ignore_errors=True)
        if isinstance(error, OSError):
            reason = error.strerror or error
            raise ConfigError(f"--folder: {folder}: cannot be written: {reason}") from error
        raise


def problems_of(folder: Path) -> Iterator[str]:
    """Yield the problems of a bundle; ConfigError if the folder is not a bundle."""
    sums = folder / SUMS
    if not sums.is_file():
        raise ConfigError(f"--check: {folder}: has no file {SUMS}; expected a folder of `publish`")
    known = {SUMS}
    for number, line in enumerate(_read_text(sums).splitlines(), 1):
        match = _LINE.fullmatch(line)
        name = match[2] if match else ""
        if not match or Path(name).is_absolute() or ".." in Path(name).parts:
            yield f"{SUMS}: line {number}: expected a checksum and the name of a file"
            continue
        known.add(name)
        path = folder / name
        if path.resolve() != folder.resolve() / name or not path.is_file():  # a link elsewhere
            yield f"{name}: is missing"
        elif hashlib.sha256(read_bytes(path, _MAX_BYTES)).hexdigest() != match[1]:
            yield f"{name}: has been altered: its checksum is another one"
    for path in sorted(folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        name = path.relative_to(folder).as_posix()
        if name not in known:
            yield f"{name}: has no checksum"
    yield from _check_results(folder)


def _read_text(path: Path) -> str:
    try:
        return read_bytes(path, _MAX_BYTES).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not valid UTF-8") from error


def _check_results(folder: Path) -> Iterator[str]:
    archive = folder / RESULTS
    try:
        is_own = is_archive(archive) and not archive.is_symlink()
        paths = sorted(find_files(archive, "*.json")) if is_own else []
    except ConfigError as error:
        yield str(error)
        return
    if not paths:
        yield f"{RESULTS}: has no result file"
    for path in paths:
        try:
            with expect_whole(path):
                kind = find_gathered(path)
                _ = kind.read(path) if kind else summary_of(result_files.read(path))
        except ConfigError as error:
            yield str(error)
