"""How Hypothesis draws cases: the same ones each time; FUZZ=few: fewer; FUZZ=thorough: others.

So a change never fails by a case that it has not caused; `make test-all` looks for new ones. Time
decides nothing: a busy machine may hold up any case.
"""

import os

from hypothesis import HealthCheck, settings

THOROUGH = os.environ.get("FUZZ") == "thorough"
FEW = os.environ.get("FUZZ") == "few"
CASES = settings(
    max_examples=10 if FEW else 100,
    derandomize=not THOROUGH,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
_INPUTS = 10_000 if THOROUGH else 500
"""How many cases are tried of each kind of input."""


def try_cases(count: int) -> settings:
    """Return the settings of a test that tries so many cases, and few with FUZZ=few."""
    return settings(CASES, max_examples=min(count, CASES.max_examples) if FEW else count)


def fuzzed(parts: int = 1) -> settings:
    """Return the settings of one of the `parts` tests that try one kind of input."""
    return settings(
        CASES,
        max_examples=_INPUTS // parts,
        suppress_health_check=list(HealthCheck),  # the fixtures are of the module
    )
