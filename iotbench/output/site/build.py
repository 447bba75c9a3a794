"""Builds the files of a site."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from iotbench.config.targets.advice import SUFFIX
from iotbench.output.page.build import (
    compose,
    describe_verdicts,
    describe_when,
    fill,
    name_section,
    render,
)
from iotbench.output.page.content import Page, PageTable
from iotbench.output.page.details import detail_of
from iotbench.output.page.measured import PageResult, Sources, order_results
from iotbench.output.page.overview import warnings_of
from iotbench.output.site import documents, drivers, faulty, fresh, growing
from iotbench.output.site.content import IndexPage
from iotbench.output.site.entries import PROMISES, Entry
from iotbench.output.site.index import columns_of, head_of, list_heats, list_promises
from iotbench.output.site.question import Question
from iotbench.plans.published.record import Reproduction
from iotbench.results.result import title_of
from simulator import __version__
from simulator.modules import MODULES, database_class
from simulator.modules.evidence import evidence

INDEX = "index.html"
_TOPICS = (growing.SERIES, growing.ROWS, fresh.TOPIC, *faulty.TOPICS, drivers.TOPIC)
"""Questions that have a page each, if there are results that answer them."""
_LONGEST_NAME = 60
"""Maximum length of the name of a page, in characters."""


def list_pages(given: Sources, files: Mapping[str, str]) -> dict[str, str]:
    """Return name -> HTML of the pages; `files`: link -> content of each other file."""
    every = order_results(given.results, given.repeated)
    repeating = {path for path, _ in given.reproductions}
    results = [each for each in every if not each.repeated or each.repeated.record not in repeating]
    databases = _name_pages(
        (_find_database(each) for each in results), {INDEX, *(each.file for each in _TOPICS)}
    )
    found = [replace(each, page=databases[_find_database(each)]) for each in results]
    entries = _group_by_target(found)
    questions = _list_questions(entries)
    others = _leave_out(found, questions)
    groups = _group_by_section(others)
    taken = {INDEX, *databases.values(), *(each.file for each in questions)}
    pictured = _name_pages(groups, taken)
    studied = _list_documents(every, given.reproductions, {*taken, *pictured.values()})
    answered = [*questions, *studied]
    pages = {INDEX: _render_index(found or every, others, answered, pictured, files)}
    pages |= {each.file: _render_question(each, given.refused) for each in answered}
    for page in databases.values():
        pages[page] = _render_database([each for each in entries if each.page == page])
    for title, group in groups.items():
        pages[pictured[title]] = _render_part(compose(group, (), with_details=False))
    return pages


def _group_by_target(found: Sequence[PageResult]) -> list[Entry]:
    return [
        Entry(target, [each for each in found if each.result.target == target])
        for target in dict.fromkeys(each.result.target for each in found)
    ]


def _list_questions(entries: Sequence[Entry]) -> list[Question]:
    """Return the questions that the results of databases answer."""
    found = [growing.ask_about_series(entries), growing.ask_about_rows(entries)]
    found += [fresh.ask(entries), *faulty.ask(entries), drivers.ask(entries)]
    return [each for each in found if each]


def _list_documents(
    found: Sequence[PageResult],
    repeated: Iterable[tuple[Path, Reproduction]],
    taken: Collection[str],
) -> list[Question]:
    """Return a question about each reference document that was repeated."""
    asked: list[Question] = []
    for path, record in repeated:
        files = {*taken, *(each.file for each in asked)}
        file = _name_page(f"document {record.document}", files)
        asked.append(documents.ask(path, record, file, found))
    return asked


def _leave_out(found: Sequence[PageResult], questions: Sequence[Question]) -> list[PageResult]:
    """Return the results that no question has, for the first page.

    An insert is left out if all that it prepared is.
    """
    asked = {each.index for question in questions for each in question.results}
    items = {each.repeated for each in found if each.index in asked}
    kept = {each.repeated for each in found
            if each.index not in asked and each.result.kind != "insert"}  # fmt: skip
    prepared = (items - kept) - {None}
    return [each for each in found if each.index not in asked and each.repeated not in prepared]


def _find_database(each: PageResult) -> str:
    """Return the name of the target with the settings as installed."""
    return each.result.target.removesuffix(SUFFIX)


def _group_by_section(found: Sequence[PageResult]) -> Mapping[str, Sequence[PageResult]]:
    """Return title -> results without searches, if they are of several databases."""
    groups: dict[str, list[PageResult]] = defaultdict(list)
    for each in found:
        if not (each.repeated and each.repeated.is_search):
            groups[name_section(each.result)].append(each)
    return {title: own for title, own in groups.items() if len({each.page for each in own}) > 1}


def _render_database(entries: Sequence[Entry]) -> str:
    """Return the page of a database; its entries differ in their settings."""
    own = sorted(entries, key=lambda each: each.is_advised)
    whole = compose([each for entry in own for each in entry.results], (), with_ranking=False)
    return _render_part(replace(whole, title=own[0].product, facts=[*_list_facts(own)]))


def _render_question(question: Question, refused: Mapping[str, str]) -> str:
    """Return the page of a question, with details of results that no other page has.

    `refused`: `target, setting` of a plan -> why it was not measured.
    """
    elsewhere = [each for each in question.results if each.page]
    settings = {each.repeated.setting for each in elsewhere if each.repeated}
    left_out = [
        f"Not measured: {name}: {why}."
        for name, why in refused.items()
        if name.partition(", ")[2] in settings
    ]
    section = replace(question.section, notes=[*question.section.notes, *left_out])
    details = [detail_of(each) for each in question.results if not each.page]
    return _render_part(
        Page(
            title=question.title,
            subtitle=describe_when(question.results),
            verdict=question.verdict,
            warnings=[*warnings_of(question.results)],
            cards=[],
            overview=PageTable([]),
            ranking=None,
            sections=[section],
            details=details,
            program=__version__,
            is_folded=bool(details),
        )
    )


def _render_part(page: Page) -> str:
    return render(replace(page, home=INDEX))


def _name_pages(names: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Return name -> file of its page."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        found[name] = _name_page(name, {*known, *found.values()})
    return found


def _name_page(name: str, taken: Collection[str]) -> str:
    """Return the file of a page; similar names get a number."""
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LONGEST_NAME].strip("-") or "page"
    tries = (f"{stem}{f'-{number}' * (number > 1)}.html" for number in range(1, len(taken) + 2))
    return next(each for each in tries if each not in taken)


def _render_index(
    found: Sequence[PageResult],
    others: Sequence[PageResult],
    questions: Sequence[Question],
    pages: Mapping[str, str],
    files: Mapping[str, str],
) -> str:
    """Return the first page; `others`: the results that no question has."""
    entries = _group_by_target(others)
    installed = {entry.target for entry in entries}
    heads = {
        entry.target: head_of(entry, is_single=entry.target.removesuffix(SUFFIX) not in installed)
        for entry in entries
    }
    workload, settings = columns_of(entries)
    sized = [*dict.fromkeys(name for entry in entries for name in entry.bytes_per_row)]
    page = IndexPage(
        title=title_of([each.result for each in found]),
        subtitle=describe_when(found),
        verdict=describe_verdicts(others or found),
        workload=workload,
        columns=[*settings, *(f"bytes/row of {name}" for name in sized)],
        promises=[*list_promises(entries, heads, workload, settings, sized)],
        heats=[*list_heats(entries, heads, pages)],
        questions=[(each.title, each.file, each.answer, each.verdict) for each in questions],
        pages=[*pages.items()],
        files=[*files.items()],
        has_advised=any("advised" in head.classes for head in heads.values()),
        program=__version__,
    )
    return fill("site/index.html", page=page)


def _list_facts(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Yield what is known about the database of entries: its server, our evidence, its limits."""
    for entry in entries:
        if server := entry.server:
            yield f"server of {entry.target}", server.version
            yield "an acknowledged row", f"survives {PROMISES[entry.promise]}: {server.durability}"
    for module in dict.fromkeys(entry.first.module for entry in entries):
        if module in MODULES:  # never import the module that a stranger's result names
            tried = evidence(module)
            yield "module", f"{module}, tried with {tried.servers}; after kill -9: {tried.kill}"
            limits = database_class(module).capabilities.limits
            yield from (("limit", limit) for limit in limits)
