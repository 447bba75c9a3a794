"""The questions that have a page each: cardinality, growth, freshness, faults and drivers."""

from collections.abc import Sequence

from iotbench.output.page.build import describe_when, render
from iotbench.output.page.content import Page, PageTable
from iotbench.output.page.overview import warnings_of
from iotbench.output.site import drivers, faulty, fresh, growing
from iotbench.output.site.entries import Entry
from iotbench.output.site.question import Question
from simulator import __version__

FILES = (growing.OF_SERIES, growing.OF_ROWS, fresh.FILE, *faulty.FILES, drivers.FILE)
"""Files of the pages of all questions."""


def list_questions(entries: Sequence[Entry]) -> list[Question]:
    """Return the questions that the results of databases answer."""
    found = [growing.ask_about_series(entries), growing.ask_about_rows(entries)]
    found += [fresh.ask(entries), *faulty.ask(entries), drivers.ask(entries)]
    return [each for each in found if each]


def render_question(question: Question, home: str) -> str:
    """Return the page of a question as HTML; `home`: file of the site's first page."""
    page = Page(
        title=question.title,
        subtitle=describe_when(question.results),
        verdict=question.verdict,
        warnings=[*warnings_of(question.results)],
        cards=[],
        overview=PageTable([]),
        ranking=None,
        sections=[question.section],
        details=[],
        program=__version__,
        is_folded=False,
        home=home,
    )
    return render(page)
