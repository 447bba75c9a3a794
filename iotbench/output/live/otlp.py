"""Sends the metrics of sweeps by OTLP over HTTP, with the exporter of the OpenTelemetry SDK.

The exporter gets finished points instead of instruments: these would store the time of the
export, not of the sample, and lose samples while the receiver does not answer.

https://opentelemetry.io/docs/specs/otlp/
"""

import logging
import os
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from google.protobuf.message import DecodeError
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from iotbench.machine.cleaning import plain
from iotbench.output.live.push import ANSWER_S, OTLP, MetricsSender, url_problem
from iotbench.output.live.samples import FAMILIES, SeriesValue, family_of
from iotbench.store.openmetrics import PREFIX
from simulator import __version__
from simulator.redaction import Redactor

_DEFAULT = "http://localhost:4318"
_PATH = "/v1/metrics"
_NS = 1e9
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_HEADERS = ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_HEADER = re.compile(r"\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*=.*", re.DOTALL)
_SPOKEN = "http/protobuf"


class _Session(requests.Session):
    """A session that keeps the outcome of its last request, which the exporter hides."""

    outcome: requests.Response | Exception

    def request(self, *arguments: Any, **named: Any) -> requests.Response:
        try:
            answer = super().request(*arguments, **named)
        except Exception as error:
            self.outcome = error
            raise
        self.outcome = answer
        return answer


class OtlpSender(MetricsSender):
    """Sends values to an OTLP receiver."""

    def __init__(self, place: str) -> None:
        # The exporter logs each failure, some with credentials; MetricsPush prints one warning.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        self.url = _find_endpoint(place)
        headers = _list_headers(_read(_HEADERS)[0])
        self._redactor = Redactor(word for value in headers.values() for word in value.split())
        self._session = _Session()
        if "authorization" in headers:  # ~/.netrc would replace it
            self._session.auth = lambda request: request
        self._exporter = OTLPMetricExporter(
            endpoint=self.url, session=self._session, timeout=ANSWER_S
        )
        own = Resource.create({"service.name": PREFIX, "service.version": __version__})
        self._resource = own.merge(OTELResourceDetector().detect())

    def send(self, values: Sequence[SeriesValue]) -> requests.Response:
        self._session.outcome = ValueError("nothing was sent")
        self._exporter.export(self._encode(values))
        if isinstance(self._session.outcome, Exception):
            raise self._session.outcome
        return self._session.outcome

    def find_rejected(self, answer: requests.Response) -> str:
        try:
            partial = ExportMetricsServiceResponse.FromString(answer.content).partial_success
        except DecodeError:
            return ""
        if not partial.rejected_data_points:
            return ""
        return f"{partial.rejected_data_points} values rejected: {partial.error_message}"

    def redact(self, text: str) -> str:
        return self._redactor(text)

    def _encode(self, values: Sequence[SeriesValue]) -> MetricsData:
        found: dict[str, list[NumberDataPoint]] = {}
        for each in values:
            labels = {name: plain(text) for name, text in each.labels.items()}
            since_ns, at_ns = (int(time_s * _NS) for time_s in (each.since_s, each.at_s))
            point = NumberDataPoint(labels, since_ns, at_ns, each.value)
            found.setdefault(each.metric, []).append(point)
        metrics = [_metric_of(name, points) for name, points in found.items()]
        scope = ScopeMetrics(InstrumentationScope(PREFIX, __version__), metrics, "")
        return MetricsData([ResourceMetrics(self._resource, [scope], "")])


def _metric_of(name: str, points: Sequence[NumberDataPoint]) -> Metric:
    """Return a metric with the name that it has in the text format.

    Receivers append what a unit and a counter imply to a name, unless the name already has it.
    """
    family = FAMILIES[family_of(name)]
    unit = "s" if name.endswith("_seconds") else ""
    if family.type == "counter":
        total = Sum(points, AggregationTemporality.CUMULATIVE, is_monotonic=True)
        return Metric(name, family.meaning, unit, total)
    return Metric(name, family.meaning, unit, Gauge(points))


def problem_with(place: str) -> str:
    """Return why metrics cannot be sent to a receiver; empty if they can."""
    url, variable = _find_place(place)
    example = f"{variable}=http://host:4318" if variable else f"{OTLP}+http://host:4318"
    if problem := url_problem(url or _DEFAULT, example, may_hold_password=bool(variable)):
        return problem
    given, variable = _read(_PROTOCOLS)
    if place == OTLP and given not in ("", _SPOKEN):
        return f"expected {variable}={_SPOKEN}, got {plain(given)}"
    given, variable = _read(_HEADERS)
    for number, each in enumerate(given.split(","), 1):
        if each.strip() and not _HEADER.fullmatch(each):
            return f"{variable}: expected NAME=VALUE,NAME=VALUE; number {number} is something else"
    return ""


def _find_place(place: str) -> tuple[str, str]:
    """Return the given URL of a receiver, and the variable that names it; empty if not given."""
    return _read(_ENDPOINTS) if place == OTLP else (place.partition("+")[2], "")


def _find_endpoint(place: str) -> str:
    """Return the URL for metrics: the path of the standard is appended, except to its own URL."""
    url, variable = _find_place(place)
    if variable == _ENDPOINTS[0]:
        return url
    parts = urlsplit(url or _DEFAULT)
    path = parts.path.rstrip("/").removesuffix(_PATH) + _PATH
    return parts._replace(path=path).geturl()


def _list_headers(text: str) -> dict[str, str]:
    pairs = (each.partition("=")[::2] for each in text.split(","))
    return {name.strip().lower(): unquote(value.strip()) for name, value in pairs if name.strip()}


def _read(names: Sequence[str]) -> tuple[str, str]:
    """Return the value and the name of the first variable that is set; empty if none is."""
    return next(((text, name) for name in names if (text := os.environ.get(name))), ("", ""))
