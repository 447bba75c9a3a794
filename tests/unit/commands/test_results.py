"""The command `results`: list, tag, export and remove."""

import csv
import io
import json
import re
from datetime import timedelta

import click
import pytest
from click.testing import CliRunner
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from iotbench.commands.main import commands
from iotbench.plans.published.record import Reproduction
from iotbench.plans.record import ItemRecord
from iotbench.results import result_files
from iotbench.results.result import Manifest
from iotbench.store.export import FORMATS
from iotbench.store.listing import age_of
from iotbench.store.lookup import path_of
from simulator.errors import ConfigError
from simulator.protocol.verdict import Status, Verdict, VerifyMode
from tests import ROOT
from tests.unit.output.terminal import made
from tests.unit.store.made import FIRST, id_of, plan_of, store, timed


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(result_files, "now_utc", lambda: FIRST + timedelta(days=2))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def run(folder):
    def run(*words, **options):
        arguments = ["results", *words, f"--output={folder}"]
        runner = CliRunner()
        return runner.invoke(
            commands, arguments, catch_exceptions=False, standalone_mode=False, **options
        )

    return run


def ids(done):
    return [record["id"] for record in json.loads(done.stdout)]


def test_a_list_shows_what_was_measured_and_on_what_it_stands(folder, run):
    two = [made.run(), made.run(made.outcome(made.worker(0, ended=14.0)), number=2)]
    store(folder, 0, found=made.result(two, tags=["base", "ci:7"]))
    store(folder, 1, target="other", status="failed", runs=[])

    titles, _, *lines = run("list").stdout.splitlines()
    assert [re.split("  +", line) for line in [titles, *lines]] == [
        ["ID", "Age", "Target", "What", "Headline", "Verdict", "Tags"],
        [id_of(1), "1d", "other", "insert iot w=1 batch=10", "-", "failed", "-"],
        [
            id_of(0), "2d", "lite", "insert iot w=1 batch=10",
            "37.5 rows/s, 1 worker, n=2, spread 66.7%", "verified", "base, ci:7",
        ],
    ]  # fmt: skip


def test_the_list_is_filtered(folder, run):
    for number in range(4):
        store(folder, number, tags=["even"] * (number % 2 == 0) + ["first"] * (number == 0))
    query = made.result([], kind="query", configuration={"workers": [1], "queries": ["newest"]})
    store(folder, 4, found=query, target="other")

    assert ids(run("list", "--format=json")) == [id_of(n) for n in (4, 3, 2, 1, 0)]
    assert ids(run("list", "--format=json", "--limit=2")) == [id_of(4), id_of(3)]
    assert ids(run("list", "--format=json", "--target=other")) == [id_of(4)]
    assert ids(run("list", "--format=json", "--kind=query")) == [id_of(4)]
    assert ids(run("list", "--format=json", "--tag=even", "--tag=first")) == [id_of(0)]
    since = (FIRST + timedelta(minutes=2)).isoformat()
    assert ids(run("list", "--format=json", f"--since={since}", "--kind=insert")) == [
        id_of(3),
        id_of(2),
    ]
    assert ids(run("list", "--format=json", f"--until={since}")) == [id_of(1), id_of(0)]
    assert ids(run("list", "--format=json", "--since=1s")) == []
    with pytest.raises(ConfigError, match="--since: expected a time ago, such as 7d or 12h"):
        run("list", "--since=yesterday")


def test_a_list_fits_a_narrow_terminal(folder, run, monkeypatch):
    store(folder, 0, tags=["base"])
    monkeypatch.setenv("COLUMNS", "80")
    *lines, hidden = run("list").stdout.splitlines()

    assert max(map(len, lines)) <= 80
    assert hidden == "not shown in 80 columns: What, Tags (see them with --format json)"


def test_a_list_with_the_long_id_of_a_plan_fits_60_columns_and_names_the_plan(
    folder, run, monkeypatch
):
    path = folder / "plan-of-forty-characters-for-the-whole-night-0123abcd.json"
    result_files.write(path, plan_of((), first=FIRST, last=FIRST))
    store(folder, 0)
    monkeypatch.setenv("COLUMNS", "60")
    *lines, _ = run("list").stdout.splitlines()
    (shown,) = [line.split()[0] for line in lines if "…" in line]

    assert max(map(len, lines)) <= 60
    assert any(id_of(0) in line for line in lines)
    assert path_of(folder, shown) == path


