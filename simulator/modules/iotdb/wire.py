"""IoTDB's session protocol: Thrift in frames, a session of the table model, statements, tablets.

This file uses only the generated Thrift classes of the driver's package. It sends rows as the bytes
that the encoder made, reads answers as blocks of columns, and can classify every error. It imports
the driver; session.py imports this file.
"""

import socket
import ssl
import struct
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from typing import Any, ClassVar, NamedTuple

import numpy as np
from iotdb.thrift.rpc import ttypes as rpc
from iotdb.thrift.rpc.IClientRPCService import Client
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TFramedTransport

from simulator.data.schema import TimeUnit
from simulator.encode.tablet import Tablet
from simulator.modules.iotdb.options import IotDbOptions
from simulator.modules.shared.http.tls import CONNECT_S, certificate_remedy, socket_options

_PROTOCOL = rpc.TSProtocolVersion.IOTDB_SERVICE_PROTOCOL_V3
_TLS_HANDSHAKE_S = 10.0
_BROKEN = (OSError, TException, EOFError)

# --- errors --------------------------------------------------------------------------------------


class IotDbError(Exception):
    """Base of the errors of this file, with what failed and what to try."""


class ConnectError(IotDbError):
    """There was no connection, so nothing was sent."""


class Unanswered(IotDbError):
    """The request was sent, at least in part, and no complete answer arrived."""


class ServerStatus(NamedTuple):
    """The server's status of a request, or of a part of it."""

    code: int
    words: str


class ServerError(IotDbError):
    """The server refused a request, or a part of it; the codes are TSStatusCode."""

    GOOD: ClassVar[frozenset[int]] = frozenset({200, 400})
    """Success; and success with the hint that another node would have been nearer."""
    SEVERAL: ClassVar[int] = 302
    """The rows, or other parts of the request, have a status each."""

    def __init__(self, where: str, wrong: tuple[ServerStatus, ...]) -> None:
        self.codes = frozenset(status.code for status in wrong)
        different = dict.fromkeys(f"{status.words} ({status.code})" for status in wrong)
        words = "; ".join(" ".join(each.split()) for each in different)
        super().__init__(f"{where}: {words}" if where else words)


def check(status: Any) -> None:
    """Raise ServerError unless a status, and every part of it, is a success."""
    parts = status.subStatus or () if status.code == ServerError.SEVERAL else (status,)
    wrong = [ServerStatus(s.code, s.message or "") for s in parts if s.code not in ServerError.GOOD]
    if wrong or not (parts or status.code in ServerError.GOOD):
        raise ServerError("", tuple(wrong) or (ServerStatus(status.code, status.message or ""),))


# --- the connection ------------------------------------------------------------------------------


