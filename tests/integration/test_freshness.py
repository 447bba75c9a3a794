"""Freshness on real servers whose rows become visible after a known time."""

from typing import Any

import pytest

from tests.integration.conftest import CommandLine, rows
from tests.integration.test_databases import edited
from tests.servers import Postgres

LATE = """
from dataclasses import replace

from simulator.modules.postgres.database import Postgres


class Late(Postgres):
    '''PostgreSQL whose queries about fresh rows do not see those of the last {lag_ms} ms.'''

    late = "a test holds rows back"

    def connect(self):
        session = super().connect()
        run = session.run

        def without_new_rows(statement):
            shown = "WHERE arrived < clock_timestamp() - interval '{lag_ms} ms' AND "
            if "FROM events WHERE timestamp >=" not in statement.text:
                return run(statement)
            return run(replace(statement, text=statement.text.replace("WHERE ", shown)))

        session.run = without_new_rows
        return session
"""
INSERT = ("--runs=1", "--workers=1", "--batch=1000", "--num-inserts=3000", "--quiet")
MIXED = ("--batch=100", "--insert-rate=2000", "--types=fresh-count", "--format=json")


@pytest.mark.server("postgres")
@pytest.mark.parametrize(
    "case",
    [
        pytest.param((50, 3, "1h"), marks=pytest.mark.rare),
        (700, 4, "1m"),
        (20_000, 3, "1h"),
        pytest.param((5000, 9, "1m"), marks=pytest.mark.rare),
    ],
)
def test_rows_that_postgres_shows_late_have_that_freshness_in_any_window(
    cli: CommandLine,
    server: Postgres,
    server_options: dict[str, Any],
    server_database: str,
    case: tuple[int, int, str],
) -> None:
    lag_ms, duration_s, window = case
    cli.add_modules("late", LATE.format(lag_ms=lag_ms))
    cli.config = edited("postgresql", server_options, cli)
    cli.config.write_text(cli.config.read_text().replace("postgres\n", "late:Late\n", 1))
    assert "late:Late" in cli.config.read_text()
    stored = cli.run("insert", "--target=postgresql", *INSERT)
    assert stored.code == 0, stored.err
    rows(
        server, server_database,
        "ALTER TABLE events ADD COLUMN arrived timestamptz DEFAULT clock_timestamp()",
    )  # fmt: skip
    mixed = cli.run(
        "mixed", "--target=postgresql", f"--fresh={window}", f"--duration={duration_s}s", *MIXED
    )

    assert mixed.code == 0, mixed.err
    (count,) = (row for row in mixed.json["rows"] if row.get("query") == "fresh-count")
    (found,) = cli.results()[-1]["runs"][0]["outcome"]["freshness"]
    unseen = found["unseen_rows"] / (found["rows"] + found["unseen_rows"])
    if lag_ms < 1000 * duration_s:
        assert lag_ms * 0.9 <= count["freshness_p50_ms"] <= lag_ms * 1.05 + 100
        p99_ms = count.get("freshness_p99_ms")
        if p99_ms is None:  # a loaded machine watched the last hundredth of the rows too briefly
            assert any("p99 of freshness is at least" in each for each in mixed.json["warnings"])
        else:
            assert count["freshness_p50_ms"] <= p99_ms <= lag_ms * 1.1 + 250
        assert unseen == pytest.approx(lag_ms / 1000 / duration_s, abs=0.1)
    else:
        assert (count.get("freshness_p50_ms"), count.get("freshness_p99_ms")) == (None, None)
        assert unseen == 1
        (said,) = (each for each in mixed.json["warnings"] if "in no answer" in each)
        assert "p50 of freshness is at least " in said


@pytest.mark.server("opensearch")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("refresh", "longest_ms"), [("50ms", 50), ("700ms", 700), ("5s", 5000)])
def test_rows_of_opensearch_are_seen_within_its_refresh_interval(
    cli: CommandLine, server_options: dict[str, Any], refresh: str, longest_ms: int
) -> None:
    cli.config = edited("opensearch", server_options, cli)
    refreshing = f"--extra-option=refresh_interval={refresh}"
    stored = cli.run("insert", "--target=opensearch", refreshing, *INSERT)
    assert stored.code == 0, stored.err
    mixed = cli.run(
        "mixed", "--target=opensearch", refreshing, "--fresh=1m", "--duration=15s", *MIXED,
    )  # fmt: skip

    assert mixed.code == 0, mixed.err
    (count,) = (row for row in mixed.json["rows"] if row.get("query") == "fresh-count")
    (found,) = cli.results()[-1]["runs"][0]["outcome"]["freshness"]
    assert longest_ms * 0.35 <= count["freshness_p50_ms"] <= longest_ms * 0.65 + 200
    assert longest_ms * 0.8 <= count["freshness_p99_ms"] <= longest_ms * 1.1 + 500
    assert found["unseen_rows"] <= (longest_ms / 15_000 + 0.1) * 30_000
