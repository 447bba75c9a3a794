"""The permissions of a run, as in deployment/rbac.yaml and deployment/rbac-resources.yaml."""

from dataclasses import dataclass

_OURS = ("get", "list", "create", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Permission:
    """Verbs on one resource of one API group."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    why: str
    everywhere: bool = False
    """True if the permission is for the whole cluster, not only for the namespace of the run."""

    @property
    def shown(self) -> str:
        """The resource in the notation of kubectl."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


PERMISSIONS = (
    Permission(
        "",
        "secrets",
        (*_OURS, "update"),
        "the run's token and credentials, and helm's record of the release",
    ),
    Permission("", "configmaps", _OURS, "the run's specification"),
    Permission("", "services", _OURS, "the name by which workers find the collector"),
    Permission("batch", "jobs", _OURS, "the collector and the workers"),
    Permission("", "pods", ("get", "list", "watch", "delete"), "what each pod is waiting for"),
    Permission("", "pods/log", ("get",), "the collector's event stream"),
    Permission("", "events", ("list", "watch"), "why a pod does not start"),
)

FOR_QUOTAS = (
    Permission("", "resourcequotas", ("list",), "whether the largest run fits, before the first"),
)
"""Permissions without which quotas are not checked."""

FOR_RESOURCES = (
    Permission(
        "", "nodes/proxy", ("get",), "the kubelet's statistics of nodes and pods", everywhere=True
    ),
    Permission(
        "discovery.k8s.io",
        "endpointslices",
        ("list",),
        "the database's pods behind its Service",
        everywhere=True,
    ),
    Permission("", "pods", ("list",), "the database's pods by their labels", everywhere=True),
)
"""Additional permissions that `--resources` needs."""
