"""The targets of an experiment: which answer, and which settings each can be measured with."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from iotbench.config.options.choice import ClusterOptions, Reach, RunOptions, forget_credentials
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


@dataclass(frozen=True, slots=True)
class Roster:
    """The targets of an experiment."""

    candidates: tuple[Candidate, ...]
    pairs: tuple[Pair, ...]
    """Measurable pairs, target by target."""
    refused: Mapping[tuple[str, str], str]
    """(setting, target) -> why the target cannot be measured with the setting."""

    @property
    def not_had(self) -> dict[str, str]:
        """Target that cannot be measured at all -> the reason."""
        return {each.name: each.not_had for each in self.candidates if each.not_had}


def candidates_of(loaded: Config, names: Sequence[str] | None) -> list[Candidate]:
    """Return the targets of these names; without names, all that store rows."""
    broken = loaded.find_broken()
    chosen = [
        Candidate(
            name,
            str(loaded.entry(name)["module"]),
            {} if name in broken else _options(loaded, name),
            str(loaded.entry(name).get("node_size", "")),
        )
        for name in names or loaded.targets
    ]
    return [
        each
        for each in chosen
        if names or each.name in broken or database_class(each.module).capabilities.stores
    ]


def roster_of(
    plan: Plan,
    names: Sequence[str] | None,
    reach: Reach,
    run: RunOptions,
    installed: Container[str] = (),
) -> Roster:
    """Return the targets that can be measured, of these names or of all.

    Each is asked to answer, except in a dry run and for the targets in `installed`: the plan
    installs their databases later.
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
            if asks and target.runner == "kubernetes":
                unreachable = unreachable or _unreachable(target, reach.cluster)
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


def _options(loaded: Config, name: str) -> dict[str, Any]:
    entry = loaded.entry(name)
    fields = loaded.module_of(name).options_model.model_fields
    return {key: entry.get(key, field.get_default()) for key, field in fields.items()}


def _unreachable(target: Target, options: ClusterOptions) -> str:
    """Return why no cluster can be used; empty if one answers."""
    try:
        cluster_of(target, options).version()
    except BenchError as error:
        return f"no cluster: {first_line(error)}"
    return ""


def _apply_setting(
    loaded: Config, candidate: Candidate, setting: Setting, runner: str | None, run: RunOptions
) -> tuple[Target | None, str]:
    """Return the target with the options of a setting, or why it cannot be measured with it."""
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
