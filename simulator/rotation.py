"""Credentials that are rotated during a run: their files are read again.

In a pod they are the files of mounted Secrets, which the kubelet writes again; on this machine the
files that the target names. Connections that are opened afterwards use the new credentials.
"""

import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import ValidationError

from simulator.modules.contract import Database
from simulator.protocol.run_input import read_credential

LOOK_S = 2.0
"""Interval at which the files are read."""


class Rotation:
    """Gives a database the credentials that their files have now."""

    def __init__(
        self,
        database: Database,
        files: Mapping[str, Path],
        then: Callable[[], object] = int,
        look_s: float = LOOK_S,
    ) -> None:
        """Store the files by the names of the options; nothing is read before `follow`.

        `then` is called after the database has new credentials.
        """
        self._database, self._files, self._then, self._look_s = database, files, then, look_s
        self._refused: dict[str, str] = {}
        """Credential that was read last and is invalid for the options."""

    def follow(self) -> None:
        """Read the files now, and then at intervals in a thread that ends with the process.

        A sweep may have read them hours before this run.
        """
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
        if changed and changed != self._refused:
            self._give(changed)

    def _give(self, changed: Mapping[str, str]) -> None:
        names = ", ".join(sorted(changed))
        try:
            self._database.options = self._database.options.renew(changed)
        except ValidationError:  # its text may repeat the value
            self._refused = dict(changed)
            _log(f"rotated credentials are not valid, and the earlier ones stay: {names}")
        else:
            self._then()
            _log(f"credentials were rotated: {names}")


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201
