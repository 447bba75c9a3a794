"""Which runner a target runs on. What only one of them needs is loaded only for it."""

from cli.cluster.options import ClusterOptions
from cli.config import Target
from cli.host.interrupts import Interrupts
from cli.runners.base import Runner
from cli.runners.local import LocalRunner
from simulator.errors import ConfigError
from simulator.protocol.spec import RunSpec


def runner_for(
    target: Target,
    sweep_id: str,
    options: ClusterOptions,
    interrupts: Interrupts,
    first: RunSpec,
) -> Runner:
    """Return the runner that the target asks for; a context for one sweep.

    ConfigError if it cannot start the first run of the sweep because of how it was asked to.
    """
    if target.runner == "local":
        return LocalRunner(target.secrets(), interrupts)
    from cli.cluster.api import Cluster  # noqa: PLC0415
    from cli.cluster.release import Release  # noqa: PLC0415
    from cli.runners.kubernetes import KubernetesRunner  # noqa: PLC0415

    manifests(target, sweep_id, options, first)
    cluster = Cluster(options, options.namespace or target.namespace)
    return KubernetesRunner(Release(sweep_id, target), cluster, options, interrupts)


def manifests(target: Target, sweep_id: str, options: ClusterOptions, spec: RunSpec) -> str:
    """Return the manifests of a run, as helm would apply them."""
    if target.runner == "local":
        raise ConfigError(f"--dry-run: {target.name} runs locally, without manifests")
    from cli.cluster.helm import Helm  # noqa: PLC0415
    from cli.cluster.release import Release  # noqa: PLC0415

    release = Release(sweep_id, target)
    helm = Helm(options, options.namespace or target.namespace)
    helm.version()
    keys = ", ".join(release.credentials(""))
    return (
        f"# Besides these, the command line makes a Secret {release.credentials_name(spec.run_id)}"
        f" with the keys {keys}.\n{helm.template(release.name, release.values(spec))}"
    )
