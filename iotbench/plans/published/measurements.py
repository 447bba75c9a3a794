"""The systems of a document, and their measurements by target and setting."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from iotbench.measurements import kind_of
from iotbench.plans.items import Candidate, Item, MeasuredItem, worst_of
from iotbench.plans.measures import measures_of
from iotbench.plans.published.documents import System, Term
from iotbench.plans.searches import keep_best
from iotbench.results.result import Result


@dataclass(frozen=True)
class Systems:
    """The systems of a document by name, and the targets that may be measured."""

    systems: Mapping[str, System]
    candidates: Sequence[Candidate]

    def candidates_of(self, system: str) -> list[Candidate]:
        """Return all targets that are a system, including targets that cannot be measured."""
        return [target for target in self.candidates if self.systems[system].has(target)]

    def targets_of(self, system: str) -> list[str]:
        """Return the names of the targets that are a system and can be measured."""
        return [target.name for target in self.candidates_of(system) if not target.not_had]

    def system_of(self, target: str) -> str:
        """Return the system of a target; empty if the target is not a system of the document."""
        return next((name for name in self.systems if target in self.targets_of(name)), "")

    def of_module(self, module: str) -> list[str]:
        """Return the names of the targets of a module that can be measured."""
        own = (target for target in self.candidates if target.module == module)
        return [target.name for target in own if not target.not_had]

    @property
    def others(self) -> list[Candidate]:
        """The targets that are not systems of the document."""
        systems = {target.name for name in self.systems for target in self.candidates_of(name)}
        return [target for target in self.candidates if target.name not in systems]

    def absence(self, system: str) -> str:
        """Return why no target of a system can be measured."""
        tried = [f"{target.name}: {target.not_had}" for target in self.candidates_of(system)]
        wanted = self.systems[system]
        words = [f"module {' or '.join(wanted.modules)}"]
        words += [f"{name}: {value}" for name, value in wanted.options.items()]
        return "; ".join(tried) or f"no target with {' and '.join(words)} is among the targets"


@dataclass(frozen=True)
class Measurements:
    """The results of all items, and the reasons why some items were not measured."""

    measured: Sequence[tuple[Item, MeasuredItem]]
    refused: Mapping[tuple[str, str], str]
    """(setting, target) -> why the target cannot be measured with the setting."""

    def values(self, target: str, setting: str, measure: str) -> tuple[float, ...]:
        """Return the values of the repeats in order; failed repeats have no value."""
        repeats = self._measures.get((target, setting), [])
        return tuple(figures[measure] for figures in repeats if measure in figures)

    def compare(self, target: str, term: Term) -> tuple[float, ...]:
        """Return the values of a term: measured values, or ratios to values of another setting."""
        ones, *others = (self.values(target, setting, term.measure) for setting in term.settings)
        if not others:
            return ones
        pairs = zip(ones, others[0], strict=False)
        return tuple(one / other for one, other in pairs if other)

    @cached_property
    def _chosen(self) -> Sequence[tuple[Item, MeasuredItem]]:
        return keep_best(self.measured)

    @cached_property
    def _measures(self) -> dict[tuple[str, str], list[Mapping[str, float]]]:
        """(target, setting) -> the measures of each repeat, in order."""
        repeats: dict[tuple[str, str], list[Mapping[str, float]]] = defaultdict(list)
        for item, measured in sorted(self._chosen, key=lambda pair: pair[0].repeat):
            if measured.is_complete:
                measures = measures_of(result for _, result in measured.results)
                repeats[item.target.name, item.setting.name].append(measures)
        return repeats

    def have_all(self, targets: Sequence[str], settings: Collection[str]) -> bool:
        """Return whether each of these targets was measured with all of these settings."""
        return bool(settings) and all(
            self._measures.get((target, setting)) for target in targets for setting in settings
        )

    def nodes(self, target: str, setting: str) -> int:
        """Return the number of nodes that the server reported; 0: no number was reported."""
        results = (result for item in self._select(target, setting) for _, result in item.results)
        servers = (run.outcome.server for result in results for run in result.runs)
        return max((server.nodes for server in servers if server), default=0)

    def verdict(self, target: str, setting: str) -> str:
        """Return the worst verdict of a target with a setting."""
        return worst_of(self._select(target, setting))

    def _select(self, target: str, setting: str) -> Iterator[MeasuredItem]:
        for item, measured in self._chosen:
            if (item.target.name, item.setting.name) == (target, setting):
                yield measured

    def why_not(self, target: str, setting: str, measure: str) -> str:
        """Return why a target has no value of a measure with a setting."""
        if reason := self.refused.get((setting, target)):
            return reason
        tried = [found for item, found in self.measured
                 if (item.target.name, item.setting.name) == (target, setting)]  # fmt: skip
        failures = [found.failure for found in tried if found.failure]
        if failures:
            return f"failed: {failures[0]}"
        if not tried:
            return "not measured"
        return f"the database reports no {measure.partition(' ')[0]}"


def in_memory(measured: Sequence[tuple[Item, MeasuredItem]]) -> dict[str, str]:
    """Return target -> size of its largest data, and the memory that can hold this data."""
    sizes: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for item, found in measured:
        for _, result in found.results:
            sizes[item.target.name] += _list_sizes(result)
    largest = {target: max(own) for target, own in sizes.items() if own}
    return {
        target: f"{_format(size)} of {_format(memory)} {whose}"
        for target, (size, memory, whose) in largest.items()
        if size < memory
    }


def caches(measured: Sequence[tuple[Item, MeasuredItem]]) -> dict[str, int]:
    """Return state of the system's file caches before an insert -> number of items."""
    first = (result for _, each in measured for _, result in each.results[:1])
    return dict(Counter(result.caches for result in first if result.caches))


def _list_sizes(result: Result) -> Iterator[tuple[int, int, str]]:
    """Yield the size of the tables after each insert, and the memory that might hold the tables."""
    for run in () if kind_of(result).asks else result.runs:
        size, server = run.outcome.size_bytes, run.outcome.server
        if size is None or server is None:
            continue
        if server.buffer_bytes is not None:
            yield size, server.buffer_bytes, "of the server's buffers"
        elif result.runner == "local":
            yield size, result.machine.memory_bytes, "of this machine's memory"


def _format(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.1f} MiB"
