"""How the answers of several targets to the same instances of queries compare."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cli.results import Result
from simulator.data.dataset import Dataset
from simulator.data.ranges import merged
from simulator.errors import MismatchError, UnverifiableError
from simulator.protocol.messages import QueryVerdict

_ROWS = ("workload", "workload_version", "seed", "start_ms")
"""With the parameters and the ranges: what decides the rows of a dataset."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The answers of all targets to one query type."""

    query: str
    answers: int = 0
    """Instances that all targets have answered."""
    equal: int = 0
    """Equal in every digit."""
    rounded: int = 0
    """Different only as far as rounding allows: each is equal to the truth."""
    different: tuple[int, ...] = ()
    problem: str = ""
    """Why a target has no answers to compare."""


def differences(one: Dataset, other: Dataset) -> list[str]:
    """Return in what two datasets differ that decides their rows."""
    pairs = [(name, getattr(one, name), getattr(other, name)) for name in _ROWS]
    names = dict.fromkeys([*one.params, *other.params])
    pairs += [(name, one.params.get(name), other.params.get(name)) for name in names]
    found = [f"{name} {ours} and {theirs}" for name, ours, theirs in pairs if ours != theirs]
    if not found and merged(one.ranges) != merged(other.ranges):
        found.append(f"{one.rows:,} rows and {other.rows:,}")
    return found


def agreements(results: Sequence[Result]) -> list[Agreement]:
    """Return for each query type how the answers in these results compare."""
    by_target = {result.target: _verdicts(result) for result in results}
    names = dict.fromkeys(name for verdicts in by_target.values() for name in verdicts)
    return [_agreement(name, by_target) for name in names]


def exit_code(results: Sequence[Result], found: Sequence[Agreement]) -> int:
    """Return the exit code: that of a run that failed, or what the comparison says."""
    for result in results:
        if result.status != "done":
            return result.exit_code
    codes = {result.exit_code for result in results}
    if MismatchError.exit_code in codes or any(each.different for each in found):
        return MismatchError.exit_code
    compared = any(each.answers for each in found)
    return max(codes) if compared else UnverifiableError.exit_code


def _verdicts(result: Result) -> dict[str, QueryVerdict]:
    return {query.name: query for run in result.runs for query in run.outcome.queries}


def _agreement(name: str, by_target: Mapping[str, Mapping[str, QueryVerdict]]) -> Agreement:
    given: dict[int, list[set[str]]] = defaultdict(list)
    wrong: set[int] = set()
    for target, verdicts in by_target.items():
        query = verdicts.get(name)
        if query is None or not query.digests:
            reason = query.verdict.reason if query else "not asked"
            return Agreement(name, problem=f"{target}: {reason}")
        own: dict[int, set[str]] = defaultdict(set)
        for each in query.digests:
            own[each.instance].add(each.digest)
            if not each.ok:
                wrong.add(each.instance)
        for instance, digests in own.items():
            given[instance].append(digests)
    equal = [i for i, sets in given.items() if _all_equal(sets, len(by_target))]
    rounded = [i for i in given if i not in equal and i not in wrong]
    return Agreement(
        name,
        answers=len(given),
        equal=len(equal),
        rounded=len(rounded),
        different=tuple(sorted({*given} - {*equal} - {*rounded})),
    )


def _all_equal(sets: Sequence[set[str]], targets: int) -> bool:
    """Whether each target has given one answer, the same."""
    return len(sets) == targets and len(set.union(*sets)) == 1
