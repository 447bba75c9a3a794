"""Builds the page of results and reproductions: one HTML file with similar results side by side."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from iotbench.comparison.sides import other_data
from iotbench.figures.pictures import Form, Over, Ranges
from iotbench.figures.rows import Row
from iotbench.figures.verdicts import describe_worst, verdict_of
from iotbench.machine.cleaning import plain
from iotbench.measurements import kind_of
from iotbench.output.page import courses, growth, inserts, queries, reproductions
from iotbench.output.page.content import SYMBOLS, TEXTS, Page, Picture, Section
from iotbench.output.page.details import detail_of
from iotbench.output.page.measured import PageResult, Sources, order_results
from iotbench.output.page.overview import MOST_CARDS, cards_of, overview_of, warnings_of
from iotbench.output.page.pictures import chunks, picture_over, picture_ranges
from iotbench.output.page.ranking import ranking_of
from iotbench.plans.published.record import Reproduction
from iotbench.results.result import Result, title_of
from simulator import __version__

_MARK = "iotbench-report"
OWN = re.compile(rb"(?s).{0,400}" + _MARK.encode())
"""Pattern of the beginning of a page that this program wrote."""
_DRAWN: Mapping[Form, Callable[[Sequence[PageResult]], Iterator[Picture]]] = {
    Form.FIGURES: inserts.draw_figures,
    Form.DISTRIBUTION: inserts.draw_distributions,
    Form.SIZES: inserts.draw_sizes,
    Form.GROWTH: growth.draw_growth,
    Form.WAITS: queries.draw_waits,
    Form.CLIENT_TIMES: queries.draw_client_times,
    Form.RAMPS: queries.draw_ramps,
}


def page_of(given: Sources) -> Page:
    """Return the page; a ConfigError names a damaged file."""
    found = order_results(given.results, given.repeated)
    return compose(found, [record for _, record in given.reproductions])


def compose(
    found: Sequence[PageResult],
    records: Sequence[Reproduction],
    *,
    with_details: bool = True,
    with_ranking: bool = True,
) -> Page:
    """Return the page of results and reproductions.

    `with_details`: with everything about each result; `with_ranking`: with all results on one axis.
    """
    return Page(
        title=_write_title(found, records),
        subtitle=describe_when(found),
        verdict=describe_verdicts(found, records),
        warnings=[*warnings_of(found)],
        cards=cards_of(found),
        overview=overview_of(found),
        ranking=ranking_of(found) if with_ranking else None,
        sections=[
            *(reproductions.section_of(index, record) for index, record in enumerate(records)),
            *_list_sections(found),
            *(courses.courses_of(found) if with_details else ()),
        ],
        details=[detail_of(each) for each in found] if with_details else [],
        program=__version__,
        is_folded=len(found) > MOST_CARDS,
    )


def _list_sections(found: Sequence[PageResult]) -> Iterator[Section]:
    """Yield a section for each combination of workload and kind of sweep."""
    groups: dict[tuple[str, ...], list[PageResult]] = defaultdict(list)
    for each in found:
        if any(row.figures for row in each.summary.rows):
            groups[each.group].append(each)
    for number, group in enumerate(groups.values()):
        yield _make_section(f"{group[0].result.kind}-{number}", group)


def describe_verdicts(found: Sequence[PageResult], records: Sequence[Reproduction] = ()) -> str:
    """Return the worst verdict of results and reproductions, with its consequence."""
    verdicts = [verdict_of(each.result) for each in found]
    verdicts += [item.verdict for record in records for item in record.items]
    return describe_worst(verdicts, [result for each in found for result in each.results])


def _write_title(found: Sequence[PageResult], records: Sequence[Reproduction]) -> str:
    if records and not found:
        return ", ".join(f"Reproduction of {record.document}" for record in records)
    title = title_of([each.result for each in found])
    return title[:1].upper() + title[1:]


def describe_when(found: Sequence[PageResult]) -> str:
    """Return the number of results, their days and machines."""
    if not found:
        return ""
    results = [result for each in found for result in each.results]
    kinds = Counter(result.kind for result in results)
    what = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    days = sorted(result.created for result in results)
    first, last = f"{days[0]:%F %H:%M}", f"{days[-1]:%F %H:%M}"
    when = first if first == last else f"{first} to {last}"
    machines = {result.machine.processor for result in results}
    return f"{what} · {when} UTC · {'; '.join(sorted(machines))}"


def _make_section(name: str, group: Sequence[PageResult]) -> Section:
    """Return the section of results with the same workload and kind."""
    first = group[0].result
    declared = kind_of(first).showing(first).pictures
    pictures = chain.from_iterable(_draw(each, group) for each in declared)
    return Section(name, name_section(first), [*_list_notes(group)], [*pictures])


def name_section(result: Result) -> str:
    """Return the title of the section of a result."""
    return f"{kind_of(result).showing(result).title}, workload {result.dataset.workload}"


def _draw(declared: Over | Ranges | Form, group: Sequence[PageResult]) -> Iterator[Picture]:
    if isinstance(declared, Form):
        yield from _DRAWN[declared](group)
    elif isinstance(declared, Over):
        figure = declared.figure
        shown = [
            (each, _select(figure, each.summary.totals) or _select(figure, each.summary.rows))
            for each in group
        ]
        yield from picture_over(declared, [(each, rows) for each, rows in shown if rows])
    else:
        shown = [(each, _select(declared.low, each.summary.rows)) for each in group]
        some = [(each, rows) for each, rows in shown if rows]
        yield from (picture_ranges(declared, few) for few in chunks(some))


def _select(figure: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that have a figure and cover whole runs."""
    return [row for row in rows if figure in row.figures and row.place.stage is None]


def _list_notes(group: Sequence[PageResult]) -> Iterator[str]:
    first = group[0]
    unlike = [
        f"{each.label}: {text}"
        for each in group[1:]
        for text in other_data(first.result, Path(first.label), each.result)
    ]
    if unlike:
        yield (
            f"These results are of different rows, so `compare` refuses them. {'; '.join(unlike)}."
        )
    if len({each.durability for each in group}) > 1:
        yield (
            "The durability of acknowledged rows differs between these results; compare only those"
            " of equal durability."
        )
    if len({each.result.machine.model_copy(update={"load_average": 0}) for each in group}) > 1:
        yield "These results were measured from different machines."
    writes = kind_of(group[0].result).writes and any(len(each.done) for each in group)
    if writes and all(row.runs < 2 for each in group for row in each.summary.rows):
        yield "Each value is of a single run, so the difference between runs is unknown."


def render(page: Page) -> str:
    """Return a page as HTML."""
    return fill("page/page.html", page=page)


def fill(template: str, **values: Any) -> str:
    """Return a template of the folder `output`, filled with values, as HTML."""
    import jinja2  # noqa: PLC0415 - only a page needs it

    folder = Path(__file__).parents[1]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        finalize=lambda value: plain(value) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["status"] = _find_status
    style = (folder / "page/page.css").read_text(encoding="utf-8")
    shared = {"style": style, "mark": _MARK, "symbols": SYMBOLS, "texts": TEXTS}
    return environment.get_template(template).render(shared | values)


def _find_status(verdict: str) -> str:
    """Return the status at the beginning of a verdict, such as `verified` in `verified, tuned`."""
    return next((word for word in SYMBOLS if verdict.startswith(word)), "unknown")
