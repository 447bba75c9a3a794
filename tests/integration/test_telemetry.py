"""The metrics of sweeps on a real receiver: by POST and by OTLP, and in the dashboard's panels."""

import json
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import requests
import yaml

from tests.integration.conftest import ROOT, CommandLine
from tests.servers import Server

pytestmark = pytest.mark.server("victoriametrics")

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db")
FORMS = {"otlp": "otlp", "text": "/api/v1/import/prometheus"}


@pytest.fixture
def receiver(cli: CommandLine, server: Server) -> Callable[..., Any]:
    """Ask the receiver; the commands send to it by OTLP."""
    cli.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"{server.url}/opentelemetry"

    def ask(path: str, **parameters: Any) -> Any:
        requests.get(f"{server.url}/internal/force_flush", timeout=10)
        fresh = {"nocache": 1, "latency_offset": "1ms"}
        answer = requests.get(f"{server.url}{path}", {**fresh, **parameters}, timeout=30)
        assert answer.ok, answer.text
        return [json.loads(line) for line in answer.text.splitlines() if line]

    return ask


def last_values(ask: Callable[..., Any], metric: str, sweep: str) -> dict[tuple[str, str], float]:
    """Return (run, phase) -> newest value of a metric."""
    series = ask("/api/v1/export", **{"match[]": f'{metric}{{sweep="{sweep}",query=""}}'})
    return {(s["metric"]["run"], s["metric"]["phase"]): s["values"][-1] for s in series}


def id_of(result: dict[str, Any]) -> str:
    """Return the ID of a result in lists."""
    return f"{datetime.fromisoformat(result['created']):%Y%m%d-%H%M%S}-{result['sweep_id'][-4:]}"


def rows_of(result: dict[str, Any], phase: str) -> dict[tuple[str, str], float]:
    """Return the rows that the workers of each run inserted."""
    return {
        (str(number), phase): sum(worker["rows"] for worker in run["outcome"]["workers"])
        for number, run in enumerate(result["runs"], 1)
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_receiver_has_the_rows_of_the_result_and_numbers_for_every_panel(
    cli: CommandLine, server: Server, receiver: Callable[..., Any], form: str
) -> None:
    began_s = time.time()
    place = FORMS[form] if form == "otlp" else f"{server.url}{FORMS[form]}"
    few = (*SQLITE, f"--metrics-out={place}", "--quiet")
    staged = cli.run("insert", *few, "--batch=100", "--stages=1:2s,2:2s", "--tag=staged")
    mixed = cli.run("mixed", *few, "--insert-rate=1000", "--query-rate=10", "--duration=3s")
    assert (staged.code, mixed.code) == (0, 0), staged.err + mixed.err
    assert "warning: --metrics-out" not in staged.err + mixed.err

    for result in cli.results():
        sweep = result["sweep_id"]
        assert last_values(receiver, "iotbench_rows_total", sweep) == rows_of(
            result, "mixed" if result["kind"] == "mixed" else "insert"
        )
    board = json.loads((ROOT / "docs/grafana.json").read_text())
    sweeps = "|".join(each["sweep_id"] for each in cli.results())
    chosen = {"$target": "sqlite", "$sweep": sweeps, "$__interval": "5s"}
    times = {"start": began_s, "end": time.time() + 5, "step": "5s"}
    for panel in board["panels"]:
        text = panel["targets"][0]["expr"]
        for name, value in chosen.items():
            text = text.replace(name, value)
        (answer,) = receiver("/api/v1/query_range", query=text, **times)
        assert answer["data"]["result"], text
    found = {}
    for variable in board["templating"]["list"][1:]:
        series, name = variable["definition"].removeprefix("label_values(")[:-1].rsplit(", ", 1)
        parameters = {"match[]": series.replace("$target", "sqlite")}
        (answer,) = receiver(f"/api/v1/label/{name}/values", **parameters)
        found[name] = answer["data"]
    assert "sqlite" in found["target"]
    assert {*sweeps.split("|")} <= {*found["sweep"]}


def test_every_sweep_of_a_plan_and_of_several_targets_is_sent(
    cli: CommandLine, receiver: Callable[..., Any]
) -> None:
    cli.configure(**{name: {"module": "sqlite", "path": f"{name}.db"} for name in ("one", "two")})
    setting = {"name": "batches", "insert": {"batch": 100, "duration": "2s", "workers": 1}}
    (cli.folder / "plan.yaml").write_text(
        yaml.safe_dump({"name": "p", "targets": ["one", "two"], "repeats": 1,
                        "settings": [setting]})
    )  # fmt: skip
    config = f"--config={cli.config}"
    ran = cli.run("run", "plan.yaml", config, f"--output={cli.output}", "--metrics-out=otlp")
    few = ("--batch=100", "--duration=2s", "--workers=1", "--runs=1", "--metrics-out=otlp")
    several = cli.run("insert", "--target=one,two", *few)
    assert (ran.code, several.code) == (0, 0), ran.err + several.err

    results = [each for each in cli.results() if "sweep_id" in each]
    listed = cli.run("results", "list", f"--output={cli.output}", "--format=json").json
    assert len(results) == 4
    assert {id_of(each) for each in results} <= {each["id"] for each in listed}
    for result in results:
        stored = last_values(receiver, "iotbench_rows_total", id_of(result))
        assert stored == rows_of(result, "insert")


def test_an_interrupted_run_has_sent_its_last_sample(
    cli: CommandLine, receiver: Callable[..., Any], interrupt, eventually
) -> None:
    cli.configure(stopped={"module": "sqlite", "path": "bench.db"})
    few = ("--batch=100", "--duration=60s", "--workers=1", "--runs=1", "--metrics-out=otlp")
    started = cli.start("insert", "--target=stopped", *few)
    sent = {"match[]": 'iotbench_rows_total{target="stopped"}'}
    eventually(lambda: receiver("/api/v1/export", **sent))
    interrupt(started)
    done = cli.finish(started)
    assert done.code == 130, done.err
    (result,) = cli.results()
    ((_, last),) = last_values(receiver, "iotbench_rows_total", result["sweep_id"]).items()
    assert 0 < last <= sum(rows_of(result, "insert").values())
    assert not cli.leftovers()
