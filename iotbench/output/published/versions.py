"""The versions behind the results of a bundle: of the tool, the driver, the server, the machine."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iotbench.results.result import Result

FILE = "versions.json"


def versions_of(sweeps: Iterable[tuple[Path, Result]]) -> list[dict[str, Any]]:
    """Return what measured the results, and on what: results with the same are named together."""
    groups: dict[str, dict[str, Any]] = {}
    for path, result in sweeps:
        found = _describe(result)
        groups.setdefault(json.dumps(found), {"results": [], **found})["results"].append(path.name)
    return [*groups.values()]


def _describe(result: Result) -> dict[str, Any]:
    servers = [run.outcome.server for run in result.runs if run.outcome.server]
    server = servers[-1].model_dump(mode="json") if servers else None
    return {
        "program": result.program_version,
        "module": result.module,
        "packages": result.packages,
        "server": server,
        "machine": result.machine.model_dump(mode="json", exclude={"load_average"}),
        "cluster": result.ran_on,
    }


def versions_text(found: list[dict[str, Any]]) -> str:
    """Return versions as JSON."""
    return json.dumps(found, indent=1) + "\n"
