"""Rereads the files of credentials, which may be rotated during a run.

In a pod, these are the files of mounted Secrets, which the kubelet updates. On this machine, they
are the files that the target names. Connections that are opened after a rotation use the new
credentials.
"""

import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import ValidationError

from simulator.modules.contract import Database
from simulator.protocol.run_input import read_credential

LOOK_S = 2.0
"""Interval between two readings of the files, in seconds."""


class Rotation:
    """Gives a database the current credentials from the files."""

    def __init__(
        self,
        database: Database,
        files: Mapping[str, Path],
        then: Callable[[], object] = int,
        look_s: float = LOOK_S,
    ) -> None:
        """Store the files by option name; `then` is called after each rotation."""
        self._database, self._files, self._then, self._look_s = database, files, then, look_s
        self._refused: dict[str, str] = {}
        """Credentials that were read last and that the options refused."""

    def follow(self) -> None:
        """Read the files now, as the sweep may have read them hours ago, and then regularly."""
        self.renew()
        if self._files:
            threading.Thread(target=self._look, name="rotation", daemon=True).start()

    def _look(self) -> None:
        pause = threading.Event()
        while not pause.wait(self._look_s):
            self.renew()

    def renew(self) -> None:
        """Give the database the changed credentials; a missing file counts as unchanged."""
        found = {}
        for name, path in self._files.items():
            try:
                found[name] = read_credential(path)
            except (OSError, ValueError):
                continue  # it is being replaced
        known = self._database.options.secrets()
        changed = {name: value for name, value in found.items() if known.get(name) != value}
        if not changed or changed == self._refused:
            return
        names = ", ".join(sorted(changed))
        try:
            self._database.options = self._database.options.renew(changed)
        except ValidationError:  # its text may repeat the value
            self._refused = changed
            _log(f"rotated credentials are not valid, and the earlier ones stay: {names}")
        else:
            self._then()
            _log(f"credentials were rotated: {names}")


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201
