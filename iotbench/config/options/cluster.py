"""The user's options for the cluster and the chart."""

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from iotbench.config.input.options import Opt, Options

_IMAGE = re.compile(
    r"(?P<name>(?:[A-Za-z0-9.-]+(?::\d+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_RESERVED = ("run", "workers")
"""Values of the chart that the command line sets for every run."""


class ClusterOptions(Options):
    """The cluster, the namespace, and changes of the chart; all are optional."""

    GROUP: ClassVar[str] = "Kubernetes"

    namespace: Annotated[str | None, Opt("-n")] = None
    """Namespace of the pods.  [default: the configuration's]"""
    kubeconfig: Path | None = None
    """Kubeconfig file.  [default: as kubectl finds it]"""
    context: str | None = None
    """Context in the kubeconfig.  [default: the current context]"""
    image: Annotated[str | None, Opt(metavar="NAME[:TAG][@DIGEST]")] = None
    """Image of collector and workers.  [default: the chart's]"""
    values: Annotated[tuple[Path, ...], Opt(metavar="FILE")] = ()
    """Values for the chart in deployment/, as for helm; may be given several times."""
    sets: Annotated[tuple[str, ...], Field(alias="set"), Opt(metavar="KEY=VALUE")] = ()
    """One value for the chart, as for helm; may be given several times."""
    keep: bool = False
    """Leave the release in the cluster, for debugging."""

    def where(self) -> dict[str, Any]:
        """Return the options about the place of pods, by name; empty if none was given."""
        files = {"kubeconfig": self.kubeconfig and str(self.kubeconfig)}
        names = {"namespace": self.namespace, "context": self.context, "image": self.image}
        return {**names, **files, "values": tuple(map(str, self.values)), "set": self.sets}

    def problems(self) -> list[str]:
        """Return what is wrong with the options, one sentence each."""
        found = [f"--values: {path}: the file does not exist" for path in self.values
                 if not path.is_file()]  # fmt: skip
        if self.kubeconfig and not self.kubeconfig.is_file():
            found.append(f"--kubeconfig: {self.kubeconfig}: the file does not exist")
        for word in self.sets:
            if not word.partition("=")[0] or "=" not in word:
                found.append(f"--set: expected KEY=VALUE, got {word!r}")
            keys = [pair.partition("=")[0] for pair in re.split(r"(?<!\\),", word) if "=" in pair]
            found += [
                f"--set: {key} is set by the command line for every run"
                for key in keys
                if re.split(r"[.\[]", key)[0] in _RESERVED
            ]
        if self.image is not None and not _IMAGE.fullmatch(self.image):
            found.append(f"--image: expected NAME[:TAG][@sha256:DIGEST], got {self.image!r}")
        return found

    def image_values(self) -> dict[str, Any]:
        """Return the chart's values for --image."""
        match = _IMAGE.fullmatch(self.image) if self.image else None
        if match is None:
            return {}
        words = match.groupdict(default="")
        if words["digest"]:
            words["tag"] = ""  # the digest is sufficient, and the chart accepts only one
        return {"image": words}
