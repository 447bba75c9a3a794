"""The durability that a result claims after statements of `--setup` that weaken tables."""

from dataclasses import dataclass, field, replace

import pytest

from simulator.control.database.work import DatabaseWork
from simulator.protocol.spec import InsertTask
from tests.contract.targets import STORING, Target
from tests.unit.specs import run_spec

UNKNOWN = "unless a statement of --setup changed that, which this database does not report"


@dataclass(frozen=True)
class Weakening:
    """Statements of a user, and the durability that a run reports after them."""

    statements: tuple[str, ...]
    durable: bool | None
    words: str
    options: dict[str, object] = field(default_factory=dict)


SURVIVES, LOST, UNSURE = True, False, None
VIEW = ("ALTER TABLE events RENAME TO kept", "CREATE VIEW events AS SELECT * FROM kept")
PARTS = (
    "DROP TABLE events",
    "CREATE TABLE events (device_id text, timestamp timestamptz) PARTITION BY RANGE (timestamp)",
    "CREATE UNLOGGED TABLE ever PARTITION OF events DEFAULT",
)
SYNCED = {"fsync": True}
FULL = {"synchronous": "full"}
REPLACED = ("DROP TABLE events", "CREATE TABLE events (t DateTime) ENGINE = {engine}")
CLICKHOUSE = (
    Weakening(
        (REPLACED[0], REPLACED[1].format(engine="Memory")),
        LOST,
        "lost when it ends (engine Memory)",
    ),
    Weakening((REPLACED[0], REPLACED[1].format(engine="Log")), LOST, UNKNOWN),
)
EMBEDDED = (
    Weakening((), SURVIVES, "synced to disk", SYNCED),
    Weakening(
        ("ALTER TABLE events MODIFY SETTING fsync_after_insert = 0",),
        LOST,
        "fsync_after_insert=0",
        SYNCED,
    ),
    Weakening(
        ("ALTER TABLE events RESET SETTING fsync_part_directory",),
        LOST,
        "fsync_part_directory=0",
        SYNCED,
    ),
    replace(CLICKHOUSE[0], options=SYNCED),
    replace(CLICKHOUSE[1], options=SYNCED, durable=UNSURE),
)
MYSQL = (
    Weakening((), SURVIVES, "in the redo log on disk"),
    Weakening(("ALTER TABLE events ENGINE=MEMORY",), LOST, "lost when it ends (MEMORY)"),
    Weakening(("ALTER TABLE events ENGINE=MyISAM",), LOST, "not of the machine (MyISAM)"),
    Weakening(("RENAME TABLE events TO kept", VIEW[1]), UNSURE, UNKNOWN),
)
WEAKENINGS = {
    "postgres": (
        Weakening(("ALTER TABLE events SET UNLOGGED",), LOST, "unlogged (events)"),
        Weakening(PARTS, LOST, "unlogged (ever)"),
        Weakening(VIEW, UNSURE, UNKNOWN),
    ),
    "timescaledb": (Weakening(VIEW, UNSURE, UNKNOWN),),
    "mysql": MYSQL,
    "mariadb": MYSQL[1:],
    "sqlite": (
        Weakening((), SURVIVES, "synced at every commit", FULL),
        Weakening(VIEW, UNSURE, UNKNOWN, FULL),
    ),
    "duckdb": (
        Weakening((), SURVIVES, "synced at every commit"),
        Weakening(VIEW, UNSURE, UNKNOWN),
    ),
    "clickhouse": CLICKHOUSE,
    "clickhouse_embedded": EMBEDDED,
    "cassandra": (
        Weakening(
            ("ALTER KEYSPACE {keyspace} WITH durable_writes = false",),
            LOST, "durable_writes=false",
        ),
    ),
    "questdb": (
        Weakening((), LOST, "cairo.commit.mode=nosync"),
        Weakening(
            (
                "DROP TABLE events",
                "CREATE TABLE events (t TIMESTAMP) TIMESTAMP(t) PARTITION BY DAY BYPASS WAL",
            ),
            LOST,
            UNKNOWN,
        ),
    ),
    "cratedb": (Weakening(("SELECT 1",), UNSURE, UNKNOWN),),
}  # fmt: skip
CASES = [
    pytest.param(target, each, id=f"{name}-{number}")
    for name, target in STORING.items()
    for number, each in enumerate(WEAKENINGS.get(name, ()))
]


@pytest.mark.parametrize(("target", "weakening"), CASES)
def test_durability_is_that_of_the_tables_after_the_setup(
    request: pytest.FixtureRequest, target: Target, weakening: Weakening
) -> None:
    database = target.open(request, **weakening.options)
    keyspace = getattr(database.options, "keyspace", "")
    setup = tuple(each.replace("{keyspace}", keyspace) for each in weakening.statements)
    dataset = target.iot()
    work = DatabaseWork(
        run_spec(workers=(InsertTask(),), dataset=dataset, setup=setup), database, lambda _: None
    )
    try:
        work.prepare()
    finally:
        work.background.finish()

    assert work.server
    assert work.server.durable is weakening.durable, work.server.durability
    assert weakening.words in work.server.durability


def test_every_module_that_carries_out_statements_has_a_case() -> None:
    carrying = {t.database.name for t in STORING.values() if not t.database.no_statements}
    tried = {STORING[name].database.name for name in WEAKENINGS}
    assert carrying - tried == {"cockroachdb", "cratedb_pg", "yugabyte_sql"}  # only stand-ins
