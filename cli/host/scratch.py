"""Temporary folders that say whose they are, so that those of a killed command line are found."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cli.host.owner import Owner

_PREFIX = "iot-bench-"
_OWNER = ".owner"


@contextmanager
def scratch_folder(use: str) -> Iterator[Path]:
    """Make a private folder that is gone when the context is left."""
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{use}-") as name:
        folder = Path(name)
        (folder / _OWNER).write_text(str(Owner.this()))
        yield folder


def abandoned_folders() -> list[Path]:
    """Return the folders of command lines that are not alive any more."""
    found = []
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        with contextlib.suppress(OSError):  # of another user, or gone meanwhile
            owner = Owner.parse((folder / _OWNER).read_text())
            if owner and not owner.alive:
                found.append(folder)
    return found


def remove_folder(folder: Path) -> None:
    """Remove a folder with what is in it."""
    shutil.rmtree(folder)
