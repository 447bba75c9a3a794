"""Every figure of a command against the account of a proxy before a real server.

The proxy makes each request late by a known time, stalls, cuts and lies; what it noted by its own
clock says what the figures have to be. tests/truth/figures.py has the tolerances.
"""

import re
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import psycopg2
import pytest
import yaml

from tests.faults.liar import Entry
from tests.servers.restarting import restarter
from tests.truth import burning, ledger, table
from tests.truth.conftest import Reviewed
from tests.truth.ledger import Schedule

SERVERS = ("postgres", "influxdb", "elasticsearch", "questdb", "victoriametrics")
OFTEN = "postgres"
on_servers = pytest.mark.parametrize(
    "server_name",
    [pytest.param(name, marks=[] if name == OFTEN else [pytest.mark.rare]) for name in SERVERS],
)
BATCH, WORKERS = 20, 2
INSERT = ("--runs=1", f"--batch={BATCH}", "--devices=20", "--seed=1")
ROWS_PER_S, LENGTH_S = 400, 6
RATE = (*INSERT, f"--rate={ROWS_PER_S}", f"--duration={LENGTH_S}s", f"--workers={WORKERS}")
STEP_S = BATCH * WORKERS / ROWS_PER_S
LATE_S = 0.06
"""Time of a request, of which the tolerance of 3 ms cannot hide 10 %."""
MIXED_ROWS_PER_S, MIXED_S = 160, 4
"""A batch every 125 ms: beside queries, Elasticsearch takes up to 90 ms for one."""


def one(found: Any) -> Any:
    (row,) = found["rows"]
    return row


def late(plot: Any, at: int = 0, stall_s: float = 0.0) -> Callable[[Entry], float]:
    """Return what makes each request late, and all between two moments until the latter.

    The stall begins with the request of a number.
    """
    until_s = 0.0

    def wait_s(_: Entry) -> float:
        nonlocal until_s
        now_s = time.perf_counter()
        if stall_s and not until_s and len(plot.entries) >= at:
            until_s = now_s + stall_s
        return max(until_s - now_s, LATE_S)

    return wait_s


def unevenly(wait_s: Callable[[Entry], float]) -> Callable[[Entry], float]:
    """Return what makes requests of the first connection that stores rows later than others."""
    slow: list[int] = []

    def longer_s(entry: Entry) -> float:
        if entry.rows and not slow:
            slow.append(entry.port)
        return wait_s(entry) + LATE_S * (entry.port in slow)

    return longer_s


VISIBLE = {"postgres": False, "elasticsearch": True}
"""Server -> whether rows can be queried after a refresh only, which the client asks for."""
CONNECTIONS = {"postgres": 4, "questdb": 52}
"""Server -> connections of each worker; clients of others compute more before they connect."""
REPLACING = ("influxdb",)
"""Servers with which a row that is stored twice replaces itself."""
KEYED = ("postgres", "elasticsearch")
"""Servers that correct a row by its key."""
WRITING = ("influxdb", "elasticsearch")
"""Servers to which a correction is a request that stores rows, so the proxy counts them."""
REFUSED = {
    ("elasticsearch", "--delete-oldest=50%"),  # this server lacks the module reindex
    ("questdb", "--correct=50%"), ("questdb", "--delete-oldest=50%"),
    ("victoriametrics", "--correct=50%"),
    ("victoriametrics", "--delete-oldest=50%"),
}  # fmt: skip
"""What a database does not do with these tables."""


@on_servers
def test_an_insert(reviewed: Reviewed) -> None:
    reviewed.plot.late_s = unevenly(late(reviewed.plot, 60, 0.4))
    row = one(reviewed.run("insert", *INSERT, "--workers=2", "--num-inserts=2000"))

    metrics = reviewed.cli.results()[-1]["runs"][0]["metrics"]
    account = ledger.closed(reviewed.inserts())
    if reviewed.server.name in VISIBLE:
        refreshes = VISIBLE[reviewed.server.name]
        account |= ledger.stored(reviewed.plot.entries, refreshes=refreshes)
    if reviewed.server.name == "postgres":
        account["bytes_per_row"] = _size_bytes(reviewed) / account["rows"]
    reviewed.added = {
        **reviewed.added,
        "client_share": -reviewed.added["avg_ms"] / account["avg_ms"],
    }
    assert account["evenness"] < 0.6
    assert account["overlap"] < 0.6
    reviewed.compare({**metrics, **row}, account, ledger.unseen(reviewed.inserts()))


