"""The published results: the tables are made of them, and all of them are verified."""

import copy
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from iotbench.config.targets.advice import SUFFIX
from iotbench.machine.bystanders import OtherWork
from iotbench.output.published.folder import problems_of
from iotbench.output.site.entries import PROMISES
from iotbench.plans.plan import read_plan
from iotbench.plans.record import Curve, CurvePoint, PlanRecord
from iotbench.plans.settings import Sought
from iotbench.results import packed
from iotbench.results.result_files import read
from simulator import __version__
from tests import published
from tests.published import __main__ as command_line
from tests.published import measuring, records, table
from tests.published import row as row_module
from tests.published.elsewhere import hidden, tag_results
from tests.published.picture import picture
from tests.published.records import is_current
from tests.published.remarks import remarks
from tests.published.row import OF_BATCHES, Row, has_two_humps, rows
from tests.published.targets import targets

ROWS = rows()


@pytest.mark.parametrize(
    ("path", "made"),
    [(published.README, table.short_table), (published.TABLE, table.table)],
    ids=["readme", "results"],
)
def test_the_tables_are_those_of_the_published_results(
    path: Path, made: Callable[[Sequence[Row]], str]
) -> None:
    text = path.read_text()

    assert published.BEGIN in text
    assert text == table.with_table(text, made(ROWS))


def test_the_picture_of_the_readme_is_that_of_the_published_results():
    assert published.PICTURE.read_text() == picture(ROWS)


def test_the_picture_has_a_point_for_each_run():
    points = re.findall(r'<path [^>]*fill="var\(--paper\)" stroke="var\(--ink\)"', picture(ROWS))
    assert len(points) == sum(len(row.fastest) for row in ROWS) > len(ROWS)
    assert f"]({published.PICTURE.relative_to(published.ROOT)})" in published.README.read_text()


def test_every_database_whose_server_the_tests_run_is_published():
    installed = {target for target in targets() if not target.endswith(SUFFIX)}

    started = {row.target for row in ROWS if not row.machine_of_server}
    assert installed <= {row.target for row in ROWS}
    assert started <= {*targets()}


def test_rows_are_grouped_by_what_they_promise_and_named_as_their_servers_are():
    promises = [row.promise for row in ROWS]
    products = {row.target: row.product for row in ROWS}

    assert promises == sorted(promises)
    assert {*promises} == {*range(len(PROMISES))}
    assert products["mongodb"].startswith("FerretDB ")
    assert "Apache edition" in products["timescaledb"]
    assert all(row.server and row.server.durable for row in ROWS if row.promise == 0)


def test_what_is_published_was_measured_whole_and_is_verified():
    for row in ROWS:
        assert row.record.status == "done"
        for line in row.record.lines:
            assert (line.target, line.verdict) == (row.target, "verified")
            assert line.repeats >= 2


def _with_rates(row: Row, **rates: tuple[float, ...]) -> Row:
    """The row with other rates of settings, whose names have `_` for `-`."""
    lines = tuple(
        line.model_copy(update={"measures": {**line.measures, "rows_per_s": found}})
        for line in row.record.lines
        if (found := rates.get(line.setting.replace("-", "_"), (1.0,) * 6))
    )
    return Row(row.record.model_copy(update={"lines": lines}))


def _cells(row: Row) -> list[str]:
    line = [each for each in table.table([row]).splitlines() if each.startswith("|")][2]
    return [cell.strip() for cell in line.split("|")]


def test_five_runs_have_median_mean_and_interval_and_fewer_only_their_ends():
    many, few = (100.0, 102.0, 104.0, 106.0, 113.0), (100.0, 102.0, 104.0, 106.0)
    cells = _cells(_with_rates(ROWS[0], workers_1=many, batches_of_1000=few, single_rows=few[:2]))

    assert cells[3] == "104, mean 105 ±6% (5)"
    assert {"100 to 106 (4)", "100 to 102 (2)"} <= {*cells}


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([100, 101, 140, 141, 142], True),
        ([327, 80, 308, 92, 298, 106, 359, 97, 96, 174], True),
        ([100, 101, 102, 140], False),  # one slow run
        ([100, 110, 120, 130, 140], False),
        ([100, 101, 105, 106], False),
        ([100, 140], False),
    ],
)
def test_runs_of_two_speeds_are_flagged(rates, expected):
    assert has_two_humps(rates) is expected
    cells = _cells(_with_rates(ROWS[0], workers_1=tuple(map(float, rates))))
    assert ("‡" in cells[3]) is (expected and len(rates) >= 5)


