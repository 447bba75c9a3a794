"""Options of the module `cassandra`."""

from typing import Literal

from pydantic import Field, SecretStr

from simulator.modules.shared.client.driver import DriverOptions
from simulator.modules.shared.http.tls import CA, CA_FILE, INSECURE

Consistency = Literal[
    "ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE"
]
ReadConsistency = Literal["ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "LOCAL_ONE"]


class CassandraOptions(DriverOptions):
    """Options of the module `cassandra`."""

    columns = ("clustering_columns",)
    hosts: str = Field(
        description="some nodes of the cluster, separated by commas; the others are discovered"
    )
    port: int = Field(9042, ge=1, le=65535, description="port of CQL's native protocol")
    username: str | None = Field(None, description="the user, if the cluster requires a login")
    password: SecretStr | None = Field(None, description="the user's password")
    tls: bool = Field(default=False, description="use TLS and verify the servers' certificates")
    ca_file: str | None = CA_FILE
    ca: SecretStr | None = CA
    insecure: bool = INSECURE
    local_datacenter: str | None = Field(
        None, description="datacenter to write to and read from; default: that of the first host"
    )
    keyspace: str = Field(
        "benchmark",
        pattern=r"^[A-Za-z][A-Za-z0-9_]{0,47}$",
        description="keyspace of the tables; created if it does not exist",
    )
    replication_factor: int = Field(
        3, ge=1, description="number of replicas of each row, in every datacenter"
    )
    replication_class: Literal["NetworkTopologyStrategy", "SimpleStrategy"] = Field(
        "NetworkTopologyStrategy", description="replication strategy of a keyspace that is created"
    )
    consistency: Consistency = Field(
        "LOCAL_QUORUM", description="replicas that must have a row before it is acknowledged"
    )
    read_consistency: ReadConsistency | None = Field(
        None,
        description="replicas that a query reads from; default: as many as find every acknowledged "
        "row, so that answers can be verified",
    )
    clustering_columns: str = Field(
        "",
        description="columns of the key after the tags, such as sequence_number; default: the time",
    )
    max_sync_calls: int = Field(
        1, ge=1, le=1024, description="batches that a worker has in flight; 1: it waits for each"
    )
    batches: Literal["partition", "mixed"] = Field(
        "partition",
        description="partition: an UNLOGGED batch for each partition (device) among the rows, all "
        "sent at once; mixed: one UNLOGGED batch of all rows. Rows whose key is an id of their own "
        "go in mixed batches of 16 KiB",
    )
    aggregation_plan: Literal["server", "client"] = Field(
        "server",
        description="server: the server aggregates each range of tokens, as far as CQL can; "
        "client: the client fetches and aggregates rows",
    )
    table_options: str = Field(
        "", description="options for CREATE TABLE ... WITH, such as compaction = {...}"
    )
    protocol_version: Literal[3, 4, 5] | None = Field(
        None, description="version of the native protocol; default: the highest that both support"
    )
    connect_timeout_s: float = Field(10, gt=0, description="timeout for a connection")
    request_timeout_s: float = Field(
        60, gt=0, description="timeout for an acknowledgement by a node that is up"
    )
    query_timeout_s: float = Field(
        600, gt=0, description="timeout for a page of an answer by a node that is up"
    )
