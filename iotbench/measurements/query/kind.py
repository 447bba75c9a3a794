"""`query`: how long answers take; every answer is verified."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from iotbench.config.input.quantities import format_time
from iotbench.config.targets.config import Target
from iotbench.figures.pictures import Form, Over, Showing
from iotbench.measurements.insert.warnings import REACHED
from iotbench.measurements.query.figures import QUERY
from iotbench.measurements.query.options import QueryOptions
from iotbench.measurements.query.plan import left_out, load_problems, query_runs
from iotbench.measurements.query.warnings import (
    asking_warnings,
    describe_asked,
    names_of,
    share_facts,
)
from iotbench.measurements.shared.kind import Kind, Planned
from iotbench.measurements.shared.plan import PlannedRun, Wanted
from iotbench.measurements.shared.stages import stage_conflicts
from iotbench.results.result import Result
from simulator.errors import ConfigError, counted
from simulator.protocol.spec import RunSpec, Work


class QueryKind(Kind[QueryOptions]):
    """Workers ask queries about stored rows, one query after the other."""

    name = "query"
    work = Work.QUERY
    subjects = (QUERY,)
    options = QueryOptions
    title = "Queries"
    pictures = (
        Form.GROWTH,
        Form.WAITS,
        Over("queries_per_s", "Queries per second"),
        Form.CLIENT_TIMES,
    )
    help = """Time the workload's queries and verify every answer.

    Run `insert` first: it writes the rows. Each worker runs each query once, timed separately as
    the first answer, and then --runs times. The time of a run is the wait for the database until
    every row of the answer has arrived; the time that this program spends on the answer is the
    client's share. The random parameters of a query (hosts, windows of time) differ in each run;
    the same seed gives the same queries. Afterwards each answer is compared with the truth, which
    is computed from the rows themselves.

    With --ramp, a growing number of workers, up to --workers, asks each query, to find how many
    workers the database can serve within the response limit.

    Several targets, as in -t sqlite,duckdb, are asked about the same rows in turns, and compared
    with the first one: 3 times, and up to 12 while the difference over all queries is neither known
    nor noise; or --repeats times. The last line names the page with all pictures.
    """
    examples = (
        "query --target sqlite",
        "query -t postgresql -w 4 -r 5 --types count-events,newest-per-device",
        "query -t influxdb -w 1,2,4 --types '*-host-1-hr' --count 1000 --burn-in 10",
        "query -t sqlite:a.db,duckdb:b.duckdb",
        "query -t sqlite --queries queries.yaml",
        "query -t postgresql --types newest-per-device --stages 1:1m,8@200:5m",
        "query -t postgresql -w 2 --connections 40 --pool 8 --rate 200 --duration 1m",
        "query -t timescaledb -w 64 --types 1-host-1-hr --ramp --response-limit 50ms",
    )

    def problems(self, options: QueryOptions) -> list[str]:
        return [*load_problems(options), *stage_conflicts(options.stages, options.given)]

    def expect(self, options: QueryOptions, target: Target) -> None:
        if options.repeats:
            raise ConfigError(["--repeats: is for several targets; give --runs with one target"])

    def active(self, options: QueryOptions) -> Collection[int]:
        return options.active

    def plan(self, wanted: Wanted[QueryOptions]) -> Planned:
        options, asked = wanted.options, wanted.stored.dataset
        if options.seed not in (None, asked.seed):
            raise ConfigError(
                f"--seed: the data was inserted with seed {asked.seed}, got {options.seed}"
            )
        planned = query_runs(wanted)
        configuration: dict[str, Any] = {
            **options.configuration(), **describe_asked(asked, planned[0].spec)
        }  # fmt: skip
        return Planned(planned, configuration, left_out(asked, options))

    def outline(self, planned: Sequence[PlannedRun], last: Result | None) -> Iterator[str]:
        yield f"queries: {names_of(planned[0].spec.load)}"
        yield from (f"{_format_often(each.spec)}; each worker asks once before" for each in planned)

    def warnings(self, result: Result) -> Iterator[str]:
        yield from asking_warnings(result, self.summary(result))
        rate = float(result.configuration.get("rate") or 0.0)
        weights = result.configuration.get("weights") or {}
        stages = next((run.stages for run in result.runs), ())
        rates = [stage.rate_per_s or rate for stage in stages] or [rate]
        for row in self.summary(result).rows:
            if stages and row.place.stage is None:
                continue
            wanted = rates[(row.place.stage or 1) - 1] * weights.get(row.place.query, 1)
            reached, option = row.value("queries_per_s"), "--stages" if stages else "--rate"
            if reached is not None and reached < REACHED * wanted:
                yield (
                    f"query {row.place.name}: reached only {reached:,.3g} of the requested"
                    f" {wanted:,.3g} queries/s, so the waits include the delay behind schedule;"
                    f" lower {option}, or use more workers or --connections"
                )

    def answers(self, result: Result) -> Iterator[tuple[str, str]]:
        yield from share_facts(result)

    def showing(self, result: Result) -> Showing:
        if any(run.outcome.ramps for run in result.runs):
            return Showing("Query ramps", (Form.RAMPS,))
        return super().showing(result)

    def warmup_text(self, rows: int, runs: int) -> str:
        return (
            f"of each query by each worker: {counted(runs, 'run')} in all, whose answers were"
            " checked, and left out of every figure above but the first answers"
        )


def _format_often(spec: RunSpec) -> str:
    """Return how often the workers of a run ask each query."""
    workers, runs = counted(len(spec.workers), "worker"), sum(task.runs for task in spec.asks)
    often = counted(runs, "run") if runs else f"for {format_time(spec.clocking.duration_s)}"
    if fewest := sum(task.fewest for task in spec.asks):
        often = f"up to {often}, or {fewest} and a second"
    connections = spec.several.connections
    several = f" of {counted(connections, 'connection')}" if connections > 1 else ""
    weighted = ", times its weight" if runs and spec.load.weights else ""
    return f"{workers}{several}: each query {often}{weighted}"


KIND = QueryKind()
