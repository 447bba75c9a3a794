"""The image of command line, collector and workers, as it is built for the cluster."""

import pytest

from tests.e2e.harness import Kubernetes
from tests.e2e.images import app_image

LIMIT_BYTES = 485e6
"""The base of the test cluster, Debian's Python, takes 54 MB of it, the pictures of pages 84 MB,
helm 61 MB, and the client of QuestDB 56 MB, most of it symbols."""


def test_the_image_is_small(kube: Kubernetes) -> None:
    if not kube.own:
        pytest.skip("the image of another cluster is built elsewhere")

    assert app_image().stat().st_size < LIMIT_BYTES
