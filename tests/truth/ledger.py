"""Figures from the account of a proxy: what passed when, on which connection. Plain Python."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from tests.faults.liar import Entry

Account = Mapping[str, float]
"""Figure -> what it should be."""


class Wait(NamedTuple):
    """From when a batch or query was due, or began, until it was answered."""

    from_s: float
    until_s: float

    @property
    def ms(self) -> float:
        return (self.until_s - self.from_s) * 1000


@dataclass(frozen=True)
class Schedule:
    """How often something is due on each connection, and how long: an open load."""

    interval_s: float
    duration_s: float


def by_connection(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Return the answered requests of each connection."""
    found: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.answered_s:
            found.setdefault(entry.port, []).append(entry)
    return list(found.values())


def percentile(sorted_ms: Sequence[float], share: float) -> float:
    """Return the value of the nearest rank, as HdrHistogram counts it."""
    return sorted_ms[max(int(share * len(sorted_ms) + 0.5), 1) - 1]


def latencies(waits_ms: Iterable[float]) -> Account:
    """Return the figures of latency."""
    found = sorted(waits_ms)
    return {
        "min_ms": found[0],
        "avg_ms": fmean(found),
        "p50_ms": percentile(found, 0.5),
        "p95_ms": percentile(found, 0.95),
        "p99_ms": percentile(found, 0.99),
        "max_ms": found[-1],
    }


def inserted(entries: Sequence[Entry], timed_s: float = 0.0) -> Account:
    """Return the figures of inserts without a schedule, or whose time is known."""
    lanes = by_connection(entries)
    begins, ends = [lane[0].began_s for lane in lanes], [lane[-1].answered_s for lane in lanes]
    timed_s = timed_s or max(ends) - min(begins)
    rows = [sum(each.rows for each in lane if not each.refused) for lane in lanes]
    own_s = [end - begin for begin, end in zip(begins, ends, strict=True)]
    rates = [count / each_s for count, each_s in zip(rows, own_s, strict=True)]
    several = len(lanes) > 1
    return {
        "rows": sum(rows),
        "rows_per_s": sum(rows) / timed_s,
        "bytes_per_s": sum(each.size_bytes for lane in lanes for each in lane) / timed_s,
        **({"overlap": (min(ends) - max(begins)) / timed_s} if several else {}),
        **({"evenness": min(rates) / max(rates)} if several else {}),
    }


def client_share(entries: Sequence[Entry]) -> float:
    """Return the part of the connections' time in which nothing was asked of the server."""
    lanes = by_connection(entries)
    whole_s = sum(lane[-1].answered_s - lane[0].began_s for lane in lanes)
    return 1 - sum(each.took_s for lane in lanes for each in lane) / whole_s


def closed(entries: Sequence[Entry]) -> Account:
    """Return the figures of inserts, each batch of which follows the one before."""
    waits = latencies(each.took_s * 1000 for lane in by_connection(entries) for each in lane)
    return {**inserted(entries), **waits, "client_share": client_share(entries)}


def due(lanes: Sequence[Sequence[Wait]], schedule: Schedule) -> tuple[float, list[Wait], float]:
    """Return the start of a schedule, the wait of all that fell due, and until when it was kept.

    A connection was never earlier than its schedule, so what came soonest after it was due shows
    when the schedule began. What was never sent waited until its connection was free again.
    """
    step_s = schedule.interval_s
    firsts = [min(each.from_s - n * step_s for n, each in enumerate(lane)) for lane in lanes]
    start_s, found, kept_s = min(firsts), [], []
    for first_s, lane in zip(firsts, lanes, strict=True):
        in_all = math.ceil((start_s + schedule.duration_s - first_s) / step_s - 0.05)
        least_s = min(each.until_s - first_s - n * step_s for n, each in enumerate(lane))
        for number in range(max(in_all, len(lane))):
            due_s = first_s + number * step_s
            until_s = lane[number].until_s if number < len(lane) else lane[-1].until_s
            found.append(Wait(due_s, max(until_s, due_s + least_s)))
        kept_s.append(first_s + len(lane) * step_s)
    return start_s, found, min(kept_s)


def _was_free(lane: Sequence[Entry], schedule: Schedule) -> bool:
    """Return whether a connection waited for its schedule: only then is its start known."""
    gaps_s = (after.began_s - before.answered_s for before, after in pairwise(lane))
    return max(gaps_s, default=0.0) > schedule.interval_s / 10


