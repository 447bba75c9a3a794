"""Connecting to a cluster, and the driver's errors in plain words.

This file imports the driver: it is imported only by what connects.
"""

import re
from typing import TYPE_CHECKING, Any

from cassandra import ConsistencyLevel
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import (
    EXEC_PROFILE_DEFAULT,
    Cluster,
    ExecutionProfile,
    NoHostAvailable,
    UnresolvableContactPoints,
)
from cassandra.cluster import Session as DriverSession
from cassandra.policies import DCAwareRoundRobinPolicy, FallthroughRetryPolicy, TokenAwarePolicy
from cassandra.query import tuple_factory

from simulator.errors import SetupError
from simulator.modules.base import with_remedy
from simulator.modules.cassandra.session import QUERIES, SYSTEM
from simulator.modules.shared.tls import socket_options, tls_context

if TYPE_CHECKING:
    from simulator.modules.cassandra.database import CassandraOptions

_SCHEMA_AGREEMENT_S = 30
_SYSTEM_S = 30
_HEARTBEAT_S = 10  # a node that is gone without a word is missed after two of them


def connected(options: "CassandraOptions", read_consistency: str) -> tuple[Cluster, DriverSession]:
    """Connect to the cluster; the driver's error if that fails."""
    # The module decides about retries: only it knows what may be sent twice.
    routing = TokenAwarePolicy(DCAwareRoundRobinPolicy(options.local_datacenter or ""))
    common: dict[str, Any] = {
        "load_balancing_policy": routing,
        "retry_policy": FallthroughRetryPolicy(),
        "row_factory": tuple_factory,
    }
    writes = ExecutionProfile(
        consistency_level=ConsistencyLevel.name_to_value[options.consistency],
        request_timeout=options.request_timeout_s,
        **common,
    )
    queries = ExecutionProfile(
        consistency_level=ConsistencyLevel.name_to_value[read_consistency],
        request_timeout=options.query_timeout_s,
        **common,
    )
    system = ExecutionProfile(
        consistency_level=ConsistencyLevel.LOCAL_ONE, request_timeout=_SYSTEM_S, **common
    )
    more: dict[str, Any] = {}
    if options.protocol_version is not None:
        more["protocol_version"] = options.protocol_version
    if options.username is not None:
        password = options.secrets().get("password", "")
        more["auth_provider"] = PlainTextAuthProvider(options.username, password)
    if options.tls:
        more["ssl_context"] = tls_context(options.ca_file, options.ca, insecure=options.insecure)
    cluster = Cluster(
        contact_points=[host for host in re.split(r"[\s,]+", options.hosts) if host],
        port=options.port,
        execution_profiles={EXEC_PROFILE_DEFAULT: writes, QUERIES: queries, SYSTEM: system},
        compression=False,
        # Without TCP_NODELAY, which is among them, every batch would take 40 ms: its last packet
        # would wait for the acknowledgement of those before.
        sockopts=socket_options(),
        connect_timeout=options.connect_timeout_s,
        control_connection_timeout=options.connect_timeout_s,
        max_schema_agreement_wait=_SCHEMA_AGREEMENT_S,
        idle_heartbeat_interval=_HEARTBEAT_S,
        idle_heartbeat_timeout=_HEARTBEAT_S,
        **more,
    )
    try:
        return cluster, cluster.connect(wait_for_all_pools=True)
    except BaseException:
        cluster.shutdown()
        raise


def explained(error: Exception, hosts: str) -> str:
    """Return an error in the server's words, with a remedy where one is known."""
    if isinstance(error, UnresolvableContactPoints):  # the driver does not say of which
        return f"no address is known for {hosts}; check hosts"
    return with_remedy(_words(error), _REMEDIES)


def _words(error: Exception) -> str:
    if isinstance(error, SetupError):
        return str(error)
    if isinstance(error, NoHostAvailable) and isinstance(error.errors, dict) and error.errors:
        told = {str(host): _words(cause) for host, cause in error.errors.items()}
        different = list(dict.fromkeys(told.values()))
        return f"{', '.join(told)}: {'; '.join(different)}"
    words = " ".join(str(error).split())
    said = re.search(r'message="(.*)"', words)
    named = type(error).__name__
    if said:
        return f"{said[1]} ({named})"
    return f"{named}: {words}" if words else named


_REMEDIES = {
    "[Uu]sername|Bad credentials|AuthenticationFailed": "check username and password: "
    "--extra-option username=... password=..., or the target's options",
    "Name or service": "check hosts: no address is known for them",
    "CERTIFICATE_VERIFY_FAILED|Hostname mismatch": "give the authority in ca_file or ca, and the "
    "names of the certificate in hosts; or insecure=true, which checks nothing",
    "SSL|ssl|PROTOCOL_ERROR|Connection reset": "check whether the cluster wants TLS: tls=true "
    "or false",
    "Unable to connect to any servers": "check hosts, port and local_datacenter: no node of it was "
    "found",
    "Connection refused|timed out|OperationTimedOut|No route": "check that the nodes run, and "
    "hosts and port",
    "[Bb]atch too large": "raise the server's batch_size_fail_threshold, send smaller batches, "
    "or leave batches=mixed",
    "unconfigured table|([Tt]able|[Kk]eyspace) .* does not exist": "run an insert first",
    "already exists|AlreadyExists": "drop it, or run with --clean",
    "Unavailable": "start the missing nodes, or ask for less: consistency, replication_factor",
    "WriteTimeout": "the replicas are overloaded: use fewer workers or smaller batches, or raise "
    "the server's write_request_timeout",
    "ReadTimeout|ReadFailure": "raise the server's range_request_timeout and read_request_timeout",
    "Unauthorized": "let the user do this: GRANT ALL PERMISSIONS ON KEYSPACE ... TO ...",
}
"""A pattern of the driver's or the server's words -> what to try; the first that is found."""
