"""`--metrics-out FILE`: OpenMetrics that a strict parser accepts, whatever happens to the file."""

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from iotbench.output.live.metrics import MetricsFile, SweepMetrics, problem_with
from iotbench.output.live.samples import FAMILIES, values_of
from simulator.protocol.events import AskedSample
from simulator.protocol.spec import Work
from tests.unit.output.live.sweeps import RESULT, asked, moments, sample


def written(path, found, result=RESULT):
    with MetricsFile(path) as file:
        for moment in found:
            SweepMetrics(file, result).take(moment)
    return {family.name: family for family in text_string_to_metric_families(path.read_text())}


def test_a_parser_reads_every_sample_of_every_run(tmp_path):
    first = [sample(1000.0 + at, rows=50 * at) for at in range(3)]
    families = written(tmp_path / "m", moments([first, [sample(1010.0), sample(1011.5)]]))

    rows = families["iotbench_rows"].samples
    assert [(each.labels["run"], each.value, float(each.timestamp)) for each in rows] == [
        ("1", 0, 1000.0),
        ("1", 50, 1001.0),
        ("1", 100, 1002.0),
        ("2", 50, 1010.0),
        ("2", 50, 1011.5),
    ]
    assert [each.value for each in families["iotbench_p50_seconds"].samples] == [0.001] * 5
    assert [each.value for each in families["iotbench_p99_seconds"].samples] == [0.004] * 5
    assert families["iotbench_rows_per_second"].samples[0].value == 9.5


def test_queries_have_metrics_of_their_own(tmp_path):
    samples = [asked(1000.0), asked(1001.0, runs=5), asked(1002.0, query="other")]
    families = written(tmp_path / "m", moments([samples], Work.QUERY))

    runs = [(each.labels["query"], each.value) for each in families["iotbench_queries"].samples]
    assert runs == [("newest", 3), ("newest", 5), ("other", 3)]
    assert "iotbench_rows" not in families


def test_inserts_and_queries_of_a_mixed_run_are_series_of_the_same_metrics(tmp_path):
    beside = AskedSample(runs=7, queries_per_s=3.5, p50_ms=20.0, p99_ms=40.0)
    families = written(tmp_path / "m", moments([[sample(phase="mixed", asked=beside)]], Work.MIXED))

    waits = families["iotbench_p99_seconds"].samples
    assert [(each.labels.get("query"), each.value) for each in waits] == [
        (None, 0.004), ("all queries", 0.04)
    ]  # fmt: skip
    assert families["iotbench_rows"].samples[0].value == 50
    assert families["iotbench_queries_per_second"].samples[0].value == 3.5
    assert families["iotbench_queries"].samples[0].value == 7


def test_every_metric_is_written_by_some_sample():
    found = [*moments([[sample(active=2)], []]), *moments([[asked()]], Work.QUERY)]
    found[1] = replace(found[1], sweep_left_s=3.0)
    names = {str(line).partition("{")[0] for moment in found for line in values_of(moment, RESULT)}

    assert {name.removeprefix("iotbench_").removesuffix("_total") for name in names} == {*FAMILIES}


def test_each_night_of_a_plan_has_series_of_its_own():
    nights = [
        RESULT.model_copy(update={"sweep_id": "p-0123456789ab", "created": created})
        for created in (RESULT.created, RESULT.created + timedelta(days=1))
    ]
    found = {value.labels["sweep"] for night in nights for moment in moments([[sample()]])
             for value in values_of(moment, night)}  # fmt: skip

    assert found == {"20261121-000000-89ab", "20261122-000000-89ab"}


def test_the_name_of_a_target_may_have_quotes_and_braces(tmp_path):
    name = 'a"b}\\c,run="x'
    families = written(
        tmp_path / "m",
        moments([[sample(1000.0), sample(1001.0)]]),
        RESULT.model_copy(update={"target": name}),
    )

    assert {each.labels["target"] for f in families.values() for each in f.samples} == {name}


def test_a_sweep_without_a_sample_leaves_an_empty_exposition(tmp_path):
    (tmp_path / "m").write_text("an older file")

    assert written(tmp_path / "m", moments([[]])) == {}
    assert (tmp_path / "m").read_text() == "# EOF\n"


def test_what_is_measured_is_in_the_file_at_once(tmp_path):
    with MetricsFile(tmp_path / "m") as file:
        for moment in moments([[sample()]]):
            SweepMetrics(file, RESULT).take(moment)
        assert "iotbench_rows_total{" in (tmp_path / "m").read_text()


def test_a_full_disk_is_one_warning(capsys):
    full = Path("/dev/full")
    with MetricsFile(full) as file:
        for moment in moments([[sample(), sample(1001.0)]]):
            SweepMetrics(file, RESULT).take(moment)

    assert capsys.readouterr().err == (
        "warning: --metrics-out: /dev/full: No space left on device\n"
    )


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("no/folder/m", "no/folder"),
        (".", "is a folder; name a file in it"),
        ("pipe", "expected a regular file"),
        ("m", ""),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_before_anything_starts(tmp_path, path, problem):
    os.mkfifo(tmp_path / "pipe")

    assert problem_with(str(tmp_path / path)).endswith(problem)
    assert bool(problem_with(str(tmp_path / path))) == bool(problem)