def scheduled(entries: Sequence[Entry], schedule: Schedule) -> Account:
    """Return the figures of inserts on a schedule, which some of them kept."""
    lanes = by_connection(entries)
    assert all(_was_free(lane, schedule) for lane in lanes), "no request was on time"
    begun = [[Wait(each.began_s, each.answered_s) for each in lane] for lane in lanes]
    start_s, waits, kept_s = due(begun, schedule)
    timed_s = max(*(each.until_s for lane in begun for each in lane), kept_s) - start_s
    rows = sum(each.rows for lane in lanes for each in lane)
    unsent = len(waits) - sum(map(len, begun))
    rate = {"rows_per_s": rows / timed_s, "rows": rows, "unsent": unsent}
    return {**rate, **latencies(each.ms for each in waits)}


def queries(entries: Sequence[Entry], runs: int) -> list[list[Wait]]:
    """Return the `runs` of a query by connection; each took equally many requests.

    The wait of several requests is the sum.
    """
    lanes = by_connection(entries)
    each, odd = divmod(sum(map(len, lanes)), runs)
    assert each, f"fewer requests than {runs} runs: {entries}"
    assert not odd, f"{odd} requests more than those of {runs} runs: {entries}"
    parts = [[lane[n : n + each] for n in range(0, len(lane), each)] for lane in lanes]
    return [
        [Wait(part[0].began_s, part[0].began_s + sum(e.took_s for e in part)) for part in lane]
        for lane in parts
    ]


def asked(entries: Sequence[Entry], runs: int) -> Account:
    """Return the figures of queries, each after the one before; the first of `runs` is apart."""
    lanes = queries(entries, runs)
    timed = [each.ms for lane in lanes for each in lane[1:]]
    timed_s = max(lane[-1].until_s - lane[0].until_s for lane in lanes)
    return {
        **latencies(timed),
        "first_ms": fmean(lane[0].ms for lane in lanes),
        "queries_per_s": len(timed) / timed_s,
    }


def asked_meanwhile(entries: Sequence[Entry], runs: int) -> Account:
    """Return the figures of queries beside inserts, whose first one is asked before the start."""
    lanes = queries(entries, runs)
    timed_s = max(lane[-1].until_s for lane in lanes) - min(lane[0].from_s for lane in lanes)
    waits = [each.ms for lane in lanes for each in lane]
    return {**latencies(waits), "queries_per_s": len(waits) / timed_s}


def asked_on_schedule(entries: Sequence[Entry], runs: int, schedule: Schedule) -> Account:
    """Return the figures of queries on a schedule, whose first one is apart."""
    lanes = [lane[1:] for lane in queries(entries, runs)]
    start_s, waits, kept_s = due(lanes, schedule)
    timed_s = max(*(each.until_s for lane in lanes for each in lane), kept_s) - start_s
    sent = sum(map(len, lanes))
    found = {"queries_per_s": sent / timed_s, "unsent": len(waits) - sent}
    return {**found, **latencies(each.ms for each in waits)}


def silence(entries: Sequence[Entry]) -> float:
    """Return the longest time without an acknowledgement, in seconds."""
    ends = sorted(each.answered_s for each in entries if each.answered_s and not each.refused)
    return max(after - before for before, after in pairwise(ends))


def change(entries: Sequence[Entry], rows: int) -> Account:
    """Return the figures of corrections or deletions, each request after the one before."""
    lanes = by_connection(entries)
    timed_s = max(lane[-1].answered_s for lane in lanes) - min(lane[0].began_s for lane in lanes)
    waits = latencies(each.took_s * 1000 for lane in lanes for each in lane)
    return {**waits, "rows": rows, "timed_s": timed_s}


def unseen(entries: Sequence[Entry]) -> Account:
    """Return what the client's way to the proxy and back may add to latencies, at most.

    A client that sends one request after the other was on its way for no longer than the times
    before and after a request in which none was open.
    """
    taken, longer = [], []
    for lane in by_connection(entries):
        gaps = [max(after.began_s - before.answered_s, 0.0) for before, after in pairwise(lane)]
        for each, before, after in zip(lane, [0.0, *gaps], [*gaps, 0.0], strict=True):
            taken.append(each.took_s * 1000)
            longer.append((each.took_s + before + after) * 1000)
    least, most = latencies(taken), latencies(longer)
    return {name: most[name] - least[name] for name in least}


def unseen_on_schedule(entries: Sequence[Entry], step_s: float) -> Account:
    """Return the same of a schedule: as much as requests were late whose connection was free."""
    late_ms = [0.0]
    for lane in by_connection(entries):
        first_s = min(each.began_s - n * step_s for n, each in enumerate(lane))
        for number, (before, each) in enumerate(pairwise(lane), 1):
            due_s = first_s + number * step_s
            if before.answered_s < due_s:
                late_ms.append((each.began_s - due_s) * 1000)
    found = latencies(late_ms)
    return {**found, **dict.fromkeys(("min_ms", "p50_ms"), found["avg_ms"])}
