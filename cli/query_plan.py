"""The runs of a query sweep: one for each worker count, on the rows of one insert."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.config import Target
from cli.insert_options import MOST_WORKERS, outside, worker_problems
from cli.plan import PlannedRun, spec_of
from cli.quantities import LONGEST_S
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.query_type import QueryType, askable
from simulator.errors import ConfigError, nearest
from simulator.protocol.spec import Ask, Kind, QueryLoad

DEFAULT_RUNS = 3
MOST_QUERIES = 10_000_000
"""Of one type, by all workers."""
MOST_SHOWN = 1000


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """The options of `query` as they were given."""

    workers: tuple[int, ...]
    runs: int | None
    """Of each worker; None: as `count` or `duration_s` say, or the default."""
    count: int | None
    """Of all workers together."""
    duration_s: float
    queries: tuple[str, ...]
    """Empty: all that can be asked."""
    aligned: bool
    shown_answers: int
    timeout_s: float

    def configuration(self) -> dict[str, Any]:
        """Return what decides the load, for the result."""
        return {
            "workers": list(self.workers),
            "runs": None if self.count or self.duration_s else self.runs or DEFAULT_RUNS,
            "count": self.count,
            "duration_s": self.duration_s,
            "aligned": self.aligned,
            "timeout_s": self.timeout_s,
        }


def left_out(dataset: Dataset, options: QueryOptions) -> dict[str, str]:
    """Return the query types that are left out of a sweep of all, and why."""
    types = DatasetReader(dataset).query_types(aligned=options.aligned)
    if options.queries:
        return {}
    return {name: each.problem for name, each in types.items() if each.problem}


def query_runs(  # noqa: PLR0913
    sweep_id: str,
    target: Target,
    dataset: Dataset,
    options: QueryOptions,
    *,
    complete: bool = True,
    force: bool,
) -> list[PlannedRun]:
    """Return the runs of a query sweep; ConfigError names everything that is wrong."""
    types = DatasetReader(dataset).query_types(aligned=options.aligned)
    database = target.open()
    problems = [
        *_load_problems(options),
        *_type_problems("--queries", options.queries, types, dataset.workload),
        *_type_problems(f"targets.{target.name}.queries", target.tuned, types, dataset.workload),
        *_text_problems(target, types),
    ]
    if not database.capabilities.stores:
        problems.append(f"--target: {target.name} stores nothing that can be queried")
    problems += worker_problems(max(options.workers, default=0), 0, target, force=force)
    if problems:
        raise ConfigError(problems)
    chosen = options.queries or tuple(askable(types))
    load = QueryLoad(
        queries={name: target.tuned.get(name, "") for name in chosen},
        duration_s=options.duration_s,
        aligned=options.aligned,
        shown_answers=options.shown_answers,
    )
    if not database.answered(types, load.queries):
        raise ConfigError(f"--queries: {database.name} can express none of {', '.join(chosen)}")
    return [
        PlannedRun(
            spec_of(
                Kind.QUERY,
                (sweep_id, f"{workers}-q"),
                target,
                dataset,
                complete=complete,
                workers=_tasks(workers, options),
                clean=False,
                timeout_s=options.timeout_s,
                load=load,
            ),
            1,
            dataset.rows,
        )
        for workers in options.workers
    ]


def _tasks(workers: int, options: QueryOptions) -> tuple[Ask, ...]:
    def runs(place: int) -> int:
        if options.count:
            return options.count // workers + (place < options.count % workers)
        return 0 if options.duration_s else options.runs or DEFAULT_RUNS

    return tuple(Ask(place=i, every=workers, runs=runs(i)) for i in range(workers))


def _load_problems(options: QueryOptions) -> list[str]:
    limits = [
        *(("--workers", workers, 1, MOST_WORKERS) for workers in options.workers),
        ("--timeout", options.timeout_s, 0, LONGEST_S),
        ("--duration", options.duration_s, 0, LONGEST_S),
        ("--print-answers", options.shown_answers, 0, MOST_SHOWN),
    ]
    if options.runs is not None:
        limits.append(("--runs", options.runs, 1, MOST_QUERIES))
    if options.count is not None:
        limits.append(("--count", options.count, max(options.workers, default=1), MOST_QUERIES))
    given = {
        "--runs": options.runs is not None,
        "--count": options.count is not None,
        "--duration": bool(options.duration_s),
    }
    ways = [name for name, is_given in given.items() if is_given]
    problems = outside(*limits)
    if len(ways) > 1:
        problems.append(f"{', '.join(ways)}: each says how much is asked; use one of them")
    return problems


def _type_problems(
    where: str, names: Sequence[str] | Mapping[str, str], types: Mapping[str, QueryType], of: str
) -> list[str]:
    problems = []
    for name in names:
        if name not in types:
            problems.append(
                f"{where}: {name!r} is no query of workload {of} ({nearest(name, types)})"
            )
        elif types[name].problem and where == "--queries":
            problems.append(f"{where}: {name} cannot be asked of this data: {types[name].problem}")
    return problems


def _text_problems(target: Target, types: Mapping[str, QueryType]) -> list[str]:
    return [
        f"targets.{target.name}.queries: {name} has random parameters, which a fixed text cannot"
        " have; leave it out"
        for name in target.tuned
        if name in types and types[name].varies
    ]
