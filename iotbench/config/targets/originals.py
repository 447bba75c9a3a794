"""Names of the reference documents and of TSBS, and ours: the only table of them.

The configuration and --extra-option read the rows with `keys` (`names.py`); docs/benchmarks.md has
all rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Name:
    """A row: the original calls `there` what we call `here`."""

    there: str
    here: str
    keys: tuple[str, ...] = ()
    """Keys of a target in the original's config.yaml, or of its --extra-option."""
    modules: tuple[str, ...] = ()
    """Modules that had the keys; empty: all."""
    option: str = ""
    """Our option for the value; empty: there is none."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Value there -> value here, if they differ."""
    needless: str = ""
    """Value that equals our default: the key is then ignored."""


_SEARCH = ("elasticsearch",)

COMMAND_LINE = (
    Name("`run.py --target X ...` without a command, as in its example", "`insert --target X ...`"),
    Name(
        "`--runs`: 3 unless set, for `insert` and `query`; 1 is compulsory with `--steps`",
        "`insert`: 5 unless set, with `--steps` 1; `query`: 3, after a first run that is timed "
        "separately. Five, because an interval of three runs is twice as wide",
    ),
    Name(
        "`--workers`: 1,4,8,12,16 unless set",
        "the same on a cluster; on this machine 1,2,4,8,16 up to its cores, as more workers would "
        "share them",
    ),
    Name("`--extra-option queries=a,b`", "`query --types a,b`", keys=("queries",)),
    Name(
        "`--extra-option create_indices=true` with `query`",
        "the same; or with `insert`, which creates them with the tables",
    ),
    Name("`--primary-key none` creates a key", "creates none"),
    Name("`--tables single` or `multiple`, which is 4", "the same, or any number"),
    Name(
        "`--no-clean` on Cassandra and ArangoDB drops their tables anyway",
        "`--no-clean` keeps the rows everywhere",
    ),
    Name("`--prefill` divides by the workers and drops the remainder", "stores every row"),
    Name(
        "`--prefill` in batches of 1,000 (Elasticsearch 10,000)",
        "the same at least, or `--batch` if that is more",
    ),
    Name(
        "a fill-level test starts each step at the same time, or continues",
        "continues; `--restart-rows` starts again",
    ),
    Name("`--timeout` leaves the pods; `helm uninstall dbtest`", "`cleanup` removes them"),
    Name("`KUBECONFIG` is not heeded", "heeded; `--kubeconfig` and `--context` as well"),
    Name(
        "rate: operations / mean duration of the workers",
        "`show` prints it; the table has the rate of "
        "[all workers together](method.md#rate-and-latency)",
    ),
    Name("`Stepsize:` above the table of steps", "the same"),
    Name("seconds of a query, pooled over workers", "milliseconds, with percentiles"),
)
"""Document 1, on the command line."""

