"""The command line on a real cluster, driven as a user drives it.

Whatever KUBECONFIG names is used; without it, or where it names the test cluster, the test cluster
of tests/cluster: it is started if it is not up, and then stopped again. Processes that run tests at
the same time share it, and have a namespace and a PostgreSQL each.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import (
    LOADED,
    ClusterLine,
    Kubernetes,
    Namespace,
    cluster,
    new_namespace,
    waited,
)
from tests.e2e.permissions import for_resources, outside


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Set no timeout for fixtures: a first build of the cluster takes minutes."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.timeout(300, func_only=True))


_SHARED = pytest.StashKey[contextlib.ExitStack]()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the cluster before the processes that share it."""
    option = session.config.option
    if getattr(option, "numprocesses", None) and not hasattr(session.config, "workerinput"):
        shared = session.config.stash[_SHARED] = contextlib.ExitStack()
        shared.enter_context(cluster())
        os.environ[LOADED] = "yes"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the cluster after them."""
    if shared := session.config.stash.get(_SHARED, None):
        shared.close()


@pytest.fixture(scope="session")
def kube(request: pytest.FixtureRequest) -> Iterator[Kubernetes]:
    """The cluster; the steps that start it are printed immediately, since they may take minutes."""
    shown = request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled
    with contextlib.ExitStack() as stack:
        with shown():
            print(flush=True)
            found = stack.enter_context(cluster())
        yield found
        with shown():
            stack.close()


@pytest.fixture(scope="session")
def bench(kube: Kubernetes) -> Iterator[Namespace]:
    """A namespace with a PostgreSQL."""
    with new_namespace(kube, postgres=True) as made:
        yield made


@pytest.fixture
def namespace(kube: Kubernetes) -> Iterator[Namespace]:
    """An empty namespace for one test."""
    with new_namespace(kube) as made:
        yield made


@pytest.fixture
def powers(kube: Kubernetes) -> Kubernetes:
    """The test cluster, whose nodes can be crashed and whose processes can be killed."""
    if not kube.own:
        pytest.skip("only on the test cluster: this crashes nodes, fakes them, or kills processes")
    return kube


@pytest.fixture
def line_on(tmp_path: Path) -> Iterator[Callable[[Namespace], ClusterLine]]:
    """Create command lines; none of them may leave anything."""
    made: list[ClusterLine] = []

    def make(namespace: Namespace) -> ClusterLine:
        folder = tmp_path / f"line{len(made)}"
        folder.mkdir()
        made.append(ClusterLine(folder, namespace=namespace))
        return made[-1]

    yield make
    left: list[str] = []
    for line in made:
        line.end()
        left += line.leftovers()
        left += line.namespace.leftovers()
        if left:
            line.namespace.remove_leftovers()
    assert not left


@pytest.fixture
def cli(bench: Namespace, line_on: Callable[[Namespace], ClusterLine]) -> ClusterLine:
    """The command line on the namespace with the PostgreSQL."""
    return line_on(bench)


@pytest.fixture
def empty(namespace: Namespace, line_on: Callable[[Namespace], ClusterLine]) -> ClusterLine:
    """The command line on an empty namespace."""
    return line_on(namespace)


@pytest.fixture
def crash(powers: Kubernetes) -> Iterator[Callable[[str], None]]:
    """Crash nodes; at the end all are booted and ready."""
    crashed: dict[str, str] = {}

    def crash_it(node: str) -> None:
        crashed[node] = ""
        powers.script("crash", node)
        crashed[node] = powers.renewed(node)

    yield crash_it
    for node in crashed:
        powers.script("boot", node)
    for node, last in crashed.items():
        # The control plane may not have noticed the crash.
        waited(f"{node} renews its lease", functools.partial(powers.renewed_since, node, last), 60)
        powers.kubectl("wait", "--for=condition=Ready", f"node/{node}", "--timeout=60s")


@pytest.fixture
def granted(cli: ClusterLine) -> Iterator[ClusterLine]:
    """A command line that may also read the kubelets' statistics, and find the database's pods."""
    name = cli.namespace.name
    cli.namespace.kube.kubectl("apply", "--filename=-", given=for_resources(name, "bench"))
    yield cli
    cli.namespace.kube.kubectl("delete", *outside(name)[-1], "--ignore-not-found")
