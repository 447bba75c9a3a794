"""Comparison of the answers of several targets to the same instances of queries."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sys import float_info
from typing import Any, TypeAlias

from iotbench.results.result import Result
from simulator.data.dataset import Dataset
from simulator.data.ranges import merge
from simulator.errors import MismatchError, UnverifiableError
from simulator.protocol.events import QueryVerdict
from simulator.protocol.messages import Scalar

Rows: TypeAlias = Sequence[Sequence[Scalar]]
EPSILON = float_info.epsilon
"""2**-52: two sums of n values of equal sign differ by a share of at most n * EPSILON."""
_TOO_MANY = "the answers have more values than are kept; ask for fewer rows, or a smaller --count"
_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Agreement:
    """The answers of all targets to one query type."""

    query: str
    answers: int = 0
    """Number of compared instances."""
    equal: int = 0
    """Number of instances with answers that are equal, digit for digit."""
    rounded: int = 0
    """Number of instances with answers that differ only by rounding; each one equals the truth."""
    different: tuple[int, ...] = ()
    own: bool = False
    """True for a query of the user's own, which has no truth; values show if rounding differs."""
    problem: str = ""
    """Reason why a target has no answers to compare."""


def list_differences(one: Dataset, other: Dataset) -> list[str]:
    """Return the differences between two datasets that lead to different rows."""
    ours, theirs = one.origin, other.origin
    found = [
        f"{name} {_format(ours.get(name))} and {_format(theirs.get(name))}"
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name)
    ]
    if "sha256" in ours and ours["sha256"] != theirs.get("sha256"):
        found.insert(0, f"the file {one.params['source']} and {other.params.get('source')}")
    if not found and merge(one.ranges) != merge(other.ranges):
        found.append(f"{one.rows:,} rows and {other.rows:,}")
    return found


def _format(value: object) -> str:
    text = str(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def compare_answers(results: Sequence[Result]) -> list[Agreement]:
    """Return the comparison of the answers in results, one for each query type."""
    by_target = {
        result.target: {query.name: query for query in result.queries} for result in results
    }
    names = dict.fromkeys(name for verdicts in by_target.values() for name in verdicts)
    slack = max((result.dataset.rows for result in results), default=0) * EPSILON
    return [_compare_query(name, by_target, slack) for name in names]


def exit_code(results: Sequence[Result], found: Sequence[Agreement]) -> int:
    """Return the exit code of a failed run or, if no run failed, of the comparison."""
    for result in results:
        if result.status != "done":
            return result.exit_code
    codes = {0 if result.is_unchecked else result.exit_code for result in results}
    if MismatchError.exit_code in codes or any(each.different for each in found):
        return MismatchError.exit_code
    open_own = any(each.own and each.problem for each in found)
    compared = any(each.answers for each in found) and not open_own
    return max(codes) if compared else UnverifiableError.exit_code


def _compare_query(
    name: str, by_target: Mapping[str, Mapping[str, QueryVerdict]], slack: float
) -> Agreement:
    given: dict[int, list[set[str]]] = defaultdict(list)
    wrong: set[int] = set()
    for target, verdicts in by_target.items():
        query = verdicts.get(name)
        if query is None or not query.digests:
            reason = query.verdict.reason if query else "not asked"
            return Agreement(name, problem=f"{target}: {reason}")
        digests: dict[int, set[str]] = defaultdict(set)
        for each in query.digests:
            digests[each.instance].add(each.digest)
            if not each.ok:
                wrong.add(each.instance)
        for instance, found in digests.items():
            given[instance].append(found)
    queries = [verdicts[name] for verdicts in by_target.values()]
    is_own = any(each.own for each in queries)
    if is_own and any(each.rows is None for query in queries for each in query.digests):
        return Agreement(name, own=True, problem=_TOO_MANY)
    equal = {
        instance
        for instance, sets in given.items()
        if len(sets) == len(queries) and len(set.union(*sets)) == 1
    }
    others = {*given} - equal
    rounded = _find_near(queries, given, others, slack) if is_own else others - wrong
    return Agreement(
        name,
        answers=len(given),
        equal=len(equal),
        rounded=len(rounded),
        different=tuple(sorted(others - rounded)),
        own=is_own,
    )


def _find_near(
    queries: Sequence[QueryVerdict],
    given: Mapping[int, Sequence[set[str]]],
    instances: set[int],
    slack: float,
) -> set[int]:
    rows: dict[int, list[Rows]] = defaultdict(list)
    for each in (each for query in queries for each in query.digests):
        rows[each.instance].append(each.rows or ())
    return {
        instance
        for instance in instances
        if len(given[instance]) == len(queries)
        and all(are_near(rows[instance][0], other, slack) for other in rows[instance][1:])
    }


def are_near(one: Rows, other: Rows, slack: float) -> bool:
    """Return whether answers are equal; doubles may differ by the share `slack`.

    Rows are sorted by their other values first, since a double's last digit may change the order.
    """
    if len(one) != len(other):
        return False
    pairs = zip(sorted(one, key=_make_key), sorted(other, key=_make_key), strict=True)
    return all(
        len(a) == len(b) and all(_is_near(x, y, slack) for x, y in zip(a, b, strict=True))
        for a, b in pairs
    )


def _make_key(row: Sequence[Scalar]) -> tuple[Any, ...]:
    exact = [
        (
            isinstance(value, float),
            value is not None,
            "" if isinstance(value, float) else str(value),
        )
        for value in row
    ]
    return (*exact, *(value for value in row if isinstance(value, float)))


def _is_near(one: Scalar, other: Scalar, slack: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= slack * max(abs(one), abs(other))
    return one == other
