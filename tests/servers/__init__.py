"""Real database servers for the tests, from package registries.

Each server lives in a temporary folder of its own, on free ports of the loopback interface, as an
unprivileged user, and is stopped by the process ids that started it.

    python -m tests.servers list
    python -m tests.servers install NAME...    fetches what is missing (quick: QUICK; all: SERVERS)
    python -m tests.servers run NAME           runs one until Ctrl-C and prints how to reach it

A server is one file, and a line in SERVERS: a class derived from base.Server with the methods that
fetch its programs (`build`, with packages.py), prepare and run them (`prepare`, `programs`), and
give tests an empty database (`create_database`, `drop_database`, `options`).
"""

from tests.servers.base import Server, free_port
from tests.servers.cassandra import Cassandra, CassandraCluster
from tests.servers.clickhouse import ClickHouse
from tests.servers.ferretdb import FerretDb
from tests.servers.graphite import Graphite
from tests.servers.influxdb import InfluxDb, InfluxDb1
from tests.servers.iotdb import IoTDb, IoTDbMicroseconds
from tests.servers.mysql import MariaDb, MySql
from tests.servers.opentsdb import OpenTsdb
from tests.servers.packages import NotInstalled
from tests.servers.postgres import Postgres
from tests.servers.postgres_newer import Postgres17, Postgres18
from tests.servers.questdb import QuestDb
from tests.servers.search import Elasticsearch, OpenSearch, OpenSearch3, SecureElasticsearch
from tests.servers.timescaledb import Timescaledb, Timescaledb15
from tests.servers.versitygw import VersityGw
from tests.servers.victoriametrics import VictoriaMetrics

SERVERS: dict[str, type[Server]] = {
    "postgres": Postgres,
    "postgres17": Postgres17,
    "postgres18": Postgres18,
    "timescaledb": Timescaledb,
    "timescaledb15": Timescaledb15,
    "mysql": MySql,
    "mariadb": MariaDb,
    "ferretdb": FerretDb,
    "influxdb": InfluxDb,
    "influxdb1": InfluxDb1,
    "elasticsearch": Elasticsearch,
    "elasticsearch_secure": SecureElasticsearch,
    "opensearch": OpenSearch,
    "opensearch3": OpenSearch3,
    "cassandra": Cassandra,
    "cassandra_cluster": CassandraCluster,
    "clickhouse": ClickHouse,
    "questdb": QuestDb,
    "iotdb": IoTDb,
    "iotdb_us": IoTDbMicroseconds,
    "opentsdb": OpenTsdb,
    "victoriametrics": VictoriaMetrics,
    "graphite": Graphite,
    "versitygw": VersityGw,
}

QUICK = ("postgres", "timescaledb", "mysql", "mariadb", "cassandra", "clickhouse", "elasticsearch")
"""The servers of `make test`; `make test-all` uses all."""

__all__ = ["QUICK", "SERVERS", "NotInstalled", "Postgres", "Server", "free_port", "named"]


def named(names: str) -> list[str]:
    """Return the servers for `quick`, `all` or a comma-separated list; ValueError if unknown."""
    groups = {"quick": list(QUICK), "all": list(SERVERS)}
    wanted = [each for name in names.split(",") for each in groups.get(name, [name])]
    unknown = [name for name in wanted if name not in SERVERS]
    if unknown:
        known = ", ".join((*SERVERS, *groups))
        raise ValueError(f"no such server: {', '.join(unknown)}; known: {known}")
    return wanted
