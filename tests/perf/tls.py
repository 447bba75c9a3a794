"""What TLS costs: the same server with and without it, in turn, as a table.

    python tests/perf/tls.py [postgres] [ferretdb] [--connections 100] [--pairs 3] [--duration 5s]

Two workers open connections and insert single rows at a low rate; then they insert batches of 1,000
as fast as they can. Each side is first equally often; shown are medians, and the ratio over the
pairs with its range. Client and server share this machine, which encrypts and decrypts.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import trustme
import yaml

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.perf.on_servers import Line
from tests.servers import Postgres
from tests.servers.ferretdb import FerretDb

HEAD = (
    "| Server | | Opened in, median | 99th percentile | Latency of a row, median"
    " | Batches of 1,000, rows/s | With TLS over without (range) |\n|---|---|---|---|---|---|---|"
)
PLAIN, TLS = "plain", "tls"
Sides = Mapping[str, Mapping[str, Any]]
"""Side -> the options of its target."""


class TlsPostgres(Postgres):
    """PostgreSQL with a certificate."""

    def prepare(self) -> None:
        super().prepare()
        issued = trustme.CA().issue_cert("127.0.0.1")
        chain, key = issued.cert_chain_pems[0], issued.private_key_pem
        names = {"ssl_cert_file": ("server.pem", chain), "ssl_key_file": ("server.key", key)}
        for name, (file, pem) in names.items():
            self._settings[name] = str(self.write(file, pem.bytes().decode()))


@contextmanager
def postgres() -> Iterator[Sides]:
    """Start PostgreSQL."""
    with TlsPostgres(ssl="on", max_connections="500") as server, server.database() as name:
        reach = server.options(name)
        text = reach.pop("connection_string")
        yield {
            side: {"module": "postgres", "connection_string": f"{text} sslmode={mode}", **reach}
            for side, mode in ((PLAIN, "disable"), (TLS, "require"))
        }


@contextmanager
def ferretdb() -> Iterator[Sides]:
    """Start FerretDB, which listens with a certificate besides."""
    with FerretDb() as server, server.database() as name:
        reach = {"module": "mongodb", **server.options(name)}
        trusted = f"{server.connection_string('tls')}&tls=true&tlsCAFile={server.authority}"
        yield {PLAIN: reach, TLS: {**reach, "connection_string": trusted}}


SERVERS: Mapping[str, Callable[[], Any]] = {"postgres": postgres, "ferretdb": ferretdb}


def measured(line: Line, given: argparse.Namespace) -> dict[str, float]:
    """Return the figures of one side."""
    common = ("--workers=2", "--runs=1", f"--duration={given.duration}", "--force")
    (single,) = line.run(
        "insert", *common, f"--connections={given.connections}", "--rate=200", "--batch=0"
    )["rows"]
    (batches,) = line.run("insert", *common, "--batch=1000", "--warmup=1s")["rows"]
    verdicts = {single["verdict"], batches["verdict"]}
    if verdicts != {"verified"}:
        raise RuntimeError(f"{line.target}: {', '.join(verdicts)}")
    names = ("connect_p50_ms", "connect_p99_ms", "p50_ms")
    return {**{name: single[name] for name in names}, "rows_per_s": batches["rows_per_s"]}


def rows(name: str, given: argparse.Namespace) -> Iterator[str]:
    """Yield the rows of a server."""
    with TemporaryDirectory() as scratch, SERVERS[name]() as sides:
        folder = Path(scratch)
        config = folder / "config.yaml"
        targets = {side: {"runner": "local", **options} for side, options in sides.items()}
        config.touch(mode=0o600)
        config.write_text(yaml.safe_dump({"targets": targets}))
        found: dict[str, list[dict[str, float]]] = {PLAIN: [], TLS: []}
        for number in range(given.pairs):
            for side in (PLAIN, TLS) if number % 2 == 0 else (TLS, PLAIN):
                found[side].append(measured(Line(side, config, folder, {}), given))
    pairs = zip(found[PLAIN], found[TLS], strict=True)
    ratios = sorted(tls["rows_per_s"] / plain["rows_per_s"] for plain, tls in pairs)
    for side, all_of in found.items():
        middle = {each: median(one[each] for one in all_of) for each in all_of[0]}
        ratio = "" if side == PLAIN else f"{median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        yield (
            f"| {name} | {side} | {middle['connect_p50_ms']:,.1f} ms"
            f" | {middle['connect_p99_ms']:,.1f} ms | {middle['p50_ms']:,.1f} ms"
            f" | {middle['rows_per_s']:,.0f} | {ratio} |"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("servers", nargs="*", choices=[*SERVERS, []])
    parser.add_argument("--connections", type=int, default=100, help="of each of two workers")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--duration", default="5s")
    given = parser.parse_args()
    print(HEAD)
    for name in given.servers or SERVERS:
        for row in rows(name, given):
            print(row, flush=True)


if __name__ == "__main__":
    main()
