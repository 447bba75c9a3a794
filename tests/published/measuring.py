"""The measurement: a target after the other, each with its own server, in parts of some hours."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from cli.experiment.plan import read_plan
from cli.targets.advice import Choice
from simulator.control import marks
from simulator.data.schema import PrimaryKey, Table
from simulator.data.workloads import workload_class
from simulator.errors import Interrupted, counted
from tests.published import BUNDLE, FOLDER, MEASURED, PICTURE, PLAN, README, ROOT
from tests.published.records import measured, published
from tests.published.table import picture, with_table
from tests.published.targets import size, targets
from tests.servers import SERVERS
from tests.servers.elsewhere import Elsewhere, addresses, server_at
from tests.servers.settings import Place

_FIRST_PORT = 42_100
"""Items are found again by the options of their target, so the ports are always the same."""
_DATABASE = "published"


def addressed(words: Sequence[str], file: Path | None, only: str) -> dict[str, Place]:
    """Return the targets of config.yaml that are measured on servers that run elsewhere.

    With `only`, of the file no other target; ConfigError with every problem.
    """
    entries = yaml.safe_load((ROOT / "config.yaml").read_text())["targets"]
    modules = {name: entry["module"] for name, entry in entries.items()}
    found = {}
    for name, address in addresses(words, file, modules, os.environ, only=only).items():
        server = server_at(address, _tables)
        SERVERS[server.name] = server
        found[name] = Place(server.name, name, Choice.INSTALLED)
    return found


def _tables() -> list[Table]:
    """Return every table that the plan makes."""
    names = {setting.insert.workload for setting in read_plan(PLAN).settings if setting.insert}
    classes = [workload_class(name) for name in sorted(names)]
    tables = (table for cls in classes for table in cls(cls.params_model(), 0, 0).tables)
    return [marks.TABLE, *(table.stored(PrimaryKey.NONE, 1) for table in tables)]


def measure(places: Mapping[str, Place], only: str, hours: float) -> None:
    """Measure what is left of some targets, for some hours; publish if nothing is left then."""
    ends_s = time.monotonic() + 3600 * hours
    wanted = {only: places[only]} if only else places
    for target, place in wanted.items():
        known = measured(target)
        done = known is not None and known[1].status == "done"
        if (only and done) or known is None:
            shutil.rmtree(MEASURED / target, ignore_errors=True)
        if done and not only:
            continue
        left_s = ends_s - time.monotonic()
        if left_s < 60 or not _measured(target, place, left_s):
            break
    print(left(), end="", file=sys.stderr)
    if all(_is_done(target) for target in places):
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
    if isinstance(server, Elsewhere):  # others vanish with their server
        stack.callback(server.drop_database, _DATABASE)
    for name in ("username", "password", "token"):
        options.pop(name, None)
        options.pop(f"{name}_from", None)
    return server.options(_DATABASE)


def _is_done(target: str) -> bool:
    known = measured(target)
    return known is not None and known[1].status == "done"


def left() -> str:
    """Return as text what is done, and what is left."""
    lines, wanted = [], known_targets()
    for target in wanted:
        known = measured(target)
        if known is None:
            lines.append(f"{target}: not begun")
        else:
            path, record = known
            items = counted(len(record.items), "item")
            state = "done" if record.status == "done" else "begun"
            state = "published" if path.is_relative_to(BUNDLE) else state
            lines.append(f"{target}: {state}, {items} measured until {record.last:%Y-%m-%d %H:%M}")
    done = sum(map(_is_done, wanted))
    lines.append(f"{done} of {len(wanted)} targets are done")
    return "".join(f"{line}\n" for line in lines)


def known_targets() -> list[str]:
    """Return the targets to be measured, and those that were measured on servers elsewhere."""
    here = sorted(path.name for path in MEASURED.glob("[a-z]*") if path.is_dir())
    return [*dict.fromkeys([*targets(), *published(), *here])]


def publish() -> None:
    """Publish what is done in place of earlier rows, and put table and picture into the README."""
    with TemporaryDirectory() as earlier:
        if BUNDLE.exists():
            shutil.copytree(FOLDER, earlier, dirs_exist_ok=True)
        known = {target: Path(earlier, path.name) for target, (path, _) in published().items()}
        wanted = known_targets()
        done = [target for target in wanted if _is_done(target)]
        new = {target: found[0] for target in done if (found := measured(target))}
        known |= {name: path for name, path in new.items() if not path.is_relative_to(BUNDLE)}
        if not known:
            raise SystemExit("nothing is done yet: python -m tests.published measure")
        shutil.rmtree(BUNDLE, ignore_errors=True)
        program("publish", *(known[target] for target in wanted if target in known),
                f"--folder={BUNDLE}")  # fmt: skip
    PICTURE.write_text(picture())
    README.write_text(with_table(README.read_text()))


def program(*arguments: str | Path) -> int:
    """Run a command of the product; what became of the items of a plan is in its record."""
    command = [sys.executable, ROOT / "run.py", *arguments]
    code = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, cwd=ROOT).returncode
    print(f"{arguments[0]} ended with exit code {code}", file=sys.stderr, flush=True)
    return code
