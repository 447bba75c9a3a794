"""The published results: measured on every database server, and the README's table of them.

    python -m tests.published measure [TARGET...]
    python -m tests.published table

`measure` carries out results/plan.yaml on one target after the other: its server is started,
measured and stopped. Then all results are published in results/published/, as `publish` does it,
and the README's table is made of them. `table` only prints the table.
"""

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from cli.experiment.record import PlanLine, PlanRecord
from cli.host.machine import Machine
from cli.report.numbers import significant
from cli.results.result import Result
from cli.results.result_files import read
from tests.servers import SERVERS

ROOT = Path(__file__).parents[1]
PLAN = ROOT / "results" / "plan.yaml"
MEASURED = ROOT / "results" / "measured"
"""A folder for each target; not tracked."""
BUNDLE = ROOT / "results" / "published"
FOLDER = BUNDLE / "results"
README = ROOT / "README.md"
EMBEDDED = ("sqlite", "duckdb", "clickhouse_embedded")
OTHERS = ("postgres17", "postgres18", "timescaledb15", "elasticsearch_secure", "opensearch3")
OTHERS += ("cassandra_cluster", "iotdb_us")
"""Servers of a database that another one stands for."""
LEFT_OUT = {"graphite": "it stores whole seconds only, and the rows have milliseconds"}
"""Target -> why the plan is not for it."""
BEGIN, END = "<!-- published -->\n", "<!-- end of published -->\n"


def targets() -> dict[str, str]:
    """Return target -> the server that it is measured on; empty for an embedded database."""
    found = dict.fromkeys(EMBEDDED, "")
    for name, server in SERVERS.items():
        if name not in OTHERS:
            found |= dict.fromkeys(server.targets, name)
    return {target: server for target, server in found.items() if target not in LEFT_OUT}


@contextlib.contextmanager
def configured(target: str, server: str) -> Iterator[Path]:
    """Yield a configuration in which the target is a server of its own."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    options = config["targets"][target]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="published-")))
        if server:
            running = stack.enter_context(SERVERS[server]())
            own = running.options(stack.enter_context(running.database()))
            for name in ("username", "username_from", "password", "password_from"):
                options.pop(name, None)
        else:
            own = {"path": str(folder / "data")}
        options |= {**own, "runner": "local"}
        path = folder / "config.yaml"
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(config, sort_keys=False))
        yield path


def measure(wanted: Sequence[str]) -> None:
    """Measure targets, publish what there is of all of them, and put the table into the README."""
    for target, server in targets().items():
        if wanted and target not in wanted:
            continue
        shutil.rmtree(MEASURED / target, ignore_errors=True)
        with configured(target, server) as config:
            program("run", PLAN, f"--targets={target}", f"--config={config}",
                    f"--output={MEASURED / target}", "--timeout=5m")  # fmt: skip
    shutil.rmtree(BUNDLE, ignore_errors=True)
    program("publish", *sorted(MEASURED.glob("*/plan-*.json")), f"--folder={BUNDLE}")
    head, _, rest = README.read_text().partition(BEGIN)
    README.write_text(head + BEGIN + table() + END + rest.partition(END)[2])


def program(*arguments: str | Path) -> None:
    """Run a command of the product; what became of the items of a plan is in its record."""
    command = [sys.executable, ROOT / "run.py", *arguments]
    code = subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode
    print(f"{arguments[0]} ended with exit code {code}", file=sys.stderr, flush=True)


def table() -> str:
    """Return what is published as Markdown: a line for each target, the fastest first."""
    records = [
        PlanRecord.model_validate_json(path.read_bytes())
        for path in sorted(FOLDER.glob("plan-*.json"))
    ]
    rows = [row for record in records if (row := row_of(record))]
    rows.sort(key=lambda row: -row[0])
    titles = ("Database", "Batches, rows/s", "Spread", "Single rows, rows/s", "Bytes/row")
    titles += ("Query, ms", "Client", "Verdict")
    head = (f"| {' | '.join(titles)} |", "|---" * len(titles) + "|")
    return "\n".join([*head, *(text for _, text in rows), "", *said_of(records), ""])


def row_of(record: PlanRecord) -> tuple[float, str] | None:
    """Return the rate and the line of a target; None if nothing of it was measured."""
    lines = {line.setting: line for line in record.lines if line.repeats}
    batches, single = lines.get("batches"), lines.get("single-rows")
    if batches is None:
        return None
    results = [read(FOLDER / file) for item in record.items for file in item.files]
    inserts = [each for each in results if each.kind == "insert"]
    rates = batches.measures["rows_per_s"]
    rate = fmean(rates)
    verdicts = dict.fromkeys(line.verdict for line in record.lines)
    cells = (
        f"{batches.target} ({version_of(inserts[0])})",
        f"{rate:,.0f}",
        f"{(max(rates) - min(rates)) / rate:.0%}",
        middle(single, "rows_per_s", "{:,.0f}".format),
        middle(batches, "bytes_per_row", significant),
        waits_of(batches),
        f"{client_of(inserts):.0%}",
        ", ".join(verdicts),
    )
    return rate, f"| {' | '.join(cells)} |"


def version_of(result: Result) -> str:
    """Return the version that the server reported."""
    outcome = result.runs[0].outcome
    return outcome.server.version if outcome.server else "unknown version"


def middle(line: PlanLine | None, measure: str, shown: Callable[[float], str]) -> str:
    """Return the mean over the repeats; - if it was not measured."""
    values = line.measures.get(measure) if line else None
    return shown(fmean(values)) if values else "-"


def waits_of(line: PlanLine) -> str:
    """Return the least and the greatest of the queries' waits, of their means over repeats."""
    waits = [fmean(values) for name, values in line.measures.items() if name.startswith("avg_ms ")]
    return f"{significant(min(waits))} to {significant(max(waits))}" if waits else "-"


