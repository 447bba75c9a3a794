"""Ways to send rows that only some modules have."""

from collections.abc import Callable, Sequence

from simulator.data.schema import Table
from simulator.modules.contract.records import Envelope, MixedEncoder, Payload
from simulator.protocol.records import RecordFormat


class Sending:
    """A session that may send rows of several tables or of a file, or several payloads at once."""

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        """Return the encoder of payloads that hold the rows of each block between two edges."""
        raise NotImplementedError

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return what makes records of a file, which are rows of these tables, a payload's data."""
        raise NotImplementedError

    @property
    def in_flight(self) -> int:
        """Return how many payloads may be in flight at once; more than 1 requires `begin`."""
        return 1

    @property
    def makes_objects(self) -> bool:
        """True if payloads are Python objects, which are slow to prepare far ahead."""
        return False

    def begin(self, payload: Payload, done: Callable[[Exception | None], None]) -> None:
        """Send one payload without waiting.

        `done` is called once, on any thread, at the latest when the session is closed: with None
        for an acknowledgement, or with the error. An exception raised here has the same meaning.
        """
        raise NotImplementedError
