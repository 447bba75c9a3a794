"""The versions behind each result of a bundle: of the tool, the driver, the server, the machine."""

import json
from pathlib import Path
from typing import Any

from iotbench.results.result import Result

FILE = "versions.json"


def versions_of(path: Path, result: Result) -> dict[str, Any]:
    """Return what measured a result, and on what."""
    servers = [run.outcome.server for run in result.runs if run.outcome.server]
    server = servers[-1].model_dump(mode="json") if servers else None
    return {
        "result": path.name,
        "program": result.program_version,
        "module": result.module,
        "packages": result.packages,
        "server": server,
        "machine": result.machine.model_dump(mode="json"),
        "cluster": result.ran_on,
    }


def versions_text(found: list[dict[str, Any]]) -> str:
    """Return versions as JSON."""
    return json.dumps(found, indent=1) + "\n"
