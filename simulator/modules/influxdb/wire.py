"""The vendor's client, influxdb-client, set up for a target.

It makes every request except the timed send. For InfluxQL, for which it has no method, it uses
`call_api`, on which its methods are built. Its errors become errors of shared/http/client.py.

The timed send has another connection (shared/http/client.py), because the client takes 0.3 ms
more processor time for each request. On InfluxDB 2.7.12 with prepared lines, alternating by batch,
the client's transport (`rest_client.request`) reached 0.69 of the rate with 1 row, 0.85 with 100,
0.89 with 1,000 and 0.90 with 5,000 (medians); its urllib3 pool, used directly, reached 0.75, 0.88,
0.89 and 0.99.

Import this file inside functions only: importing the client takes 0.6 s.
"""

import ssl
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from http.client import HTTPMessage
from typing import Any

import urllib3
from influxdb_client._sync.rest import RESTClientObject
from influxdb_client.client.influxdb_client import InfluxDBClient
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.domain.bucket_retention_rules import BucketRetentionRules
from influxdb_client.domain.delete_predicate_request import DeletePredicateRequest
from influxdb_client.domain.dialect import Dialect
from influxdb_client.domain.query import Query
from influxdb_client.rest import ApiException
from influxdb_client.service.backup_service import BackupService
from influxdb_client.service.buckets_service import BucketsService
from influxdb_client.service.config_service import ConfigService
from influxdb_client.service.dbr_ps_service import DBRPsService
from influxdb_client.service.delete_service import DeleteService
from influxdb_client.service.metrics_service import MetricsService
from influxdb_client.service.query_service import QueryService
from typing_extensions import override
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, SSLError

from simulator.modules.shared.http.client import (
    HttpError,
    HttpOptions,
    HttpReply,
    NoAnswer,
    Refused,
    not_connected,
)
from simulator.modules.shared.http.tls import CONNECT_S, socket_options

_PIECE_BYTES = 1 << 16
_FORM = "application/x-www-form-urlencoded"
_BEFORE_ALL = "1677-09-21T00:12:44Z"
_BEYOND_ALL = "2262-04-11T00:00:00Z"


