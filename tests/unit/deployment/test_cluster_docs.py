"""docs/cluster.md explains every failure that the command line recognises on a cluster."""

import re

import pytest

from iotbench.execution.kubernetes import diagnosis
from iotbench.execution.kubernetes.lifetime import KEPT_S, UNATTENDED_S
from tests import ROOT

PAGE = (ROOT / "docs/cluster.md").read_text()
MESSAGES = "\n".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))
"""The first column of the table of messages."""
REASONS = sorted(diagnosis._IMAGE_WAITS | diagnosis._START_WAITS)
EXAMPLES = {
    r"Insufficient (cpu|memory)": "Insufficient cpu",
    r"persistentvolumeclaim .* not found": 'persistentvolumeclaim "..." not found',
    r"volume node affinity|PersistentVolume's node affinity": "volume node affinity",
    r"(?<!volume )(?<!PersistentVolume's )node affinity|node selector": "node affinity",
    r"taint \{node\.kubernetes\.io/(?!unschedulable)": "taint {node.kubernetes.io/...}",
    r"taint(?! \{node\.kubernetes\.io/)": "taint",
    r"admission|denied the request": "admission",
    r"(secret|configmap) \"?[\w.-]+\"? not found": 'secret "..." not found',
}
"""What the page writes for a pattern that is not a plain text."""


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_why_a_container_waits_is_explained(reason):
    assert f"`{reason}`" in MESSAGES


@pytest.mark.parametrize(
    "pattern", [*diagnosis._SCHEDULING_REMEDIES, *diagnosis._EVENT_REMEDIES], ids=str
)
def test_every_message_with_a_remedy_is_explained(pattern):
    example = EXAMPLES.get(pattern, pattern)

    assert f"`{example}`" in MESSAGES
    assert example == 'secret "..." not found' or re.search(pattern, example)


def test_the_page_on_security_says_how_long_a_run_lives_without_its_command_line():
    page = " ".join((ROOT / "docs/security.md").read_text().split())
    minutes = f"{UNATTENDED_S // 60} minutes"

    assert f"a deadline of {minutes} that the command line extends" in page
    assert f"within {minutes}, and deletes the Jobs" in page
    assert f"Secret, {minutes} later" in page
    assert 2 * UNATTENDED_S <= 3600, "at most an hour"
    assert KEPT_S == 24 * 3600, "--keep makes that a day"
