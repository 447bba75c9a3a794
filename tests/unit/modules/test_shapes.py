"""Shapes of query plans: equal for two runs of a plan, different for another plan."""

import re

import pytest

from simulator.modules import cockroachdb
from simulator.modules.cratedb import session as cratedb
from simulator.modules.iotdb import query as iotdb
from simulator.modules.mysql import session as mysql
from simulator.modules.postgres import session as postgres
from simulator.modules.shared import shapes

BY_INDEX = """\
Aggregate  (cost=12.02..12.03 rows=1 width=8) (actual time=0.021..0.022 rows=1 loops=1)
  Buffers: shared hit=3
  ->  Append  (cost=0.28..11.94 rows=32 width=0) (actual time=0.010..0.017 rows=32 loops=1)
        ->  Index Only Scan using _hyper_1_1_k on _hyper_1_1_chunk  (cost=0.2..1 rows=3 width=0)
              Index Cond: (device = 'a 7'::text)
              Heap Fetches: 32
        ->  Index Only Scan using _hyper_1_2_k on _hyper_1_2_chunk  (cost=0.2..1 rows=3 width=0)
              Index Cond: (device = 'a 7'::text)
              Heap Fetches: 32
Planning Time: 0.087 ms
Execution Time: 0.044 ms"""
AGAIN = """\
Aggregate  (cost=99.02..99.03 rows=1 width=8) (actual time=1.5..1.6 rows=1 loops=1)
  Buffers: shared hit=90 read=4
  ->  Append  (cost=0.28..11.94 rows=900 width=0) (actual time=0.010..0.017 rows=912 loops=1)
        ->  Index Only Scan using _hyper_1_8_k on _hyper_1_8_chunk  (cost=0.2..9 rows=7 width=0)
              Index Cond: (device = 'b'::text)
              Heap Fetches: 0
Planning:
  Buffers: shared hit=7
Planning Time: 8.2 ms
Execution Time: 9.6 ms"""
BY_SCAN = AGAIN.replace("Index Only Scan using _hyper_1_8_k on", "Seq Scan on")


def test_figures_literals_and_the_number_of_chunks_are_no_part_of_a_shape():
    shape = postgres.shape_of_plan(BY_INDEX)

    assert shape == postgres.shape_of_plan(AGAIN)
    assert shape.splitlines() == [
        "Aggregate",
        "  -> Append",
        "    -> Index Only Scan using _hyper_?_?_k on _hyper_?_?_chunk",
        "      Index Cond: (device = ?::text)",
    ]


def test_the_figures_of_cockroachdb_are_no_part_of_a_shape():
    plan = (
        "execution time: 8ms\n\n• group\n│ actual row count: 1\n│ group by: hour\n│\n└── • scan\n"
        "      KV bytes read: 235 KiB\n      table: cpu@primary\n      spans: [/7 - /9]"
    )
    assert cockroachdb.shape_of_plan(plan).splitlines() == [
        "• group",
        "  group by: hour",
        "    • scan",
        "      table: cpu@primary",
        "      spans: [/? - /?]",
    ]


def test_another_way_to_read_is_another_shape():
    assert postgres.shape_of_plan(BY_SCAN) != postgres.shape_of_plan(AGAIN)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("device = 'it''s' AND n > -1.5e3", "device = ? AND n > ?"),
        ("IN ('a', 'b','c')", "IN (?)"),
        ("at 2026-01-01T00:00:00Z", "at ?"),
        ("cpu_usage2 of host_4", "cpu_usage2 of host_4"),
    ],
)
def test_literals_become_a_question_mark_and_names_stay(text, shape):
    assert shapes.without_values(text) == shape


def test_of_equal_neighbours_in_json_one_is_left():
    stage = {"stage": "SCAN", "works": 3, "child": {"stage": "READ", "on": "a"}}
    other = {"stage": "SCAN", "works": 9, "child": {"stage": "READ", "on": "a"}}

    one = shapes.of_json({"stages": [stage]}, re.compile("works"))
    assert shapes.of_json({"stages": [stage, other]}, re.compile("works")) == one
    assert one.splitlines() == [
        "stages",
        "  stage: SCAN",
        "  child",
        "    on: a",
        "    stage: READ",
    ]


@pytest.mark.parametrize(
    ("shape_of_plan", "plan", "shape"),
    [
        (
            mysql.shape_of_plan,
            (
                "-> Aggregate: count(0)  (cost=5.1 rows=1) (actual time=0.04..0.05 rows=1)\n"
                "    -> Covering index scan on events using k  (cost=3 rows=21)"
                " (actual time=0.02..0.03 rows=21 loops=1)\n"
            ),
            "-> Aggregate: count(?)\n  -> Covering index scan on events using k",
        ),
        (
            cratedb.shape_of_plan,
            "HashAggregate[count(*)] (rows=1)\n  └ Collect[doc.events | [] | true] (rows=unknown)",
            "HashAggregate[count(*)]\n  Collect[doc.events | [] | true]",
        ),
        (
            iotdb.shape_of_plan,
            (
                "Fragments Count: 2\n\nFRAGMENT-INSTANCE[Id: 2026_1.1.0][IP: 127.0.0.1]\n"
                "  Total Wall Time: 11 ms\n"
                "    [PlanNodeId 4]: TableScanNode(TableScanOperator)\n"
                "        CPU Time: 2.1 ms\n"
            ),
            "TableScanNode",
        ),
    ],
    ids=["mysql", "cratedb", "iotdb"],
)
def test_the_shape_of_a_plan_has_no_figures(shape_of_plan, plan, shape):
    assert shape_of_plan(plan) == shape
