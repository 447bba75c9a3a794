"""The targets of a plan that answer, and the settings that can measure each target."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from iotbench.config.options.choice import Reach, RunOptions, forget_credentials
from iotbench.config.targets import config as configuration
from iotbench.config.targets.config import Config, Target
from iotbench.execution.collector import explain_silence, first_line
from iotbench.execution.kubernetes.api import cluster_of
from iotbench.execution.measure import refusal_of
from iotbench.machine.streams import say
from iotbench.plans.items import Candidate, Pair
from iotbench.plans.plan import Plan
from iotbench.plans.settings import Setting
from iotbench.results import result_files
from simulator.errors import BenchError, ConfigError
from simulator.modules import database_class

Refused: TypeAlias = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Roster:
    """The targets of a plan."""

    candidates: tuple[Candidate, ...]
    pairs: tuple[Pair, ...]
    """Pairs that can be measured, grouped by target."""
    refused: Refused
    """(setting, target) -> reason why the target cannot be measured with the setting."""

    @property
    def not_had(self) -> dict[str, str]:
        """Target that cannot be measured with any setting -> the reason."""
        return {each.name: each.not_had for each in self.candidates if each.not_had}

    @property
    def left_out(self) -> dict[str, str]:
        """Target, or "target, setting" -> the reason why it is not measured."""
        return {**self.not_had, **name_refused(self.refused)}


def name_refused(refused: Refused) -> dict[str, str]:
    """Return "target, setting" -> the reason why the target was not measured with this setting."""
    return {f"{target}, {setting}": why for (setting, target), why in refused.items()}


def candidates_of(loaded: Config, names: Sequence[str] | None) -> list[Candidate]:
    """Return the named targets; without names, all targets that store rows."""
    broken = loaded.find_broken()
    found = []
    for name in names or loaded.targets:
        entry = loaded.entry(name)
        module, options = str(entry["module"]), {}
        if name not in broken:
            fields = loaded.module_of(name).options_model.model_fields
            options = {key: entry.get(key, each.get_default()) for key, each in fields.items()}
        if names or name in broken or database_class(module).capabilities.stores:
            found.append(Candidate(name, module, options, str(entry.get("node_size", ""))))
    return found


def roster_of(
    plan: Plan,
    names: Sequence[str] | None,
    reach: Reach,
    run: RunOptions,
    installed: Container[str] = (),
) -> Roster:
    """Return the named targets, or all targets, with the settings that can measure them.

    Each target is checked to answer, except in a dry run. A target in `installed` is not checked,
    because the plan installs its database later.
    """
    loaded, chosen_names = configuration.load_for(names or (), reach.config)
    pairs, refused, candidates = [], {}, []
    resolved: list[Target] = []
    unreachable, asks = "", not run.dry_run
    chosen = candidates_of(loaded, chosen_names if names else None)
    if asks:
        result_files.prepare_folder(run.output)  # before embedded databases make their files in it
    for candidate in chosen:
        asked = asks and candidate.name not in installed
        if asked and not run.quiet:
            say(f"checking {candidate.name}", err=True)
        try:
            target = loaded.resolve(candidate.name, {}, reach.runner)
            resolved.append(target)
            if asks and target.runner == "kubernetes" and not unreachable:
                try:
                    cluster_of(target, reach.cluster).version()
                except BenchError as error:
                    unreachable = f"no cluster: {first_line(error)}"
            not_had = unreachable if target.runner == "kubernetes" else ""
            not_had = not_had or (explain_silence(target, reach.cluster) if asked else "")
        except ConfigError as error:
            not_had = "; ".join(error.problems)
        candidates.append(replace(candidate, not_had=not_had))
        for setting in plan.settings if not not_had else ():
            if not setting.concerns(candidate.module):
                continue
            own, problem = _apply_setting(loaded, candidate, setting, reach.runner, run)
            if own:
                pairs.append(Pair(setting, own))
            else:
                refused[setting.name, candidate.name] = problem
    forget_credentials(resolved)
    return Roster(tuple(candidates), tuple(pairs), refused)


def _apply_setting(
    loaded: Config, candidate: Candidate, setting: Setting, runner: str | None, run: RunOptions
) -> tuple[Target | None, str]:
    """Return the target with the options of a setting, or why the setting cannot measure it."""
    given = setting.options_of(candidate.module)
    unknown = [name for name in given if name not in candidate.options]
    if unknown:
        return None, f"module {candidate.module} has no option {', '.join(unknown)}"
    try:
        target = loaded.resolve(candidate.name, given, runner)
    except ConfigError as error:
        return None, "; ".join(error.problems)
    problem = refusal_of(setting, target, run)
    return (None, problem) if problem else (target, "")