def test_the_number_of_workers_is_chosen_by_a_run_that_is_not_counted():
    row = _with_rates(
        next(row for row in ROWS if "workers-4" in row.lines),
        workers_1=(90.0, 200.0), workers_2=(100.0, 95.0, 96.0), workers_4=(80.0, 300.0),
        batches_of_1000=(70.0, 71.0),
    )  # fmt: skip

    assert (row.fastest, row.speed) == ((95.0, 96.0), 95.5)
    assert {*OF_BATCHES} <= {*row.lines}


def test_rows_whose_runs_overlap_are_tied():
    row = ROWS[0]
    a, b, c = (
        _with_rates(row, workers_1=(110.0, *rates), batches_of_1000=(1.0, 1.0))
        for rates in ((100.0, 120.0), (90.0, 101.0), (80.0, 89.0))
    )
    lines = [line for line in table.table([a, b, c]).splitlines() if line.startswith("|")][2:]

    assert [f"| ≈ {row.product}" in line for line in lines] == [False, True, False]


def test_bytes_a_row_are_of_one_workload_and_of_two_sets_the_slope():
    row = next(row for row in ROWS if row.target == "postgresql")
    cpu = next(each for each in row.inserts if each.dataset.workload == "cpu")
    iot = [each for each in row.inserts if each.dataset.workload == "iot"]

    def sized(rows_stored: int, size: int) -> Any:
        run = cpu.runs[0]
        assert run.metrics
        metrics = run.metrics.model_copy(update={"rows": rows_stored})
        outcome = run.outcome.model_copy(update={"size_bytes": size})
        own = run.model_copy(update={"metrics": metrics, "outcome": outcome})
        return cpu.model_copy(update={"runs": [own]})

    def shown(*inserts: Any) -> str:
        changed = Row(row.record)
        vars(changed)["inserts"] = [*inserts]
        return changed.bytes_per_row()

    assert shown(*iot) == "-"
    assert shown(*iot, sized(1000, 51_000)) == "51.0 (1)"
    assert shown(sized(1000, 51_000), sized(11_000, 151_000)) == "10.0 (1)"
    assert all(each.bytes_per_row() == "-" for each in ROWS if each.target == "victoriametrics")


def test_the_folder_is_as_it_was_published():
    assert list(problems_of(published.BUNDLE)) == []


def test_rows_of_an_earlier_plan_are_named():
    earlier = [row.target for row in ROWS if not is_current(row.record)]
    said = [line for line in table.table(ROWS).splitlines() if line.startswith("Measured with an")]

    assert len(said) == bool(earlier)
    assert all(f"`{target}`" in said[0] for target in earlier if len(earlier) < len(ROWS))


def _of_today(record: PlanRecord) -> PlanRecord:
    """The record as if the plan of today had measured it."""
    plan = read_plan(published.PLANS[published.ROWS]).model_dump(mode="json", by_alias=True)
    return record.model_copy(update={"plan": plan, "program_version": __version__})


def _copied(target: str, into: Path) -> None:
    """Copy what is published of a target, as if the plan of today had measured it."""
    path, record = records.published()[target]
    into.mkdir(parents=True)
    for name in (name for item in record.items for name in item.files):
        (into / name).write_bytes(packed.read(path.parent / name))
    (into / path.name).write_text(_of_today(record).model_dump_json(indent=1))


def _pack(folder: Path, archive: Path) -> None:
    archive.parent.mkdir(parents=True)
    archive.write_bytes(packed.pack({path.name: path.read_bytes() for path in folder.iterdir()}))


def _is_finished(record: PlanRecord) -> bool:
    return records.is_search_over(_of_today(record))


