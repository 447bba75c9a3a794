"""What a pod mounts for a process of a run: its specification and its secrets."""

from collections.abc import Mapping
from pathlib import Path


def mount(folder: Path, spec: str, credentials: Mapping[str, str] | None = None) -> list[str]:
    """Write both into a folder, with the token `token`; return the options that name them.

    As the kubelet does it: the names are links into a folder that it replaces as a whole.
    """
    (folder / "spec.json").write_text(spec)
    secrets = folder / "secrets"
    options = secrets / "..2026_11_22" / "options"
    options.mkdir(parents=True)
    (options.parent / "token").write_text("token")
    for name, value in (credentials or {}).items():
        (options / name).write_text(value)
        (options / name).chmod(0o440)
    (secrets / "..data").symlink_to(options.parent.name)
    for name in ("token", "options"):
        (secrets / name).symlink_to(f"..data/{name}")
    return [f"--spec={folder / 'spec.json'}", f"--secrets={secrets}"]
