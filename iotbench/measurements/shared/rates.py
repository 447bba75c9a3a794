"""Limits of rates that users ask for. Pure."""

from collections.abc import Iterator, Mapping

SLOWEST_RATE, FASTEST_RATE = 0.001, 1e9


def rate_problems(rates: Mapping[str, float]) -> Iterator[str]:
    """Yield which of these rates, by the names of their options, are beyond the limits."""
    for name, rate in rates.items():
        if rate and not SLOWEST_RATE <= rate <= FASTEST_RATE:
            yield (
                f"{name}: expected 0 for no limit, or {SLOWEST_RATE:g} to {FASTEST_RATE:,.0f} per"
                f" second, got {rate:g}"
            )
