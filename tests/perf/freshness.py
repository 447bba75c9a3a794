"""How soon each database shows a row that it has acknowledged: `mixed --fresh`, as a table.

    python tests/perf/freshness.py [TARGET ...] [--duration 10s] [--insert-rate 2000]

Each server is started for it, with the settings of the published results. One worker inserts at a
low rate, another asks as fast as it can, so that the time between two answers is short. A database
that shows rows at once has about that time; what is longer is its own.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import yaml

from simulator.modules import database_class
from tests.published.measuring import configured
from tests.published.targets import targets
from tests.servers import NotInstalled
from tests.servers.settings import Place

ROOT = Path(__file__).parents[2]
HEAD = (
    "| Target | Rows/s | Answers/s | Freshness, median | 99th percentile | Rows never seen"
    " | Verdict | Promise |\n|---|---|---|---|---|---|---|---|"
)
INSERT = ("--workers=1", "--runs=1", "--batch=1000", "--num-inserts=20000", "--quiet")


def run(config: Path, folder: str, environment: Mapping[str, str], *words: str) -> Any:
    """Return the JSON that a command prints."""
    command = [sys.executable, str(ROOT / "run.py"), *words, f"--config={config}"]
    done = subprocess.run(
        [*command, f"--output={folder}", "--format=json"], check=False, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment},
    )  # fmt: skip
    if not done.stdout.startswith("{"):
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def line(target: str, place: Place, given: argparse.Namespace) -> str:
    """Return the row of a target."""
    with configured(target, place) as (config, environment), TemporaryDirectory() as folder:
        of_target = ("--target", target)
        run(config, folder, environment, "insert", *of_target, *INSERT)
        found = run(
            config, folder, environment, "mixed", *of_target, "--fresh=1m", "--batch=100",
            f"--duration={given.duration}", f"--insert-rate={given.insert_rate}", "--warmup=1s",
            "--types=fresh-count",
        )  # fmt: skip
        rows = {row.get("load") or row["query"]: row for row in found["rows"]}
        result = json.loads(max(Path(folder).glob("*-mixed-*.json")).read_text())
        module = yaml.safe_load(config.read_text())["targets"][target].get("module", target)
    (freshness,) = result["runs"][0]["outcome"]["freshness"]
    count, late = rows["fresh-count"], database_class(module).capabilities.late
    return (
        f"| {target} | {rows['inserts']['rows_per_s']:,.0f} | {count['queries_per_s']:,.0f}"
        f" | {count['freshness_p50_ms']:,.1f} ms | {count['freshness_p99_ms']:,.1f} ms"
        f" | {freshness['unseen_rows']:,} of {freshness['rows'] + freshness['unseen_rows']:,}"
        f" | {count['verdict']} | {late or 'at once'} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    places = {name: place for name, place in targets().items() if not name.endswith("_advised")}
    parser.add_argument("targets", nargs="*", choices=[*places, []])
    parser.add_argument("--duration", default="10s")
    parser.add_argument("--insert-rate", default="2000")
    given = parser.parse_args()
    print(HEAD)
    for target in given.targets or places:
        try:
            print(line(target, places[target], given), flush=True)
        except (NotInstalled, RuntimeError) as error:
            print(f"| {target} | | | | | | | {error} |", flush=True)


if __name__ == "__main__":
    main()
