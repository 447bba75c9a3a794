"""The rights that a run needs in its namespace: what `check` asks for, and deployment/rbac.yaml."""

from dataclasses import dataclass

_OURS = ("get", "list", "create", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Right:
    """Verbs on one resource of one API group."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    why: str

    @property
    def shown(self) -> str:
        """The resource as kubectl writes it."""
        return f"{self.resource}.{self.group}" if self.group else self.resource


RIGHTS = (
    Right(
        "",
        "secrets",
        (*_OURS, "update"),
        "the run's token and credentials, and helm's record of the release",
    ),
    Right("", "configmaps", _OURS, "the run's specification"),
    Right("", "services", _OURS, "the name by which workers find the collector"),
    Right("batch", "jobs", _OURS, "the collector and the workers"),
    Right("", "pods", ("get", "list", "watch", "delete"), "what each pod is waiting for"),
    Right("", "pods/log", ("get",), "the collector's event stream"),
    Right("", "events", ("list", "watch"), "why a pod does not start"),
)
