"""`insert` on several targets: in turns, side by side, until their differences are known."""

import re
from pathlib import Path

from iotbench.commands import several
from iotbench.commands.several import _is_known
from iotbench.comparison.comparison import compare_sides
from iotbench.comparison.sides import Side
from iotbench.results import result_files
from tests.integration.conftest import CommandLine

FEW = ("--workers=1", "--batch=1000", "--num-inserts=5000", "--quiet")


def test_two_databases_are_measured_in_turns_and_the_page_is_named_last(
    cli: CommandLine, tmp_path: Path
) -> None:
    targets = [f"sqlite:{tmp_path / 'a.db'}", f"duckdb:{tmp_path / 'b.duckdb'}"]
    done = cli.run("insert", f"--target={','.join(targets)}", *FEW)

    assert done.code == 0, done.err
    *_, conclusion, last = done.out.splitlines()
    page = re.fullmatch(r"page: (\S+/plan-insert-\w+-\w+\.html)", last)
    assert page
    assert "<svg" in Path(page[1]).read_text()
    assert re.search(r"b\.duckdb is slower than sqlite|do not distinguish", conclusion)
    inserts = [each for each in cli.results() if each["kind"] == "insert"]
    order = [each["target"][:6] for each in sorted(inserts, key=lambda each: each["created"])]
    assert order[:6] == ["sqlite", "duckdb", "duckdb", "sqlite", "sqlite", "duckdb"]
    assert {each["configuration"]["num_inserts"] for each in inserts} == {5000}

    compared = cli.run("compare", next(cli.output.glob("plan-*.json")))
    assert compared.code == 0, compared.err


def test_the_number_of_repeats_can_be_given(cli: CommandLine, tmp_path: Path) -> None:
    targets = [f"--target=sqlite:{tmp_path / name}" for name in ("a.db", "b.db")]
    done = cli.run("insert", *targets, *FEW, "--runs=2", "--format=json")

    assert done.code == 0, done.err
    assert len([each for each in cli.results() if each["kind"] == "insert"]) == 4
    assert done.err.splitlines()[-1].startswith("page: ")


def test_what_several_targets_cannot_share_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    said = cli.refuse("insert", f"--target=sqlite:{path},sqlite:{path}", "--extra-option=a=b")
    assert "--extra-option: give it with one target" in said
    assert "is named twice" in said
    assert "expected one" in cli.refuse("query", f"--target=sqlite:{path},sqlite")
    wrong = f"--target=sqlite:{path},postgresql://anna@127.0.0.1:1/none"
    assert "postgresql-127.0.0.1-1-none: not reached" in cli.refuse("insert", wrong, *FEW)


def test_a_small_difference_is_known_once_its_interval_is_within_the_noise(
    cli: CommandLine, tmp_path: Path
) -> None:
    cli.run("insert", f"--target=sqlite:{tmp_path / 'a.db'}", *FEW, "--runs=3")
    (path,) = cli.output.glob("*-insert-*.json")
    result = result_files.read(path)
    same = compare_sides(Side(((path, result),)), Side(((path, result),)), noise=1e6)
    assert _is_known(same)
    assert not _is_known(compare_sides(Side(((path, result),)), Side(((path, result),)), noise=0))
    assert several.MOST_REPEATS == 3 * 2 * 2
