"""Results of the contract tests, in a JSON file for each module.

`pytest tests/contract --evidence` writes the files; the documentation and `targets` read them.
"""

import datetime as dt
import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from simulator.frozen import Frozen

FOLDER = Path(__file__).parent
STAND_IN = "stand-in"
"""Name of the server in a record of tests on a substitute for the database."""
_ADDITION = re.compile(r" \([^)]*\)|,.*")
_PRODUCT = re.compile(r"(?:^| on | with )(\S+) (\d\S*)")
_NAME = re.compile(r"[a-z0-9_]{1,40}")
"""Name of a module of ours; the name in a stranger's result may be any text."""
_DAY = re.compile(r"\d{4}-")
"""The beginning of a version that is the day of a build."""


def find_versions(server: str) -> list[tuple[str, str]]:
    """Return each product of a server with its version: "A 1.2 on B 3 (from C)" has A and B."""
    return _PRODUCT.findall(_ADDITION.sub("", server))


def parse_version(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, by which versions are ordered."""
    return tuple(map(int, re.findall(r"\d+", version)))


class Kill(StrEnum):
    """The share of acknowledged rows that survived a kill -9 of the server during inserts."""

    ALL_KEPT = "all kept"
    SOME_LOST = "some lost"
    NOT_TRIED = "not tried"


class Reached(StrEnum):
    """How the tests reached a server."""

    STARTED = "started by the tests"
    ADDRESS = "by its address"


class EvidenceRecord(Frozen):
    """A target that passed all cases of the contract suite."""

    target: str
    """The target's name in tests/contract/targets.py."""
    server: str
    """Product and version as the server reports them, or STAND_IN."""
    date: dt.date
    cases: int
    """Number of passed cases."""
    kill: Kill = Kill.NOT_TRIED
    reached: Reached = Reached.STARTED
    """How the tests reached the server; at an address, it was installed by others."""
    note: str = ""
    """A remark about this server, in half a sentence."""

    @property
    def remark(self) -> str:
        """The note, and how the tests reached a server that they did not start."""
        reached = "" if self.reached is Reached.STARTED else f"reached {self.reached}"
        return "; ".join(filter(None, (reached, self.note)))


class Evidence(Frozen):
    """All records of one module."""

    module: str
    records: tuple[EvidenceRecord, ...] = ()

    @property
    def real(self) -> list[EvidenceRecord]:
        """The records of real servers."""
        return [record for record in self.records if record.server != STAND_IN]

    @property
    def draft(self) -> bool:
        """True if the module has not passed on a real server."""
        return not self.real

    @property
    def servers(self) -> str:
        """The real servers, each product once with its versions; "draft" if there are none.

        Additions in parentheses or after a comma, such as a package version, are left out.
        """
        products: dict[str, list[str]] = {}
        for record in self.real:
            product, _, version = _ADDITION.sub("", record.server).partition(" ")
            versions = products.setdefault(product, [])
            if version not in versions:
                versions.append(version)
        shown = (f"{product} {', '.join(versions)}" for product, versions in products.items())
        return "; ".join(shown) or "draft"

    @property
    def versions(self) -> dict[str, list[str]]:
        """Product -> the versions on which the module was tried, oldest first."""
        tried: dict[str, set[str]] = {}
        for record in self.real:
            for product, version in find_versions(record.server):
                tried.setdefault(product, set()).add(version)
        return {product: sorted(found, key=parse_version) for product, found in tried.items()}

    def compare(self, server: str) -> str:
        """Compare each version in a server's description with those that were tried."""
        if self.draft:
            return f"{server}: draft, never tried on a server; the command contract tests it"
        tried = self.versions
        compared = (
            f"{product} {version}: {_compare(version, tried.get(product, []))}"
            for product, version in find_versions(server)
        )
        return "; ".join(compared) or f"{server}: tried with {self.servers}"

    @property
    def kill(self) -> Kill:
        """The worst outcome of the kill test on a real server."""
        outcomes = {record.kill for record in self.real}
        order = (Kill.SOME_LOST, Kill.ALL_KEPT)
        return next((kill for kill in order if kill in outcomes), Kill.NOT_TRIED)

    def with_record(self, record: EvidenceRecord) -> "Evidence":
        """Return the evidence with the record, which replaces an earlier one of the same target.

        A loss stays on record for the same server, because a later kill may be luckier.
        """
        earlier = next((old for old in self.records if old.target == record.target), None)
        lost = earlier and earlier.kill is Kill.SOME_LOST and earlier.server == record.server
        kept = record.model_copy(update={"kill": Kill.SOME_LOST}) if lost else record
        others = [old for old in self.records if old.target != record.target]
        ordered = sorted([*others, kept], key=lambda each: each.target)
        return self.model_copy(update={"records": tuple(ordered)})


def _compare(version: str, tried: Sequence[str]) -> str:
    if version in tried:
        return "tried"
    if not tried:
        return "never tried with this module"
    *others, newest = tried
    if not _DAY.match(version) and not _DAY.match(newest):
        if parse_version(version) > parse_version(newest):
            return f"newer than any that was tried ({newest})"
        if parse_version(version) < parse_version(tried[0]):
            return f"older than any that was tried ({tried[0]})"
    return f"tried with {', '.join(others)}{' and ' * bool(others)}{newest}"


def evidence(module: str, folder: Path = FOLDER) -> Evidence:
    """Return the evidence of a module; a user's own module has no records."""
    path = folder / f"{module}.json"
    if not _NAME.fullmatch(module) or not path.is_file():
        return Evidence(module=module)
    return Evidence.model_validate_json(path.read_text(encoding="utf-8"))


def write(found: Evidence, folder: Path = FOLDER) -> None:
    """Write a module's file."""
    path = folder / f"{found.module}.json"
    path.write_text(found.model_dump_json(indent=2) + "\n", encoding="utf-8")