class Link:
    """An open session of the table model."""

    def __init__(self, options: IotDbOptions, tls: ssl.SSLContext | None) -> None:
        """Connect and log in; ConnectError or ServerError on failure.

        Without a database in the options, the session uses none.
        """
        self.alive = True
        self.where = f"{options.host}:{options.port}"
        self._options = options
        self._socket = TSocket()
        self._socket.setHandle(_connect(options.host, options.port, tls))
        transport = TFramedTransport(self._socket)
        self._client = Client(TBinaryProtocolAccelerated(transport))
        configuration = {"version": "V_1_0", "sql_dialect": "table"}
        if options.database:
            configuration["db"] = options.database
        opening = rpc.TSOpenSessionReq(
            client_protocol=_PROTOCOL,
            zoneId="UTC",
            username=options.username,
            password=options.password.get_secret_value(),
            configuration=configuration,
        )
        try:
            opened = self._call(self._client.openSession, opening, CONNECT_S)
            check(opened.status)
            self._session: int = opened.sessionId
            self._statement = self._call(self._client.requestStatementId, self._session, CONNECT_S)
            self.precision = TimeUnit((opened.configuration or {})["timestamp_precision"])
            """The server's unit of time."""
        except Unanswered as error:
            self.close()
            raise ConnectError(f"{error}; check that an IoTDB listens there") from error
        except (KeyError, ValueError) as error:
            self.close()
            found = opened.configuration
            raise ConnectError(
                f"{self.where}: expected a server that reports its timestamp_precision, got {found}"
            ) from error
        except BaseException:  # also Ctrl-C: the connection is closed
            self.close()
            raise

    def close(self) -> None:
        """Close the connection, which ends the session on the server."""
        self.alive = False
        with suppress(*_BROKEN):
            self._socket.close()

    def insert(
        self,
        table: str,
        names: Sequence[str],
        types: Sequence[int],
        categories: Sequence[int],
        tablet: Tablet,
    ) -> None:
        """Send a tablet; return once the server has acknowledged every row of it."""
        if not self.alive:
            raise ConnectError(f"{self.where}: the connection is closed")
        request = rpc.TSInsertTabletReq(
            sessionId=self._session,
            prefixPath=table,
            measurements=names,
            values=tablet.values,
            timestamps=tablet.times,
            types=types,
            size=tablet.rows,
            isAligned=False,
            writeToTable=True,
            columnCategories=categories,
        )
        check(self._call(self._client.insertTablet, request, self._options.timeout_s))

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement and return all rows of its answer."""
        with closing(self.blocks(statement)) as blocks:
            return [row for block in blocks for row in block.rows()]

    def blocks(self, statement: str) -> Generator["TsBlock", None, None]:
        """Run a statement and yield its answer, not yet decoded, as it arrives."""
        timeout_s = self._options.query_timeout_s
        request = rpc.TSExecuteStatementReq(
            sessionId=self._session,
            statement=statement,
            statementId=self._statement,
            fetchSize=self._options.fetch_rows,
            timeout=int(timeout_s * 1000),
        )
        answer = self._call(self._client.executeStatementV2, request, timeout_s)
        check(answer.status)
        if answer.queryResult is None:
            return
        places = answer.columnIndex2TsBlockColumnIndexList
        if places is None:
            places = range(len(answer.columns))
        query, blocks, more = answer.queryId, answer.queryResult, answer.moreData
        try:
            while True:
                for block in blocks:
                    yield TsBlock(block, places)
                if not more:
                    return
                fetched = self._fetch(statement, query)
                more = fetched.moreData and fetched.hasResultSet
                blocks = fetched.queryResult or ()
        finally:
            if more and self.alive:  # the caller stopped early, or an error occurred
                ending = rpc.TSCloseOperationReq(
                    sessionId=self._session, queryId=query, statementId=self._statement
                )
                with suppress(Unanswered):
                    self._call(self._client.closeOperation, ending, CONNECT_S)

    def _fetch(self, statement: str, query: int) -> Any:
        timeout_s = self._options.query_timeout_s
        request = rpc.TSFetchResultsReq(
            sessionId=self._session,
            statement=statement,
            fetchSize=self._options.fetch_rows,
            queryId=query,
            isAlign=True,
            timeout=int(timeout_s * 1000),
            statementId=self._statement,
        )
        answer = self._call(self._client.fetchResultsV2, request, timeout_s)
        check(answer.status)
        return answer

    def _call(self, method: Callable[[Any], Any], request: Any, timeout_s: float) -> Any:
        self._socket.setTimeout(timeout_s * 1000)
        try:
            return method(request)
        except TApplicationException as error:
            raise ServerError(self.where, (ServerStatus(-1, str(error)),)) from error
        except _BROKEN as error:
            self.close()
            raise _fail_unanswered(self.where, error, timeout_s) from error
        except BaseException:
            self.close()  # or the next request would read this one's answer
            raise


def _connect(host: str, port: int, tls: ssl.SSLContext | None) -> socket.socket:
    connection: socket.socket | None = None
    try:
        connection = socket.create_connection((host, port), CONNECT_S)
        for option in socket_options():
            connection.setsockopt(*option)
        if tls:
            connection.settimeout(_TLS_HANDSHAKE_S)
            connection = tls.wrap_socket(connection, server_hostname=host)
    except BaseException as error:  # also Ctrl-C: the socket is closed
        if connection:
            connection.close()
        if isinstance(error, OSError):
            raise ConnectError(f"{host}:{port}: {_explain(error)}") from error
        raise
    return connection


def _explain(error: OSError) -> str:
    check_address = "check that the server runs, and host and port"
    match error:
        case ssl.SSLCertVerificationError():
            return f"{error.verify_message}; {certificate_remedy(error.verify_message)}"
        case ssl.SSLError():
            return f"the server does not use TLS there ({error.reason}); try tls=false"
        case socket.gaierror():
            return "the host's name is not known; check the host"
        case TimeoutError():
            return f"no connection within {CONNECT_S:g} s; {check_address}"
        case _:
            return f"{error.strerror or error}; {check_address}"


def _fail_unanswered(where: str, error: BaseException, timeout_s: float) -> Unanswered:
    cause = getattr(error, "inner", None) or error
    if isinstance(cause, TimeoutError):
        return Unanswered(
            f"{where}: no answer within {timeout_s:g} s; raise the target's timeout_s or "
            "query_timeout_s, or look at the server's log"
        )
    shown = f"{type(cause).__name__}: {cause}"
    return Unanswered(f"{where}: the connection was lost before an answer arrived ({shown})")


# --- answers. A block (TsBlock) has the number of columns, their types, the number of rows, the
# encoding of each column, and the columns with the time first; all numbers are big-endian.

_BYTES, _INT32S, _INT64S, _TEXTS, _REPEATED = range(5)
_FLOATS = {3: ">f4", 4: ">f8"}
"""Type -> NumPy's type; the others are integers as wide as their encoding."""
_INTEGERS = {_INT32S: ">i4", _INT64S: ">i8"}
_LENGTH = struct.Struct(">i")