TARGETS = (
    Name(
        "`module: postgres` for CockroachDB and YugabyteDB",
        "`module: cockroachdb`, `module: yugabyte_sql`; `postgres` refuses their servers",
    ),
    Name(
        "`options='-c yb_enable_upsert_mode=on ...'` in `connection_string`",
        "the same, or options of these names: `yb_enable_upsert_mode: true`",
    ),
    Name(
        "`install_extensions: pgcrypto`",
        "`install_extensions: true`, which creates `pgcrypto`",
        keys=("install_extensions",),
        option="install_extensions",
        values=MappingProxyType({"pgcrypto": True}),
    ),
    Name(
        "`primary_key_constraint` of `timescaledb`: no key",
        "`--primary-key none`; a key always holds the time",
    ),
    Name(
        "`endpoint` of ArangoDB, InfluxDB and Elasticsearch",
        "`url`",
        keys=("endpoint",),
        modules=("arangodb", "influxdb", "influxdb1", "influxdb3", *_SEARCH),
        option="url",
    ),
    Name(
        "`username` of ArangoDB", "`user`", keys=("username",), modules=("arangodb",), option="user"
    ),
    Name(
        "`sync` of ArangoDB",
        "`wait_for_sync`",
        keys=("sync",),
        modules=("arangodb",),
        option="wait_for_sync",
    ),
    Name(
        "batches of ArangoDB to `/_api/document`, which stores or refuses each row",
        "`documents: true`; unless set, to `/_api/import`, which fails as a whole",
    ),
    Name(
        "`replication_factor`, 1 unless set",
        "the server's or the target's, printed with each result",
    ),
    Name(
        "`contact_points` of Cassandra",
        "`hosts`, and `port`",
        keys=("contact_points",),
        modules=("cassandra",),
        option="hosts",
    ),
    Name(
        "`consistency_level` of Cassandra",
        "`consistency`, and `read_consistency`",
        keys=("consistency_level",),
        modules=("cassandra",),
        option="consistency",
    ),
    Name(
        "`device_spread` of Cassandra and InfluxDB",
        "the option `--devices`, on every target",
        keys=("device_spread",),
        needless="1",
    ),
    Name(
        "Cassandra's key: (device_id, timestamp), in its code (device_id, sequence_number)",
        "the first; `clustering_columns` chooses the second",
    ),
    Name(
        "InfluxDB's bucket is `dbtest`",
        "`prefix`, such as `benchmark_`: the bucket is `benchmark_events`",
        keys=("bucket",),
        modules=("influxdb",),
    ),
    Name(
        "shards and replicas of Elasticsearch: 3 and 2",
        "`shards` and `replicas`; the server's own unless set",
        keys=("number_of_shards", "number_of_replicas"),
        modules=_SEARCH,
    ),
    Name(
        "certificates of Elasticsearch are not verified",
        "verified; `ca_file`, `ca` or `insecure: true`",
        keys=("verify_certs",),
        modules=_SEARCH,
    ),
    Name(
        "a password in `connection_string`",
        "the same, or `password`, `password_from` and `${NAME}`",
    ),
)
"""Document 1, in config.yaml or as an --extra-option."""

TELEMETRY = (
    Name(
        "`-use-case devops`, `dashboard`, `metaquery`, `multi-measurement`; `iot`",
        "`insert --workload` with the same name; `homes`",
    ),
    Name("`-scale-var`, `-scale-var-offset`", "`--scale`, `--scale-offset`"),
    Name(
        "`-cardinality`, `-sampling-interval`, `-seed`",
        "`--cardinality`, `--interval`, `--seed` (1 unless set, never the time)",
    ),
    Name("`-timestamp-start`, `-timestamp-end`", "`--start`, `--end`"),
    Name(
        "`bulk_data_gen -format`, `-interleaved-generation-group-id`, `-groups`",
        "`generate --format`, `--group`, `--groups`",
    ),
    Name("`-config-file`", "`--workload FILE`, which declares tables and columns"),
    Name(
        "`bulk_data_gen | bulk_load_...`, `-file`",
        "`insert`, or `insert --data FILE --data-format FORMAT`",
    ),
    Name("`-urls`", "`url` of the target, one address"),
    Name("`-db`", "`prefix`, `database`, `keyspace` or the like of the target"),
    Name("`-batch-size`, `-workers`", "`--batch`, `--workers`"),
    Name("`-item-limit`, `-time-limit`", "`--limit`, in rows; `--duration`"),
    Name("`-do-load=false`", "`insert --target null`: the client alone"),
    Name("`-do-db-create=false`", "`--no-clean`"),
    Name(
        "`-do-abort-on-exist`",
        "always so for tables that this program did not make; `--replace-table` permits it",
    ),
    Name("`-backoff`, `-backoff-timeout`", "`--retry-for`"),
    Name("`-ingest-rate-limit`, values/s of each worker", "`--rate`, rows/s of all workers"),
    Name("`-organization`, `-token`, `-gzip`", "`org`, `token`, `gzip` (false unless set)"),
    Name(
        "`-index-template`, `-number-of-shards`, `-number-of-replicas`, `-refresh`",
        "`template`, `shards`, `replicas`, `refresh`",
    ),
    Name("`-document-format`, `-chunk-interval`", "`document_format`, `chunk_interval_s`"),
    Name("`-aggregation-plan`, `-request-timeout`", "`aggregation_plan`, `request_timeout_s`"),
    Name("`-query-type`, `-queries`", "`query --types`, `--count`"),
    Name(
        "`-burn-in`, `-print-interval`, `-print-responses`",
        "`query --burn-in`, `--print-interval`, `--print-answers`",
    ),
    Name("`-benchmark-duration`, `-moving-average-interval`", "`--duration`, `--moving-average`"),
    Name(
        "`-grad-workers-inc`, `-grad-workers-max`, `-increase-interval`, `-response-time-limit`",
        "`query --ramp` with `--ramp-step`, `--workers`, `--ramp-interval`, `--response-limit`",
    ),
    Name("`-json`, `-report-tags`", "`--format json`, `--tag`"),
    Name("`-telemetry-...`, `-report-telemetry`", "`--metrics-out`"),
)
"""Document 2: influxdb-comparisons."""

