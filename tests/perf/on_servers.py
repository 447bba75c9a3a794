"""Commands on test servers, for benchmarks that print a table of databases."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from tests.published.elsewhere import addressed
from tests.published.measuring import configured
from tests.published.targets import targets
from tests.servers import NotInstalled
from tests.servers.base import Server
from tests.servers.power import Disk
from tests.servers.power import problem as power_problem
from tests.settings import Place

ROOT = Path(__file__).parents[2]
PLACES: Mapping[str, Place] = {
    name: place for name, place in targets().items() if not name.endswith("_advised")
}
"""Target -> its server, with the settings that an installation has."""


@dataclass(frozen=True)
class Line:
    """The command line on one target, whose server runs."""

    target: str
    config: Path
    folder: Path
    """Of the results."""
    environment: Mapping[str, str]
    server: Server | None
    """None: it is embedded, or runs elsewhere."""
    disk: Disk | None = None
    """What the server's files are on, if it can lose its power."""
    root: Path = ROOT
    """The checkout whose command line it is."""

    @property
    def module(self) -> str:
        """The module of the target."""
        found = yaml.safe_load(self.config.read_text())["targets"][self.target]
        name: str = (found or {}).get("module", self.target)
        return name

    def run(self, command: str, *words: str) -> Any:
        """Return the JSON that a command prints; RuntimeError with its last words."""
        done = subprocess.run(
            [sys.executable, str(self.root / "run.py"), command, "--target", self.target, *words,
             f"--config={self.config}", f"--output={self.folder}", "--format=json"],
            check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT,
            env={**os.environ, **self.environment},
        )  # fmt: skip
        if not done.stdout.startswith("{"):
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        return json.loads(done.stdout)


def print_table(
    head: str,
    row: Callable[[Line, argparse.Namespace], str],
    about: str,
    options: Mapping[str, Any],
    targets: Sequence[str] = (*PLACES,),
    *,
    on_disk: bool = False,
) -> None:
    """Print a row for each target that is named, or for all of these; `options`: name -> default.

    Targets with an address are measured besides. `on_disk`: on disks that can lose their power, if
    this user may mount them.
    """
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("targets", nargs="*", choices=[*PLACES, []])
    parser.add_argument("--address", metavar="TARGET=URL", action="append", default=[],
                        help="measure a target on a server that runs elsewhere")  # fmt: skip
    for name, default in options.items():
        parser.add_argument(name, default=default, type=type(default))
    given = parser.parse_args()
    elsewhere = addressed(given.address, None, "")
    places = {**{name: PLACES[name] for name in given.targets or targets}, **elsewhere}
    print(head)
    for target, place in places.items():
        try:
            with _line_on(target, place, on_disk=on_disk and not power_problem()) as line:
                print(row(line, given), flush=True)
        except (NotInstalled, RuntimeError) as error:
            print(f"{target}: {error}", file=sys.stderr, flush=True)


@contextmanager
def _line_on(target: str, place: Place, *, on_disk: bool) -> Iterator[Line]:
    """Start the server of a target, and yield the command line on it."""
    with ExitStack() as stack:
        disk = stack.enter_context(Disk()) if on_disk else None
        folder = disk.folder if disk else None
        config, environment, servers = stack.enter_context(configured({target: place}, folder))
        results = stack.enter_context(TemporaryDirectory())
        yield Line(target, config, Path(results), environment, next(iter(servers), None), disk)
