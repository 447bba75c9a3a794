"""Figures from the account of a proxy: what passed when, on which connection. Plain Python."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median
from typing import NamedTuple

from tests.faults.liar import Entry, Opening

Account = Mapping[str, float]
"""Figure -> what it should be."""
FIELDS = 1
"""Fields of a row that count: the temperature, but not time, tag and key."""


class Wait(NamedTuple):
    """From when a batch or query was due, or began, until it was answered."""

    from_s: float
    until_s: float

    @property
    def ms(self) -> float:
        return (self.until_s - self.from_s) * 1000


_ROUNDING_S = 1e-6


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
        "p999_ms": percentile(found, 0.999),
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
        "rows_per_s_reference": sum(rows) / fmean(own_s),
        "values_per_s": FIELDS * sum(rows) / timed_s,
        "bytes_per_s": sum(each.size_bytes for lane in lanes for each in lane) / timed_s,
        **({"overlap": (min(ends) - max(begins)) / timed_s} if several else {}),
        **({"evenness": min(rates) / max(rates)} if several else {}),
    }


def client_share(entries: Sequence[Entry]) -> float:
    """Return the part of the connections' time in which nothing was asked of the server."""
    lanes = by_connection(entries)
    whole_s = sum(lane[-1].answered_s - lane[0].began_s for lane in lanes)
    return 1 - sum(each.took_s for lane in lanes for each in lane) / whole_s


def stored(entries: Sequence[Entry], *, refreshes: bool) -> Account:
    """Return the figures until rows could be queried: after a refresh, or once acknowledged."""
    sent = [each for each in entries if each.rows]
    began_s, ended_s = min(e.began_s for e in sent), max(e.answered_s for e in sent)
    if refreshes:
        ended_s = next(e.answered_s for e in entries if not e.rows and e.began_s >= ended_s)
    stored_s = ended_s - began_s
    return {"stored_s": stored_s, "rows_per_s_stored": sum(e.rows for e in sent) / stored_s}


def computed(entries: Sequence[Entry], start_s: float, cpu_s: float, own_s: float) -> Account:
    """Return the figures of one client of known CPU time, which its driver uses beyond its own."""
    whole_s = entries[-1].answered_s - start_s
    return {
        "client_ns_per_row": 1e9 * cpu_s / sum(each.rows for each in entries),
        "client_share": max(cpu_s, own_s) / whole_s,
        "driver_share": max(cpu_s - own_s, 0.0) / whole_s,
    }


def opened(openings: Iterable[Opening], sent: Iterable[Entry]) -> Account:
    """Return the figures of opening the connections of these requests."""
    ports = {each.port for each in sent}
    own = (each for each in openings if each.port in ports)
    found = latencies(max(each.ended_s - each.began_s, 0.0) * 1000 for each in own)
    return {"connect_p50_ms": found["p50_ms"], "connect_p99_ms": found["p99_ms"]}


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
    unknown = 0.05 if lanes[1:] else _ROUNDING_S  # of a step: one connection is its own start
    for first_s, lane in zip(firsts, lanes, strict=True):
        in_all = math.ceil((start_s + schedule.duration_s - first_s) / step_s - unknown)
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
    known = not lanes[1:] or all(_was_free(lane, schedule) for lane in lanes)
    assert known, "no request of a connection was on time"
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


def outage(entries: Sequence[Entry], schedule: Schedule, from_s: float, until_s: float) -> Account:
    """Return the figures of a fault of a worker on a schedule, which ends without a backlog.

    Batches after the fault are numbered from the last one: one may be lost in it.
    """
    done = [each for each in entries if each.answered_s and not each.refused]
    before, after = ([e for e in done if (e.began_s > from_s) is late] for late in (False, True))
    step_s = schedule.interval_s
    start_s = min(each.began_s - n * step_s for n, each in enumerate(before))
    skipped = round(schedule.duration_s / step_s) - len(before) - len(after)
    dues_s = [(n + skipped * (n >= len(before))) * step_s for n in range(len(done))]
    ends_s = [each.answered_s - start_s for each in done]
    faulty_s, last, usual = from_s - start_s, int(ends_s[-1]), int(from_s - start_s)
    rows, waits = Counter[int](), defaultdict[int, list[float]](list)
    for each, due_s, end_s in zip(done, dues_s, ends_s, strict=True):
        rows[int(end_s)] += each.rows
        waits[int(due_s + _ROUNDING_S)].append((end_s - due_s) * 1000)
    rate = fmean(rows[n] for n in range(usual))
    wait_ms = median(ms for n in range(usual) for ms in waits[n])
    _, quiet_s = max(pairwise(ends_s), key=lambda pair: pair[1] - pair[0])
    after_it = range(math.ceil(quiet_s), last)
    back = next(n for n in after_it
                if fmean(rows[m] for m in range(n, min(n + 3, last))) >= 0.95 * rate)  # fmt: skip
    calm = (n for n in range(back, last) if not waits[n] or median(waits[n]) <= 2 * wait_ms)
    settled = next(calm, None)
    found: Account = {
        "silent_s": silence(entries),
        "first_after_s": min(end_s for end_s in ends_s if end_s > until_s - start_s)
        - (until_s - start_s),
        "recovery_s": back - faulty_s,
        "lost_rows": sum(each.rows - each.stored for each in done),
    }
    if settled is not None:  # a backlog may outlast the run
        inside_ms = sorted(ms for n in range(usual, settled) for ms in waits[n])
        found |= {"settled_s": settled - faulty_s, "outage_p99_ms": percentile(inside_ms, 0.99)}
    return found


def fresh(inserts: Sequence[Entry], counts: Sequence[tuple[Entry, int]]) -> Account:
    """Return the figures of freshness of one worker's rows, by answers that count them.

    Rows are seen by the end of the first answer that counts as many as were acknowledged by then.
    """
    done, acked, ends = sorted(inserts, key=lambda each: each.answered_s), 0, []
    for each in done:
        acked += each.rows
        ends.append(acked)

    def known(ask: Entry) -> int:
        return max((n for e, n in zip(done, ends, strict=True) if e.answered_s <= ask.began_s),
                   default=0)  # fmt: skip

    stored_before = min(count - known(ask) for ask, count in counts)
    waits = [
        (min(a.answered_s for a, count in counts if count - stored_before >= upto) - e.answered_s)
        for e, upto in zip(done, ends, strict=True)
        if counts[-1][1] - stored_before >= upto
    ]
    found = latencies(max(wait_s, 0.0) * 1000 for wait_s in waits)
    return {"freshness_p50_ms": found["p50_ms"], "freshness_p99_ms": found["p99_ms"]}


def change(entries: Sequence[Entry]) -> Account:
    """Return the figures of corrections or deletions, each request after the one before."""
    lanes = by_connection(entries)
    timed_s = max(lane[-1].answered_s for lane in lanes) - min(lane[0].began_s for lane in lanes)
    waits = latencies(each.took_s * 1000 for lane in lanes for each in lane)
    return {**waits, "timed_s": timed_s}


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
