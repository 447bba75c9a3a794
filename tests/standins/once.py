"""`once`: how long the first answer to each query takes, as after a restart."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from iotbench.figures.pictures import Ranges
from iotbench.measurements.query.figures import QUERY
from iotbench.measurements.query.options import QueryOptions, Types
from iotbench.measurements.query.plan import query_runs
from iotbench.measurements.query.warnings import describe_asked
from iotbench.measurements.shared.kind import Kind, Planned
from iotbench.measurements.shared.options import OfInsert
from iotbench.measurements.shared.plan import PlannedRun, Wanted
from iotbench.results.result import Result
from simulator.protocol.spec import Work


class OnceOptions(OfInsert, Types):
    """The options of `once`."""


class Once(Kind[OnceOptions]):
    """One worker asks each query twice, one after the other."""

    name = "once"
    work = Work.QUERY
    subjects = (QUERY,)
    options = OnceOptions
    help = "Time the first answer to each query, beside one more."
    examples = ("once --target sqlite",)
    title = "First answers"
    pictures = (
        Ranges("p50_ms", "first_ms", "First answer", "Marker: the next one.", ("client_share",)),
    )

    def plan(self, wanted: Wanted[OnceOptions]) -> Planned:
        """Return the run on the stored rows."""
        asked, options = wanted.stored.dataset, QueryOptions(**dict(wanted.options), runs=1)
        planned = query_runs(replace(wanted, options=options))
        configuration: dict[str, Any] = options.configuration()
        return Planned(planned, {**configuration, **describe_asked(asked, planned[0].spec)})

    def outline(self, planned: Sequence[PlannedRun], last: Result | None) -> Iterator[str]:
        """Yield the queries."""
        yield f"queries, each twice: {', '.join(planned[0].spec.load.queries)}"


KIND = Once()