def test_a_row_that_is_measured_again_replaces_its_own_and_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both say where their servers ran, which the tests did not start, and stay verified."""
    known = records.published()
    finished = [target for target, (_, record) in known.items() if _is_finished(record)]
    new, other = sorted(finished, key=lambda target: len(known[target][1].items))[:2]
    _copied(new, tmp_path / "measured" / new)
    _copied(other, tmp_path / "earlier")
    tag_results(tmp_path / "measured" / new, {"192.0.2.1"})
    tag_results(tmp_path / "earlier", {"127.0.0.1"})
    _pack(tmp_path / "earlier", tmp_path / "old" / "results.zip")
    _on(monkeypatch, *known[new])
    _moved(tmp_path, monkeypatch)

    assert f"{new}: done" in measuring.left()
    measuring.publish()

    assert {row.target for row in rows()} == {new, other}
    text = (tmp_path / "table.md").read_text()
    started = "the tests did not start its server, which ran on"
    assert f"`{new}`: {started} another machine than the workers" in text
    assert f"`{other}`: {started} the machine of the workers" in text
    assert f"{new}: published" in _left_without_what_is_measured(tmp_path)
    assert list(problems_of(tmp_path / "old")) == []


def test_what_cannot_be_published_leaves_what_is_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = records.published()
    target, (_, record) = next(iter(known.items()))
    into = tmp_path / "old" / "results.zip"
    _copied(target, tmp_path / "earlier")
    for name in record.items[0].files:
        (tmp_path / "earlier" / name).unlink()
    _pack(tmp_path / "earlier", into)
    shutil.rmtree(tmp_path / "earlier")
    _moved(tmp_path, monkeypatch)
    before = into.read_bytes()

    with pytest.raises(SystemExit, match="stays as it was"):
        measuring.publish()
    assert into.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["README.md", "old", "table.md"]


def test_a_server_that_is_not_installed_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _moved(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["published", "measure", "--only", "questdb"])

    with pytest.raises(SystemExit, match=r"error: questdb .* not installed: make servers NAME="):
        command_line.main()


def test_credentials_of_an_address_are_in_the_environment_only() -> None:
    options, environment = hidden({"url": "http://db.test", "password": "s3cret", "shards": 3})

    assert options == {"url": "${PUBLISHED_URL}", "password": "${PUBLISHED_PASSWORD}", "shards": 3}
    assert environment == {"PUBLISHED_URL": "http://db.test", "PUBLISHED_PASSWORD": "s3cret"}


def _moved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have everything read and written below a folder."""
    places = {
        "BUNDLE": folder / "old", "ARCHIVE": folder / "old" / "results.zip",
        "MEASURED": folder / "measured", "README": folder / "README.md",
        "TABLE": folder / "table.md", "PICTURE": folder / "published.svg",
    }  # fmt: skip
    for module in (measuring, records, row_module, table):
        for name, path in places.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, path)
    for name in ("README", "TABLE"):
        places[name].write_text(published.BEGIN + published.END)


def _on(monkeypatch: pytest.MonkeyPatch, path: Path, record: PlanRecord) -> None:
    """Be on the machine that a row was measured on."""
    file = next(file for item in record.items for file in item.files)
    machine = read(path.parent / file).machine
    for module in (measuring, records):
        monkeypatch.setattr(module, "this_machine", lambda: machine)


def _left_without_what_is_measured(folder: Path) -> str:
    shutil.rmtree(folder / "measured")
    return measuring.left()


def test_a_new_option_leaves_a_record_current_and_any_other_value_does_not() -> None:
    record = _of_today(next(each for _, each in records.published().values()))

    def changed(change: Callable[[dict[str, Any]], object]) -> PlanRecord:
        plan = copy.deepcopy(record.plan)
        change(plan["settings"][0]["insert"])
        return record.model_copy(update={"plan": plan})

    assert is_current(changed(lambda insert: insert.pop("verify")))
    assert not is_current(changed(lambda insert: insert.pop("warmup")))
    assert not is_current(changed(lambda insert: insert.update(verify="full")))
    assert not is_current(changed(lambda insert: insert.update(forgotten=1)))


def test_the_short_table_has_a_row_for_both_sets_of_settings_of_a_database() -> None:
    known = {row.target: row for row in ROWS}
    installed, advised = known["postgresql"], known["postgresql_advised"]

    def lines() -> list[str]:
        text = table.short_table(sorted([installed, advised], key=lambda row: row.promise))
        return [line for line in text.splitlines() if line.startswith("|")][2:]

    (line,) = lines()
    cells = [cell.strip() for cell in line.split("|")]
    assert cells[2].rstrip("†") == f"{installed.product} (`postgresql`)"
    assert cells[3].endswith(f" ({len(installed.fastest)})")
    assert cells[4].endswith(f" ({len(advised.fastest)})")

    advised = Row(advised.record)
    vars(advised)["promise"] = 2
    assert len(lines()) == 2


