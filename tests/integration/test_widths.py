"""Tables of all commands at several widths: words and names are whole, or lack their middle."""

import json
import re
from collections.abc import Iterator, Sequence

import pytest

from tests.integration.conftest import CommandLine
from tests.unit.machine.test_tables import WIDTHS, is_whole

LONG = ("a-target-that-has-forty-characters-and-01", "a-target-that-has-forty-characters-and-02")
CONFIG = """\
targets:
  one: {module: sqlite, runner: local, path: one.db}
  a-target-that-has-forty-characters-and-01: {module: sqlite, runner: local, path: a.db}
  a-target-that-has-forty-characters-and-02: {module: sqlite, runner: local, path: b.db}
  a-target-that-has-forty-characters-and-03: {module: sqlite, runner: local, path: c.db}
"""
QUERIES = """\
queries:
  a-query-of-yours-that-has-forty-letters-1: {columns: {n: int64}, text: {sql: SELECT 1}}
"""
PLAN = """\
name: widths
targets: [a-target-that-has-forty-characters-and-03, one]
repeats: 2
settings:
  - name: batches-of-ten-rows-each-and-one-table
    insert: {workload: iot, workers: 1, num_inserts: 100, batch: 10}
    query: {runs: 2, types: [count-events]}
  - name: single-rows
    insert: {workload: iot, workers: 1, num_inserts: 100, batch: 0}
    mixed: {duration: 300ms, batch: 10}
"""
ROWS = ("--workers=1,2", "--batch=50", "--num-inserts=200", "--start-time=2026-01-01")
BOTH = f"--target={','.join(LONG)}"
MEASURED = (
    ("insert", "--target=one", *ROWS, "--runs=2"),
    ("insert", f"--target={LONG[0]}", "--workers=1", "--steps=3", "--num-inserts=500", "--batch=9"),
    ("insert", f"--target={LONG[0]}", "--stages=1:300ms,2:300ms", "--batch=9"),
    ("insert", BOTH, *ROWS[1:], "--runs=3"),
    ("query", f"--target={LONG[0]}", "--count=9", "--queries=queries.yaml"),
    ("query", BOTH, "--count=5", "--types=count-events,temperature-*", "--repeats=3"),
    ("mixed", "--target=one", "--duration=1s", "--batch=10"),
    ("change", "--target=one", "--delete-oldest=10%"),
    ("run", "plan.yaml"),
)
"""Commands that leave results: of each kind, and of each record of several results."""
PRINTED = (
    ("results", "list"),
    ("history",),
    ("targets",),
    ("targets", "one"),
    ("insert", "--target=one", *ROWS, "--dry-run"),
    ("insert", BOTH, *ROWS, "--dry-run"),
    ("run", "plan.yaml", "--dry-run"),
    ("validate", f"--targets={','.join(LONG)}", "--count=3", "--quiet"),
)


def list_tables(text: str) -> Iterator[list[str]]:
    """Yield the lines of each table, from the rule below its titles to its last row."""
    parts = text.split("\n\n")
    for part in parts:
        lines = part.splitlines()
        rules = [number for number, line in enumerate(lines) if re.fullmatch("─+", line)]
        if rules:
            yield [line for line in lines[rules[0] :] if not line.startswith("not shown in")]


def words_of(tables: Sequence[Sequence[str]]) -> set[str]:
    return {word for table in tables for line in table for word in line.split()}


@pytest.fixture
def long_names(cli: CommandLine) -> CommandLine:
    for name, text in (("config", CONFIG), ("queries", QUERIES), ("plan", PLAN)):
        (cli.folder / f"{name}.yaml").write_text(text)
    cli.config = cli.folder / "config.yaml"
    return cli


def test_no_table_breaks_a_word_at_any_width(long_names: CommandLine) -> None:
    cli = long_names
    for words in MEASURED:
        done = cli.run(*words, "--quiet")
        assert done.code in (0, 4), (words, done.out, done.err)  # 4: answers to own queries
    results = {}
    for path in cli.output.glob("2*.json"):
        each = json.loads(path.read_text())
        results[each["kind"], *map(each["configuration"].get, ("steps", "stages"))] = path
    plans = sorted(cli.output.glob("plan-*.json"))
    assert (len(results), len(plans)) == (6, 3)
    found = [("show", str(path), "--timings") for path in results.values()]
    found += [("show", str(path)) for path in plans]
    found += [("compare", str(path)) for path in plans if "query" not in path.name]
    found += [("compare", str(path), "--of=query") for path in plans if "query" in path.name]

    broken, wide = [], []
    for words in (*found, *PRINTED):
        texts = {}
        for width in (1000, *WIDTHS):
            cli.environment["COLUMNS"] = str(width)
            done = cli.run(*words)
            assert done.code in (0, 1), (words, done.err)
            out = re.sub(r"-\d{8}t\d{6}", "", done.out) if "--dry-run" in words else done.out
            texts[width] = [*list_tables(out)]
        whole = words_of(texts.pop(1000))
        assert whole, words
        for width, tables in texts.items():
            broken += [(words, width, w) for w in words_of(tables) if not is_whole(w, whole)
                       and set(w) != {"─"}]  # fmt: skip
            wide += [(words, width, line) for table in tables for line in table
                     if len(line) > width >= 60]  # fmt: skip
    assert broken == []
    assert wide == []