@on_servers
def test_a_client_and_a_driver_that_compute_for_a_known_time(reviewed: Reviewed) -> None:
    config = yaml.safe_load(reviewed.cli.config.read_text())
    module = reviewed.server.name.title()
    config["targets"]["lied"]["module"] = f"tests.truth.burning:{module}"
    reviewed.cli.config.write_text(yaml.safe_dump(config))
    reviewed.plot.late_s = lambda _: LATE_S
    words = ("--runs=1", "--batch=400", "--devices=400", "--workers=1", "--num-inserts=16k")
    reviewed.run("insert", *words)

    found = reviewed.cli.results()[-1]["runs"][0]["metrics"]
    sent = reviewed.inserts()
    cpu_s = sum(each.rows for each in sent) * (burning.CLIENT_S + burning.DRIVER_S)
    log = reviewed.cli.temporary / burning.LOG  # other work makes it longer than its CPU time
    own_s = sum(map(float, log.read_text().split()))
    log.unlink()
    reviewed.compare(found, ledger.computed(sent, reviewed.start_s, cpu_s, own_s))


def _size_bytes(reviewed: Reviewed) -> int:
    """Return the size of the files of the table in PostgreSQL's folder, and of what is its own."""
    options = reviewed.server.options(reviewed.database)
    with closing(psycopg2.connect(options["connection_string"], password=options["password"])) as c:
        cursor = c.cursor()
        cursor.execute(
            "SELECT pg_relation_filepath(oid) FROM pg_class WHERE relname = 'events' OR oid IN"
            " (SELECT reltoastrelid FROM pg_class WHERE relname = 'events') OR oid IN"
            " (SELECT indexrelid FROM pg_index WHERE indrelid IN"
            " (SELECT oid FROM pg_class WHERE relname = 'events' UNION"
            " SELECT reltoastrelid FROM pg_class WHERE relname = 'events'))"
        )
        folder = reviewed.server.folder / "data"
        paths = [folder / path for (path,) in cursor.fetchall()]
    return sum(each.stat().st_size for path in paths for each in path.parent.glob(f"{path.name}*")
               if re.fullmatch(r"\d+(_\w+)?(\.\d+)?", each.name))  # fmt: skip


@on_servers
def test_many_connections(reviewed: Reviewed) -> None:
    reviewed.plot.late_s, reviewed.plot.opening_s = (lambda _: LATE_S), 5 * LATE_S
    each = CONNECTIONS.get(reviewed.server.name, 4)
    words = ("--workers=2", f"--connections={each}", f"--num-inserts={510 * BATCH}")
    row = one(reviewed.run("insert", *INSERT, *words))

    found = reviewed.cli.results()[-1]["runs"][0]["metrics"]
    sent = reviewed.inserts()
    account = ledger.latencies(e.took_s * 1000 for e in sent)
    if reviewed.server.name in CONNECTIONS:
        account = {**account, **ledger.opened(reviewed.plot.openings, sent)}
    unseen = ledger.unseen(sent)
    # An answer may wait for the client's work on the batches of the worker's other connections.
    others_ms = (each - 1) * found["client_ns_per_row"] * BATCH / 1e6
    for name in ("p99_ms", "p999_ms", "max_ms"):
        unseen[name] += others_ms
    reviewed.compare({**found["latency"], **found, **row}, account, unseen)


@on_servers
def test_an_insert_on_a_schedule_that_is_held_over_its_end(reviewed: Reviewed) -> None:
    reviewed.plot.late_s = late(reviewed.plot, 90, 2.5)
    row = one(reviewed.run("insert", *RATE))

    account = ledger.scheduled(reviewed.inserts(), Schedule(STEP_S, LENGTH_S))
    metrics = reviewed.cli.results()[-1]["runs"][0]["metrics"]
    assert account["unsent"] > 10
    assert account["p99_ms"] > 2000
    unseen = ledger.unseen_on_schedule(reviewed.inserts(), STEP_S)
    reviewed.compare({**metrics, **row}, account, unseen)


CUTS = {
    4: "stored, and refused",
    8: "closed",
    12: "stored, and closed",
    16: "acknowledged, not stored",
}
"""Batch -> lie about it."""


