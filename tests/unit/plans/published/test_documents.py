"""The published documents: plans, quotations, claims and the matrix of clusters."""

import os
import re
from itertools import combinations
from pathlib import Path

import pytest

from iotbench.plans.items import Candidate
from iotbench.plans.published.claims import Seen, chance_of, judge
from iotbench.plans.published.documents import (
    NAMES,
    DocumentClaim,
    ExperimentSize,
    Gain,
    Scaling,
    Term,
    Within,
    plan_of,
    read_document,
)
from iotbench.plans.published.evaluate import claims_of_gains, matrix
from iotbench.plans.published.record import Cell
from simulator.errors import ConfigError
from simulator.modules import MODULES, database_class
from tests import ROOT

PLANS = [(name, size) for name in NAMES for size in ExperimentSize]


@pytest.mark.parametrize("name", NAMES)
def test_every_document_has_figures_and_claims(name):
    document = read_document(name)

    assert document.figures
    assert document.claims


@pytest.mark.parametrize(("name", "size"), PLANS)
def test_a_plan_measures_all_that_the_document_compares(name, size):
    plan, document = plan_of(name, size), read_document(name)
    claimed = {name for claim in document.claims for term in claim.terms for name in term.settings}
    if document.scaling:
        claimed |= {document.scaling.setting, *document.scaling.by_nodes.values()}
    figures = {
        name for figure in document.figures for name in (figure.setting, *figure.settings.values())
    }
    known = {setting.name for setting in plan.settings}

    assert plan.name == f"{name}-{size}"
    assert plan.repeats >= 3, "a claim could not be seen"
    assert claimed <= known
    assert known <= figures | claimed
    assert size is ExperimentSize.DEMO or figures <= known


@pytest.mark.parametrize(("name", "size"), PLANS)
def test_the_options_of_a_plan_are_options_of_some_module(name, size):
    for setting in plan_of(name, size).settings:
        known = {
            module: {*database_class(module).options_model.model_fields}
            for module in setting.only or MODULES
        }
        assert any({*setting.options} <= names for names in known.values()), setting.name
        for module, options in setting.modules.items():
            assert {*options} <= {*database_class(module).options_model.model_fields}, module


@pytest.mark.parametrize("name", NAMES)
def test_a_demo_has_a_setting_that_sqlite_can_do_with_two_workers(name):
    known = {*database_class("sqlite").options_model.model_fields}
    settings = plan_of(name, ExperimentSize.DEMO).settings

    assert all(setting.insert.most_workers <= 2 for setting in settings)
    assert any(
        setting.concerns("sqlite") and {*setting.options_of("sqlite")} <= known
        for setting in settings
    )


def test_a_system_is_known_by_its_module_and_options():
    document = read_document("iot")
    cassandra = {"aggregation_plan": "server", "max_sync_calls": 1}
    for module, options, systems in (
        ("postgres", {}, ["PostgreSQL"]),
        ("cassandra", cassandra, ["Cassandra"]),
        ("cassandra", {"aggregation_plan": "client"}, ["Yugabyte (YCQL)"]),
        ("sqlite", {}, []),
    ):
        candidate = Candidate("x", module, options)
        assert [n for n, each in document.systems.items() if each.has(candidate)] == systems


