"""How Hypothesis draws cases: a few, the same ones each time; FUZZ=thorough: many others.

So a change never fails by a case that it has not caused; `make test-all` looks for new ones. Time
decides nothing: a busy machine may hold up any case.
"""

import os

from hypothesis import HealthCheck, settings

THOROUGH = os.environ.get("FUZZ") == "thorough"
CASES = settings(
    max_examples=100 if THOROUGH else 20,
    derandomize=not THOROUGH,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
_INPUTS = 10_000 if THOROUGH else 100
"""How many cases are tried of each kind of input."""


def try_cases(count: int) -> settings:
    """Return the settings of a test that tries so many cases with FUZZ=thorough."""
    return settings(CASES, max_examples=count if THOROUGH else min(count, CASES.max_examples))


def fuzzed(parts: int = 1) -> settings:
    """Return the settings of one of the `parts` tests that try one kind of input."""
    return settings(
        CASES,
        max_examples=_INPUTS // parts,
        suppress_health_check=list(HealthCheck),  # the fixtures are of the module
    )
