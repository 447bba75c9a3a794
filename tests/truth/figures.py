"""What is compared with the account, and how far it may be off."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Compared:
    """A figure, and what the proxy's account says of it."""

    account: str
    share: float = 0.0
    """Part of the account's value by which the figure may differ; more comes with `more`."""
    more: float = 0.0
    unit: str = ""

    def allows(self, reported: float, own: float, added: float = 0.0) -> bool:
        """Return whether a figure is what it should be, where other work may have added this.

        Other work makes a latency longer, never shorter.
        """
        either = self.share * abs(own) + self.more
        return own - either + min(added, 0.0) <= reported <= own + either + max(added, 0.0)

    @property
    def tolerance(self) -> str:
        """The tolerance in words."""
        parts = [f"{100 * self.share:g} %"] if self.share else []
        parts += [f"{self.more:g} {self.unit}".strip()] if self.more else []
        return " + ".join(parts) or "none"

    def deviation(self, reported: float, own: float) -> str:
        """Return by how much a figure is off, in words."""
        if not self.share:
            return f"{reported - own:+.3g} {self.unit}".strip() if reported != own else "0"
        return f"{100 * (reported - own) / own:+.1f} %" if own else f"{reported:g}"


def _latency(account: str) -> Compared:
    return Compared(account, 0.03, 3.0, "ms")


FIGURES = {
    "rows": Compared("rows of the requests that were acknowledged"),
    "bytes_per_s": Compared("bytes of their bodies or streams, over the time of the rate", 0.03),
    "rows_per_s": Compared(
        "these rows, from the first request, or the schedule's start, to the last answer or the"
        " next due time",
        0.03,
    ),
    "rows_per_s_reference": Compared(
        "these rows, over the mean time of the connections, each from its first request to its last"
        " answer",
        0.03,
    ),
    "values_per_s": Compared(
        "the only field of each of these rows, over the time of the rate", 0.03
    ),
    "stored_s": Compared(
        "time of the rate (PostgreSQL), or until the answer of the refresh (Elasticsearch)",
        0.03,
        0.03,
        "s",
    ),
    "rows_per_s_stored": Compared("these rows, over that time", 0.03),
    "timed_s": Compared("time of a change, from first request to last answer", 0.03, 0.03, "s"),
    "queries_per_s": Compared("answers after the first one, over the same kind of time", 0.04),
    "min_ms": _latency("least time from the first byte, or the due time, to the whole answer"),
    "avg_ms": _latency("mean of these times"),
    "p50_ms": _latency("their median"),
    "p95_ms": _latency("their 95th percentile"),
    "p99_ms": _latency("their 99th percentile"),
    "p999_ms": _latency("their 99.9th percentile"),
    "max_ms": _latency("the longest of them"),
    "first_ms": _latency("mean of the first answers of the connections"),
    "connect_p50_ms": _latency(
        "median of the times from taking a connection to the last answer before its first request"
        " (PostgreSQL, QuestDB)"
    ),
    "connect_p99_ms": _latency("their 99th percentile (QuestDB)"),
    "freshness_p50_ms": _latency(
        "median of the times from the answer to a batch to that of the first query that counts it"
        " (PostgreSQL)"
    ),
    "freshness_p99_ms": _latency("their 99th percentile"),
    "unsent": Compared("due times without a request"),
    "overlap": Compared("time from the last first request to the first last answer", more=0.04),
    "evenness": Compared("rows/s of the connections, least over most", more=0.04),
    "client_share": Compared(
        "time in which no request was open; CPU time that client and driver are made to use",
        more=0.03,
    ),
    "driver_share": Compared("CPU time that the driver is made to use for each row", more=0.03),
    "client_ns_per_row": Compared("both CPU times, over the rows", 0.1),
    "uncertain_rows": Compared("rows of requests that were cut before an answer"),
    "uncertain_present": Compared("of them, those that were forwarded"),
    "uncertain_absent": Compared("of them, those that were not"),
    "retried": Compared("requests that were refused for now"),
    "rows found": Compared("acknowledged rows that were forwarded"),
    "rows lost": Compared("acknowledged rows that were not"),
    "rows twice": Compared("rows that were forwarded again, where they do not replace themselves"),
    "silent_s": Compared("longest time without an acknowledgement", 0.03, 0.1, "s"),
    "first_after_s": Compared(
        "time from the end of a fault to the next acknowledgement", 0.03, 0.1, "s"
    ),
    "recovery_s": Compared(
        "time from a fault until a second from which the rate is that before", 0.03, 0.1, "s"
    ),
    "settled_s": Compared("the same, of the median wait, too", 0.03, 0.1, "s"),
    "outage_p99_ms": Compared(
        "99th percentile of the waits that were due until then", 0.05, 3.0, "ms"
    ),
    "lost_rows": Compared("acknowledged rows that were not forwarded, in a run with a fault"),
    "bytes_per_row": Compared("size of the table's files over its rows (PostgreSQL)", 0.03),
    "capacity": Compared("the rate of the requests without a schedule (`--tolerance 0.05`)", 0.1),
}
"""Figure -> what it is compared with."""


@dataclass
class Deviations:
    """By how much figures were off, for the table."""

    found: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)
    """Figure and server -> what was reported, and what the account says."""

    def add(self, figure: str, server: str, reported: float, own: float, added: float = 0.0) -> str:
        """Take one, and return what is wrong with it, or nothing."""
        self.found.setdefault((figure, server), []).append((reported, own))
        compared = FIGURES[figure]
        if compared.allows(reported, own, added):
            return ""
        more = f", and {added:+.3g} for other work" if added else ""
        off = f"{figure}: {reported:g}, by the account {own:g}"
        return f"{off} (tolerance {compared.tolerance}{more})"

    def worst(self, figure: str, *servers: str) -> str:
        """Return the largest deviation of a figure with some servers; empty: it was not tried."""
        pairs = [each for server in servers for each in self.found.get((figure, server), ())]
        if not pairs:
            return ""
        compared = FIGURES[figure]
        return compared.deviation(*max(pairs, key=lambda pair: _off(compared, *pair)))

    @property
    def servers(self) -> list[str]:
        """Those with which something was compared."""
        return list(dict.fromkeys(server for _, server in self.found))

    def lines(self) -> list[str]:
        """Return the table figure x server -> largest deviation."""
        servers = self.servers
        rows = [["figure", *servers]]
        rows += [[name, *(self.worst(name, each) or "-" for each in servers)] for name in FIGURES]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _off(compared: Compared, reported: float, own: float) -> float:
    """Return a deviation by which others are ranked."""
    return abs(reported - own) / (abs(own) if compared.share and own else 1)