@on_servers
def test_rows_that_were_cut_off_or_lied_about(reviewed: Reviewed) -> None:
    reviewed.plot.entries.clear()
    reviewed.plot.plan(CUTS)
    words = (*INSERT, "--workers=1", "--num-inserts=400")
    done = reviewed.cli.run("insert", "--target=lied", "--quiet", *words)
    assert done.code == 3, done.out + done.err

    sent = reviewed.inserts()
    again = [each for each in sent if each.refused and each.is_answered]
    cut = [each for each in sent if each.refused and not each.is_answered]
    kept = [each for each in sent if not each.refused]
    found = reviewed.cli.results()[-1]["runs"][0]
    verdict = found["outcome"]["verdict"]
    (check,) = verdict["checks"]
    words = re.findall(r"([\d,]+) (acknowledged|lost|stored twice)", check["found"])
    counted = {name: int(number.replace(",", "")) for number, name in words}
    twice = 0 if reviewed.server.name in REPLACING else sum(each.stored for each in again)
    reviewed.compare(
        {
            **found["metrics"],
            **{name: verdict[name] for name in ("uncertain_present", "uncertain_absent")},
            "rows found": counted["acknowledged"],
            "rows lost": counted["lost"],
            "rows twice": counted.get("stored twice", 0),
        },
        {
            "rows": sum(each.rows for each in kept),
            "uncertain_rows": sum(each.rows for each in cut),
            "uncertain_present": sum(each.stored for each in cut),
            "uncertain_absent": sum(each.rows - each.stored for each in cut),
            "retried": len(again),
            "rows found": sum(each.stored for each in kept),
            "rows lost": sum(each.rows - each.stored for each in kept),
            "rows twice": twice,
        },
    )


