"""Results -> the files of a bundle."""

from collections.abc import Mapping
from pathlib import Path

from iotbench.output.page.build import page_of
from iotbench.output.page.html import render
from iotbench.output.page.sources import RepeatedItem, Sources, find_repeated
from iotbench.output.published import configuration, readme, versions
from iotbench.output.published.configuration import Targets
from iotbench.output.published.folder import RESULTS
from iotbench.output.published.gather import BundledResults
from iotbench.output.terminal.damage import expect_whole
from iotbench.plans.published.record import Reproduction
from iotbench.results.command import GivenCommand
from iotbench.results.packed import pack, read


def files_of(found: BundledResults, left: Mapping[Path, GivenCommand]) -> dict[str, bytes]:
    """Return the files of a bundle, by their names in it.

    `left`: by result, the options that its command does not have in a bundle.
    """
    targets = Targets(found.sweeps)
    known = versions.versions_of(found.sweeps)
    with expect_whole(", ".join(map(str, found.paths))):
        texts = {
            readme.FILE: readme.readme(found, targets, known, left),
            "report.html": _page(found),
            configuration.FILE: targets.text(),
            versions.FILE: versions.versions_text(known),
        }
    if found.parts:
        texts[readme.COMMANDS] = readme.commands(found, targets)
    files = {name: text.encode() for name, text in texts.items()}
    return files | {RESULTS: pack({path.name: read(path) for path in found.paths})}


def _page(found: BundledResults) -> str:
    """Return the page; its files are named as they are in the bundle."""

    def place_of(path: Path) -> Path:
        return Path(RESULTS) / path.name

    reproductions = [
        (place_of(path), record)
        for path, _, record in found.records
        if isinstance(record, Reproduction)
    ]
    sweeps = [(place_of(path), result) for path, result in found.sweeps]
    repeated: dict[Path, RepeatedItem] = {}
    for path, _, record in found.records:
        repeated |= find_repeated(place_of(path), record)
    return render(page_of(Sources(sweeps, reproductions, repeated)))
