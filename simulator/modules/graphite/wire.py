"""Carbon's protocols: a connection, lines of text and pickles.

https://graphite.readthedocs.io/en/stable/feeding-carbon.html
"""

import select
import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block
from simulator.data.schema import Column, Table, Type
from simulator.encode.points import PointFormat, PointPiece, Points, Written, as_text
from simulator.encode.rows import Frame
from simulator.modules.shared.http.tls import CONNECT_S, socket_options
from simulator.modules.shared.metrics.points import fields

MESSAGE_BYTES = 1 << 20
"""The longest pickle that carbon accepts."""
LENGTH = "length of the path"
"""Name of the values of `path_lengths`, which `pickles` requires in addition to the columns."""
LINES = Frame(b"", b"", b"")
ESCAPED, STORED = "./", "~+"
"""Characters in the value of a tag that would divide a path or a file's name -> as stored."""
_BUFFER_BYTES = 1 << 17
_CHUNK = 1 << 16


class CarbonError(Exception):
    """A batch could not be sent."""


class NothingSent(CarbonError):
    """There was no connection, so nothing was sent."""


class Carbon:
    """A connection to one of carbon's ports."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self.where = f"{host}:{port}"
        self.alive = True
        try:
            self._socket = socket.create_connection((host, port), CONNECT_S)
        except OSError as error:
            reason = error.strerror or str(error)
            raise NothingSent(f"{self.where}: {reason}") from error
        for level, name, value in socket_options():
            self._socket.setsockopt(level, name, value)
        # Bytes in this buffer count as sent, so keep it small.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
        self._socket.settimeout(timeout_s)
        self._readable = select.poll()  # select() takes no descriptor above 1,023
        self._readable.register(self._socket, select.POLLIN)

    def send(self, content: bytes) -> None:
        """Return once the kernel has taken the bytes: carbon does not answer."""
        # Carbon sends nothing: the socket is readable only after carbon has closed the connection.
        if not self.alive or self._readable.poll(0):
            self.alive = False
            raise NothingSent(f"{self.where}: carbon has closed the connection")
        try:
            self._socket.sendall(content)
        except OSError as error:
            self.alive = False
            raise CarbonError(f"{self.where}: the connection was lost: {error}") from error

    def close(self) -> None:
        """End the connection, and wait until carbon has read everything."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            while self._socket.recv(_CHUNK):
                pass
        with suppress(OSError):
            self._socket.close()


def lines(table: Table, begin: str) -> Points:
    """Return the encoder of `path value time` lines."""
    pieces = _pieces(table)
    time = pieces[table.time.name]
    points = [
        PointFormat(
            field,
            [*_path(table, begin, field, pieces), b" ", pieces[field.name], b" ", time, b"\n"],
        )
        for field in fields(table)
    ]
    return Points(points, LINES)


def _pieces(table: Table) -> dict[str, PointPiece]:
    pieces = {c.name: PointPiece(c.name, as_text(c.type)) for c in table.columns}
    texts = (tag.name for tag in table.tags if tag.type is Type.TEXT)
    return pieces | {name: PointPiece(name, _write_node) for name in texts}


def _write_node(texts: Array) -> Written:
    stored = texts.tobytes().translate(bytes.maketrans(ESCAPED.encode(), STORED.encode()))
    return as_text(Type.TEXT)(np.frombuffer(stored, texts.dtype))


def _path(
    table: Table, begin: str, field: Column, pieces: Mapping[str, PointPiece]
) -> Iterator[bytes | PointPiece]:
    lead = begin.encode() + b"."
    for tag in table.tags:
        yield lead
        yield pieces[tag.name]
        lead = b"."
    yield lead + field.name.encode()


def pickles(table: Table, begin: str) -> Points:
    """Return the encoder of lists of (path, (time, value)), in opcodes of pickle's protocol 2.

    https://docs.python.org/3/library/pickletools.html: X begins a length and a text, J an integer
    of 4 bytes, G a double; the byte 134 makes a tuple of two.
    """
    pieces = _pieces(table)
    when = PointPiece(table.time.name, _binary("<i4"))
    doubles = {kind: _binary(">f8") for kind in Type}
    points = []
    for field in fields(table):
        path = list(_path(table, begin, field, pieces))
        known = sum(len(piece) for piece in path if isinstance(piece, bytes))
        length = PointPiece(LENGTH, _binary("<u4", known))
        value = PointPiece(field.name, doubles[field.type])
        points.append(
            PointFormat(field, [b"X", length, *path, b"J", when, b"G", value, b"\x86\x86"])
        )
    return Points(points, Frame(b"\x80\x02](", b"", b"e."))


def _binary(dtype: str, more: int = 0) -> Callable[[Array], Written]:
    def write(values: Array) -> Written:
        wide = values.astype(np.float64) if dtype == ">f8" else values + more
        return wide.astype(dtype).view(f"V{np.dtype(dtype).itemsize}"), None

    return write


def path_lengths(block: Block) -> NDArray[np.int64]:
    """Return the number of bytes that the tags of each row take in a path."""
    total = np.zeros(len(block), np.int64)
    for tag in block.table.tags:
        values = block.data[tag.name].values()
        texts = values if tag.type is Type.TEXT else values.astype(np.bytes_)
        total += np.strings.str_len(texts)
    return total


def frame(messages: Sequence[bytes]) -> bytes:
    """Return pickles with their lengths before them, as carbon reads them."""
    return b"".join(struct.pack("!L", len(message)) + message for message in messages)