@on_servers
def test_queries_mixed_loads_and_changes(reviewed: Reviewed) -> None:
    keyed = ["--primary-key=client"] if reviewed.server.name in KEYED else []
    reviewed.run("insert", *INSERT, *keyed, "--workers=2", "--num-inserts=1000")
    asking = ("query", "--workers=2")
    reviewed.plot.late_s = lambda _: LATE_S
    row = one(reviewed.run(*asking, "--types=temperature-stats-per-device", "--runs=60"))
    asks = reviewed.asks("query")
    reviewed.compare(row, ledger.asked(asks, 61 * WORKERS), ledger.unseen(asks))

    reviewed.plot.late_s = late(reviewed.plot, 60, 0.5)
    row = one(reviewed.run(*asking, "--types=count-events", "--rate=20", "--duration=4s"))
    asks, unsent = reviewed.asks("query"), reviewed.unsent()
    runs = row["timed"] - unsent + WORKERS
    account = ledger.asked_on_schedule(asks, runs, Schedule(WORKERS / 20, 4))
    late_ms = ledger.unseen_on_schedule(asks, WORKERS / 20 / (len(asks) // runs))
    reviewed.compare({**row, "unsent": unsent}, account, late_ms)

    reviewed.plot.late_s = lambda _: LATE_S
    step_s = BATCH / MIXED_ROWS_PER_S
    words = ("--types=count-events", f"--batch={BATCH}", f"--duration={MIXED_S}s")
    rate = f"--insert-rate={MIXED_ROWS_PER_S}"
    inserts, asked = reviewed.run("mixed", *words, rate)["rows"][:2]
    sent, asks = reviewed.inserts(), reviewed.asks("mixed")
    account = ledger.scheduled(sent, Schedule(step_s, MIXED_S))
    late_ms = ledger.unseen_on_schedule(sent, step_s)
    reviewed.compare({**inserts, "unsent": reviewed.unsent_batches()}, account, late_ms)
    account = ledger.asked_meanwhile(asks, asked["timed"])
    reviewed.compare(asked, account, ledger.unseen(asks))

    if reviewed.server.name == "postgres":
        _compare_freshness(reviewed)
    for what in ("--correct=50%", "--delete-oldest=50%"):
        if (reviewed.server.name, what) in REFUSED:
            continue
        row = one(reviewed.run("change", what, f"--batch={BATCH}"))
        changes = reviewed.changes()
        account = ledger.change(changes)
        if what.startswith("--correct") and reviewed.server.name in WRITING:
            account = {**account, "rows": sum(each.rows for each in changes)}
        reviewed.compare(row, account, ledger.unseen(changes))


def _compare_freshness(reviewed: Reviewed) -> None:
    words = ("--fresh=1h", "--types=fresh-count", f"--batch={BATCH}", f"--duration={MIXED_S}s")
    found = reviewed.run("mixed", *words, f"--insert-rate={10 * MIXED_ROWS_PER_S}")["rows"]
    asks = [each for each in reviewed.asks("mixed") if each.answer]
    counts = [(ask, int(re.findall(rb"\d+", ask.answer)[-1])) for ask in asks]
    row = next(each for each in found if each.get("freshness_p50_ms"))
    late_ms = {f"freshness_{name}": ms for name, ms in ledger.unseen(asks).items()}
    reviewed.compare(row, ledger.fresh(reviewed.inserts(), counts), late_ms)


@on_servers
def test_the_capacity_of_a_database_that_takes_40_batches_a_second(reviewed: Reviewed) -> None:
    took_s = 0.025

    def rest_s(entry: Entry) -> float:
        return took_s if entry.rows else 0.0

    reviewed.plot.late_s = rest_s
    words = (
        "--slo=p99_ms < 500", "--workers=1", f"--batch={BATCH}", "--duration=2s", "--repeats=1",
        "--tolerance=0.05", "--devices=20",
    )  # fmt: skip
    found = reviewed.run("capacity", *words)

    unscheduled, *files = found["files"]
    (rate,) = found["unscheduled_per_s"]
    own = ledger.inserted(reviewed.inserts_of(unscheduled)[0])["rows_per_s"]
    longest_s = reviewed.added["max_ms"] / 1000  # at the end of 2 s it lowers the rate
    reviewed.added = {**reviewed.added, "capacity": -own * longest_s / 2}
    reviewed.compare(
        {"rows_per_s": rate, "capacity": found["holds_per_s"]},
        {"rows_per_s": own, "capacity": own},
    )
    for rate, file in zip(found["rates"], files, strict=True):
        (sent, late_ms), step_s = reviewed.inserts_of(file), BATCH / rate["rate_per_s"]
        account = ledger.scheduled(sent, Schedule(step_s, 2))
        slowest = "max_ms" if len(sent) + account["unsent"] < 100 else "p99_ms"
        names = {"rows_per_s": "per_s", "unsent": "unsent", "p50_ms": "p50_ms", slowest: "p99_ms"}
        reviewed.compare(
            {name: rate[own][0] for name, own in names.items()},
            {name: account[name] for name in names},
            {name: ms + late_ms for name, ms in ledger.unseen_on_schedule(sent, step_s).items()},
        )


@on_servers
def test_an_outage(reviewed: Reviewed) -> None:
    moments_s: list[float] = []
    back: list[Entry] = []

    def late_s(entry: Entry) -> float:
        """Return 1.5 s for the first batch after the fault, so that the wait for it is long."""
        is_first = len(moments_s) == 2 and bool(entry.rows) and not back
        back.extend([entry] * is_first)
        return 1.5 if is_first else 0.02

    reviewed.plot.late_s = late_s
    reviewed.plot.plan({20: "acknowledged, not stored"})

    def cut() -> None:
        moments_s.append(time.perf_counter())
        reviewed.proxy.refuse(reset=True)
        time.sleep(2.5)
        reviewed.proxy.accept_again()
        moments_s.append(time.perf_counter())

    with restarter(reviewed.cli.folder, cut) as command:
        words = ("--duration=14s", "--rate=400", "--workers=1", "--fault=restart-database")
        again = f"--restart-with={command}"
        reviewed.run("insert", *INSERT, *words, "--at=3s", again, code=(1, 3))

    metrics = reviewed.cli.results()[-1]["runs"][0]["metrics"]
    account = ledger.outage(reviewed.inserts(), Schedule(BATCH / 400, 14), *moments_s)
    assert account["silent_s"] > 2.4
    assert account["lost_rows"] == BATCH
    assert (metrics["settled_s"] is None) is ("settled_s" not in account)
    reviewed.compare(metrics, account)


def test_the_page_has_the_table() -> None:
    assert [row[:3] for row in table.rows()] == table.first_cells()
    assert all(row[3] for row in table.rows())
