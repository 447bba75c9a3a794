"""The permissions of a run in its namespace, as in deployment/rbac.yaml."""

from dataclasses import dataclass

_OURS = ("get", "list", "create", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Permission:
    """Verbs on one resource of one API group."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    why: str

    @property
    def shown(self) -> str:
        """The resource as kubectl writes it."""
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