def test_the_short_table_marks_what_a_remark_is_on() -> None:
    text = table.short_table(ROWS)

    remarked = {target for each in remarks(ROWS) for target in each.targets}
    for row in ROWS:
        if not row.is_advised:
            pair = {row.target, row.target + SUFFIX}
            assert (f"(`{row.target}`)†" in text) == bool(pair & remarked)


def test_rows_of_other_hardware_are_named() -> None:
    moved, *others = found = [Row(row.record) for row in ROWS[:3]]
    for row in found:
        vars(row)["hardware"] = "One CPU"
    assert "other hardware" not in table.table(found)

    vars(moved)["hardware"] = "Another CPU"
    said = next(line for line in table.table(found).splitlines() if "other hardware" in line)

    assert "(Another CPU)" in said
    assert f"`{moved.target}`" in said
    assert not any(f"`{row.target}`" in said for row in others)


def test_rows_that_were_measured_beside_other_work_are_named() -> None:
    disturbed, quiet = found = [Row(row.record) for row in ROWS[:2]]
    assert "Other work" not in table.table(found)

    first, *rest = disturbed.inserts
    work = OtherWork(cores=first.machine.cores / 10, busiest={"make": 0.2})
    run = first.runs[0].model_copy(update={"other_work": work})
    vars(disturbed)["inserts"] = [first.model_copy(update={"runs": [run]}), *rest]
    said = next(line for line in table.table(found).splitlines() if "Other work" in line)

    assert f"`{disturbed.target}`" in said
    assert f"`{quiet.target}`" not in said


def _with_search(record: PlanRecord, *rates: tuple[float, ...]) -> PlanRecord:
    points = tuple(
        CurvePoint(number=number, values=values, verdict="verified")
        for number, values in zip((1000, 3000, 10_000, 30_000, 100_000), rates, strict=False)
    )
    curve = Curve(setting="best-batch", target="t", sought=Sought.BATCH, points=points, best=1000)
    return record.model_copy(update={"curves": (curve,)})


def test_a_row_whose_search_ended_early_is_named_and_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target, (path, record) = next(iter(records.published().items()))
    early = _with_search(record, (5.0, 6.0), (5.5, 7.0))
    whole = _with_search(record, (5.0, 6.0), (5.5, 7.0), (1.0, 2.0))

    assert records.is_search_over(whole)
    assert not records.is_search_over(early)
    assert "continues the search" not in table.table([Row(whole)])
    said = next(line for line in table.table([Row(early)]).splitlines() if "continues the" in line)
    assert f"`{target}`" in said
    monkeypatch.setattr(measuring, "measured", lambda *_: (path, early))
    assert measuring.left().splitlines()[0].endswith("; its search for the best batch goes on")
    assert measuring.left().splitlines()[-1].startswith("0 of ")
    monkeypatch.setattr(measuring, "measured", lambda *_: (path, whole))
    assert "its search" not in measuring.left()


def test_a_search_is_over_once_the_database_has_refused_a_batch() -> None:
    found = _with_search(next(record for _, record in records.published().values()), (5.0, 6.0))
    refused = {"t, best-batch with batches of 3,000": "--batch: a batch has at most 2000 rows"}

    assert not records.is_search_over(found)
    assert records.is_search_over(found.model_copy(update={"refused": refused}))


def test_every_note_is_on_a_row_that_is_published() -> None:
    said = table.table(ROWS)

    assert all(f"`{name}`: {note}." in said for name, (_, note) in published.NOTES.items())


def test_what_was_published_from_other_hardware_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    rows_of_today = {
        name: (path, _of_today(record)) for name, (path, record) in records.published().items()
    }
    for module in (measuring, records):
        monkeypatch.setattr(module, "published", lambda *_: rows_of_today)
    target, known = next(iter(rows_of_today.items()))
    _on(monkeypatch, *known)
    here = measuring.this_machine()
    assert f"{target}: published, " in measuring.left()

    other = here.model_copy(update={"processor": "Another CPU"})
    for module in (measuring, records):
        monkeypatch.setattr(module, "this_machine", lambda: other)

    assert f"{target}: not begun here; published on {here.hardware}\n" in measuring.left()
    assert f"0 of {len(measuring.known_targets())} targets are done" in measuring.left()
