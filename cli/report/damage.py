"""Result files whose form is right, and whose content is not."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.errors import ConfigError

_SHOWN = 200


@contextmanager
def expect_whole(path: Path | str) -> Iterator[None]:
    """Within this context, a result whose numbers cannot be computed is a ConfigError."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(
            f"{path}: is damaged, so it cannot be shown: {reason[:_SHOWN]}"
        ) from error
