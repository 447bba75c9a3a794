"""Results and reproductions -> the page of them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from iotbench.output.page import courses, reproductions
from iotbench.output.page.content import Page, Section
from iotbench.output.page.details import detail_of, verdict_of
from iotbench.output.page.measured import PageResult, order_results
from iotbench.output.page.overview import MOST_CARDS, cards_of, overview_of, worst_of
from iotbench.output.page.ranking import ranking_of
from iotbench.output.page.sections import section_of
from iotbench.output.page.sources import Sources
from iotbench.results.title import title_of
from simulator import __version__


def page_of(given: Sources) -> Page:
    """Return the page; ConfigError names a file that is damaged."""
    found = order_results(given.results, given.repeated)
    records = [record for _, record in given.reproductions]
    verdicts = [verdict_of(each) for each in found]
    verdicts += [item.verdict for record in records for item in record.items]
    return Page(
        title=_title(found, given),
        subtitle=_subtitle(found),
        verdict=worst_of(verdicts, [result for each in found for result in each.results]),
        cards=cards_of(found),
        overview=overview_of(found),
        ranking=ranking_of(found),
        sections=[
            *(reproductions.section_of(index, record) for index, record in enumerate(records)),
            *_sections(found),
            *courses.courses_of(found),
        ],
        details=[detail_of(each) for each in found],
        program=__version__,
        is_folded=len(found) > MOST_CARDS,
    )


def _sections(found: Sequence[PageResult]) -> Iterator[Section]:
    """Yield a section for each workload and kind of sweep."""
    groups: dict[tuple[str, ...], list[PageResult]] = defaultdict(list)
    for each in found:
        if any(row.figures for row in each.summary.rows):
            groups[each.group].append(each)
    for number, group in enumerate(groups.values()):
        yield section_of(f"{group[0].result.kind}-{number}", group)


def _title(found: Sequence[PageResult], given: Sources) -> str:
    if given.reproductions and not found:
        return ", ".join(f"Reproduction of {record.document}" for _, record in given.reproductions)
    title = title_of([each.result for each in found])
    return title[:1].upper() + title[1:]


def _subtitle(found: Sequence[PageResult]) -> str:
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
