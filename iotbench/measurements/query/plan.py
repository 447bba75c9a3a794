"""The runs of a query sweep, one for each worker count, on the rows of one insert."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from iotbench.config.input.options import outside
from iotbench.config.targets.config import Target
from iotbench.measurements.insert.checks import worker_problems
from iotbench.measurements.query.options import BARE_S, MOST_QUERIES, QueryOptions, RampUp, Types
from iotbench.measurements.query.own import find_own_problems
from iotbench.measurements.shared.plan import PlannedRun, Wanted
from iotbench.measurements.shared.stages import (
    are_scheduled,
    duration_of,
    rate_problems,
    stage_problems,
)
from simulator.data.dataset import Dataset
from simulator.data.own_query import TextQuery, make_own_types
from simulator.data.query import Query
from simulator.data.query_type import QueryType, askable
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError, nearest
from simulator.modules.contract import Database
from simulator.protocol.spec import Ask, QueryLoad, Work

TYPES = "--types"
_PATTERN = frozenset("*?[")


def left_out(dataset: Dataset, options: QueryOptions) -> dict[str, str]:
    """Return query type -> why a sweep leaves it out."""
    types = DatasetReader(dataset).query_types(aligned=options.aligned)
    return impossible_of(options.asked, types)


def impossible_of(words: Sequence[str], types: Mapping[str, QueryType]) -> dict[str, str]:
    """Return type -> why it cannot be asked, for the types that only patterns select."""
    by_pattern = [name for word in words for name in matches_of(word, types)]
    found = dict.fromkeys(name for name in by_pattern if name not in words)
    return {name: types[name].problem for name in found if types[name].problem}


def matches_of(pattern: str, types: Iterable[str]) -> list[str]:
    """Return the types that match a pattern; empty for a pattern without wildcards."""
    if _PATTERN.isdisjoint(pattern):
        return []
    return [name for name in types if fnmatchcase(name, pattern)]


def choose_types(words: Sequence[str], types: Mapping[str, QueryType]) -> list[str]:
    """Return the selected types, each once; patterns select only types that can be asked."""
    possible = askable(types)
    named = [name for word in words for name in (word, *matches_of(word, possible))]
    return list(dict.fromkeys(name for name in named if name in types))


def weights_of(options: Types, types: Mapping[str, QueryType]) -> dict[str, int]:
    """Return all weights except 1. Names override patterns, and later patterns earlier ones."""
    found: dict[str, int] = {}
    for word, weight in options.weights.items():
        found |= dict.fromkeys(matches_of(word, types), weight)
    found |= {name: weight for name, weight in options.weights.items() if name in types}
    return {name: weight for name, weight in found.items() if weight != 1}


def query_runs(wanted: Wanted[QueryOptions]) -> list[PlannedRun]:
    """Return the runs of a query sweep; ConfigError names everything that is wrong."""
    target, dataset, options = wanted.target, wanted.stored.dataset, wanted.options
    types = DatasetReader(dataset).query_types(aligned=options.aligned)
    problems = [*_target_problems(options, target, dataset, types)]
    problems += worker_problems(
        max(options.counts, default=0), 0, target,
        force=wanted.force, connections=options.connections,
    )  # fmt: skip
    if problems:
        raise ConfigError(problems)
    chosen = choose_types(options.asked, types)
    load = QueryLoad(
        queries={name: target.tuned.get(name, "") for name in (*chosen, *options.own)},
        own=dict(options.own),
        weights=weights_of(options, types),
        aligned=options.aligned,
        shown_answers=options.print_answers,
        ramp=options.load_ramp,
        print_interval=options.print_interval,
        digests=options.digests,
    )
    clocking = wanted.clocking(
        duration_s=duration_of(options.stages)
        or (BARE_S if options.fewest else options.duration_s),
        queries_per_s=options.rate,
    )
    expect_expressible(target.open(), load, types, dataset)
    last = options.counts[-1]
    return [
        PlannedRun(
            wanted.spec(
                Work.QUERY,
                f"{workers}-q",
                dataset,
                workers=_share_runs(workers, options),
                clean=False,
                clocking=clocking,
                load=load.model_copy(update={"plans": options.plans and workers == last}),
            ),
            1,
            dataset.rows,
        )
        for workers in options.counts
    ]


def expect_expressible(
    database: Database,
    load: QueryLoad,
    types: Mapping[str, QueryType],
    dataset: Dataset,
    within: str = "",
) -> None:
    """Raise ConfigError if the database can express none of the queries of a load."""
    every: dict[str, QueryType[Query | TextQuery]]
    every = {**types, **make_own_types(load.own, dataset)}
    if not database.select_answered(every, load.queries):
        names = ", ".join(name for name in load.queries if name not in load.own)
        raise ConfigError(f"{TYPES}: {database.name} can express none of {names}{within}")


def _share_runs(workers: int, options: QueryOptions) -> tuple[Ask, ...]:
    def runs(place: int) -> int:
        if options.count:
            return options.count // workers + (place < options.count % workers)
        return options.runs_each * options.connections

    fewest, burn_in = (each * options.connections for each in (options.fewest, options.burn_in))
    return tuple(
        Ask(place=i, every=workers, runs=runs(i), fewest=fewest, burn_in=burn_in)
        for i in range(workers)
    )


def load_problems(options: QueryOptions) -> list[str]:
    """Return problems with the number of runs, the duration and the number of workers."""
    problems = options.problems()
    heaviest = max(options.weights.values(), default=1) or 1
    if options.count is not None:
        fewest = options.connections * max(options.counts, default=1)
        problems += outside(("--count", options.count, fewest, MOST_QUERIES // heaviest))
    by_time = options.duration_s or options.stages or options.ramp
    if heaviest > 1 and by_time and not are_scheduled(options.stages, options.rate):
        problems.append(
            "--types: a weight multiplies --runs, --count and --rate; without a rate each query is"
            " asked for the same time: add --rate, use --count, or leave the weights out"
        )
    given = {
        "--ramp": options.ramp,
        "--runs": options.runs is not None,
        "--count": options.count is not None,
        "--duration": bool(options.duration_s),
    }
    problems += rate_problems({"--rate": options.rate})
    if options.rate and options.ramp:
        problems.append("--rate: a ramp lets in workers that ask as fast as they can; leave it out")
    ways = [name for name, is_given in given.items() if is_given]
    if len(ways) > 1:
        problems.append(f"{', '.join(ways)}: each sets how much is asked; use one of them")
    others = {name: is_given and options.stages for name, is_given in given.items()}
    problems += stage_problems(options.stages, others)
    return problems + _ramp_problems(options)


def _ramp_problems(options: QueryOptions) -> list[str]:
    if not options.ramp:
        own = (each for field, each in RampUp.declare().items() if getattr(options, field))
        return [f"{each.names[0]}: is only for --ramp" for each in own]
    problems = []
    if options.warmup_s:
        problems.append("--warmup: a ramp lets in workers at different times; use --burn-in N")
    if options.response_limit_s is None:
        problems.append("--response-limit: is required with --ramp, such as 100ms")
    return problems


def type_problems(
    where: str, names: Sequence[str] | Mapping[str, str], types: Mapping[str, QueryType], of: str
) -> list[str]:
    """Return why named types cannot be asked about workload `of`; `where` begins each message."""
    problems = []
    for name in names:
        matching = matches_of(name, types) if where == TYPES else []
        if matching and all(types[each].problem for each in matching):
            problems.append(f"{where}: none of {', '.join(matching)} can be asked of this data")
        elif name not in types and not matching:
            problems.append(
                f"{where}: {name!r} is not a query of workload {of} ({nearest(name, types)})"
            )
        elif name in types and types[name].problem and where == TYPES:
            problems.append(f"{where}: {name} cannot be asked of this data: {types[name].problem}")
    return problems


def _target_problems(
    options: QueryOptions, target: Target, dataset: Dataset, types: Mapping[str, QueryType]
) -> Iterator[str]:
    yield from type_problems(TYPES, options.named, types, dataset.workload)
    place = f"targets.{target.name}.queries"
    yield from type_problems(place, target.tuned, types, dataset.workload)
    for name in target.tuned:
        if name in types and types[name].varies:
            yield (
                f"{place}: {name} has random parameters, which a fixed text cannot have; leave it"
                " out"
            )
    yield from find_own_problems(options.own, target, dataset, types)
    can = target.open().capabilities
    if not can.stores:
        yield f"--target: {target.name} stores nothing that can be queried"
    elif options.plans and not can.plans:
        yield f"--plans: {target.name} has no query plans: {can.no_plans}"