class Client:
    """A connection to one server, with a method for each request of the modules."""

    def __init__(
        self,
        options: HttpOptions,
        context: ssl.SSLContext | None,
        *,
        org: str,
        token: str,
        basic: bool = False,
    ) -> None:
        """Store the credential: a token, or (`basic`) USER:PASSWORD."""
        self._where = options.url
        self._org = org
        self._long_ms = (CONNECT_S * 1000, options.query_timeout_s * 1000)
        self._api = InfluxDBClient(
            options.url,
            token,
            org=org,
            timeout=(CONNECT_S * 1000, options.timeout_s * 1000),
            auth_basic=basic,
            connection_pool_maxsize=1,
            ssl_context=context,
            verify_ssl=not options.insecure,
        )
        rest = _Rest(options.url, self._api.api_client.configuration)
        self._api.api_client.rest_client = rest
        self._writes = self._api.write_api(write_options=SYNCHRONOUS)
        if options.insecure:
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def close(self) -> None:
        """Close the connection; never raises."""
        with suppress(Exception):
            self._api.close()

    # --- the server

    def version(self) -> str:
        """Return the server's version without a leading v."""
        return str(self._api.version() or "unknown").removeprefix("v")

    def config(self) -> dict[str, Any]:
        """Return the server's settings; Refused if the token may not read them."""
        found = ConfigService(self._api.api_client).get_config()
        return dict(found.config or {})

    def metrics(self) -> str:
        """Return the server's counters in the format of Prometheus."""
        return str(MetricsService(self._api.api_client).get_metrics())

    def snapshot(self, shard: int) -> None:
        """Make the server write a shard's cache to files, by a backup without rows."""
        service = BackupService(self._api.api_client)
        reply = service.get_backup_shard_id(
            shard, since=_BEYOND_ALL, _preload_content=False, _request_timeout=self._long_ms
        )
        for _ in self._read_pieces(reply):
            pass

    # --- buckets

    def check_access(self) -> None:
        """Raise Refused unless the server knows the token and the organization."""
        self._api.buckets_api().find_buckets(org=self._org, limit=1)

    def bucket_id(self, name: str) -> str | None:
        """Return the server's identifier of a bucket, or None if there is no such bucket."""
        try:
            found = self._api.buckets_api().find_buckets(org=self._org, name=name).buckets
        except Refused as error:
            if error.status == 404:
                return None
            raise
        return str(found[0].id) if found else None

    def description(self, name: str) -> str | None:
        """Return the description of a bucket that exists."""
        found = self._api.buckets_api().find_buckets(org=self._org, name=name).buckets
        return found[0].description if found else None

    def find_foreign_mappings(self, prefix: str) -> list[str]:
        """Return InfluxQL's databases with names of our buckets that read other buckets."""
        try:
            found = DBRPsService(self._api.api_client).get_dbr_ps(org=self._org).content or ()
        except Refused as error:
            if error.status in (401, 403, 404):
                return []
            raise
        mapped = {each.database: each.bucket_id for each in found if not each.virtual}
        ours = {name: where for name, where in mapped.items() if name.startswith(prefix)}
        return [name for name, where in ours.items() if where != self.bucket_id(name)]

    def create_bucket(self, name: str, shard_group_s: int, description: str | None) -> None:
        """Create a bucket that keeps its rows forever; 0 s lets the server choose the shards."""
        rule = BucketRetentionRules(
            type="expire", every_seconds=0, shard_group_duration_seconds=shard_group_s
        )
        self._api.buckets_api().create_bucket(
            bucket_name=name, retention_rules=[rule], org=self._org, description=description
        )

    def delete_bucket(self, identifier: str) -> None:
        """Delete a bucket with all its rows."""
        service = BucketsService(self._api.api_client)
        service.delete_buckets_id(identifier, _request_timeout=self._long_ms)

    def delete(self, bucket: str, measurement: str, until: str) -> None:
        """Delete the points of a measurement up to an instant, which is included."""
        quoted = measurement.replace("\\", "\\\\").replace('"', '\\"')
        asked = DeletePredicateRequest(
            start=_BEFORE_ALL, stop=until, predicate=f'_measurement="{quoted}"'
        )
        service = DeleteService(self._api.api_client)
        service.post_delete(asked, org=self._org, bucket=bucket, _request_timeout=self._long_ms)

    # --- points

    def write(self, bucket: str, precision: str, points: Sequence[Mapping[str, Any]]) -> None:
        """Write points and return once all of them are acknowledged; Refused if any is not."""
        self._writes.write(bucket, self._org, points, precision)  # type: ignore[arg-type]  # a text

    # --- queries

    def flux(self, text: str) -> Generator[bytes]:
        """Run Flux and yield the answer, annotated CSV, in pieces as they arrive.

        The client's own reader would round instants to microseconds.
        """
        dialect = Dialect(annotations=["datatype"], date_time_format="RFC3339Nano")
        reply = QueryService(self._api.api_client).post_query(
            org=self._org,
            query=Query(query=text, dialect=dialect),
            _preload_content=False,
            _request_timeout=self._long_ms,
        )
        yield from self._read_pieces(reply)

    def influxql(self, text: str, chunk_rows: int) -> Generator[bytes]:
        """Run InfluxQL and yield the answer, lines of JSON, in pieces as they arrive."""
        reply = self._api.api_client.call_api(
            "/query",
            "POST",
            query_params=[("epoch", "ns"), ("chunked", "true")],
            header_params={"Content-Type": _FORM},
            post_params=[("q", text), ("chunk_size", str(chunk_rows))],
            _preload_content=False,
            _return_http_data_only=True,
            _request_timeout=self._long_ms,
        )
        yield from self._read_pieces(reply)

    def _read_pieces(self, reply: urllib3.HTTPResponse) -> Generator[bytes]:
        try:
            yield from reply.stream(_PIECE_BYTES)
            reply.release_conn()
        except HTTPError as error:
            raise _translate(self._where, error) from error
        finally:
            reply.close()


class _Rest(RESTClientObject):
    """The client's transport, with the errors of shared/http/client.py."""

    def __init__(self, where: str, configuration: Any) -> None:
        super().__init__(configuration, retries=False)  # type: ignore[no-untyped-call]
        self._where = where
        self.pool_manager.connection_pool_kw["socket_options"] = socket_options()

    @override
    def request(self, method: str, url: str, *arguments: Any, **options: Any) -> Any:
        try:
            return super().request(method, url, *arguments, **options)  # type: ignore[no-untyped-call]
        except (ApiException, HTTPError) as error:
            raise _translate(self._where, error) from error


def _translate(where: str, error: Exception) -> HttpError:
    """Return an error of the client as one of shared/http/client.py."""
    if isinstance(error, ApiException) and error.status:
        body = error.body.encode() if isinstance(error.body, str) else bytes(error.body or b"")
        return Refused(where, HttpReply(error.status, HTTPMessage(), body))
    cause = _find_cause(error)
    unsent = (ApiException, NewConnectionError, ConnectTimeoutError, SSLError)
    if isinstance(error, unsent):  # an ApiException without a status is one of TLS
        return not_connected(where, cause)
    return NoAnswer(
        f"{where}: no complete answer ({type(cause).__name__}: {cause})",
        "raise the target's timeout_s or query_timeout_s, or look at the server's log",
    )


def _find_cause(error: Exception) -> Exception:
    """Return the error of the system or TLS that caused `error`, or else its root cause."""
    while not isinstance(error, OSError):
        cause = error.__cause__ or error.__context__
        if not isinstance(cause, Exception):
            break
        error = cause
    return error
