"""The format of a file, recognised by its first bytes, and its uncompressed content."""

import io
import lzma
import os
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from simulator.errors import ConfigError
from simulator.records.compression import FIRST_BYTES, compression_in, compression_of

PARQUET = b"PAR1"
_MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which some programs write first."""
_SHOWN_MEMBERS = 3
_UNPACK, _EXPORT = "unpack it", "export it as CSV or Parquet"
_OTHERS = {
    b"7z\xbc\xaf": ("a 7z archive", _UNPACK), b"Rar!": ("a rar archive", _UNPACK),
    b"\x1f\x9d": ("compressed by `compress`", _UNPACK),
    b"SQLite format 3": ("an SQLite database", _EXPORT), b"ARROW1": ("an Arrow file", _EXPORT),
    b"ORC": ("an ORC file", _EXPORT), b"Obj\x01": ("an Avro file", _EXPORT),
    b"\x89HDF": ("an HDF5 or NetCDF file", _EXPORT), b"CDF": ("a NetCDF file", _EXPORT),
    b"\xd0\xcf\x11\xe0": ("a workbook", "save the sheet as CSV"),
}  # fmt: skip
_TAR, _TAR_AT = b"ustar", 257
_XZ_END, _XZ_LOOKED_AT = b"YZ", 4096
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def is_parquet(path: Path) -> bool:
    """Return whether a file is Parquet."""
    with path.open("rb") as file:
        return file.read(len(PARQUET)) == PARQUET


@contextmanager
def open_content(path: Path, where: str) -> Iterator[io.BufferedReader]:
    """Yield the decompressed content of a file; ConfigError if the content cannot be text."""
    compression = compression_in(path)
    with ExitStack() as stack:
        raw: Any = stack.enter_context(path.open("rb"))
        if compression == "zip":
            archive = stack.enter_context(zipfile.ZipFile(raw))
            raw = stack.enter_context(archive.open(_find_only_member(archive, where)))
        elif compression == "xz":
            _expect_xz_end(raw, where)
            raw = stack.enter_context(lzma.open(raw))
        elif compression:
            file = stack.enter_context(pa.OSFile(str(path)))
            raw = stack.enter_context(pa.CompressedInputStream(file, compression))
        content = stack.enter_context(io.BufferedReader(raw))
        first = content.peek(FIRST_BYTES)
        if compression and (inner := compression_of(first)):
            raise ConfigError(
                f"{where}: is compressed twice, by {inner} and {compression}; unpack it once"
            )
        if first.startswith(_MARK):
            content.read(len(_MARK))
        yield content


def _expect_xz_end(raw: IO[bytes], where: str) -> None:
    """Raise ConfigError if other content, which Python would ignore, follows the xz streams."""
    size_bytes = raw.seek(0, os.SEEK_END)
    raw.seek(max(size_bytes - _XZ_LOOKED_AT, 0))
    end = raw.read().rstrip(b"\0")  # padding
    raw.seek(0)
    if not end.endswith(_XZ_END):
        raise ConfigError(
            f"{where}: cannot be read: it does not end as an xz file does; it is truncated, or"
            " something else follows: compress it again"
        )


def expect_text(head: bytes, where: str) -> None:
    """Raise ConfigError if the head of a file shows that it is not text in UTF-8."""
    known = [found for magic, found in _OTHERS.items() if head.startswith(magic)]
    if head[_TAR_AT:].startswith(_TAR):
        known.append(("a tar archive", _UNPACK))
    if known and b"\0" in head:
        kind, remedy = known[0]
        raise ConfigError(f"{where}: is {kind}; {remedy}")
    half = len(head) // 4
    if head.startswith(_UTF16) or head[::2].count(0) > half or head[1::2].count(0) > half:
        raise ConfigError(
            f"{where}: is text in UTF-16; convert it, for example with iconv -f UTF-16 -t UTF-8"
        )
    if b"\0" in head:
        line = head.count(b"\n", 0, head.index(b"\0")) + 1
        raise ConfigError(
            f"{where}: line {line} has a NUL byte; expected text in UTF-8, Parquet or line protocol"
        )


def _find_only_member(archive: zipfile.ZipFile, where: str) -> zipfile.ZipInfo:
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
    """Return the first `size_bytes` bytes of the content, or all bytes of shorter content."""
    pieces, rest = [], size_bytes
    while rest and (piece := content.read(rest)):
        pieces.append(piece)
        rest -= len(piece)
    return b"".join(pieces)