RELATIONAL = (
    Name("`-db`, `-engine`", "`--target`, such as `mysql_innodb`, `mysql_myisam`, `clickhouse`"),
    Name("`-mode write`, `-mode read`", "`insert`, `query`"),
    Name("`-mode write-multi-table -tables 10`", "`insert --tables 10 --tables-by worker`"),
    Name("`-threads`, `-duration`", "`--workers`, `--duration`"),
    Name(
        "`-table slim`, `light`, `light-with-index`, `large`",
        "`--workload slim`, `light`, `light` with `--extra-option create_indices=true`, `large`",
    ),
    Name("naive inserts", "`--batch 0 --extra-option prepared=true`"),
    Name(
        "inserts in transactions of a second",
        "`--batch 10000` with the options `prepared=true`, `transaction=true`, `commit_every_s=1`",
    ),
    Name("`-clean`", "`--clean`, which is the default"),
    Name("its dated summary", "`results export --format csv`"),
)
"""Document 4: db-perf-test."""

CLUSTER = (
    Name("`--batchsize`, `--processes`", "`--batch`, `--workers`"),
    Name(
        "`--max_rows`",
        "`--limit`, for all workers together; `--scale`, `--interval` and `--end` give the rows",
    ),
    Name(
        "`--concurrent_requests`",
        "`concurrent_requests`; the rows in flight are one `--batch`",
    ),
    Name("`--shards`, `--replicas`", "`shards`, `replicas`"),
    Name("`--drop_table false`", "`--no-clean`"),
    Name("tags as an OBJECT", "`tags_as_object: true`"),
    Name(
        "`CRATE_HOST`, `CRATE_PORT`, `CRATE_SSL`, `CRATE_USER`, `CRATE_PASSWORD`",
        "`url`, `username`, `password` of the target",
    ),
)
"""Document 5: nodeIngestBench."""

TSBS = (
    Name(
        "use cases `cpu-only`, `cpu-single`",
        "`insert --workload cpu`, with `--fields 1` for the second",
    ),
    Name("use case `devops`", "`insert --workload devops`"),
    Name("use case `iot`", "`insert --workload trucks`"),
    Name("the 16 query types of `cpu-only` and `devops`", "all of them, for both workloads"),
    Name(
        "the 13 query types of `iot`",
        "all of them; the [module](databases.md#queries) may not answer nine of them",
    ),
    Name(
        "`--scale`, `--initial-scale`, `--log-interval`, `--timestamp-start`, `--timestamp-end`, "
        "`--seed`",
        "`--scale`, `--initial-scale`, `--interval`, `--start`, `--end`, `--seed`",
    ),
    Name("`tsbs_generate_data --format`", "`generate --format`"),
    Name(
        "`tsbs_load`, with a file or its simulator",
        "`insert --data FILE --data-format FORMAT`, or `insert`",
    ),
    Name(
        "`--workers`, `--batch-size`, `--limit`, `--hash-workers`",
        "`--workers`, `--batch`, `--limit`, `--split series`",
    ),
    Name(
        "`--burn-in`, `--print-interval`, `--print-responses`",
        "`query --burn-in`, `--print-interval`, `--print-answers`",
    ),
    Name(
        "`--max-rps`",
        "`query --rate`, `mixed --query-rate`, with which a wait counts from the moment when the "
        "query is due",
    ),
    Name("`--results-file`", "a result file, always"),
)
"""The tool TSBS."""

TABLES: Mapping[str, tuple[Name, ...]] = MappingProxyType(
    {
        "document 1, command line": COMMAND_LINE,
        "document 1, targets": TARGETS,
        "document 2": TELEMETRY,
        "document 4": RELATIONAL,
        "document 5": CLUSTER,
        "TSBS": TSBS,
    }
)
"""Table in the documentation -> its rows."""
