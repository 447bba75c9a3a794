"""From results to figures beside the document's: every system has a line, or a reason."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from iotbench.execution.roster import name_refused
from iotbench.machine.machine import this_machine
from iotbench.machine.resources import Resources, Sample, Used
from iotbench.plans.items import Candidate, items_of
from iotbench.plans.lines import item_records
from iotbench.plans.measures import _OF_ITEMS, measures_of
from iotbench.plans.published.claims import Seen
from iotbench.plans.published.documents import Document, DocumentClaim, Scaling
from iotbench.plans.published.evaluate import Experiment
from iotbench.plans.published.record import Reproduction
from iotbench.plans.published.tables import format_record
from iotbench.plans.record import Curve, CurvePoint
from simulator.modules.sqlite import SqliteOptions
from simulator.protocol.verdict import Status, Verdict
from tests.unit.output.terminal import made
from tests.unit.plans.made import finished, measured, pairs_of, plan_of, target

DOCUMENT = Document.model_validate(
    {
        "number": 7,
        "title": "A benchmark",
        "measured_on": "large machines",
        "systems": {
            "Lite": {"modules": ["sqlite"], "options": {"synchronous": "full"}},
            "Quick": {"modules": ["duckdb"]},
            "Gone": {"modules": ["splunk"], "options": {"source": "a"}},
        },
        "figures": [
            {"title": "batches", "setting": "bulk", "measure": "rows_per_s",
             "published": {
                 "Lite": "Lite [1,000] rows", "Quick": "Quick [5000]", "Gone": "Gone [70]"}},
            {"title": "values", "setting": "values", "measure": "bytes_per_s",
             "unit": "MB/s",
             "published": {"Lite": "only [0.4] MB/s of them"}},
            {"title": "size", "setting": "bulk", "measure": "bytes_per_row",
             "lower_is_better": True, "percent_of": "Lite",
             "settings": {"Lite": "single"}, "published": {"Gone": "Gone [950] %"}},
        ],
        "claims": [
            {"text": "batches are faster", "quote": "ten times", "largest_first": [
                {"setting": "bulk", "measure": "rows_per_s"},
                {"setting": "single", "measure": "rows_per_s"}]},
            {"text": "values lists are slower", "of": ["Lite", "Gone"],
             "largest_first": [
                {"setting": "bulk", "measure": "rows_per_s"},
                {"setting": "values", "measure": "rows_per_s"}]},
            {"text": "Lite is faster than Gone", "largest_first": [
                {"setting": "bulk", "measure": "rows_per_s", "system": "Lite"},
                {"setting": "bulk", "measure": "rows_per_s", "system": "Gone"}]},
        ],
        "out_of_reach": [
            {"text": "it scales to 3 nodes", "quote": "on 3 nodes",
             "reason": "needs three nodes"}],
    }
)  # fmt: skip
PLAN = plan_of("bulk", "single", "values", repeats=2)
FULL = SqliteOptions(synchronous="full")
CANDIDATES = (
    Candidate("lite", "sqlite", FULL.model_dump()),
    Candidate("plain", "sqlite", SqliteOptions().model_dump()),
    Candidate("quick", "duckdb", {}, not_had="not installed"),
    Candidate("other", "mysql", {}, not_had="does not answer"),
)
SECONDS = {"bulk": 1.0, "single": 10.0}


def experiment(**changes):
    targets = [target(name, synchronous="full") for name in ("lite", "plain")]
    pairs = [pair for pair in pairs_of(PLAN, *targets) if pair.setting.name != "values"]
    found = []
    for item in items_of(PLAN, pairs):
        seconds = SECONDS[item.setting.name] * (1 + item.repeat / 10)
        seconds *= 2 if item.target.name == "plain" else 1
        whole = finished(seconds, item.id, target=item.target.name)
        found.append((item, changes.get(item.setting.name) or whole))
    refused = {("values", name): "no option use_values_lists" for name in ("lite", "plain")}
    return Experiment(DOCUMENT, CANDIDATES, refused, found)


def test_every_figure_of_the_document_has_a_line_and_ours_stand_beside_it():
    lines = experiment().lines()

    found = [(line.title, line.system, line.target, line.published, line.not_had) for line in lines]
    assert found == [
        ("batches", "Lite", "lite", 1000, ""),
        ("batches", "Quick", "", 5000, "quick: not installed"),
        (
            "batches",
            "Gone",
            "",
            70,
            "no target with module splunk and source: a is among the targets",
        ),
        ("batches", "", "plain", None, ""),
        ("values", "Lite", "lite", 400_000, "no option use_values_lists"),
        ("size", "Lite", "lite", None, ""),
        (
            "size",
            "Gone",
            "",
            None,
            "no target with module splunk and source: a is among the targets",
        ),
        ("size", "", "plain", None, ""),
    ]
    assert lines[0].values == pytest.approx((1000 / 1.1, 1000 / 1.2))
    assert lines[0].mean == pytest.approx(871.2, abs=0.1)
    assert lines[0].spread == pytest.approx(0.087, abs=0.001)
    assert [line.percent_of_best for line in lines[:4]] == [100, None, None, pytest.approx(50)]
    assert [line.published_percent for line in lines[5:]] == [None, 950, None]
    assert {line.percent_of for line in lines[5:]} == {"Lite"}
    assert [line.setting for line in lines[5:]] == ["single", "bulk", "bulk"]
    assert [line.quote for line in lines] == [
        "Lite 1,000 rows", "Quick 5000", "Gone 70", "", "only 0.4 MB/s of them", "", "Gone 950 %",
        "",
    ]  # fmt: skip
    assert {line.verdict for line in lines if line.values} == {"verified"}


def test_a_claim_is_examined_wherever_its_sides_were_measured():
    claims = experiment().claims()

    assert [(claim.text, claim.system, claim.target, claim.seen) for claim in claims] == [
        ("batches are faster", "Lite", "lite", Seen.SEEN),
        ("batches are faster", "", "plain", Seen.SEEN),
        ("values lists are slower", "Lite", "lite", Seen.NOT_HAD),
        ("values lists are slower", "Gone", "", Seen.NOT_HAD),
        ("Lite is faster than Gone", "", "", Seen.NOT_HAD),
        ("it scales to 3 nodes", "", "", Seen.NOT_HAD),
    ]
    assert claims[2].reason == "no option use_values_lists"
    assert claims[4].reason == "Gone not measured"
    assert claims[0].sides[0].published == 1000


def test_what_could_not_be_measured_is_named_with_the_reason():
    assert experiment().not_had() == {
        "Quick": "quick: not installed",
        "Gone": "no target with module splunk and source: a is among the targets",
        "other": "does not answer",
    }


def test_a_claim_may_compare_ratios_to_another_setting():
    """Alone and in batches, `plain` takes twice as long as `lite`: 10 times as long both."""
    terms = [
        {"setting": "single", "over": "bulk", "measure": "timed_s", "system": "Lite"},
        {"setting": "single", "over": "values", "measure": "timed_s", "system": "Lite"},
    ]
    claim = DocumentClaim.model_validate({"text": "differs", "largest_first": terms})
    found = experiment()
    document = DOCUMENT.model_copy(update={"claims": (claim,)})
    (record, _) = Experiment(document, CANDIDATES, found.refused, found.measured).claims()

    assert record.sides[0].values == pytest.approx((10, 10))
    assert record.sides[0].over == "bulk"
    assert (record.seen, record.reason) == (Seen.NOT_HAD, "no option use_values_lists")


def test_a_failed_item_gives_no_value_and_is_named():
    found = experiment(single=measured(status="failed", cause="disk full"))
    (claim, *_) = found.claims()

    assert (claim.seen, claim.reason) == (Seen.NOT_HAD, "failed: disk full")
    assert {item.cause for item in item_records(found.measured) if item.setting == "single"} == {
        "disk full"
    }


def record(found, **changes):
    fields = {
        "program_version": "1",
        "document": "tiny",
        "number": 7,
        "size": "demo",
        "title": "A benchmark",
        "measured_on": "large machines",
        "machine": this_machine(),
        "status": "done",
        "first": datetime(2026, 1, 1, tzinfo=UTC),
        "last": datetime(2026, 1, 1, 0, 5, tzinfo=UTC),
        "items": item_records(found.measured),
        "lines": found.lines(),
        "claims": found.claims(),
        "not_had": found.not_had(),
        "refused": name_refused(found.refused),
    }
    return Reproduction(**(fields | changes))


def test_the_table_fits_80_columns_and_leaves_nothing_out():
    made_of = record(experiment())
    text = format_record(made_of, "r.json", 80)
    table = text.partition("Claims of the document")[0]

    assert max(map(len, table.splitlines())) <= 80
    for words in (
        "\nbatches, rows/s\n  Lite  ",
        "not measured: Quick: quick: not installed",
        "not measured: lite, values; plain, values: no option use_values_lists",
        "seen: Lite; bulk 833 to 909 (2), single 83.3 to 90.9 (2)",
        "not measured: Gone",
        '\nbatches are faster (document: "ten times")',
        '\nit scales to 3 nodes (document: "on 3 nodes")',
        "  Lite: single       ",
        "  Gone: bulk     950% of base  not measured  ",
        "8 items, started from 2026-01-01 00:00:00 to 2026-01-01 00:05:00 UTC",
        "result file: r.json",
    ):
        assert words in text, text
    assert Reproduction.model_validate_json(made_of.model_dump_json()) == made_of


def test_rates_by_the_formula_of_the_document_are_named_as_such():
    plain = record(experiment())
    (first, *_) = plain.lines
    by_formula = first.model_copy(update={"measure": "rows_per_s_reference"})

    note = "follow its formula (rows / mean duration of the workers)"
    assert note not in format_record(plain, "r.json", 80)
    assert note in format_record(record(experiment(), lines=[by_formula]), "r.json", 80)


def test_a_search_is_printed_with_its_curve():
    points = (
        CurvePoint(number=1, values=(100.0, 120.0), verdict="verified"),
        CurvePoint(number=2, values=(200.0, 210.0), verdict="verified"),
        CurvePoint(number=4, values=(), verdict="failed"),
    )
    curve = Curve(setting="bulk", target="lite", points=points, best=2)
    text = format_record(record(experiment(), curves=(curve,)), "r.json", 80)

    line = "  2: lite, bulk; 1: 100 to 120 (2), 2: 200 to 210 (2), 4: no rate failed\n"
    assert line in text.partition("Best number of shards, ")[2], text
    assert "Best number of shards" not in format_record(record(experiment()), "r.json", 80)


def test_clusters_are_compared_by_nodes_and_size():
    scaling = Scaling(setting="bulk", measure="rows_per_s")
    document = DOCUMENT.model_copy(update={"scaling": scaling})
    found = experiment()
    sized = [replace(each, node_size=each.name.upper()) for each in CANDIDATES]
    both = Experiment(document, sized, found.refused, found.measured)
    text = format_record(record(both, matrix=both.matrix()), "r.json", 80)

    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "Clusters, bulk, rows/s 1 node" in lines, text
    assert "sqlite LITE 871 (2, spread 9%)" in lines
    assert "  gain of plain over lite (LITE to PLAIN, 1 node): -50%, -50%\n" in text
    alone = Experiment(document, CANDIDATES[:1], found.refused, found.measured)
    text = format_record(record(alone, matrix=alone.matrix()), "r.json", 80)
    assert "no gain: needs targets of one module that differ in nodes or node_size" in text
    assert found.matrix() is None


@pytest.mark.parametrize(
    ("by_nodes", "setting", "mean"),
    [
        ({1: "single", 3: "bulk"}, "single", "87.1"),
        ({3: "single"}, "bulk", "871"),
        ({1: "single", 3: "values"}, "bulk", "871"),
    ],
)
def test_a_cluster_is_measured_with_the_setting_for_its_nodes(by_nodes, setting, mean):
    """`lite` has one node; where one of the settings cannot be measured, none is taken."""
    scaling = Scaling(setting="bulk", by_nodes=by_nodes, measure="rows_per_s")
    document = DOCUMENT.model_copy(update={"scaling": scaling})
    found = replace(experiment(), document=document, candidates=CANDIDATES[:1])
    (cell,) = found.matrix().cells
    text = format_record(record(found, matrix=found.matrix()), "r.json", 80)

    assert cell.setting == setting
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert f"sqlite {mean} (2, spread 9%)" in lines, text
    assert f"Clusters, {setting}, rows/s 1 node" in lines, text


@pytest.mark.parametrize(
    ("status", "verdict", "code"),
    [
        ("done", Status.VERIFIED, 0),
        ("interrupted", Status.VERIFIED, 130),
        ("done", Status.MISMATCH, 3),
        ("done", Status.INCOMPLETE, 1),
        ("done", Status.UNKNOWN, 4),
        ("done", None, 1),
    ],
)
def test_the_exit_code_is_that_of_the_worst_item(status, verdict, code):
    one = measured(status="failed")
    if verdict:
        one = measured(made.run(made.outcome(verdict=Verdict(status=verdict))))

    found = record(experiment(bulk=one), status=status)
    assert found.exit_code == code
    assert record(experiment(), items=()).exit_code == 1


def test_measures_of_a_fill_level_test_are_means_of_its_steps():
    runs = [made.timed(seconds, rows=1000) for seconds in (1, 2, 4)]
    found = measures_of([made.result(runs)])

    assert found["rows"] == 3000
    assert found["rows_per_s"] == pytest.approx((1000 + 500 + 250) / 3)
    assert found["last_to_first"] == pytest.approx(0.25)
    assert found["stored_s"] == pytest.approx(7)
    assert found["timed_s"] == pytest.approx(7)
    rates = [found[f"step_rows_per_s_reference {step}"] for step in (1, 2, 3)]
    assert rates == pytest.approx([1000, 500, 250])
    alone = measures_of([made.result(runs[:1])])
    assert not any(name.startswith("step_") for name in alone)
    assert alone["values_per_s"] == alone["rows_per_s"] == 1000
    assert measures_of([made.result([])]) == {}


def test_measures_of_a_run_with_resources_are_those_of_its_timed_phase():
    def sample(phase, cores, load=1.5):
        part = Used(cores=cores, memory_bytes=3 << 20)
        return Sample(
            phase=phase, ended_s=1, duration_s=2, machine_cores=cores, machine_load=load,
            machine_memory_bytes=1, client=part, server=part if phase == "insert" else None,
        )  # fmt: skip

    def measures(*samples):
        resources = Resources(server="postgres", samples=samples)
        return measures_of(
            [made.result([made.timed(1).model_copy(update={"resources": resources})])]
        )

    found = measures(sample("before", 9), sample("insert", 0.5), sample("verify", 8))
    used = {name for name in found if name in _OF_ITEMS and name != "verified"}
    assert {name: found[name] for name in used} == {
        "server_cores": 0.5, "server_memory_mib": 3.0, "client_cores": 0.5,
        "client_memory_mib": 3.0, "machine_load": 1.5,
    }  # fmt: skip
    short = measures(sample("verify", 8), sample("before", 1))
    assert {*short} & {*_OF_ITEMS} == {"verified"}
    assert "machine_load" not in measures(sample("insert", 1, load=None))
