"""Result files with a valid form and impossible content."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.errors import ConfigError

_SHOWN = 200


@contextmanager
def expect_whole(path: Path | str) -> Iterator[None]:
    """Raise ConfigError within this context for a result with numbers that cannot be computed."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"{path}: is damaged, so it cannot be shown: {reason[:_SHOWN]}"
        ) from error
