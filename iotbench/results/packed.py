"""Archives of result files, read like folders without unpacking them to disk.

An archive is a ZIP file without folders. A stranger may have made it, so the declared sizes are
checked against limits before anything is decompressed.
"""

import os
import struct
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from iotbench.machine.inputs import read_bytes
from iotbench.results import places
from simulator.errors import ConfigError, format_size

ENDING = ".zip"
MAX_FILE_BYTES = 256 << 20
"""Maximum size of a file in bytes; no result of a sweep is as large."""
_MAX_ARCHIVE_BYTES = 256 << 20
_MAX_TOTAL_BYTES = 1 << 30
_MAX_LIST_BYTES = 8 << 20
"""Maximum size of the list of files: about 100 bytes per file, which take 600 bytes in memory."""
_END, _END_64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sLQL")
_ENCRYPTED = 0x1
_DAMAGES = (
    *(BadZipFile, zlib.error, struct.error, EOFError, LookupError, NotImplementedError),
    *(OSError, OverflowError, RuntimeError, ValueError),
)
"""Errors that reading a damaged archive may raise."""


def is_archive(folder: Path) -> bool:
    """Return whether a path is an archive of results; a folder of results is not."""
    return folder.suffix == ENDING and os.path.isfile(folder)  # noqa: PTH113 - takes any name


def find_archive(name: str) -> tuple[Path | None, str]:
    """Return the archive in a path, if there is one, and the name of a result in the archive.

    The name is empty if the path is the archive, and is the whole path if there is no archive.
    """
    for place in (Path(name), *Path(name).parents):
        if is_archive(place):
            own = str(Path(name).relative_to(place))
            return place, "" if own == "." else own
    return None, name


def is_only_read(folder: Path) -> bool:
    """Return whether results are read from a folder and never written: an archive, or a URL."""
    return is_archive(folder) or places.find_place(folder) is not None


def file_of(path: Path) -> Path:
    """Return the file on disk that contains a result: an archive, or the result's own file."""
    return path.parent if is_archive(path.parent) else path


def list_folders(folder: Path) -> list[Path]:
    """Return a folder and the folders in it; an archive has none."""
    return [folder] if is_archive(folder) else places.list_folders(folder)


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files of a folder, archive or URL with names that match a pattern."""
    if not is_archive(folder):
        return places.find_files(folder, pattern)
    return [folder / name for name in _open(folder).namelist() if fnmatchcase(name, pattern)]


def read(path: Path) -> bytes:
    """Return the content of a result file, also of one in an archive or at a URL.

    ConfigError if the file cannot be read.
    """
    if found := places.find_place(path):
        place, name = found
        return place.read(name)
    if not is_archive(path.parent):
        return read_bytes(path, MAX_FILE_BYTES)
    archive = _open(path.parent)
    try:
        about = archive.getinfo(path.name)
    except KeyError as error:
        raise ConfigError(f"{path}: cannot be read: {path.parent} has no such file") from error
    try:
        with archive.open(about) as file:
            return file.read(about.file_size)  # the declared size, which is checked
    except _DAMAGES as error:
        raise ConfigError(f"{path}: is damaged: {error or type(error).__name__}") from error


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files; equal files result in equal bytes."""
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for name, text in sorted(files.items()):
            about = ZipInfo(name)  # with a fixed time
            about.compress_type = ZIP_DEFLATED
            about.external_attr = 0o644 << 16
            archive.writestr(about, text, compresslevel=9)
    return content.getvalue()


def _open(path: Path) -> ZipFile:
    try:
        status = path.stat()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    return _load(path, status.st_size, status.st_ino, status.st_mtime_ns)


@lru_cache(maxsize=2)
def _load(path: Path, *_state: int) -> ZipFile:
    content = read_bytes(path, _MAX_ARCHIVE_BYTES)
    if problem := _find_unbounded(content):
        raise ConfigError(f"{path}: is not an archive of results: {problem}")
    try:
        archive = ZipFile(BytesIO(content))
        found = archive.infolist()
    except _DAMAGES as error:
        raise ConfigError(f"{path}: is damaged: {error or type(error).__name__}") from error
    if problem := _find_unsound(found):
        raise ConfigError(f"{path}: is not an archive of results: {problem}")
    return archive


def _find_unbounded(content: bytes) -> str:
    """Return the reason why the list of files cannot be read safely; empty if it can."""
    end = content[-_END.size :]
    if len(end) < _END.size or not end.startswith(b"PK\5\6") or end[-2:] != b"\0\0":
        return "expected a ZIP file without a comment"
    before = content[-_END.size - _END_64.size : -_END.size]
    list_bytes = _END.unpack(end)[5]
    if before.startswith(b"PK\6\7") or list_bytes > _MAX_LIST_BYTES:
        return f"its list of files is larger than {format_size(_MAX_LIST_BYTES)}"
    return ""


def _find_unsound(found: Sequence[ZipInfo]) -> str:
    """Return a problem of the declared files; empty if there is no problem."""
    total = 0
    for each in found:
        name, total = repr(each.filename[:100]), total + each.file_size
        if {*"/\\"} & {*each.filename} or not each.filename.isprintable():
            return f"it has {name}; expected files without folders, as of `zip --junk-paths`"
        if each.flag_bits & _ENCRYPTED:
            return f"{name} is encrypted"
        if each.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            return f"{name} is compressed by method {each.compress_type}; expected deflate"
        if each.file_size > MAX_FILE_BYTES:
            return f"{name} is larger than {format_size(MAX_FILE_BYTES)}"
    if total > _MAX_TOTAL_BYTES:
        return f"its files have {format_size(total)}, more than {format_size(_MAX_TOTAL_BYTES)}"
    twice = [name for name, n in Counter(each.filename for each in found).items() if n > 1]
    return f"it has {twice[0]!r} twice" if twice else ""
