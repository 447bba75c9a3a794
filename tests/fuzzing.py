"""How many cases fuzzing tries of each kind of input: 500, or 10,000 with FUZZ=fuzz-thorough."""

import os

from hypothesis import HealthCheck, settings

_OPTIONS = {
    "deadline": None,  # the tests bound CPU time themselves
    "suppress_health_check": list(HealthCheck),  # the fixtures are of the module
}
settings.register_profile("fuzz-quick", max_examples=500, **_OPTIONS)
settings.register_profile("fuzz-thorough", max_examples=10_000, **_OPTIONS)


def fuzzed(parts: int = 1) -> settings:
    """Return the settings of one of the `parts` tests that try one kind of input."""
    chosen = settings.get_profile(os.environ.get("FUZZ", "fuzz-quick"))
    return settings(chosen, max_examples=chosen.max_examples // parts)