def client_of(inserts: Sequence[Result]) -> float:
    """Return the mean share of the workers' time that the client used in the batches."""
    batches = [each for each in inserts if each.configuration["batch"]]
    metrics = [run.metrics for each in batches for run in each.runs]
    return fmean(each.client_share for each in metrics if each)


def said_of(records: Sequence[PlanRecord]) -> Iterator[str]:
    """Yield on what, when and how the figures were measured."""
    machines = {machine_text(record.machine) for record in records}
    days = sorted(
        {moment.date() for record in records for moment in (record.first, record.last) if moment}
    )
    when = f"{days[0]} to {days[-1]}" if len(days) > 1 else str(days[0])
    settings: Mapping[str, Any] = {each["name"]: each for each in records[0].plan["settings"]}
    insert, single = (settings[name]["insert"] for name in ("batches", "single-rows"))
    yield (
        f"Means of {records[0].plan['repeats']} repeats, measured on {when} on"
        f" {' and '.join(sorted(machines))}, which ran worker and database together;"
        f" one worker, {insert['num_inserts']:,} rows in batches of"
        f" {insert['batch']:,}, or {single['num_inserts']:,} single rows each;"
        f" the {queries_of(records)} queries of `iot` on the rows of the batches, least and"
        " greatest mean wait."
    )
    yield "".join(f" Not measured: {target}, as {why}." for target, why in LEFT_OUT.items()).strip()


def queries_of(records: Sequence[PlanRecord]) -> int:
    """Return how many queries were asked of any target."""
    return max(
        sum(name.startswith("avg_ms ") for name in line.measures)
        for record in records
        for line in record.lines
    )


def machine_text(machine: Machine) -> str:
    """Return what a reader needs to know of a machine."""
    memory_gib = machine.memory_bytes / 2**30
    return f"a machine with {machine.cores} cores and {memory_gib:.0f} GiB of memory"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.published", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="measure, write the page and the table")
    measuring.add_argument("targets", nargs="*", metavar="TARGET", choices=[[], *targets()])
    commands.add_parser("table", help="print the README's table")
    arguments = parser.parse_args()
    if arguments.command == "measure":
        measure(arguments.targets)
    else:
        print(table(), end="")


if __name__ == "__main__":
    main()
