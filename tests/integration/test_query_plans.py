"""`query --plans`: what is printed, kept and shown, and what `compare` says of a change."""

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
TYPES = "--types=count-events,temperature-min-max"


def test_plans_are_shown_kept_and_compared(cli: CommandLine) -> None:
    done = cli.run("insert", *SQLITE, "--workers=1", "--batch=500", "--num-inserts=2000")
    assert done.code == 0, done.err
    first = cli.run("query", *SQLITE, TYPES, "--workers=1,2", "--plans")
    cli.run("query", *SQLITE, TYPES, "--plans")
    cli.sql("CREATE INDEX by_temperature ON events (temperature)")
    indexed = cli.run("query", *SQLITE, TYPES, "--plans")

    assert (first.code, indexed.code) == (0, 0), first.err + indexed.err
    assert first.out.count("temperature-min-max: query plan\n  SCAN events\n") == 1
    assert "SCAN events USING COVERING INDEX by_temperature" in indexed.out
    *_, last = cli.results()
    plans = {each["query"]: each["statements"] for each in last["runs"][0]["outcome"]["plans"]}
    assert [*plans] == ["count-events", "temperature-min-max"]
    assert plans["temperature-min-max"][0]["text"] in indexed.out.replace("\n  ", "\n")

    same = cli.run("compare", "last~2", "last~1", "--output=results")
    changed = cli.run("compare", "last~1", "last", "--output=results")
    read = cli.run("compare", "last~1", "last", "--output=results", "--format=json").json
    assert "the same query plans: 2 queries" in same.out
    words = "query plan of temperature-min-max changed: SCAN events -> SCAN events USING "
    assert words in changed.out
    (comparison,) = read["comparisons"]
    assert [*comparison["plans"]["changed"]] == ["count-events", "temperature-min-max"]

    page = cli.run("report", "last", "--output=results", "--page=page.html")
    assert page.code == 0, page.err
    assert "<summary>Query plans</summary>" in (cli.folder / "page.html").read_text()