class TsBlock(NamedTuple):
    """Encoded rows, and the places of the columns that were asked for."""

    content: bytes
    places: Sequence[int]

    def rows(self) -> list[tuple[Any, ...]]:
        """Decode the block; return its rows with the columns that were asked for."""
        block = self.content
        (count,) = _LENGTH.unpack_from(block)
        types = block[4 : 4 + count]
        (rows,) = _LENGTH.unpack_from(block, 4 + count)
        at = 8 + count
        encodings = block[at : at + 1 + count]
        at += 1 + count
        columns = []
        for kind, encoding in zip(b"\2" + types, encodings, strict=True):
            values, at = _decode_column(block, at, kind, encoding, rows)
            columns.append(values)
        return list(zip(*(columns[1 + place] for place in self.places), strict=True))


def _decode_column(
    block: bytes, at: int, kind: int, encoding: int, rows: int
) -> tuple[list[Any], int]:
    """Return a column's values, None for NULL, and the place of the next column."""
    if encoding == _REPEATED:
        (value,), at = _decode_column(block, at + 1, kind, block[at], 1)
        return [value] * rows, at
    has_nulls, at = block[at], at + 1
    nulls = None
    if has_nulls:
        nulls, at = _unpack_bits(block, at, rows)
    present = rows if nulls is None else rows - int(nulls.sum())
    values: list[Any]
    if encoding == _BYTES:  # the only encoding that has a place for each NULL
        bits, at = _unpack_bits(block, at, rows)
        values = (bits if nulls is None else bits[~nulls]).tolist()
    elif encoding == _TEXTS:
        values = []
        for _ in range(present):
            (length,) = _LENGTH.unpack_from(block, at)
            at += 4
            values.append(block[at : at + length].decode())
            at += length
    else:
        dtype = np.dtype(_FLOATS.get(kind, _INTEGERS[encoding]))
        values = np.frombuffer(block, dtype, present, at).tolist()
        at += present * dtype.itemsize
    if nulls is None:
        return values, at
    given = iter(values)
    return [None if null else next(given) for null in nulls.tolist()], at


def _unpack_bits(block: bytes, at: int, rows: int) -> tuple[Any, int]:
    size = (rows + 7) // 8
    packed = np.frombuffer(block, np.uint8, size, at)
    return np.unpackbits(packed, count=rows).view(np.bool_), at + size
