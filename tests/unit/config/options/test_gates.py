"""Thresholds of a reproduction: held against the results of each item."""

import xml.etree.ElementTree as ET

from iotbench.comparison.thresholds import Scope
from iotbench.measurements.insert.figures import WORKERS
from iotbench.measurements.query.figures import QUERY
from iotbench.plans.gates import Gates
from iotbench.plans.published.record import ItemRecord, Reproduction
from iotbench.results import result_files
from tests.unit.comparison.test_comparison import asked, sweep


def record(status="done", cause=""):
    item = ItemRecord(
        id="i", target="lite", setting="bulk", repeat=1, verdict="verified", cause=cause,
        files=() if cause else ("a.json", "b.json"),
    )  # fmt: skip
    return Reproduction(
        program_version="1", document="iot", number=1, size="demo", title="", measured_on="",
        machine=sweep("m", 1.0).machine, status=status, first=None, last=None, items=(item,),
        lines=(), claims=(), not_had={}, refused={},
    )  # fmt: skip


def held(folder, found, *texts):
    result_files.write(folder / "a.json", sweep("a", 1.0))
    result_files.write(folder / "b.json", asked("b", 10, 30))
    gates = Gates(fail_if=texts, junit=folder / "out.xml")
    thresholds = gates.expect(Scope((WORKERS, QUERY)))
    code = gates.conclude_items("plan.p", found.status, found.items, folder, thresholds)
    (suite,) = ET.parse(folder / "out.xml").getroot()
    return code, {case.get("name"): [why.tag for why in case] for case in suite}


def test_inserts_and_queries_of_an_item_are_held_against_their_own_figures(tmp_path, capsys):
    code, cases = held(tmp_path, record(), "rows_per_s < 2k", "avg_ms > 25")

    assert code == 99
    assert cases["rows_per_s < 2k lite, bulk, repeat 1, 1 worker"] == ["failure"]
    assert cases["avg_ms > 25 lite, bulk, repeat 1, count-events, 1 worker"] == []
    assert "rows_per_s < 2k: 1,000 rows/s, lite, bulk, repeat 1" in capsys.readouterr().err


def test_an_item_without_results_and_an_interruption_are_errors(tmp_path):
    code, cases = held(tmp_path, record(status="interrupted", cause="no disk"), "avg_ms > 25")

    assert (code, cases) == (0, {"done": ["error"], "lite, bulk, repeat 1": ["error"]})


def test_a_file_that_cannot_be_written_is_an_error_of_its_own(tmp_path, capsys):
    (tmp_path / "out.xml").mkdir()

    assert Gates(junit=tmp_path / "out.xml").report("n", sweep("a", 1.0).created, [], []) == 1
    assert "--junit" in capsys.readouterr().err


def test_a_row_that_one_sweep_of_an_item_has_is_enough(tmp_path, capsys):
    limits = ("p99_ms > 100s at query=count-events", "p99_ms > 1us at query=no*")
    code, cases = held(tmp_path, record(), *limits)

    assert code == 99
    assert [name for name in cases if name.startswith(limits[0])] == [
        f"{limits[0]} lite, bulk, repeat 1, count-events, 1 worker"
    ]
    assert capsys.readouterr().err.count("nothing was measured") == 1
