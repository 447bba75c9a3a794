"""The needs of a first run on this machine: each found, or the remedy."""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path

from iotbench.config.targets import config as configuration
from iotbench.machine.machine import free_memory_bytes, this_machine, too_many
from iotbench.machine.program import INSTALLED, find_shipped, program_name
from simulator.errors import ConfigError, counted

_PROJECT = "iot-database-benchmark"
_REQUIREMENTS = ("requirements.txt", "simulator/requirements.txt")
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)", re.MULTILINE)
_LEAST_BYTES = 1 << 30
_COARSE_S = 1e-5
_BATCH_ROWS = 1000
_TOLERANCE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    text: str
    remedy: str = ""
    """Remedy for a problem, unless the text has it."""
    ok: bool = True


def machine_findings(output: Path, config: Path | None) -> Iterator[Finding]:
    """Yield what was found; `output` is the folder of results."""
    machine = this_machine()
    yield Finding("machine", f"{machine.processor}, {counted(machine.cores, 'core')}")
    yield _packages(machine.python)
    yield _configuration(config)
    yield _folder("results", output)
    yield _folder("temporary", Path(tempfile.gettempdir()))
    yield _memory()
    yield _clock(output)


def _packages(python: str) -> Finding:
    """Compare the packages with the versions that the tests ran with."""
    wrong = []
    for name, version in _pins().items():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            found = "missing"
        if found != version:
            wrong.append(f"{name} {found}, expected {version}")
    if wrong:
        text = f"Python {python}; {', '.join(wrong)}"
        return Finding("packages", text, _reinstall(), ok=False)
    return Finding("packages", f"Python {python}, {counted(len(_pins()), 'package')}")


def _pins() -> dict[str, str]:
    """Return package -> version: of the checkout, or of what was installed."""
    files = [find_shipped(name) for name in _REQUIREMENTS]
    if all(path.is_file() for path in files):
        texts = [path.read_text() for path in files]
    else:
        required = metadata.requires(_PROJECT) or []
        texts = [line for line in required if "extra ==" not in line]
    return dict(pin for text in texts for pin in _PIN.findall(text))


def _reinstall() -> str:
    installed = program_name() == INSTALLED
    return f"install {_PROJECT} again" if installed else "run `make venv`"


def _configuration(given: Path | None) -> Finding:
    try:
        loaded = configuration.load(given)
        problems = [*loaded.find_broken().values()]
    except ConfigError as error:
        problems = [*error.problems]
    if problems:
        return Finding("configuration", "; ".join(problems), "correct the file", ok=False)
    return Finding("configuration", f"{loaded.path}, {counted(len(loaded.targets), 'target')}")


def _folder(name: str, folder: Path) -> Finding:
    """Check a folder, or the one that it would be created in."""
    place = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        why = "cannot be written" if place.is_dir() else "is no folder"
        remedy = "name another with --output" if name == "results" else "set TMPDIR to another"
        return Finding(name, f"{place} {why}", remedy, ok=False)
    free = shutil.disk_usage(place).free
    text = f"{folder}, {free / 2**30:,.1f} GiB free"
    return Finding(name, text, "free at least 1 GiB", ok=free >= _LEAST_BYTES)


def _memory() -> Finding:
    text = f"{free_memory_bytes() / 2**30:,.1f} GiB free"
    problems = too_many(1, _BATCH_ROWS)
    return Finding("memory", text, "free memory for at least one worker", ok=not problems)


def _clock(output: Path) -> Finding:
    """Check that the clock is not behind what was made earlier, and fine enough to time a batch."""
    now = datetime.now(UTC)
    text = f"{now:%Y-%m-%d %H:%M:%S} UTC"
    earlier = [Path(__file__), *output.glob("*.json")]
    newest = datetime.fromtimestamp(max(path.stat().st_mtime for path in earlier), UTC)
    if newest > now + _TOLERANCE:
        behind = f"{text} is before {newest:%Y-%m-%d %H:%M:%S} UTC, when a file here was made"
        return Finding("clock", behind, "set the clock, for example by NTP", ok=False)
    resolution_s = time.get_clock_info("perf_counter").resolution
    text += f", resolution {resolution_s * 1e9:,.0f} ns"
    is_fine = resolution_s <= _COARSE_S
    return Finding("clock", text, "use a machine with a finer clock", ok=is_fine)
