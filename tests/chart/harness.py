"""The chart as the real helm renders it."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).resolve().parents[2] / "deployment"
RUN = CHART / "ci" / "run.yaml"
"""The values that the command line sets for a run."""
RELEASE = "bench-20261121-071516-ab12"
NIGHTLY = CHART / "ci" / "nightly-values.yaml"
"""The values of a CronJob, which is not a run."""
SCENARIOS = sorted({*CHART.glob("ci/*-values.yaml")} - {NIGHTLY})
KUBERNETES = "1.33.0"
"""Rendering does not ask a cluster for its version."""

Object = dict[str, Any]
Values = Path | dict[str, Any]


class Helm:
    """The helm program."""

    def __init__(self, program: str) -> None:
        self._program = program

    def _run(self, *arguments: str, given: str = ""):
        return subprocess.run(
            [self._program, *arguments], input=given, capture_output=True, text=True, check=False
        )

    def lint(self, values: Path, base: Path = RUN):
        return self._run("lint", "--strict", str(CHART), f"--values={base}", f"--values={values}")

    def package(self, folder: Path) -> Path:
        """The chart as one file."""
        done = self._run("package", str(CHART), f"--destination={folder}")
        assert done.returncode == 0, done.stderr
        [package] = folder.iterdir()
        return package

    def template(
        self,
        values: Values,
        kubernetes: str = KUBERNETES,
        *,
        base: Path = RUN,
        release: str = RELEASE,
    ):
        """Render a run, or what other base values describe, with additional values."""
        file, given = ("-", json.dumps(values)) if isinstance(values, dict) else (values, "")
        files = [f"--values={base}", f"--values={file}"]
        return self._run(
            "template", release, str(CHART), f"--kube-version={kubernetes}", *files, given=given
        )

    def render(self, values: Values, **base: Any) -> list[Object]:
        """The objects that are installed."""
        done = self.template(values, **base)
        assert done.returncode == 0, done.stderr
        return list(yaml.safe_load_all(done.stdout))

    def refusal(self, values: Values, **base: Any) -> list[str]:
        """The sentences with which the values are refused."""
        done = self.template(values, **base)
        assert done.returncode != 0
        return re.findall(r"^- (.*)$", done.stderr, re.MULTILINE)


def one(objects: list[Object], kind: str, component: str = "") -> Object:
    """The only object of a kind, or of a kind and component."""
    [found] = [
        each
        for each in objects
        if each["kind"] == kind and each["metadata"]["name"].endswith(component)
    ]
    return found


def pods(objects: list[Object]) -> dict[str, Object]:
    """The Jobs' pod templates by component."""
    templates = [each["spec"]["template"] for each in objects if each["kind"] == "Job"]
    return {pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod for pod in templates}


def container(pod: Object) -> Object:
    [found] = pod["spec"]["containers"]
    return found


def selects(selector: dict[str, str], labels: dict[str, str]) -> bool:
    """Return whether Kubernetes would find an object with these labels."""
    return selector.items() <= labels.items()


def mappings(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every mapping below a node, with its path."""
    children = enumerate(node) if isinstance(node, list) else ()
    if isinstance(node, dict):
        yield path, node
        children = node.items()
    for key, child in children:
        yield from mappings(child, f"{path}/{key}")