def test_a_reproduction_is_listed_by_its_time_and_is_not_exported(folder, run):
    store(folder, 0)
    store(folder, 2)
    record = Reproduction(
        program_version="1",
        document="iot",
        number=1,
        size="demo",
        title="t",
        measured_on="m",
        machine=made.result([]).machine,
        status="done",
        first=FIRST,
        last=FIRST + timedelta(minutes=1),
        items=(
            ItemRecord(id="i", target="lite", setting="bulk", repeat=1, verdict="verified"),
            ItemRecord(id="j", target="other", setting="bulk", repeat=1, verdict="unknown"),
        ),
        lines=(),
        claims=(),
        not_had={},
        refused={},
    )
    result_files.write(folder / "reproduce-iot-demo-0123abcd.json", record)
    listed = json.loads(run("list", "--format=json").stdout)

    assert [entry["id"] for entry in listed] == [id_of(2), "reproduce-iot-demo-0123abcd", id_of(0)]
    assert (listed[1]["target"], listed[1]["verdict"]) == ("lite,other", "unknown")
    assert ids(run("list", "--format=json", "--target=other")) == [listed[1]["id"]]
    assert ids(run("list", "--format=json", "--kind=reproduce")) == [listed[1]["id"]]
    with pytest.raises(ConfigError, match=r"iot-demo-0123abcd.json: none of its parts has a res"):
        run("export", "reproduce-iot")


def test_results_of_every_kind_are_listed(folder, run):
    for number, name in enumerate(("insert", "query", "steps", "failed")):
        kind = "query" if name == "query" else "insert"
        content = (ROOT / f"tests/files/results/{name}.json").read_bytes()
        (folder / f"20260101T00000{number}000Z-{kind}-lite-000{number}.json").write_bytes(content)

    listed = json.loads(run("list", "--format=json").stdout)
    assert {entry["id"][-1]: entry["verdict"] for entry in listed} == {
        "0": "verified", "1": "verified", "2": "verified", "3": "failed",
    }  # fmt: skip
    assert all(entry["headline"] for entry in listed if entry["verdict"] == "verified")


def test_a_damaged_file_is_named_and_the_others_are_listed(folder, run):
    store(folder, 0)
    path = store(folder, 1)
    path.write_text("{}")
    done = run("list", "--format=csv")

    assert [row["id"] for row in csv.DictReader(io.StringIO(done.stdout))] == [id_of(0)]
    assert done.stderr.startswith(f"warning: {path}: is not a result file")


@pytest.mark.parametrize(
    ("seconds", "age"), [(-5, "0s"), (0, "0s"), (59, "59s"), (60, "1m"), (7200, "2h"), (9e5, "10d")]
)
def test_an_age_is_in_its_largest_unit(seconds, age):
    assert age_of(FIRST, FIRST + timedelta(seconds=seconds)) == age


def test_tags_are_added_and_removed_and_stand_in_the_file(folder, run):
    path = store(folder, 0, tags=["a"])
    run("tag", "last", "b", "a", "c")
    assert result_files.read(path).tags == ["a", "b", "c"]
    run("tag", "--remove", id_of(0), "a", "x")
    assert result_files.read(path).tags == ["b", "c"]

    with pytest.raises(click.BadParameter, match="expected up to 40 letters, digits"):
        run("tag", "last", "two words")
    with pytest.raises(ConfigError, match="did you mean"):
        run("tag", id_of(0)[:-1] + "7", "a")
    store(folder, 1, status="running")
    with pytest.raises(ConfigError, match="is still running, or was killed"):
        run("tag", "last", "a")


def exported(run, form, *names):
    return run("export", *(names or ["last"]), f"--format={form}").stdout


def rows_per_s():
    two = [made.run(), made.run(made.outcome(made.worker(0, ended=14.0)), number=2)]
    return made.result(two, target='a"b\\c', configuration={"workers": [1], "batch": 10})


def test_csv_has_a_line_for_each_figure(folder, run):
    store(folder, 0, found=rows_per_s())
    store(folder, 1)
    rows = list(csv.DictReader(io.StringIO(exported(run, "csv", "last~1", "last"))))
    (found,) = [r for r in rows if (r["id"], r["figure"]) == (id_of(0), "rows_per_s")]

    assert {row["id"] for row in rows} == {id_of(0), id_of(1)}
    assert (found["value"], found["unit"], found["n"]) == ("37.5", "rows/s", "2")
    assert (found["workers"], found["verdict"], found["spread"][:5]) == ("1", "verified", "0.666")


def test_json_has_the_whole_summary(folder, run):
    store(folder, 0, found=rows_per_s())
    (record,) = json.loads(exported(run, "json"))
    figure = record["rows"][0]["figures"]["rows_per_s"]

    assert (figure["value"], figure["unit"], figure["n"]) == (37.5, "rows/s", 2)
    assert record["configuration"]["batch"] == 10


