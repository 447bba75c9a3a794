"""`insert` and `query` on several targets: in turns, side by side, until differences are known."""

import re
from pathlib import Path

from iotbench.comparison import turns
from iotbench.comparison.comparison import compare_sides
from iotbench.comparison.sides import Side
from iotbench.results import result_files
from tests.integration.conftest import CommandLine

FEW = ("--workers=1", "--batch=20", "--num-inserts=1000", "--quiet")


def test_two_databases_are_measured_in_turns_and_the_page_is_named_last(
    cli: CommandLine, tmp_path: Path
) -> None:
    targets = [f"sqlite:{tmp_path / 'a.db'}", f"duckdb:{tmp_path / 'b.duckdb'}"]
    words = (f"--target={','.join(targets)}", *FEW, "--runs=3", "--format=json")
    done = cli.run("insert", *words)

    assert done.code == 0, done.err
    *_, conclusion, last = done.err.splitlines()
    page = re.fullmatch(r"page: (\S+/plan-insert-\w+-\w+\.html)", last)
    assert page
    assert "<svg" in Path(page[1]).read_text()
    inserts = [each for each in cli.results() if each["kind"] == "insert"]
    order = [each["target"][:6] for each in sorted(inserts, key=lambda each: each["created"])]
    assert order == ["sqlite", "duckdb", "duckdb", "sqlite", "sqlite", "duckdb"]
    assert {each["configuration"]["num_inserts"] for each in inserts} == {1000}

    compared = cli.run("compare", next(cli.output.glob("plan-*.json")))
    assert compared.code == 0, compared.err
    # They are looked at once, so the interval is that of `compare`.
    assert re.findall(r"interval (.+?)\)", conclusion)[0] in compared.out


def test_what_several_targets_cannot_share_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    said = cli.refuse("insert", f"--target=sqlite:{path},sqlite:{path}", "--extra-option=a=b")
    assert "--extra-option: give it with one target" in said
    assert "is named twice" in said
    assert "--data: give it with one target" in cli.refuse(
        "insert", "--target=sqlite:a.db,sqlite:b.db", "--data=rows.csv"
    )
    asked = cli.refuse("query", f"--target=sqlite:{path},sqlite", "--seed=7", "--timings")
    assert "--seed: give it with one target" in asked
    for command in ("insert", "query"):
        staged = cli.refuse(command, "--target=sqlite:a.db,sqlite:b.db", "--stages=1:1s", "-w2")
        assert "--stages" in staged
        assert "--workers" in staged
    assert "--timings: give it with one target" in asked
    assert "expected one" in cli.refuse("mixed", f"--target=sqlite:{path},sqlite")
    wrong = f"--target=sqlite:{path},postgresql://anna@127.0.0.1:1/none"
    assert "postgresql-127.0.0.1-1-none: not reached" in cli.refuse("insert", wrong, *FEW)


def test_a_small_difference_is_known_once_its_interval_is_within_the_noise(
    cli: CommandLine, tmp_path: Path
) -> None:
    cli.run("insert", f"--target=sqlite:{tmp_path / 'a.db'}", *FEW, "--runs=3")
    (path,) = cli.output.glob("*-insert-*.json")
    result = result_files.read(path)
    same = compare_sides(Side(((path, result),)), Side(((path, result),)), noise=1e6)
    assert turns.are_known([same])
    other = compare_sides(Side(((path, result),)), Side(((path, result),)), noise=0)
    assert not turns.are_known([same, other])
    assert turns.MOST_REPEATS == 3 * 2 * 2


def test_two_databases_are_asked_about_the_same_rows_in_turns(
    cli: CommandLine, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in ("a.db", "b.db")]
    targets = f"--target={','.join(f'sqlite:{path}' for path in paths)}"
    assert cli.run("insert", targets, *FEW, "--runs=1").code == 0
    done = cli.run("query", targets, "--types=count-events,newest-per-device", "--runs=3")

    assert done.code == 0, done.err
    *_, about, last = done.out.splitlines()
    assert "of 2 queries, sqlite-" in about
    assert Path(last.removeprefix("page: ")).is_file()
    table = done.out.partition("\n\n")[0].splitlines()[3:]
    assert [line.split()[0] for line in table[::2]] == ["count-events", "newest-per-device"]
    assert all(line.endswith("verified") for line in table)
    asked = [each for each in cli.results() if each["kind"] == "query"]
    order = [each["target"] for each in sorted(asked, key=lambda each: each["created"])]
    first, second = order[:2]
    assert order[:6] == [first, second, second, first, first, second]
    assert len({each["dataset"]["start_ms"] for each in asked}) == 1
    assert cli.run("query", targets, "--types=count-events", "--runs=3", "--repeats=2").code == 0
    assert len([each for each in cli.results() if each["kind"] == "query"]) == len(asked) + 4
    alone = cli.refuse("query", f"--target=sqlite:{paths[0]}", "--repeats=2")
    assert "--repeats: is for several targets" in alone
    shown = cli.run("query", targets, "--dry-run")
    assert shown.out.count("queries: count-events") == 2

    cli.run("insert", f"--target=sqlite:{paths[1]}", *FEW, "--runs=1", "--seed=7")
    said = cli.refuse("query", targets)
    assert "do not hold the same rows: seed 1 and 7" in said
