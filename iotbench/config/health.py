"""Checks of this machine before the first run: findings, and remedies for problems."""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path

from iotbench.config.targets import config as configuration
from iotbench.machine.machine import free_memory_bytes, this_machine, too_many
from iotbench.machine.program import find_shipped
from simulator.errors import ConfigError, counted

_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)", re.MULTILINE)
_LEAST_BYTES = 1 << 30
_COARSE_S = 1e-5
_BATCH_ROWS = 1000
_TOLERANCE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    text: str
    remedy: str = ""
    """Remedy for a problem; empty if the text contains the remedy."""
    ok: bool = True


def machine_findings(output: Path, config: Path | None) -> Iterator[Finding]:
    """Check this machine, and yield the findings.

    `output`: folder of results.
    """
    machine = this_machine()
    yield Finding("machine", f"{machine.processor}, {counted(machine.cores, 'core')}")
    yield _check_packages(machine.python)
    yield _check_configuration(config)
    yield _check_folder("results", output)
    yield _check_folder("temporary", Path(tempfile.gettempdir()))
    yield _check_memory()
    yield _check_clock(output)


def _check_packages(python: str) -> Finding:
    """Compare the versions of installed packages with the tested versions."""
    others, count = [], 0
    for name, tested in _PIN.findall(find_shipped("requirements.txt").read_text()):
        with suppress(metadata.PackageNotFoundError):
            found = metadata.version(name)
            count += 1
            if found != tested:
                others.append(f"{name} {found}, tested with {tested}")
    found = f"Python {python}, {counted(count, 'package')}"
    return Finding("packages", "; ".join([found, *others]))


def _check_configuration(given: Path | None) -> Finding:
    try:
        loaded = configuration.load(given)
        problems = [*loaded.find_broken().values()]
    except ConfigError as error:
        problems = [*error.problems]
    if problems:
        return Finding("configuration", "; ".join(problems), "correct the file", ok=False)
    return Finding("configuration", f"{loaded.path}, {counted(len(loaded.targets), 'target')}")


def _check_folder(name: str, folder: Path) -> Finding:
    """Check a folder or, if it does not exist, the nearest existing folder above it."""
    place = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        why = "cannot be written" if place.is_dir() else "is not a folder"
        remedy = "name another with --output" if name == "results" else "set TMPDIR to another"
        return Finding(name, f"{place} {why}", remedy, ok=False)
    free = shutil.disk_usage(place).free
    text = f"{folder}, {free / 2**30:,.1f} GiB free"
    return Finding(name, text, "free at least 1 GiB", ok=free >= _LEAST_BYTES)


def _check_memory() -> Finding:
    text = f"{free_memory_bytes() / 2**30:,.1f} GiB free"
    problems = too_many(1, _BATCH_ROWS)
    return Finding("memory", text, "free memory for at least one worker", ok=not problems)


def _check_clock(output: Path) -> Finding:
    """Check that the clock is not behind existing files, and is precise enough to time a batch."""
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