DOCUMENT = """
number: 1
title: t
measured_on: m
systems: {Lite: {modules: [sqlite]}}
figures:
  - {title: f, setting: bulk, measure: rows_per_s, unit: "",
     published: {Lite: "up to [10,000] rows/s"}}
claims:
  - text: c
    of: [Lite]
    largest_first: [{setting: bulk, measure: rows_per_s}, {setting: single, measure: rows_per_s}]
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("published: {Lite: ", "published: {Light: ", "figures.0: unknown system 'Light'"),
        (
            "setting: bulk, measure: rows_per_s, unit",
            "setting: bulk, measure: rows_per_s, settings: {Light: b}, unit",
            "figures.0: unknown system 'Light'",
        ),
        (
            'unit: ""',
            "unit: MB/s",
            "figures.0.unit: 'MB/s' is not a unit of rows_per_s",
        ),
        ("of: [Lite]", "of: [Light]", "claims.0: unknown system 'Light'"),
        ("measure: rows_per_s, un", "measure: row_per_s, un", "figures.0.measure: 'row_per_s'"),
        ("measure: rows_per_s, un", "measure: step_rows_per_s_reference 0, un", "figures.0.meas"),
        ("{setting: single, measure: rows_per_s}", "{setting: s, measure: wait_ms}", "claims.0: m"),
        (", {setting: single, measure: rows_per_s}]", "]", "claims.0: has either largest_first"),
        ("text: c", "txt: c", "claims.0.text: is required"),
        ("text: c", "text: c\n    gain: {least: 1, most: 2}", "claims.0.gain: needs `scaling`"),
        ("[10,000]", "10,000", "figures.0.published.Lite: expected a quotation with its number in"),
        ("[10,000]", "[many]", "figures.0.published.Lite: expected a quotation with its number in"),
    ],
)
def test_a_wrong_document_is_refused_with_the_place(tmp_path, old, new, problem):
    (tmp_path / "documents").mkdir()
    path = tmp_path / "documents" / "x.yaml"
    path.write_text(DOCUMENT)
    (figure,) = read_document("x", tmp_path).figures
    assert (figure.value_of("Lite"), figure.quote_of("Lite")) == (10_000, "up to 10,000 rows/s")
    path.write_text(DOCUMENT.replace(old, new))

    with pytest.raises(ConfigError) as error:
        read_document("x", tmp_path)
    assert error.value.problems[0].startswith(f"{path}: {problem}")


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


A, B, C = (Term(setting=name, measure="rows_per_s") for name in "abc")
ORDER = DocumentClaim(text="a > b > c", largest_first=(A, B, C))
PAIR = DocumentClaim(text="a > b", largest_first=(A, B))
RATIO = DocumentClaim(text="about twice", within=Within(term=A, over=B, least=1.5, most=3))
BOUND = DocumentClaim(text="flat", within=Within(term=A, least=0.9, most=1.1))


def test_the_chance_of_an_order_is_its_share_of_all_orders():
    """Counted one by one for three and four repeats; for many, the normal distribution is near."""
    orders = [
        sum(one > other for one in ones for other in {*range(7)} - {*ones})
        for ones in combinations(range(7), 3)
    ]
    for larger in range(13):
        expected = sum(found >= larger for found in orders) / len(orders)
        assert chance_of(larger, 3, 4) == pytest.approx(expected)
    assert chance_of(9, 3, 3) == pytest.approx(1 / 20)
    assert chance_of(276, 21, 21) == pytest.approx(0.083, abs=0.002)


@pytest.mark.parametrize(
    ("claim", "values", "seen"),
    [
        (PAIR, ([5, 6, 7], [1, 2, 4.9]), Seen.SEEN),
        (PAIR, ([5, 6, 7], [1, 2, 5]), Seen.WITHIN_SPREAD),
        (PAIR, ([1, 2, 3], [3.1, 4, 5]), Seen.NOT_SEEN),
        (PAIR, ([1, 2, 3], [1, 2, 3]), Seen.WITHIN_SPREAD),
        (PAIR, ([9], [1]), Seen.WITHIN_SPREAD),
        (PAIR, ([9, 8], [1]), Seen.WITHIN_SPREAD),
        (PAIR, ([9, 8], []), Seen.NOT_HAD),
        (PAIR, ([4, 6, 7, 8, 9, 9], [1, 2, 3, 4, 5, 5]), Seen.SEEN),
        (PAIR, ([3, 6, 7, 8, 9, 9], [1, 2, 3, 4, 5, 8.5]), Seen.WITHIN_SPREAD),
        (PAIR, ([1, 2, 3, 4, 5, 5], [4, 6, 7, 8, 9, 9]), Seen.NOT_SEEN),
        (PAIR, (range(5, 105), range(100)), Seen.WITHIN_SPREAD),
        (PAIR, (range(35, 135), range(100)), Seen.SEEN),
        (ORDER, ([7, 8], [5, 6], [1, 2]), Seen.SEEN),
        (ORDER, ([7, 8], [5, 6], [1, 5]), Seen.WITHIN_SPREAD),
        (ORDER, ([7, 8], [5, 7], [8, 9]), Seen.NOT_SEEN),
        (ORDER, ([7, 8], [5, 6], []), Seen.NOT_HAD),
        (RATIO, ([4, 4, 5], [2, 2, 2]), Seen.SEEN),
        (RATIO, ([4, 4, 8], [2, 2, 2]), Seen.WITHIN_SPREAD),
        (RATIO, ([8, 8, 8], [2, 2, 2]), Seen.NOT_SEEN),
        (RATIO, ([8, 8], [0, 0]), Seen.WITHIN_SPREAD),
        (BOUND, ([0.9, 1.0, 1.1],), Seen.SEEN),
        (BOUND, ([0.5, 0.6],), Seen.NOT_SEEN),
        (BOUND, ([1.0],), Seen.WITHIN_SPREAD),
        (BOUND, ([0.5],), Seen.WITHIN_SPREAD),
    ],
)
def test_repeats_decide(claim, values, seen):
    assert judge(claim, dict(zip((A, B, C), values, strict=False))) is seen


SCALING = Scaling(setting="bulk", measure="rows_per_s")
NODES = Gain(nodes=(1, 3), least=1.2, most=1.7)
SIZES = Gain(least=1.5, most=2.5)


def cell(target, nodes, size, *values, module="cratedb"):
    return Cell(
        target=target, system="CrateDB", module=module, node_size=size, nodes=nodes,
        values=values, verdict="verified",
    )  # fmt: skip


CELLS = (
    cell("one-small", 1, "CR1", 100, 110),
    cell("three-small", 3, "CR1", 150, 165),
    cell("one-large", 1, "CR2", 200, 176),
    cell("three-large", 3, "CR2", 200, 220),
    cell("other", 1, "", 50, 60, module="elasticsearch"),
)


def test_gains_go_from_fewer_nodes_to_more_and_from_one_size_to_the_next():
    found = matrix(SCALING, CELLS)

    assert found.cells == CELLS
    gains = [(gain.smaller, gain.larger, gain.label) for gain in found.gains]
    assert gains == [
        ("one-small", "three-small", "1 to 3 nodes, CR1"),
        ("one-large", "three-large", "1 to 3 nodes, CR2"),
        ("one-small", "one-large", "CR1 to CR2, 1 node"),
        ("three-small", "three-large", "CR1 to CR2, 3 nodes"),
    ]
    assert found.gains[0].percents == pytest.approx((50, 50))
    assert found.gains[1].percents == pytest.approx((0, 25))
    assert found.gains[2].percents == pytest.approx((100, 60))


def seen(gain, cells):
    claim = DocumentClaim(text="faster", of=("CrateDB",), gain=gain)
    return [(each.target, each.seen) for each in claims_of_gains(claim, gain, SCALING, cells)]


def test_a_claim_is_examined_at_each_step_that_it_is_about():
    assert seen(NODES, CELLS) == [
        ("three-small", Seen.SEEN),
        ("three-large", Seen.WITHIN_SPREAD),
    ]
    assert seen(SIZES, CELLS) == [
        ("one-large", Seen.SEEN),
        ("three-large", Seen.NOT_SEEN),
    ]


def test_one_cluster_alone_has_no_gain():
    claim = DocumentClaim(text="faster", gain=NODES)
    (record,) = claims_of_gains(claim, NODES, SCALING, CELLS[:1])

    assert record.seen is Seen.NOT_HAD
    assert record.reason.startswith("no other target has the same module on another number")
    assert matrix(SCALING, CELLS[:1]).gains == ()


def test_two_clusters_of_equal_nodes_and_size_have_no_gain():
    twins = (cell("a", 1, "CR1", 100, 110), cell("b", 1, "CR1", 150, 160))

    assert matrix(SCALING, twins).gains == ()
    assert matrix(SCALING, (CELLS[0], cell("b", 1, "", 150, 160))).gains == ()
