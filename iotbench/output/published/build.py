"""Builds the files of a bundle."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iotbench.output.page.measured import RepeatedItem, Sources, find_repeated
from iotbench.output.published import configuration, readme
from iotbench.output.published.configuration import Targets
from iotbench.output.published.folder import RESULTS
from iotbench.output.published.gather import BundledResults
from iotbench.output.site.build import list_pages
from iotbench.plans.published.record import Reproduction
from iotbench.plans.record import PlanRecord
from iotbench.results.command import GivenCommand
from iotbench.results.packed import pack, read
from iotbench.results.result import Result
from iotbench.results.result_files import expect_whole

_VERSIONS = "versions.json"
_SITE = "site"
"""Folder of the pages."""


def files_of(found: BundledResults, left: Mapping[Path, GivenCommand]) -> dict[str, bytes]:
    """Return name -> content for the files of a bundle.

    `left`: file of a result -> options of its command that are not available in a bundle.
    """
    targets = Targets(found.sweeps)
    known = _group_by_versions(found.sweeps)
    with expect_whole(", ".join(map(str, found.paths))):
        texts = {
            readme.FILE: readme.format_readme(found, targets, known, left),
            configuration.FILE: targets.text(),
            _VERSIONS: json.dumps(known, indent=1) + "\n",
        }
        texts |= _list_pages(found)
    if found.parts:
        texts[readme.COMMANDS] = readme.format_commands(found, targets)
    files = {name: text.encode() for name, text in texts.items()}
    return files | {RESULTS: pack({path.name: read(path) for path in found.paths})}


def _list_pages(found: BundledResults) -> Mapping[str, str]:
    """Return name -> page of the site, which refers to files by their names in the bundle."""

    def place_of(path: Path) -> Path:
        return Path(RESULTS) / path.name

    reproductions = [
        (place_of(path), record)
        for path, _, record in found.records
        if isinstance(record, Reproduction)
    ]
    sweeps = [(place_of(path), result) for path, result in found.sweeps]
    repeated: dict[Path, RepeatedItem] = {}
    refused: dict[str, str] = {}
    for path, _, record in found.records:
        repeated |= find_repeated(place_of(path), record)
        refused |= record.refused if isinstance(record, PlanRecord) else {}
    files = {readme.FILE: "the verdicts, and how to check and repeat everything"}
    files |= readme.list_files(found)
    files = {f"../{name}": content for name, content in files.items() if _SITE not in name}
    pages = list_pages(Sources(sweeps, reproductions, repeated, refused), files)
    return {f"{_SITE}/{name}": page for name, page in pages.items()}


def _group_by_versions(sweeps: Iterable[tuple[Path, Result]]) -> list[dict[str, Any]]:
    """Return each combination of versions and machine with the files of its results."""
    groups: dict[str, dict[str, Any]] = {}
    for path, result in sweeps:
        found = _describe(result)
        groups.setdefault(json.dumps(found), {"results": [], **found})["results"].append(path.name)
    return [*groups.values()]


def _describe(result: Result) -> dict[str, Any]:
    server = asdict(result.server) if result.server else None
    return {
        "program": result.program_version,
        "module": result.module,
        "packages": result.packages,
        "server": server,
        "machine": result.machine.model_dump(mode="json", exclude={"load_average"}),
        "cluster": result.ran_on,
    }
