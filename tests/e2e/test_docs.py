"""The README's section on clusters, run as it is printed, from an empty cluster."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.databases import POSTGRESQL
from tests.e2e.harness import Kubernetes, Namespace
from tests.e2e.images import SCRIPT, app_image
from tests.integration.test_docs import BLOCKS, checkout, run

__all__ = ["checkout"]

(PATH,) = [block for block in BLOCKS if (block.page, block.needs) == ("README.md", "cluster")]
WITHIN_S = 700


@pytest.fixture
def default(powers: Kubernetes) -> Iterator[Namespace]:
    """The namespace of the README; at the end, dbinstall's commands remove the database."""
    namespace = Namespace(powers, "default")
    yield namespace
    left = namespace.leftovers()
    namespace.remove_leftovers()
    removal = ["bash", "-ec", POSTGRESQL.commands()[1]]
    environment = dict(powers.environment)
    subprocess.run(removal, cwd=POSTGRESQL.folder, env=environment, check=True, timeout=120)
    assert not left


@pytest.fixture
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A docker that has built the image already, and a kind that is the test cluster."""
    folder = tmp_path_factory.mktemp("programs")
    programs = {
        "docker": f'case $1 in save) cp {app_image()} "$3" ;; esac',
        "kind": f'[ "$1 $2" = "load image-archive" ] && exec {SCRIPT} load "$3"',
    }
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.rare
@pytest.mark.timeout(900, func_only=True)
def test_the_readmes_path_runs_from_an_empty_cluster(
    checkout: Path, default: Namespace, stand_ins: Path
) -> None:
    """Only the name of the node, and an image that a machine without a registry has, differ."""
    kube = default.kube
    (node,) = kube.database_nodes()
    kube.kubectl("label", "node", node, "workload-")
    manifest = checkout / "dbinstall" / "postgresql" / POSTGRESQL.manifest
    manifest.write_text(POSTGRESQL.manifest_with(kube.postgres_image))
    environment = {**kube.environment, "PATH": f"{stand_ins}:{kube.environment['PATH']}"}
    printed = run(checkout, PATH.text.replace("DBNODE", node), WITHIN_S, **environment)

    assert printed.count("result file: ") == 2
    assert "mismatch" not in printed
    assert kube.database_nodes() == {node}
