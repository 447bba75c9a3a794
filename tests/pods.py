"""What a pod mounts for a process of a run: its specification and its secrets."""

from collections.abc import Mapping
from pathlib import Path


def mount(folder: Path, spec: str, credentials: Mapping[str, str] | None = None) -> list[str]:
    """Write both into a folder, with the token `token`; return the options that name them."""
    (folder / "spec.json").write_text(spec)
    options = folder / "secrets" / "options"
    options.mkdir(parents=True)
    (folder / "secrets" / "token").write_text("token")
    for name, value in (credentials or {}).items():
        (options / name).write_text(value)
    return [f"--spec={folder / 'spec.json'}", f"--secrets={folder / 'secrets'}"]
