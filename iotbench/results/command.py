"""The command of a result, stored as options instead of executable words."""

from collections.abc import Iterator, Sequence

from simulator.frozen import Frozen


class GivenCommand(Frozen):
    """The name of a command and the options that were given to it."""

    name: str
    options: dict[str, bool | tuple[str, ...]]
    """Option without leading dashes -> the state of a flag, or the values as the user wrote
    them."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the command."""
        return (self.name, *(word for option in self.options for word in self.words_of(option)))

    def values(self, option: str) -> tuple[str, ...]:
        """Return the values of an option; empty if it is a flag or was not given."""
        value = self.options.get(option, ())
        return () if isinstance(value, bool) else value

    def words_of(self, option: str) -> Iterator[str]:
        """Yield the words of one option."""
        value = self.options[option]
        if isinstance(value, bool):
            yield f"--{option}" if value else f"--no-{option}"
            return
        for each in value:
            yield from (f"--{option}={each}",) if each.startswith("-") else (f"--{option}", each)

    def without(self, options: Sequence[str]) -> "GivenCommand":
        """Return the command without some options."""
        kept = {name: value for name, value in self.options.items() if name not in options}
        return GivenCommand(name=self.name, options=kept)


def words_of(stored: GivenCommand | tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a stored command; files of earlier versions store only the words."""
    return stored.words if isinstance(stored, GivenCommand) else stored
