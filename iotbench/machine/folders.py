"""Folders that outlive a command: of the program, and of the user."""

import os
import tempfile
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def temporary_folders() -> list[Path]:
    """Return the folder for temporary files, or nothing if none can be written."""
    try:
        return [Path(tempfile.gettempdir())]
    except OSError:
        return []


def state_folder() -> Path:
    """Return the folder for locks and rescued results; it may not exist yet.

    https://specifications.freedesktop.org/basedir-spec/latest/ (XDG_STATE_HOME)
    """
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "iotbench"


def find_shipped(name: str) -> Path:
    """Return what comes with the program, such as config.yaml: in a checkout, or as a package."""
    installed = _PACKAGE / "shipped" / name
    return installed if installed.exists() else _PACKAGE.parent / name
