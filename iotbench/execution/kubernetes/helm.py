"""The program helm, which manages releases of the chart in deployment/."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from iotbench.config.options.choice import ClusterOptions
from iotbench.execution.kubernetes.wire import PATIENCE_S, kubectl_flags
from iotbench.machine.program import find_shipped
from iotbench.machine.scratch import scratch_folder
from simulator.errors import ConfigError, SetupError
from simulator.host import end_with_parent

CHART = find_shipped("deployment")
_OLDEST = (3, 13)
_OLDEST_KUBERNETES = "1.29.0"  # as in deployment/Chart.yaml
_TIMEOUT_S = 120
_UNREACHABLE = "Kubernetes cluster unreachable"
"""Message of helm if the cluster cannot be reached, which helm checks before any other work."""


class Helm:
    """Installs, upgrades and removes releases in a namespace."""

    def __init__(self, options: ClusterOptions, namespace: str) -> None:
        self._options = options
        self._flags = [f"--namespace={namespace}", *kubectl_flags(options, "--kube-context")]
        self._accepted: set[str] = set()
        """Names of releases with user values that the API server's schema has accepted."""

    def version(self) -> str:
        """Return helm's version; ConfigError if it is missing or too old."""
        oldest = ".".join(map(str, _OLDEST))
        if shutil.which("helm") is None:
            raise ConfigError(
                f"helm is not on the PATH: install helm {oldest} or newer (https://helm.sh), or"
                " use --runner local"
            )
        version = self._run(["version", "--short"], flags=False).strip()
        found = re.search(r"v?(\d+)\.(\d+)", version)
        if not found or (int(found[1]), int(found[2])) < _OLDEST:
            raise ConfigError(f"helm {version} is too old: {oldest} or newer is needed")
        return version

    def apply(
        self,
        release: str,
        labels: Mapping[str, str],
        values: Mapping[str, Any],
        proposed: Mapping[str, Any],
    ) -> None:
        """Install or upgrade a release; the values of the user override `proposed`."""
        command = ["upgrade", "--install", release, str(CHART), "--history-max=1"]
        command.append("--labels=" + ",".join(f"{k}={v}" for k, v in labels.items()))
        if release in self._accepted:  # helm would load the whole schema again: half a second
            command.append("--disable-openapi-validation")
        self._with_values(command, values, proposed)
        self._accepted.add(release)

    def template(self, release: str, values: Mapping[str, Any], proposed: Mapping[str, Any]) -> str:
        """Return the manifests that `apply` would create; ConfigError if the values are wrong."""
        # Without a cluster helm assumes an older version than the chart accepts.
        command = ["template", release, str(CHART), f"--kube-version={_OLDEST_KUBERNETES}"]
        try:
            return self._with_values(command, values, proposed)
        except SetupError as error:  # no cluster is involved: the values are wrong
            raise ConfigError(f"--values, --set: {error}") from error

    def uninstall(self, release: str) -> None:
        """Remove a release with all its objects, if it exists."""
        command = ["uninstall", release, "--ignore-not-found", "--no-hooks"]
        self._run([*command, f"--timeout={_TIMEOUT_S}s"])

    def _with_values(
        self, command: list[str], values: Mapping[str, Any], proposed: Mapping[str, Any]
    ) -> str:
        """Run a command with proposed values, user values and our values; later values override."""
        own = {**values, **self._options.image_values()}
        with scratch_folder("values") as folder:
            first, last = folder / "proposed.json", folder / "values.json"
            last.write_text(json.dumps(own))
            paths = [*self._options.values, last]
            if proposed:
                first.write_text(json.dumps(proposed))
                paths.insert(0, first)
            files = [f"--values={path}" for path in paths]
            sets = [f"--set={word}" for word in self._options.sets]
            return self._run([*command, *files, *sets])

    def _run(self, command: Sequence[str], *, flags: bool = True) -> str:
        until = time.monotonic() + PATIENCE_S
        done = self._start(command, flags=flags)
        while _UNREACHABLE in done.stderr and time.monotonic() < until:
            time.sleep(1.0)
            done = self._start(command, flags=flags)
        if done.returncode < 0:
            name = signal.Signals(-done.returncode).name
            raise SetupError(f"helm {command[0]} was killed by {name}")
        if done.returncode:
            words = done.stderr.strip().removeprefix("Error: ")
            raise SetupError(f"helm {command[0]}: {words}")
        return done.stdout

    def _start(self, command: Sequence[str], *, flags: bool) -> "subprocess.CompletedProcess[str]":
        whole = ["helm", *command, *(self._flags if flags else ())]
        try:
            return subprocess.run(
                whole,
                capture_output=True,
                text=True,
                check=False,
                timeout=_TIMEOUT_S + 10,
                start_new_session=True,  # the command line handles Ctrl-C
                # A helm that outlived the command line could create Jobs after a `cleanup`.
                preexec_fn=partial(end_with_parent, os.getpid()),
            )
        except subprocess.TimeoutExpired as error:
            raise SetupError(f"helm {command[0]} did not end within {error.timeout:.0f} s") from (
                error
            )
        except OSError as error:
            raise SetupError(f"cannot run helm: {error.strerror or error}") from error
