"""The measurement of one target after the other, each with its own server, within some hours."""

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

from iotbench.config.targets.advice import SUFFIX
from iotbench.machine.machine import this_machine
from iotbench.plans.record import FAILED, PlanRecord
from simulator.errors import Interrupted, counted
from simulator.protocol.verdict import Status
from tests.published import (
    BUNDLE,
    LEFT_OUT,
    MEASURED,
    PICTURE,
    PLANS,
    QUESTIONS,
    README,
    ROOT,
    ROWS,
    TABLE,
)
from tests.published.elsewhere import database_on, hidden, tag_results
from tests.published.picture import picture
from tests.published.records import (
    find_reproductions,
    hardware_of,
    is_search_over,
    measured,
    published,
    remove,
)
from tests.published.row import rows
from tests.published.table import short_table, table, with_table
from tests.published.targets import size, targets
from tests.servers import SERVERS
from tests.servers.base import Server
from tests.servers.elsewhere import Elsewhere
from tests.servers.restarting import restarter
from tests.settings import Place

_FIRST_PORT, _PORTS_EACH = 42_100, 20
"""First port, always the same, since options of the target identify items; ports of a server."""
_DATABASE = "published"


def measure(places: Mapping[str, Place], only: str, hours: float, plan: str = ROWS) -> None:
    """Measure the targets that a plan has left, for some hours; publish if nothing is left then."""
    ends_s = time.monotonic() + 3600 * hours
    wanted = {only: places[only]} if only else places
    for target, place in wanted.items():
        known, done = measured(target, plan), _is_done(target, plan)
        earlier = [*(MEASURED / target).glob(f"plan-{plan}-*.json")]
        if (only and done) or (known is None and earlier):
            why = "" if known else ": its results are of another plan, version or hardware"
            print(f"{target}: measured again{why}", file=sys.stderr)
            for record in earlier:
                remove(record)
        if done and not only:
            continue
        left_s = ends_s - time.monotonic()
        if left_s < 60 or not _measured(target, place, left_s, plan):
            break
    print(left(plan), end="", file=sys.stderr)
    if all(_is_done(target, plan) for target in places):
        publish()


def _measured(target: str, place: Place, left_s: float, plan: str) -> bool:
    """Measure a target; return whether it was neither interrupted nor out of time."""
    with configured({target: place}) as (config, environment, _):
        code = program("run", PLANS[plan], "--trust", f"--targets={target}", f"--config={config}",
                       f"--output={MEASURED / target}", "--timeout=10m",
                       f"--stop-after={left_s:.0f}s", environment=environment)  # fmt: skip
    if elsewhere := _elsewhere(place):
        tag_results(MEASURED / target, elsewhere.address.hosts)
    return code != Interrupted.exit_code


@contextlib.contextmanager
def configured(
    places: Mapping[str, Place], disk: Path | None = None
) -> Iterator[tuple[Path, Mapping[str, str], Sequence[Server]]]:
    """Yield a configuration with each target on its own server, its environment, and the servers.

    An embedded database, and one that runs elsewhere, has none. `disk` receives the servers' files.
    """
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    scratch = MEASURED / ".scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        environment: dict[str, str] = {}
        servers = []
        for number, (target, place) in enumerate(places.items()):
            options = config["targets"][target]
            folder = scratch / target
            folder.mkdir(parents=True)
            port = _FIRST_PORT + number * _PORTS_EACH
            reached, own, server = _reached(place, options, stack, folder, port, disk)
            options |= {**reached, "runner": "local"}
            environment |= own
            if server:
                signals = folder.relative_to(ROOT)  # results have the command
                options["restart_with"] = stack.enter_context(restarter(signals, server.start))
                servers.append(server)
        path = scratch / "config.yaml"
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(config, sort_keys=False))
        yield path, environment, servers


def _reached(  # noqa: PLR0917
    place: Place,
    options: dict[str, Any],
    stack: contextlib.ExitStack,
    folder: Path,
    port: int,
    disk: Path | None,
) -> tuple[Mapping[str, Any], Mapping[str, str], Server | None]:
    """Start the server, if any; return its options, its environment, and the server."""
    if not place.server:
        return {"path": str((folder / "data").relative_to(ROOT))}, {}, None
    for name in ("username", "password", "token"):
        options.pop(name, None)
        options.pop(f"{name}_from", None)
    if elsewhere := _elsewhere(place):
        there = elsewhere()  # with the settings that it has
        name = database_on(there)
        stack.callback(there.drop_database, name)
        return *hidden(there.options(name)), None
    server = place.started(size())
    server.first_port, server.disk = port, disk
    stack.enter_context(server)
    server.create_database(_DATABASE)
    return server.options(_DATABASE), {}, server


