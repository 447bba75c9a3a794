"""The assignment of our targets to the systems of a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iotbench.plans.items import Candidate
from iotbench.plans.published.documents import System


@dataclass(frozen=True)
class Systems:
    """The systems of a document, by name, and the targets that may be measured."""

    systems: Mapping[str, System]
    candidates: Sequence[Candidate]

    def candidates_of(self, system: str) -> list[Candidate]:
        """Return the targets that are a system, also those that cannot be measured."""
        return [target for target in self.candidates if self.systems[system].has(target)]

    def targets_of(self, system: str) -> list[str]:
        """Return the names of the targets that are a system and can be measured."""
        return [target.name for target in self.candidates_of(system) if not target.not_had]

    def system_of(self, target: str) -> str:
        """Return the system that a target is; empty if it is none of the document's."""
        return next((name for name in self.systems if target in self.targets_of(name)), "")

    def of_module(self, module: str) -> list[str]:
        """Return the names of the targets of a module that can be measured."""
        own = (target for target in self.candidates if target.module == module)
        return [target.name for target in own if not target.not_had]

    @property
    def others(self) -> list[Candidate]:
        """The targets that are no system of the document."""
        systems = {target.name for name in self.systems for target in self.candidates_of(name)}
        return [target for target in self.candidates if target.name not in systems]

    def absence(self, system: str) -> str:
        """Return why no target that is a system can be measured."""
        tried = [f"{target.name}: {target.not_had}" for target in self.candidates_of(system)]
        modules = " or ".join(self.systems[system].modules)
        return "; ".join(tried) or f"no target with module {modules} is among the targets"
