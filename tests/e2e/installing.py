"""Databases for a test: installed by the commands of a README, or on this machine."""

import difflib
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e import vendors
from tests.e2e.databases import Database
from tests.e2e.harness import Kubernetes, Namespace, report
from tests.e2e.images import script
from tests.faults.proxy import Proxy
from tests.servers import SERVERS

_IMAGE = re.compile(r'\bimage(?:Name)?: "?([^\s"]+)')
_LOOPBACK = re.compile(r"(?<![\w.-])(localhost|127(\.\d+){3})(?![\w.-])")


def commands_in(namespace: Namespace, database: Database, folder: Path) -> Callable[[str], str]:
    """Load a database's image; return what runs commands of its README in the namespace."""
    kube = namespace.kube
    if kube.own and database.lacking:
        pytest.skip(f"the server built for {database.name} lacks {database.lacking}")
    files = folder / "dbinstall"
    shutil.copytree(database.folder, files)
    if kube.own:
        manifest = database.manifest_here()
        (files / database.manifest).write_text(manifest)
        lines = database.manifest_text().splitlines(), manifest.splitlines()
        for line in difflib.ndiff(*lines):
            if line.startswith(("+", "-")):
                report(f"e2e: {database.id}: {line}")
    config = folder / "kubeconfig"
    words = ("config", "view", "--raw", "--minify", "--flatten")
    config.touch(mode=0o600)
    config.write_text(kube.kubectl(*words))
    environment = {**os.environ, **kube.environment, "KUBECONFIG": str(config)}

    def run(commands: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
            cwd=files,
            env=environment,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
        return done.stdout

    run(f"kubectl config set-context --current --namespace={namespace.name}")
    if not kube.own:
        return run
    charts = [run(command) for command in vendors.template_commands(kube, database)]
    *operators, objects = charts or [database.manifest_text()]
    if database.image != kube.postgres_image:
        script("load", str(database.build()))
    name_image(kube, database.image, objects)
    if database.operator:
        script("load", str(database.operator.build()))
        name_image(kube, database.operator.image, "\n".join(operators))
    return lambda commands: run(vendors.with_charts(kube, database.name, commands))


def name_image(kube: Kubernetes, image: str, objects: str) -> None:
    """Give an image on the test cluster, which has no registry, the names that objects ask for."""
    names = sorted({*_IMAGE.findall(objects)})
    for node in (*kube.client_nodes(), *kube.database_nodes()):
        tag = ("node", node, "ctr", "--namespace=k8s.io", "images", "tag", "--force", image)
        kube.script(*tag, *names)


@contextmanager
def outside(kube: Kubernetes, name: str) -> Iterator[dict[str, Any]]:
    """Start a server of tests.servers on the machine of the test cluster; yield its options.

    It listens on the loopback interface only.
    """
    server_class = SERVERS[name]
    server_class.install()
    with (
        server_class() as server,
        server.database() as database,
        forwarded(kube, server.options(database), server.port()) as options,
    ):
        yield options


def on_loopback(hosts: Collection[str]) -> bool:
    """Return whether a pod would look for one of these hosts in itself."""
    return any(re.fullmatch(r"localhost|127(\.\d+){3}|\[?::1\]?", host) for host in hosts)


@contextmanager
def forwarded(kube: Kubernetes, options: Mapping[str, Any], port: int) -> Iterator[dict[str, Any]]:
    """Yield options with which pods of the test cluster reach a server on the loopback interface.

    Connections to its port on the address of the API server, which is that of the machine, are
    forwarded.
    """
    address = urlsplit(kube.server()["server"]).hostname
    assert address
    with closing(Proxy(port, lambda _: socket.create_server((address, port)))):
        yield {
            key: _LOOPBACK.sub(address, value) if isinstance(value, str) else value
            for key, value in options.items()
        }
