"""Folders of the user's that outlive a command."""

import os
import tempfile
from pathlib import Path


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
