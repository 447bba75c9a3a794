"""`--metrics-out otlp`: the samples of the other writers, by the exporter of the SDK."""

import base64
import time

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from iotbench.output.live import otlp, push
from iotbench.output.live.metrics import SweepMetrics, open_writer, problem_with
from iotbench.output.live.samples import FAMILIES, family_of, values_of
from simulator import __version__
from tests.unit.output.live.receivers import receiving
from tests.unit.output.live.sweeps import RESULT, asked, moments, sample

TOKEN = "Zx9Qw7KpLm3T"


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """Remove the variables and the credentials of this machine, and the pauses."""
    for kind in ("", "METRICS_"):
        for name in ("ENDPOINT", "HEADERS", "PROTOCOL"):
            monkeypatch.delenv(f"OTEL_EXPORTER_OTLP_{kind}{name}", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setattr(push, "_EVERY_S", 0.05)
    monkeypatch.setattr(otlp, "ANSWER_S", 0.5)  # the exporter would try again after about 1 s


def send(place, found, pause_s=0.0):
    with open_writer(place) as writer:
        output = SweepMetrics(writer, RESULT)
        for moment in found:
            output.take(moment)
            time.sleep(pause_s)


def points_in(received):
    """Every point: name, labels, value, time in ms; and the metrics and resources."""
    found, metrics, resources = [], {}, []
    for each in received:
        for resource in ExportMetricsServiceRequest.FromString(each.body).resource_metrics:
            resources.append({e.key: e.value.string_value for e in resource.resource.attributes})
            for metric in (m for scope in resource.scope_metrics for m in scope.metrics):
                metrics[metric.name] = metric
                for point in getattr(metric, metric.WhichOneof("data")).data_points:
                    labels = {e.key: e.value.string_value for e in point.attributes}
                    value = getattr(point, point.WhichOneof("value"))
                    found.append((metric.name, labels, value, round(point.time_unix_nano / 1e6)))
    return found, metrics, resources


def test_the_points_are_those_of_the_other_writers():
    wanted = [
        *moments([[sample(1000.125, active=2), sample(1001.25, rows=70, errors=2)]]),
        *moments([[asked(1003.0), asked(1004.5, runs=9)]]),
    ]
    with receiving(200, answer=b"") as (url, received):
        send(f"otlp+{url}", wanted)

    found, metrics, resources = points_in(received)
    values = [value for moment in wanted for value in values_of(moment, RESULT)]
    key = lambda each: (each[3], each[0])  # noqa: E731
    assert sorted(found, key=key) == sorted(
        [(v.metric, v.labels, v.value, round(v.at_s * 1000)) for v in values], key=key
    )
    for name, metric in metrics.items():
        family = FAMILIES[family_of(name)]
        is_counter = family.type == "counter"
        assert metric.description == family.meaning
        assert metric.WhichOneof("data") == ("sum" if is_counter else "gauge")
        assert not is_counter or (metric.sum.is_monotonic, metric.sum.aggregation_temporality) == (
            True, 2,
        )  # fmt: skip
    assert resources[0]["service.name"] == "iotbench"
    assert resources[0]["service.version"] == __version__


def test_a_counter_begins_with_the_sweep():
    at_s = RESULT.created.timestamp() + 5
    with receiving(200, answer=b"") as (url, received):
        send(f"otlp+{url}", moments([[sample(at_s), sample(at_s + 1)]]))

    points = points_in(received)[1]["iotbench_rows_total"].sum.data_points
    assert {each.start_time_unix_nano for each in points} == {int((at_s - 5) * 1e9)}


def test_the_environment_names_resource_and_service(monkeypatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=lab")
    with receiving(200, answer=b"") as (url, received):
        send(f"otlp+{url}", moments([[sample()]]))

    (resource, *_) = points_in(received)[2]
    assert resource["service.name"] == "nightly"
    assert resource["deployment.environment"] == "lab"


@pytest.mark.parametrize(
    ("place", "variables", "path"),
    [
        ("otlp", {"ENDPOINT": ""}, "/v1/metrics"),
        ("otlp", {"ENDPOINT": "/opentelemetry/"}, "/opentelemetry/v1/metrics"),
        ("otlp", {"METRICS_ENDPOINT": "/as/it/is", "ENDPOINT": "/other"}, "/as/it/is"),
        ("otlp+", {"ENDPOINT": "/other"}, "/v1/metrics"),
        ("otlp+/api/v1/otlp", {}, "/api/v1/otlp/v1/metrics"),
        ("otlp+/api/v1/otlp/v1/metrics", {}, "/api/v1/otlp/v1/metrics"),
        ("otlp+/otlp?tenant=7", {}, "/otlp/v1/metrics?tenant=7"),
    ],
)
def test_the_samples_go_to_the_path_that_the_standard_says(monkeypatch, place, variables, path):
    with receiving(200, answer=b"") as (url, received):
        for name, value in variables.items():
            monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", url + value)
        send(place.replace("+", f"+{url}"), moments([[sample()]]))

    assert [each.path for each in received] == [path]


def test_a_header_of_the_environment_comes_before_the_file_of_credentials(
    monkeypatch, tmp_path, capsys
):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login anna password geheim\n")
    (tmp_path / "netrc").chmod(0o600)
    with receiving(401, answer=f"unknown token {TOKEN}".encode()) as (url, received):
        send(f"otlp+{url}", moments([[sample()]]))
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer%20{TOKEN},x-a=b")
        send(f"otlp+{url}", moments([[sample()]]))

    basic = base64.b64encode(b"anna:geheim").decode()
    assert [each.headers["Authorization"] for each in received] == [
        f"Basic {basic}", f"Bearer {TOKEN}"
    ]  # fmt: skip
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"warning: --metrics-out: {url}/v1/metrics: refused with status 401: unknown token ***;"
        " the run goes on"
    )


def test_what_a_receiver_has_missed_is_sent_later_with_its_time(capsys):
    with receiving(503, 429, 200, answer=b"") as (url, received):
        send(f"otlp+{url}", moments([[sample(1000.0, rows=1), sample(1001.0, rows=2)]]), 0.2)

    rows = [each[2:] for each in points_in(received[2:])[0] if each[0] == "iotbench_rows_total"]
    assert rows == [(1, 1_000_000), (2, 1_001_000)]
    assert capsys.readouterr().err == (
        f"warning: --metrics-out: {url}/v1/metrics: status 503; the run goes on\n"
    )


def test_nobody_there_costs_no_time_and_the_end_says_what_is_lost(capsys):
    began_s = time.monotonic()
    send("otlp+http://127.0.0.1:9", moments([[sample(1000.0 + n) for n in range(3)]]), 0.1)

    assert time.monotonic() - began_s < 5
    place = "warning: --metrics-out: http://127.0.0.1:9/v1/metrics"
    assert capsys.readouterr().err == (
        f"{place}: no answer (ConnectionError); the run goes on\n"
        f"{place}: the last 3 samples were not sent\n"
    )


def test_a_redirect_is_no_success(capsys):
    with receiving(302, answer=b"sign in", more=[("Location", "/login")]) as (url, received):
        send(f"otlp+{url}", moments([[sample(), sample(1001.0)]]), 0.1)

    assert len(received) == 1
    assert "refused with status 302: sign in" in capsys.readouterr().err


def test_values_that_a_receiver_rejects_are_a_warning(capsys):
    partial = ExportMetricsPartialSuccess(rejected_data_points=3, error_message="too old")
    answer = ExportMetricsServiceResponse(partial_success=partial).SerializeToString()
    with receiving(200, answer=answer) as (url, _):
        send(f"otlp+{url}", moments([[sample()]]))

    assert capsys.readouterr().err == (
        f"warning: --metrics-out: {url}/v1/metrics: 3 values rejected: too old; the run goes on\n"
    )


@pytest.mark.parametrize(
    ("place", "variables", "problem"),
    [
        ("otlp", {}, ""),
        ("otlp+https://[::1]:4318/a", {}, ""),
        ("otlp", {"ENDPOINT": f"https://anna:{TOKEN}@host"}, ""),
        (f"otlp+https://anna:{TOKEN}@host", {}, "put it into ~/.netrc"),
        ("otlp+host:4318", {}, "expected otlp+http://host:4318, got host:4318"),
        ("otlp://host:4318", {}, "or otlp+http://host:4318, got otlp://host:4318"),
        ("otlp", {"ENDPOINT": "host:4318"}, "expected OTEL_EXPORTER_OTLP_ENDPOINT=http://host:43"),
        ("otlp", {"PROTOCOL": "grpc"}, "expected OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, got"),
        ("otlp+http://host", {"PROTOCOL": "grpc"}, ""),
        ("otlp", {"HEADERS": f"a=b,Authorization: Bearer {TOKEN}"}, "HEADERS: expected NAME=VALUE"),
        ("otlp", {"HEADERS": f"Authorization: Basic {TOKEN}=="}, "number 1 is something else"),
        ("otlp", {"HEADERS": f"authorization=Basic {TOKEN}==, x-scope=7,"}, ""),
    ],
)
def test_what_cannot_work_is_refused_before_anything_starts(monkeypatch, place, variables, problem):
    for name, value in variables.items():
        monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)
    found = problem_with(place)

    assert (problem in found) if problem else not found
    assert TOKEN not in found
