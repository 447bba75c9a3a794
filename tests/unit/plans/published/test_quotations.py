"""Every number that is printed as a document's stands in its text, where the quotation says.

The texts are not part of this repository. They lie beside it, in `shared/reference`, or in the
folder that REFERENCE_TEXTS names.
"""

import os
import re
from pathlib import Path

import pytest

from iotbench.plans.published.documents import NAMES, read_document
from tests import ROOT

TEXTS = Path(os.environ.get("REFERENCE_TEXTS", ROOT.parent / "shared" / "reference"))
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?:[Kk]\b)?")
_OURS = re.compile(r"\([^)]*\d[^)]*\)")
"""Our bounds and sizes stand in brackets."""


def text_of(number: int) -> str:
    """Return a document's text, with one space between words."""
    found = sorted(TEXTS.glob(f"{number}-*.txt"))
    if not found:
        pytest.skip(f"the texts of the documents are not at {TEXTS}; REFERENCE_TEXTS names them")
    return in_one_line(found[0].read_text())


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def numbers_of(text: str) -> set[float]:
    """Return the numbers of a text: 1K is 1,000, and "10 000" the same as 10,000."""
    joined = re.sub(r"(?<=\d) (?=000\b)", "", text)
    return {
        float(each.rstrip("Kk,.").replace(",", "")) * (1000 if each[-1] in "Kk" else 1)
        for each in _NUMBER.findall(joined)
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_quotation_stands_in_the_document(name):
    document = read_document(name)
    text = text_of(document.number)

    assert [quote for quote in document.quotes if in_one_line(quote) not in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_published_number_is_that_of_its_quotation(name):
    """Thousands may be separated there, and the unit another one."""
    for figure in read_document(name).figures:
        factor = {"s": 1000, "MB/s": 10**6}.get(figure.unit, 1)
        for system, found in figure.published.items():
            digits = found.quote.replace(",", "")
            assert re.search(rf"{found.value:.12g}", digits), (figure.title, system)
            shown = figure.value_of(system) or figure.percent_of_base(system)
            assert shown == pytest.approx(found.value * factor)


@pytest.mark.parametrize("name", NAMES)
def test_a_ratio_that_a_document_claims_is_quoted(name):
    document = read_document(name)

    for claim in document.claims:
        if claim.gain or (claim.within and claim.within.over):
            assert claim.quote, claim.text
    for claim in document.claims:
        if claim.quote:
            published = [each.quote for figure in document.figures
                         for each in figure.published.values()]  # fmt: skip
            known = numbers_of(f"{claim.quote} {' '.join(published)}")
            quoted = {number for number in numbers_of(_OURS.sub("", claim.text)) if number > 100}
            assert quoted <= known, claim.text


@pytest.mark.parametrize("name", NAMES)
def test_machines_and_claims_have_no_number_that_the_document_does_not_have(name):
    document = read_document(name)
    text = text_of(document.number)
    others = (*document.claims, *document.out_of_reach)
    texts = [document.measured_on, *(_OURS.sub("", each.text) for each in others)]

    missing = {number for each in texts for number in numbers_of(each)} - numbers_of(text)
    assert missing <= {1.0}, "the document says `single-node`"
    named = re.findall(r"\b(?=\w*[a-zA-Z])(?=[\w.]*\d)\w[\w.]*\w", document.measured_on)
    assert [word for word in named if word not in text] == []
