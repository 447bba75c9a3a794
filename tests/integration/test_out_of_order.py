"""`insert --out-of-order` from the outside: late rows are stored, counted, verified and asked."""

import pytest

from tests.integration.conftest import POSTGRES, CommandLine, rows
from tests.servers import Postgres

LATE = ("--workload=cpu", "--scale=8", "--start=2026-06-01", "--end=2026-06-01T06:00:00Z",
        "--usage=doubles", "--out-of-order=10%:30m", "--verify=full", "--quiet", "--runs=1",
        "--batch=100")  # fmt: skip
SQLITE = ("--target=sqlite", "--extra-option=path=bench.db")
SENT = """
    SELECT sum(CASE WHEN behind > 0 THEN 1 ELSE 0 END) * 1.0 / count(*), max(behind) FROM (
        SELECT max({time}) OVER (ORDER BY {place}) - {time} AS behind FROM cpu) AS sent
"""


def test_the_share_is_late_by_no_more_than_the_time_in_sqlite(cli: CommandLine) -> None:
    done = cli.run("insert", *SQLITE, *LATE, "--workers=1")
    assert done.code == 0, done.err
    result = cli.results()[-1]
    assert result["runs"][0]["outcome"]["verdict"]["status"] == "verified"
    assert result["configuration"]["out_of_order"] == "10%:1800s"
    assert result["manifest"]["rows"] == 8 * 6 * 360

    unit = cli.sql("SELECT max(time) - min(time) FROM cpu")[0][0] / 21_590
    ((share, latest),) = cli.sql(SENT.format(time="time", place="rowid"))
    assert share == pytest.approx(0.1, abs=0.012)
    assert 20 * 60 < latest / unit <= 30 * 60

    asked = cli.run("query", *SQLITE, "--runs=2", "--format=json")
    assert asked.code == 0, asked.err
    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}

    asked = cli.run("verify", *SQLITE, "--verify=full")
    assert asked.code == 0, asked.err
    cli.sql("DELETE FROM cpu WHERE rowid = 9000")
    asked = cli.run("verify", *SQLITE, "--verify=full")
    assert asked.code == 3, asked.out


def test_further_rows_come_in_the_same_order_and_a_limit_or_a_time_ends_within_it(
    cli: CommandLine,
) -> None:
    begun = cli.run("insert", *SQLITE, *LATE, "--workers=3", "--limit=9000")
    assert begun.code == 0, begun.err
    cli.refuse("insert", *SQLITE, *LATE, "--workers=2", "--no-clean", "--out-of-order=5%:30m")
    more = cli.run("insert", *SQLITE, *LATE, "--workers=2", "--no-clean")
    assert more.code == 0, more.err
    counted = "SELECT count(*), count(DISTINCT hostname || time) FROM cpu"
    assert cli.sql(counted) == [(17_280, 17_280)]

    iot = ("--workload=iot", "--out-of-order=20%:10m", "--duration=300ms", "--workers=2")
    timed = cli.run("insert", *SQLITE, *LATE[6:], *iot)
    assert timed.code == 0, timed.err


@pytest.mark.server("postgres")
def test_the_share_is_late_by_no_more_than_the_time_in_postgresql(
    pg: CommandLine, server: Postgres, server_database: str
) -> None:
    done = pg.run("insert", *POSTGRES, *LATE, "--workers=1")
    assert done.code == 0, done.err
    asked = SENT.format(time="extract(epoch FROM time)", place="id")
    ((share, latest),) = rows(server, server_database, asked)
    assert float(share) == pytest.approx(0.1, abs=0.012)
    assert 20 * 60 < latest <= 30 * 60

    asked = pg.run("query", *POSTGRES, "--runs=2", "--format=json")
    assert asked.code == 0, asked.err
    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}
