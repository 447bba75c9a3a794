"""Thresholds that make a correct command fail (`--fail-if`), and the outcome as JUnit XML."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, ClassVar

from iotbench.comparison.junit import OWN, Case, End, check_cases, junit_text, result_cases
from iotbench.comparison.thresholds import (
    EXIT_CODE,
    Scope,
    Threshold,
    ThresholdCheck,
    checks_of,
    list_failures,
    parse,
)
from iotbench.config.input.options import Opt, Options
from iotbench.machine import outfile
from iotbench.machine.streams import say
from iotbench.measurements import summary_of
from iotbench.plans.record import ItemRecord
from iotbench.results.result import Result
from iotbench.results.result_files import now_utc, read
from simulator.errors import ConfigError


class Gates(Options):
    """The thresholds of a command in the user's notation, and the file for the outcome."""

    GROUP: ClassVar[str] = "Thresholds"

    fail_if: Annotated[tuple[str, ...], Opt(metavar="THRESHOLD", repeats=True)] = ()
    """Exit with 99 if a figure is beyond a limit: 'p99_ms > 20', 'rows_per_s < 50k at workers=4',
    'p95_ms > 1s at query=NAME', or any percentile: 'p99.99_ms > 2s'; may be given several times.
    """
    junit: Annotated[Path | None, Opt(metavar="FILE", stored=False)] = None
    """Write verdicts and thresholds to this file as JUnit XML; it replaces an earlier one of this
    program, and no other file.
    """

    def beside(self, texts: Sequence[str]) -> "Gates":
        """Return the gates with further thresholds."""
        return self.model_copy(update={"fail_if": (*texts, *self.fail_if)})

    def parse(self, scope: Scope, problems: list[str]) -> tuple[Threshold, ...]:
        """Return the thresholds; add the problems of thresholds and file to `problems`."""
        if self.junit and (problem := outfile.problem_with(self.junit, OWN)):
            problems.append(f"--junit: {problem}")
        return parse(self.fail_if, scope, problems)

    def expect(self, scope: Scope) -> tuple[Threshold, ...]:
        """Return the thresholds; ConfigError names all problems of thresholds and file."""
        problems: list[str] = []
        thresholds = self.parse(scope, problems)
        if problems:
            raise ConfigError(problems)
        return thresholds

    def conclude(self, result: Result, thresholds: Sequence[Threshold]) -> int:
        """Report the outcome of a sweep; return the exit code, as `report` does."""
        suite = f"{result.kind}.{result.target}"
        is_done = result.status == "done"
        checks = tuple(checks_of(thresholds, summary_of(result))) if is_done else ()
        cases = [*result_cases(result), *check_cases(suite, checks)]
        return self.report(suite, result.created, cases, checks)

    def conclude_items(
        self,
        name: str,
        status: str,
        items: Sequence[ItemRecord],
        output: Path,
        thresholds: Sequence[Threshold],
    ) -> int:
        """Report the outcome of a plan's items, as `conclude` does for a sweep."""
        cases = [] if status == "done" else [Case(name, "done", End.ERROR, status)]
        checks: list[ThresholdCheck] = []
        unread: list[str] = []
        for item in items:
            place = f"{item.target}, {item.setting}, repeat {item.repeat}"
            if item.cause:
                cases.append(Case(name, place, End.ERROR, item.cause))
            results: list[Result] = []
            for file in item.files:
                try:
                    results.append(read(output / file))
                except ConfigError as error:  # for example, the disk was full
                    unread += error.problems
                    cases.append(Case(name, place, End.ERROR, str(error)))
            cases += [case for result in results for case in result_cases(result, place)]
            summaries = [summary_of(result) for result in results if result.status == "done"]
            checks += checks_of(thresholds, *summaries, place=f"{place}, ")
        cases += check_cases(name, checks)
        for problem in unread:
            say(f"error: {problem}", err=True)
        failed = self.report(name, now_utc(), cases, checks)
        return 1 if unread else failed

    def report(
        self, name: str, created: datetime, cases: Sequence[Case], checks: Sequence[ThresholdCheck]
    ) -> int:
        """Print the failed thresholds and write the file; return 99 if any threshold failed.

        Return 1 if the file cannot be written.
        """
        failed = list_failures(checks)
        for line in failed:
            say(line, err=True)
        if self.junit:
            try:
                outfile.write(self.junit, junit_text(name, created, cases), OWN)
            except ConfigError as error:
                say(f"error: --junit: {error}", err=True)
                return 1
        return EXIT_CODE if failed else 0
