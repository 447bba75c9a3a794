"""A connection to IoTDB: Thrift in frames, a session of the table model, statements and tablets.

Of the driver's package the generated Thrift classes are used: rows leave as the bytes that the
encoder made, answers come as blocks, and what a lost connection means for rows is known.
This file imports the driver: it is imported only by what connects.
"""

import socket
import ssl
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from iotdb.thrift.rpc import ttypes as rpc
from iotdb.thrift.rpc.IClientRPCService import Client
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TFramedTransport

from simulator.data.schema import TimeUnit
from simulator.encode.tablet import Tablet
from simulator.modules.iotdb.blocks import rows_of
from simulator.modules.iotdb.errors import NoAnswer, NotConnected, ServerError, Status
from simulator.modules.shared.tls import CONNECT_S, socket_options, tls_context

if TYPE_CHECKING:
    from simulator.modules.iotdb.database import IotDbOptions

_PROTOCOL = rpc.TSProtocolVersion.IOTDB_SERVICE_PROTOCOL_V3
_TLS_HANDSHAKE_S = 10.0
_BROKEN = (OSError, TException, EOFError)


class Link:
    """An open session of the table model."""

    def __init__(self, options: "IotDbOptions", database: str = "") -> None:
        """Connect and log in, with a database that is used; NotConnected or ServerError if not."""
        self.alive = True
        self.where = f"{options.host}:{options.port}"
        self._query_timeout_s, self._fetch_rows = options.query_timeout_s, options.fetch_rows
        self._timeout_s = options.timeout_s
        self._socket = TSocket()
        self._socket.setHandle(_connected(options, self.where))
        transport = TFramedTransport(self._socket)
        self._client = Client(TBinaryProtocolAccelerated(transport))
        configuration = {"version": "V_1_0", "sql_dialect": "table"}
        if database:
            configuration["db"] = database
        opening = rpc.TSOpenSessionReq(
            client_protocol=_PROTOCOL,
            zoneId="UTC",
            username=options.username,
            password=options.secrets().get("password", ""),
            configuration=configuration,
        )
        try:
            opened = self._call(self._client.openSession, opening, CONNECT_S)
            check(opened.status)
            self._session: int = opened.sessionId
            self._statement = self._call(self._client.requestStatementId, self._session, CONNECT_S)
            self.precision = TimeUnit((opened.configuration or {})["timestamp_precision"])
            """The unit in which this server counts time."""
        except NoAnswer as error:
            self.close()
            raise NotConnected(f"{error}; check that an IoTDB listens there") from error
        except (KeyError, ValueError) as error:
            self.close()
            told = opened.configuration
            raise NotConnected(
                f"{self.where}: expected a server that tells its timestamp_precision, got {told}"
            ) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection, by which the server ends the session."""
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
        """Send a tablet; return once the server has acknowledged all of it."""
        if not self.alive:
            raise NotConnected(f"{self.where}: the connection is closed")
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
        check(self._call(self._client.insertTablet, request, self._timeout_s))

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement and return all rows of its answer, if it has one."""
        return [row for rows in self.portions(statement) for row in rows]

    def portions(self, statement: str) -> Generator[list[tuple[Any, ...]], None, None]:
        """Run a statement and yield the rows of its answer as they come, block by block."""
        request = rpc.TSExecuteStatementReq(
            sessionId=self._session,
            statement=statement,
            statementId=self._statement,
            fetchSize=self._fetch_rows,
            timeout=int(self._query_timeout_s * 1000),
        )
        reply = self._call(self._client.executeStatementV2, request, self._query_timeout_s)
        check(reply.status)
        if reply.queryResult is None:
            return
        places = reply.columnIndex2TsBlockColumnIndexList
        if places is None:
            places = range(len(reply.columns))
        query, blocks, more = reply.queryId, reply.queryResult, reply.moreData
        try:
            while True:
                for block in blocks:
                    yield rows_of(block, places)
                if not more:
                    return
                fetched = self._fetch(statement, query)
                more = fetched.moreData and fetched.hasResultSet
                blocks = fetched.queryResult or ()
        finally:
            if more and self.alive:  # whoever asked has seen enough, or something went wrong
                ending = rpc.TSCloseOperationReq(
                    sessionId=self._session, queryId=query, statementId=self._statement
                )
                with suppress(NoAnswer):
                    self._call(self._client.closeOperation, ending, CONNECT_S)

    def _fetch(self, statement: str, query: int) -> Any:
        request = rpc.TSFetchResultsReq(
            sessionId=self._session,
            statement=statement,
            fetchSize=self._fetch_rows,
            queryId=query,
            isAlign=True,
            timeout=int(self._query_timeout_s * 1000),
            statementId=self._statement,
        )
        reply = self._call(self._client.fetchResultsV2, request, self._query_timeout_s)
        check(reply.status)
        return reply

    def _call(self, method: Callable[[Any], Any], request: Any, timeout_s: float) -> Any:
        self._socket.setTimeout(timeout_s * 1000)
        try:
            return method(request)
        except TApplicationException as error:
            raise ServerError(self.where, (Status(-1, str(error)),)) from error
        except _BROKEN as error:
            self.close()
            raise _unanswered(self.where, error, timeout_s) from error
        except BaseException:
            self.close()  # what comes next would be taken for the next answer
            raise


def check(status: Any) -> None:
    """Raise ServerError unless a status, or all that it is made of, is a success."""
    parts = status.subStatus or () if status.code == ServerError.SEVERAL else (status,)
    wrong = [Status(s.code, s.message or "") for s in parts if s.code not in ServerError.GOOD]
    if wrong or not (parts or status.code in ServerError.GOOD):
        raise ServerError("", tuple(wrong) or (Status(status.code, status.message or ""),))


def _connected(options: "IotDbOptions", where: str) -> socket.socket:
    connection: socket.socket | None = None
    try:
        connection = socket.create_connection((options.host, options.port), CONNECT_S)
        for option in socket_options():
            connection.setsockopt(*option)
        if options.tls:
            context = tls_context(options.ca_file, options.ca, insecure=options.insecure)
            connection.settimeout(_TLS_HANDSHAKE_S)
            connection = context.wrap_socket(connection, server_hostname=options.host)
    except OSError as error:
        if connection:
            connection.close()
        raise NotConnected(f"{where}: {_why(error)}") from error
    except BaseException:
        if connection:
            connection.close()
        raise
    return connection


def _why(error: OSError) -> str:
    check_address = "check that the server runs, and host and port"
    match error:
        case ssl.SSLCertVerificationError():
            return (
                f"{error.verify_message}; name its authority's certificate in ca_file, or say "
                "insecure=true"
            )
        case ssl.SSLError():
            return f"no TLS is spoken there ({error.reason}); try tls=false"
        case socket.gaierror():
            return "the host's name is not known; check host"
        case TimeoutError():
            return f"no connection within {CONNECT_S:g} s; {check_address}"
        case _:
            return f"{error.strerror or error}; {check_address}"


def _unanswered(where: str, error: BaseException, timeout_s: float) -> NoAnswer:
    cause = getattr(error, "inner", None) or error
    if isinstance(cause, TimeoutError):
        return NoAnswer(
            f"{where}: no answer within {timeout_s:g} s; raise the target's timeout_s or "
            "query_timeout_s, or look at the server's log"
        )
    told = f"{type(cause).__name__}: {cause}"
    return NoAnswer(f"{where}: the connection was lost before an answer came ({told})")
