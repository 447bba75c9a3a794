"""The format of a file, known by its first bytes, and its uncompressed content."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from simulator.errors import ConfigError

_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"(\xb5/\xfd": "zstd", b"BZh": "bz2"}
_PARQUET, _ZIP = b"PAR1", b"PK\x03\x04"
_MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which some programs write first."""
_SHOWN_MEMBERS = 3


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet."""
    return _first_bytes(path) == _PARQUET


def is_compressed(path: Path) -> bool:
    """Return whether a file is compressed as a whole; False if there is no such file."""
    if not path.is_file():
        return False
    first = _first_bytes(path)
    return first == _ZIP or any(map(first.startswith, _COMPRESSIONS))


@contextmanager
def opened(path: Path, where: str) -> Iterator[IO[bytes]]:
    """Yield the decompressed content of a text file; ConfigError, which names it, if it is none."""
    first = _first_bytes(path)
    named = (name for magic, name in _COMPRESSIONS.items() if first.startswith(magic))
    with ExitStack() as stack:
        raw: Any = stack.enter_context(path.open("rb"))
        if first == _ZIP:
            archive = stack.enter_context(zipfile.ZipFile(raw))
            raw = stack.enter_context(archive.open(_only_member(archive, where)))
        elif compression := next(named, ""):
            file = stack.enter_context(pa.OSFile(str(path)))
            raw = stack.enter_context(pa.CompressedInputStream(file, compression))
        content = stack.enter_context(io.BufferedReader(raw))
        if content.peek(len(_MARK)).startswith(_MARK):
            content.read(len(_MARK))
        yield content


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_PARQUET))


def _only_member(archive: zipfile.ZipFile, where: str) -> zipfile.ZipInfo:
    members = [
        each
        for each in archive.infolist()
        if not each.is_dir() and not each.filename.startswith("__MACOSX/")
    ]
    names = [each.filename for each in members]
    if "[Content_Types].xml" in names:
        raise ConfigError(f"{where}: is a workbook; save the sheet as CSV")
    if len(members) != 1:
        shown = ", ".join(names[:_SHOWN_MEMBERS]) + ", ..." * (len(names) > _SHOWN_MEMBERS)
        raise ConfigError(
            f"{where}: expected an archive of one file, found {len(names)} ({shown}); unpack it,"
            " and name the files, or their folder, with --data"
        )
    return members[0]


def head_of(content: IO[bytes], size_bytes: int) -> bytes:
    """Return so many bytes of the content, fewer only at its end."""
    pieces, rest = [], size_bytes
    while rest and (piece := content.read(rest)):
        pieces.append(piece)
        rest -= len(piece)
    return b"".join(pieces)