def test_markdown_has_a_table_for_each_result(folder, run):
    store(folder, 0, found=rows_per_s())
    lines = exported(run, "markdown").splitlines()

    assert lines[0] == '### insert of a"b\\\\c: iot w=1 batch=10'
    assert "| 38 (n=2, spread 66.7%) |" in lines[-1]
    assert lines[-1].endswith("| verified |")
    assert {line.count("|") for line in lines if line.startswith("|")} == {lines[-1].count("|")}


@pytest.mark.parametrize(
    ("level", "judged"),
    [("hashes", "verified, hash"), ("counts", "verified, sums"), ("full", "verified, every row")],
)
def test_a_verdict_says_what_was_compared(folder, run, level, judged):
    verdict = Verdict(status=Status.VERIFIED, level=VerifyMode(level))
    runs = [made.run(made.outcome(made.worker(0), verdict=verdict))]
    file = store(folder, 0, found=made.result(runs)).name
    fields = {"id": "i", "target": "lite", "setting": "s", "repeat": 1, "verdict": "verified"}
    plan = plan_of([ItemRecord(**fields, verify=level, files=(file,))], first=FIRST, last=FIRST)
    result_files.write(folder / "plan-nightly-0123abcd.json", plan)

    first, _, *lines = run("list").stdout.splitlines()
    at = first.index("Verdict")
    assert [line[at:] for line in lines] == [judged, judged]
    assert exported(run, "markdown").rstrip().endswith(f"| {judged} |")
    listed, rows = (
        list(csv.DictReader(io.StringIO(text)))
        for text in (run("list", "--format=csv").stdout, exported(run, "csv"))
    )
    assert {(row["verdict"], row["verify"]) for row in [*listed, *rows]} == {("verified", level)}


def test_openmetrics_is_what_prometheus_reads(folder, run):
    store(folder, 0, found=rows_per_s())
    store(folder, 1)
    text = exported(run, "openmetrics", "last~1", "last")
    families = {each.name: each.samples for each in text_string_to_metric_families(text)}
    first, second = families["iotbench_rows_per_second"]

    assert (first.value, first.labels["target"], first.labels["verdict"]) == (
        37.5,
        'a"b\\c',
        "verified",
    )
    assert float(first.timestamp) == FIRST.timestamp()
    assert second.labels["id"] == id_of(1)
    assert families["iotbench_rows_per_second_measurements"][0].value == 2
    assert families["iotbench_rows_per_second_spread_ratio"][0].value == pytest.approx(2 / 3)
    assert "iotbench_p50_seconds" in families
    assert "iotbench_client_share_ratio" in families


def store_plan(folder):
    """Store a plan of two settings, of which the last item failed, and another result."""
    lines = (("few", 1), ("many", 1), ("few", 2))
    files = [store(folder, n, sweep_id=f"{n:04x}").name for n in range(3)]
    items = [
        ItemRecord(
            id=f"i{n}",
            target="lite",
            setting=name,
            repeat=repeat,
            verdict="verified",
            files=(file,),
        )
        for n, ((name, repeat), file) in enumerate(zip(lines, files, strict=True))
    ]
    items.append(
        ItemRecord(
            id="i3", target="lite", setting="many", repeat=2, verdict="failed", cause="disk full"
        )
    )
    store(folder, 3)
    record = plan_of(items, name="nightly", plan={"settings": []}, first=FIRST, last=FIRST)
    result_files.write(folder / "plan-nightly-0123abcd.json", record)


