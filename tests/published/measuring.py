"""The measurement: a target after the other, each with its own server, in parts of some hours."""

import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import yaml

from cli.experiment.plan import read_plan
from cli.experiment.record import PlanRecord
from cli.targets.advice import Choice, Size
from simulator import __version__
from simulator.errors import Interrupted, counted
from tests.published import BUNDLE, LEFT_OUT, MEASURED, PICTURE, PLAN, README, ROOT
from tests.published.table import picture, with_table
from tests.servers.settings import Place, places

EMBEDDED = ("sqlite", "duckdb", "clickhouse_embedded")
OTHERS = ("postgres17", "postgres18", "timescaledb15", "elasticsearch_secure", "opensearch3")
OTHERS += ("cassandra_cluster", "iotdb_us")
"""Servers of a database that another one stands for."""
_FIRST_PORT = 42_100
"""Items are found again by the options of their target, so the ports are always the same."""
_DATABASE = "published"


def targets() -> dict[str, Place]:
    """Return target -> where it is measured; no server for an embedded database."""
    found = {name: Place("", name, Choice.INSTALLED) for name in EMBEDDED} | dict(places(*OTHERS))
    return {target: place for target, place in found.items() if place.base not in LEFT_OUT}


def size() -> Size:
    """Return what a server has of this machine: half of its memory, beside the client."""
    memory_mib = psutil.virtual_memory().total // 2**20
    return Size(memory_mib // 2, psutil.cpu_count() or 1)


def record_of(target: str) -> PlanRecord | None:
    """Return what was measured of a target by this plan and program; None: nothing."""
    paths = sorted((MEASURED / target).glob("plan-*.json"))
    records = [PlanRecord.model_validate_json(path.read_bytes()) for path in paths]
    plan = read_plan(PLAN).model_dump(mode="json", by_alias=True, exclude={"targets"})
    for record in records:
        same = {key: value for key, value in record.plan.items() if key != "targets"} == plan
        if same and record.program_version == __version__:
            return record
    return None


def measure(only: str, hours: float) -> None:
    """Measure what is left, for some hours; publish if nothing is left then."""
    ends_s = time.monotonic() + 3600 * hours
    wanted = {only: targets()[only]} if only else targets()
    for target, place in wanted.items():
        record = record_of(target)
        done = record is not None and record.status == "done"
        if (only and done) or record is None:
            shutil.rmtree(MEASURED / target, ignore_errors=True)
        if done and not only:
            continue
        left_s = ends_s - time.monotonic()
        if left_s < 60 or not _measured(target, place, left_s):
            break
    print(left(), end="", file=sys.stderr)
    if all(_is_done(target) for target in targets()):
        publish()


def _measured(target: str, place: Place, left_s: float) -> bool:
    """Measure a target; return whether it was neither interrupted nor out of time."""
    with _configured(target, place) as config:
        code = program("run", PLAN, f"--targets={target}", f"--config={config}",
                       f"--output={MEASURED / target}", "--timeout=10m",
                       f"--stop-after={left_s:.0f}s")  # fmt: skip
    return code != Interrupted.exit_code


@contextlib.contextmanager
def _configured(target: str, place: Place) -> Iterator[Path]:
    """Yield a configuration in which the target is a server of its own."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    options = config["targets"][target]
    scratch = MEASURED / ".scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        path = scratch / "config.yaml"
        options |= {**_reached(place, options, stack), "runner": "local"}
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(config, sort_keys=False))
        yield path


def _reached(
    place: Place, options: dict[str, Any], stack: contextlib.ExitStack
) -> Mapping[str, Any]:
    """Start the server, if there is one; return the options that reach it."""
    if not place.server:
        return {"path": str((MEASURED / ".scratch" / "data").relative_to(ROOT))}
    server = place.started(size())
    server.first_port = _FIRST_PORT
    stack.enter_context(server)
    server.create_database(_DATABASE)
    for name in ("username", "password", "token"):
        options.pop(name, None)
        options.pop(f"{name}_from", None)
    return server.options(_DATABASE)


def _is_done(target: str) -> bool:
    record = record_of(target)
    return record is not None and record.status == "done"


def left() -> str:
    """Return as text what is done, and what is left."""
    lines = []
    for target in targets():
        record = record_of(target)
        if record is None:
            lines.append(f"{target}: not begun")
        else:
            items = counted(len(record.items), "item")
            state = "done" if record.status == "done" else "begun"
            lines.append(f"{target}: {state}, {items} measured until {record.last:%Y-%m-%d %H:%M}")
    done = sum(_is_done(target) for target in targets())
    lines.append(f"{done} of {len(targets())} targets are done")
    return "".join(f"{line}\n" for line in lines)


def publish() -> None:
    """Publish what is done, and put table and picture into the README."""
    records = [path for target in targets() if _is_done(target)
               for path in sorted((MEASURED / target).glob("plan-*.json"))]  # fmt: skip
    if not records:
        raise SystemExit("nothing is done yet: python -m tests.published measure")
    shutil.rmtree(BUNDLE, ignore_errors=True)
    program("publish", *records, f"--folder={BUNDLE}")
    PICTURE.write_text(picture())
    README.write_text(with_table(README.read_text()))


def program(*arguments: str | Path) -> int:
    """Run a command of the product; what became of the items of a plan is in its record."""
    command = [sys.executable, ROOT / "run.py", *arguments]
    code = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, cwd=ROOT).returncode
    print(f"{arguments[0]} ended with exit code {code}", file=sys.stderr, flush=True)
    return code