def _elsewhere(place: Place) -> type[Elsewhere] | None:
    """Return the server of a place; None unless it runs elsewhere."""
    server = SERVERS.get(place.server)
    return server if server and issubclass(server, Elsewhere) else None


def _is_done(target: str, plan: str = ROWS) -> bool:
    known = measured(target, plan)
    return known is not None and known[1].status == "done" and is_search_over(known[1])


def left(plan: str = ROWS) -> str:
    """Return the state of each target of a plan as text."""
    lines, wanted = [], known_targets(plan)
    for target in wanted:
        known = measured(target, plan)
        if known is None:
            lines.append(f"{target}: not begun{_published_on(published(plan).get(target))}")
        else:
            path, record = known
            items = counted(len(record.items), "item")
            failed = sum(item.verdict == FAILED for item in record.items)
            items += f" ({failed} failed)" if failed else ""
            state = "done" if record.status == "done" else "begun"
            state = "published" if path.is_relative_to(BUNDLE) else state
            until = f"{record.last:%Y-%m-%d %H:%M}"
            until += "" if is_search_over(record) else "; its search for the best batch goes on"
            lines.append(f"{target}: {state}, {items} measured until {until}")
    done = sum(_is_done(target, plan) for target in wanted)
    lines.append(f"{done} of {len(wanted)} targets are done")
    return "".join(f"{line}\n" for line in lines)


def _published_on(known: tuple[Path, PlanRecord] | None) -> str:
    """Return the other hardware of a published row as text; empty: none."""
    others = sorted(hardware_of(*known) - {this_machine().hardware}) if known else ()
    return f" here; published on {' and '.join(others)}" if others else ""


def known_targets(plan: str = ROWS) -> list[str]:
    """Return the targets to measure, and the targets measured on servers elsewhere."""
    here = sorted(path.parent.name for path in MEASURED.glob(f"[a-z]*/plan-{plan}-*.json"))
    own = [each for each in targets() if plan != QUESTIONS or not each.endswith(SUFFIX)]
    every = dict.fromkeys([*own, *published(plan), *here])
    return [target for target in every if target not in LEFT_OUT]


def publish() -> None:
    """Publish the targets that are done, and write the tables and the picture."""
    known = [path for plan in PLANS for path in _list_records(plan)] + [*find_reproductions()]
    if not known:
        raise SystemExit("nothing is done yet: python -m tests.published measure")
    with TemporaryDirectory(dir=BUNDLE.parent, prefix=".published.") as folder:
        new = Path(folder, BUNDLE.name)
        code = program("publish", *known, f"--folder={new}")
        if code:
            raise SystemExit(f"{BUNDLE} stays as it was: `publish` failed, see above")
        if BUNDLE.exists():
            BUNDLE.rename(Path(folder, "earlier"))
        new.rename(BUNDLE)
    found = rows()
    PICTURE.write_text(picture(found))
    for path, text in ((README, short_table(found)), (TABLE, table(found))):
        path.write_text(with_table(path.read_text(), text))


def _list_records(plan: str) -> list[Path]:
    """Return the record of each target: the one measured here if it is done, or the published."""
    known = {target: path for target, (path, _) in published(plan).items()}
    wanted = known_targets(plan)
    for target in wanted:
        if not _is_done(target, plan) or not (found := measured(target, plan)):
            continue
        wrong = [item.setting for item in found[1].items if item.verdict == Status.MISMATCH]
        if wrong:  # `publish` refuses it
            settings = ", ".join(dict.fromkeys(wrong))
            print(f"{target}: not published: {settings} has the verdict mismatch", file=sys.stderr)
        else:
            known[target] = found[0]
    return [known[target] for target in wanted if target in known]


def program(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> int:
    """Run a command of the product, and return its exit code."""
    command = [sys.executable, ROOT / "run.py", *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=ROOT,
                          env={**os.environ, **(environment or {})}) as child:  # fmt: skip
        while child.poll() is None:
            with contextlib.suppress(KeyboardInterrupt):  # the command also receives it, and ends
                child.wait()
    code = child.returncode
    print(f"{arguments[0]} ended with exit code {code}", file=sys.stderr, flush=True)
    return code