def test_a_plan_is_exported_as_the_results_of_its_items(folder, run):
    store_plan(folder)
    done = run("export", "plan-nightly", "--format=csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    rates = [row for row in rows if row["figure"] == "rows_per_s"]

    assert [(row["setting"], row["repeat"]) for row in rates] == [
        ("few", "1"), ("many", "1"), ("few", "2"),
    ]  # fmt: skip
    assert {row["part_of"] for row in rows} == {"plan-nightly-0123abcd"}
    assert all(row["value"] and row["verdict"] for row in rates)
    assert len({(r["id"], r["figure"]) for r in rows}) == len(rows) > 3 * len(rates)
    assert done.stderr.endswith("has no result of i3: disk full\n")
    alone = list(csv.DictReader(io.StringIO(exported(run, "csv"))))
    assert [*alone[0]] == [*rows[0]]
    assert not alone[0]["part_of"]


def test_each_format_names_setting_and_repeat_of_a_plan(folder, run):
    store_plan(folder)
    records = json.loads(exported(run, "json", "plan-nightly", "last~1"))
    assert [(each["setting"], each["repeat"]) for each in records] == [
        ("few", 1), ("many", 1), ("few", 2),
    ]  # fmt: skip
    text = exported(run, "openmetrics", "plan-nightly", "last")
    families = {each.name: each.samples for each in text_string_to_metric_families(text)}
    labels = [each.labels for each in families["iotbench_rows_per_second"]]
    assert [each.get("setting") for each in labels] == ["few", "many", "few", None]
    assert "setting many, repeat 1" in exported(run, "markdown", "plan-nightly")


def test_a_plan_whose_results_are_gone_is_not_exported(folder, run):
    store_plan(folder)
    for path in folder.glob("*-insert-lite-000[01].json"):
        path.unlink()
    with pytest.raises(ConfigError) as caught:
        run("export", "plan-nightly")
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_is_written_as_a_whole_or_not_at_all(folder, run, form):
    store(folder, 0, found=timed())
    to = folder / "figures"
    run("export", "last", f"--format={form}", f"--to={to}")

    assert to.read_text() == exported(run, form)
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        run("export", "last", f"--to={folder}/no/figures")
    before = to.read_text()
    with pytest.raises(ConfigError, match="no such result"):
        run("export", "last", "2020", f"--format={form}", f"--to={to}")
    assert to.read_text() == before


def test_the_result_that_says_what_the_tables_hold_is_kept(folder, run):
    manifest = Manifest(dataset=made.stored(9), rows=9, complete=True)
    older, newer = (store(folder, number, manifest=manifest) for number in range(2))
    query = store(folder, 2, kind="query")

    with pytest.raises(ConfigError, match=r"the tables events of target lite.*--force removes"):
        run("rm", id_of(0), id_of(1), "--yes")
    assert older.exists()
    assert run("rm", "--older-than=1s", "--yes").stdout == "removed 2 results\n"
    assert [older.exists(), newer.exists(), query.exists()] == [False, True, False]
    run("rm", id_of(1), "--yes", "--force")
    assert not newer.exists()


def test_nothing_is_removed_without_a_word(folder, run):
    path = store(folder, 0)
    other = folder / "notes.json"
    other.write_text("{}")

    with pytest.raises(ConfigError, match="--yes is needed"):
        run("rm", "last")
    with pytest.raises(ConfigError, match="expected results or --older-than"):
        run("rm", "--yes")
    with pytest.raises(ConfigError, match="is not named as a result file is"):
        run("rm", str(other), "--yes")
    assert run("rm", "--older-than=2026-01-01", "--yes").stdout == "nothing to remove\n"
    assert path.exists()
    assert other.exists()


def test_what_is_running_is_not_removed(folder, run):
    path = store(folder, 0, status="running")

    with pytest.raises(ConfigError, match="is still running, or was killed"):
        run("rm", "last", "--yes")
    assert path.exists()


UNREADABLE = {
    "of a later format": '{"format_version": 99, "kind": "insert"}',
    "empty": "",
    "damaged": '{"format_version": 2, ',
}


@pytest.mark.parametrize("name", ["20200101T000000000Z-insert-lite-abcd", "plan-nightly-00000000"])
@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_not_removed(folder, run, content, name):
    unread = folder / f"{name}.json"
    unread.write_text(content)
    old = store(folder, 0, kind="query")

    done = run("rm", "--older-than=1s", "--yes")
    assert done.stdout == "removed 1 result\n"
    assert f"kept {unread}: cannot be read" in done.stderr
    assert not old.exists()
    done = run("rm", "--older-than=1s", "--yes", "--force")
    assert "name it with --force to remove it" in done.stderr
    with pytest.raises(ConfigError, match="cannot be read here"):
        run("rm", str(unread), "--yes")
    assert unread.read_text() == content
    run("rm", str(unread), "--yes", "--force")
    assert not unread.exists()


def test_a_result_whose_tables_are_not_known_is_kept(folder, run):
    dataset = made.stored(9).model_copy(update={"workload_version": 99})
    path = store(folder, 0, manifest=Manifest(dataset=dataset, rows=9, complete=True))

    assert "wrote tables that are not known here" in run("rm", "--older-than=1s", "-y").stderr
    assert path.exists()


def test_a_foreign_index_is_not_replaced(folder, run):
    store(folder, 0)
    (folder / ".index.json").write_text('{"mine": 1}')

    assert id_of(0) in run("list").stdout
    assert (folder / ".index.json").read_text() == '{"mine": 1}'


def test_rm_believes_no_index(folder, run):
    """It may be somebody else's, and call a file that cannot be read a good one."""
    unread = folder / "20200101T000000000Z-insert-x-0000.json"
    unread.write_text('{"format_version": 99, "later": true}')
    run("list")
    index = json.loads((folder / ".index.json").read_text())
    index["files"][unread.name]["entry"]["problem"] = ""
    (folder / ".index.json").write_text(json.dumps(index))

    done = run("rm", "--older-than=1s", "--yes", "--force")
    assert f"kept {unread}: cannot be read" in done.stderr
    assert unread.exists()
