"""The section of equal results: the pictures that their kind declares, side by side."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from iotbench.figures.pictures import Form, Over, Ranges
from iotbench.figures.rows import Row
from iotbench.measurements import kind_of
from iotbench.output.page import growth, inserts, queries
from iotbench.output.page.content import Picture, Section
from iotbench.output.page.measured import PageResult
from iotbench.output.page.pictures import chunks, overs, ranges

_DRAWN: Mapping[Form, Callable[[Sequence[PageResult]], Iterator[Picture]]] = {
    Form.FIGURES: inserts.figures,
    Form.DISTRIBUTION: inserts.distributions,
    Form.SIZES: inserts.sizes,
    Form.GROWTH: growth.pictures,
    Form.WAITS: queries.waits,
    Form.CLIENT_TIMES: queries.client_times,
    Form.RAMPS: queries.ramps,
}


def section_of(name: str, group: Sequence[PageResult]) -> Section:
    """Return what equal results show side by side."""
    first = group[0].result
    showing = kind_of(first).showing(first)
    pictures = chain.from_iterable(_draw(each, group) for each in showing.pictures)
    title = f"{showing.title}, workload {first.dataset.workload}"
    return Section(name, title, [*_notes(group)], [*pictures])


def _draw(declared: Over | Ranges | Form, group: Sequence[PageResult]) -> Iterator[Picture]:
    if isinstance(declared, Form):
        yield from _DRAWN[declared](group)
    elif isinstance(declared, Over):
        figure = declared.figure
        shown = [
            (each, _having(figure, each.summary.totals) or _having(figure, each.summary.rows))
            for each in group
        ]
        yield from overs(declared, [(each, rows) for each, rows in shown if rows])
    else:
        shown = [(each, _having(declared.low, each.summary.rows)) for each in group]
        some = [(each, rows) for each, rows in shown if rows]
        yield from (ranges(declared, few) for few in chunks(some))


def _having(figure: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows of whole runs that have a figure."""
    return [row for row in rows if figure in row.figures and row.place.stage is None]


def _notes(group: Sequence[PageResult]) -> Iterator[str]:
    if len({each.durability for each in group}) > 1:
        yield (
            "The durability of acknowledged rows differs between these results; compare only those"
            " of equal durability."
        )
    if len({each.result.machine.model_copy(update={"load_average": 0}) for each in group}) > 1:
        yield "These results were measured from different machines."
    writes = kind_of(group[0].result).writes and any(len(each.done) for each in group)
    if writes and all(row.runs < 2 for each in group for row in each.summary.rows):
        yield "Each value is of one run, so nothing says how far two runs differ."
