"""Repeats are added to what is within the spread, until it is settled or called noise."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from iotbench.commands.reproduce import reproduce_document
from iotbench.config.options.choice import RunOptions
from iotbench.execution.measure import TimeLimit
from iotbench.execution.roster import Roster
from iotbench.plans.items import Candidate, items_of
from iotbench.plans.plan import read_plan
from iotbench.plans.published.claims import Seen
from iotbench.plans.published.documents import Document
from iotbench.plans.published.measurements import caches, in_memory
from simulator.errors import ConfigError
from tests.unit.output.terminal import made
from tests.unit.plans.made import finished, measured, pairs_of, plan_of


def faster(text, *settings):
    terms = [{"setting": name, "measure": "rows_per_s"} for name in settings]
    return {"text": text, "largest_first": terms}


FLAT = {"term": {"setting": "alike", "measure": "rows"}, "least": 0, "most": 1500}
DOCUMENT = Document.model_validate(
    {
        "number": 7,
        "title": "A benchmark",
        "measured_on": "large machines",
        "systems": {},
        "figures": [],
        "compares_disks": True,
        "claims": [
            faster("very", "quick", "slow"),
            faster("hardly", "quick", "alike"),
            faster("not", "noise", "noise-again"),
            {"text": "flat", "within": FLAT},
        ],
    }
)
SECONDS = {"quick": 1.0, "slow": 9.0, "alike": 1.2, "noise": 1.0, "noise-again": 1.0}
PLAN = plan_of(*SECONDS, repeats=3, until_settled=12)
ROSTER = Roster((Candidate("lite", "sqlite", {}),), tuple(pairs_of(PLAN)), {})


class Measuring:
    """Repeats take times of their own; `alike` overlaps with `quick` in its first repeat only."""

    interrupts = SimpleNamespace(requested=False)

    def __init__(self, output):
        self.run = RunOptions(output=output, quiet=True)
        self.items = []
        self.limit = TimeLimit()

    def measure(self, item):
        self.items.append((item.setting.name, item.repeat))
        seconds = SECONDS[item.setting.name] * (1 + item.repeat % 3 / 100)
        if (item.setting.name, item.repeat) == ("alike", 1):
            seconds = 1.005
        return finished(seconds, item.id)


def test_only_what_is_within_the_spread_is_repeated(tmp_path):
    measuring = Measuring(tmp_path)
    record, _ = reproduce_document("iot", "demo", DOCUMENT, PLAN, ROSTER, measuring)

    repeats = dict.fromkeys(SECONDS, 0)
    for name, repeat in measuring.items:
        repeats[name] = max(repeats[name], repeat)
    assert repeats == {"quick": 6, "alike": 6, "slow": 3, "noise": 12, "noise-again": 12}
    assert len(measuring.items) == len({*measuring.items}) == sum(repeats.values())
    seen = {claim.text: claim.seen for claim in record.claims}
    assert (seen["very"], seen["hardly"], seen["not"]) == (Seen.SEEN, Seen.SEEN, Seen.WITHIN_SPREAD)
    (noise,) = [claim for claim in record.claims if claim.text == "not"]
    assert [len(side.values) for side in noise.sides] == [12, 12]


def test_without_a_limit_nothing_is_repeated(tmp_path):
    measuring = Measuring(tmp_path)
    plan = PLAN.model_copy(update={"until_settled": None})
    reproduce_document("iot", "demo", DOCUMENT, plan, ROSTER, measuring)

    assert len(measuring.items) == 3 * len(SECONDS)


def test_repeats_have_the_same_ids_whether_they_are_added_or_planned():
    more = PLAN.model_copy(update={"repeats": 6})
    added = [*items_of(PLAN, ROSTER.pairs), *items_of(PLAN, ROSTER.pairs, 3, 6)]

    assert [item.id for item in added] == [item.id for item in items_of(more, ROSTER.pairs)]


def test_a_limit_is_more_than_the_repeats(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text("name: a\nuntil_settled: 3\nsettings: [{name: b, insert: {workload: iot}}]\n")
    with pytest.raises(ConfigError, match="until_settled: must be more than the 3 repeats, got 3"):
        read_plan(path)


def items(*runs, caches=""):
    found = [measured(run, caches=caches) for run in runs]
    return [*zip(items_of(PLAN, ROSTER.pairs), found, strict=False)]


@pytest.mark.parametrize(
    ("buffers", "sizes", "expected"),
    [
        (1 << 20, [8192, 40_000], {"lite": "0.0 MiB of 1.0 MiB of the server's buffers"}),
        (1 << 20, [8192, 2 << 20], {}),
        (None, [3 << 20], {"lite": "3.0 MiB of 16.0 GiB of this machine's memory"}),
        (None, [None], {}),
    ],
)
def test_data_that_fits_into_memory_is_named(buffers, sizes, expected):
    server = replace(made.SERVER, buffer_bytes=buffers)
    runs = [made.run(server=server, size_bytes=size) for size in sizes]

    assert in_memory(items(*runs)) == expected


def test_what_became_of_the_caches_is_counted_by_item(tmp_path):
    found = items(made.run(), made.run(), caches="dropped") + items(made.run(), caches="not root")
    assert caches(found) == {"dropped": 2, "not root": 1}

    record, _ = reproduce_document("iot", "demo", DOCUMENT, PLAN, ROSTER, Measuring(tmp_path))
    assert record.in_memory == {"lite": "0.0 MiB of 16.0 GiB of this machine's memory"}
    assert record.caches == {}
