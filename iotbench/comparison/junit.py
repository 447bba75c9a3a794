"""Verdicts and thresholds as JUnit XML for continuous integration servers."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from iotbench.comparison.comparison import Comparison, Judgement
from iotbench.comparison.thresholds import ThresholdCheck
from iotbench.figures.rows import Row
from iotbench.machine.cleaning import plain
from iotbench.measurements import summary_of
from iotbench.results.result import Result
from simulator.protocol.verdict import Status

_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_NAME = "iotbench"
OWN = re.compile(rb"\s*<\?xml[^>]*\?>\s*<testsuites name=.iotbench.")
"""Pattern of the beginning of a file that this program has written."""


class End(StrEnum):
    """The outcome of a case; each value is the name of an element in the format."""

    PASSED = ""
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """One test case."""

    suite: str
    """Name of the suite: a command and a target."""
    name: str
    end: End = End.PASSED
    text: str = ""
    """Reason why the case did not pass."""


def result_cases(result: Result, name: str = "") -> Iterator[Case]:
    """Yield a case for the end of a sweep, and one for each row.

    `name`: name of a plan's item.
    """
    suite = f"{name}.{result.kind}" if name else f"{result.kind}.{result.target}"
    if result.status == "done":
        yield Case(suite, "done")
    else:
        yield Case(suite, "done", End.ERROR, f"{result.status}: {result.cause}")
    for row in summary_of(result).rows:
        yield Case(suite, f"verdict {row.place}", _find_end(row), row.verdict)


def _find_end(row: Row) -> End:
    verdict = row.verdict.partition(",")[0]
    if verdict == Status.VERIFIED:
        return End.PASSED
    wrong = (Status.MISMATCH, Status.INCOMPLETE, Status.UNKNOWN)
    return End.FAILED if verdict in wrong else End.SKIPPED


def comparison_cases(comparison: Comparison) -> Iterator[Case]:
    """Yield a case for the judgement on each row; only thresholds make a case fail."""
    suite = f"compare.{comparison.other.label}"
    for row in comparison.rows:
        line = row.lines[0]
        change = f" {line.difference.change:+.1%}" if line.difference else ""
        name = f"{line.judgement}: {line.figure.name}{change} ({line.interval}), {row.place}"
        is_judged = line.judgement in (Judgement.FASTER, Judgement.SLOWER, Judgement.NOISE)
        yield Case(suite, name, End.PASSED if is_judged else End.SKIPPED)


def check_cases(suite: str, checks: Iterable[ThresholdCheck]) -> Iterator[Case]:
    """Yield a case for each threshold and row."""
    for check in checks:
        name = f"{check.threshold} {check.place}".rstrip()
        end = End.PASSED if check.ok else End.FAILED
        yield Case(suite, name, end, check.found)


def junit_text(name: str, created: datetime, cases: Sequence[Case]) -> str:
    """Return the cases as a file in JUnit's format."""
    ends = [case.end for case in cases]
    counts = {
        "tests": len(cases),
        "failures": ends.count(End.FAILED),
        "errors": ends.count(End.ERROR),
        "skipped": ends.count(End.SKIPPED),
    }
    root = ET.Element("testsuites", name=_NAME)
    stamp = f"{created.astimezone(UTC):%Y-%m-%dT%H:%M:%S}"
    numbers = {key: str(count) for key, count in counts.items()}
    suite = ET.SubElement(
        root, "testsuite", {"name": _replace_illegal(name), "timestamp": stamp, **numbers}
    )
    for case in cases:
        node = ET.SubElement(
            suite,
            "testcase",
            classname=_replace_illegal(case.suite),
            name=_replace_illegal(case.name),
        )
        if case.end is not End.PASSED:
            ET.SubElement(node, case.end.value, message=_replace_illegal(case.text))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _replace_illegal(text: str) -> str:
    return _NOT_XML.sub("\ufffd", plain(text))
