"""The measurements of a reproduction's items, by target and setting."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from iotbench.plans.engine import MeasuredItem
from iotbench.plans.items import Item
from iotbench.plans.measures import measures_of
from iotbench.plans.published.documents import Term
from iotbench.plans.searches import chosen
from iotbench.plans.verdicts import worst_of


@dataclass(frozen=True)
class Measurements:
    """The results of all items, and why some were never tried."""

    measured: Sequence[tuple[Item, MeasuredItem]]
    refused: Mapping[tuple[str, str], str]
    """(setting, target) -> why the target cannot be measured with the setting."""

    def values(self, target: str, setting: str, measure: str) -> tuple[float, ...]:
        """Return the values of the repeats in their order; of a failed one there is none."""
        repeats = self._measures.get((target, setting), [])
        return tuple(figures[measure] for figures in repeats if measure in figures)

    def compared(self, target: str, term: Term) -> tuple[float, ...]:
        """Return the values that a claim compares: values of a setting, or ratios to another's."""
        ones, *others = (self.values(target, setting, term.measure) for setting in term.settings)
        if not others:
            return ones
        pairs = zip(ones, others[0], strict=False)
        return tuple(one / other for one, other in pairs if other)

    @cached_property
    def _chosen(self) -> Sequence[tuple[Item, MeasuredItem]]:
        return chosen(self.measured)

    @cached_property
    def _measures(self) -> dict[tuple[str, str], list[Mapping[str, float]]]:
        """(target, setting) -> the measures of its repeats, in their order."""
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
        """Return how many nodes the server reported; 0: none."""
        results = (result for item in self._of(target, setting) for _, result in item.results)
        servers = (run.outcome.server for result in results for run in result.runs)
        return max((server.nodes for server in servers if server), default=0)

    def verdict(self, target: str, setting: str) -> str:
        """Return the worst verdict on a target with a setting."""
        return worst_of(self._of(target, setting))

    def _of(self, target: str, setting: str) -> Iterator[MeasuredItem]:
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
