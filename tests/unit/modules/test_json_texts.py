"""Texts of users in JSON: checked before anything runs, with values that are not names."""

import json
from dataclasses import replace

import pytest

from simulator.data.own_query import Instant, TextQuery
from simulator.data.query import Output
from simulator.data.schema import Role, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import RunError
from simulator.modules.elasticsearch.texts import Searches, rows_from_replies
from simulator.modules.mongodb.query import DocumentFormat, Pipelines

PARTS = replace(EVENTS, parts=2)
DATED = replace(
    EVENTS,
    columns=tuple(
        replace(each, type=Type.TIMESTAMP) if each.role is Role.TIME else each
        for each in EVENTS.columns
    ),
)
MONGO = Pipelines(EVENTS, DocumentFormat.FLAT, ["mongodb"])
ELASTIC = Searches(EVENTS, ["elasticsearch"])
NASTY = '"}, {"$out": "x\\\n'
GROUP = '[{"$group": {"_id": null, "n": {"$sum": 1}}}]'


def outputs(*names):
    return tuple(Output(name, Type.INT64, TimeUnit.MILLISECOND) for name in names)


def command(language, text, table=EVENTS, columns=("n",), **values):
    query = TextQuery(table, {language.keys[0]: text}, values, outputs(*columns))
    return language.statement(query).text


@pytest.mark.parametrize(
    ("language", "text", "problem"),
    [
        (MONGO, GROUP, ""),
        (MONGO, '[{"$match": {"device_id": "{d}"}}, {"$count": "n"}]', ""),
        (MONGO, '[{"$match": {"device_id": {d}}}]', "expected JSON, in which a parameter stands"),
        (MONGO, '{"$match": {}}', "expected a list of stages"),
        (MONGO, '[{"$match": {}, "$count": "n"}]', "expected a list of stages"),
        (MONGO, '[{"$match": {"a": 1, "a": 2}}, {"$count": "n"}]', "key 'a' is there twice"),
        (MONGO, '[{"$count": "n"}, {"$out": "x"}]', "must only read, found '$out'"),
        (
            MONGO,
            '[{"$unionWith": {"coll": "x", "pipeline": [{"$merge": "y"}]}}, {"$count": "n"}]',
            "must only read, found '$merge'",
        ),
        (MONGO, '[{"$match": {"a": "x{d}"}}, {"$count": "n"}]', "it must be all that is in"),
        (MONGO, '[{"$match": {"{d}": 1}}, {"$count": "n"}]', "{d} is a key"),
        (MONGO, '[{"$match": {"a": NaN}}, {"$count": "n"}]', "NaN is not JSON"),
        (MONGO, '[{"$count": "m"}]', "has no name 'n', which is one of the columns"),
        (MONGO, '[{"$unionWith": "{bucket}"}, {"$count": "n"}]', "has no {bucket}"),
        (
            Pipelines(PARTS, DocumentFormat.FLAT, []),
            '[{"$unionWith": "{table}"}, {"$count": "n"}]',
            "the rows are in 2 tables; insert with --tables 1",
        ),
        (ELASTIC, '{"aggs": {"n": {"sum": {"field": "temperature"}}}}', ""),
        (ELASTIC, '{"size": 5, "query": {"term": {"device_id": "{d}"}}, "fields": ["n"]}', ""),
        (ELASTIC, "[]", "expected the body of a _search"),
        (ELASTIC, '{"aggs": {}, "aggregations": {}, "n": 1}', "has aggs and aggregations"),
        (ELASTIC, '{"size": 1, "aggs": {"n": {}}}', "so size must be 0 or left out"),
        (ELASTIC, '{"aggs": {"m": {"avg": {"field": "temperature"}}}}', "has no name 'n'"),
        (ELASTIC, "GET /events/_search", "expected JSON"),
    ],
)
def test_what_is_wrong_with_a_text_is_named(language, text, problem):
    found = language.problem(text, ["n"])

    assert (problem in found) if problem else not found


def test_columns_may_be_those_of_the_table_and_the_values_of_statistics():
    stats = '{"aggs": {"t": {"stats": {"field": "temperature"}}}}'

    assert MONGO.problem("[]", ["device_id", "_id"]) == ""
    assert ELASTIC.problem("{}", ["device_id", "count"]) == ""
    assert ELASTIC.problem(stats, ["avg_t", "max_t"]) == ""
    assert "did you mean 'temperature'?" in ELASTIC.problem(stats, ["temprature"])


def test_a_pipeline_has_values_with_their_types():
    text = '[{"$match": {"a": "{a}", "b": {"$gte": "{start}", "$lt": "{n}"}}}]'
    found = json.loads(command(MONGO, text, a=NASTY, start=Instant(1500), n=2.5))

    assert found == {
        "aggregate": "events",
        "pipeline": [{"$match": {"a": NASTY, "b": {"$gte": 1500, "$lt": 2.5}}}],
        "allowDiskUse": True,
    }


def test_an_instant_is_a_date_where_documents_have_dates():
    text = '[{"$match": {"timestamp": {"$gte": "{start}"}}}]'
    date = {"$date": {"$numberLong": "1500"}}

    for language in (
        Pipelines(EVENTS, DocumentFormat.TIMESERIES, ["mongodb"]),
        Pipelines(DATED, DocumentFormat.FLAT, ["mongodb"]),
    ):
        found = json.loads(command(language, text, start=Instant(1500)))
        assert found["pipeline"] == [{"$match": {"timestamp": {"$gte": date}}}]
    search = '{"query": {"range": {"timestamp": {"gte": "{start}"}}}}'
    assert '{"gte": 1500}' in command(
        Searches(DATED, ["elasticsearch"]), search, start=Instant(1500)
    )


def test_a_value_that_begins_with_a_dollar_is_no_field():
    text = """[
        {"$match": {"a": {"$in": ["{v}"]}, "$expr": {"$eq": ["$a", "{v}"]}}},
        {"$set": {"b": {"$eq": ["$a", "{v}"]}, "c": {"$literal": "{v}"}}},
        {"$lookup": {"from": "{table}", "pipeline": [{"$match": {"a": "{v}"}}], "as": "d"}}
    ]"""
    match, changed, lookup = json.loads(command(MONGO, text, v="$b"))["pipeline"]

    assert match["$match"]["a"] == {"$in": ["$b"]}
    assert match["$match"]["$expr"] == {"$eq": ["$a", {"$literal": "$b"}]}
    assert changed["$set"] == {"b": {"$eq": ["$a", {"$literal": "$b"}]}, "c": {"$literal": "$b"}}
    assert lookup["$lookup"]["from"] == "events"
    assert lookup["$lookup"]["pipeline"] == [{"$match": {"a": "$b"}}]


def test_all_parts_of_a_table_are_read():
    pipelines, searches = (
        Pipelines(PARTS, DocumentFormat.FLAT, ["mongodb"]),
        Searches(PARTS, ["elastic"]),
    )
    found = json.loads(command(pipelines, GROUP, PARTS))

    assert found["aggregate"] == "events0"
    assert found["pipeline"][0] == {"$unionWith": {"coll": "events1", "pipeline": []}}
    assert command(searches, "{}", PARTS).startswith("POST /events0,events1/_search?")


def test_a_search_with_aggregations_returns_no_hits_and_counts_only_when_asked():
    text = '{"aggregations": {"n": {"sum": {"field": "temperature"}}}}'

    def body(columns):
        return json.loads(command(ELASTIC, text, columns=columns).partition("\n")[2])

    assert body(["n"]) == {"aggs": {"n": {"sum": {"field": "temperature"}}}, "size": 0}
    assert body(["n", "count"])["track_total_hits"] is True


BUCKETS = {
    "hits": {"total": {"value": 3, "relation": "eq"}, "hits": []},
    "aggregations": {
        "top": {"value": 9},
        "site": {
            "buckets": {
                "a": {
                    "doc_count": 2,
                    "few": {"doc_count": 1, "s": {"count": 1, "avg": 4.0}},
                    "p": {"values": {"50.0": 7.5}},
                    "hour": {"buckets": [{"key": 10, "doc_count": 1}, {"key": 20, "doc_count": 1}]},
                },
                "b": {"doc_count": 0, "hour": {"buckets": []}},
            }
        },
    },
}


def test_the_innermost_buckets_are_the_rows():
    columns = (
        Output("site", Type.TEXT, TimeUnit.SECOND),
        *outputs("hour", "count", "few", "avg_s", "50.0_p", "top"),
    )
    found = rows_from_replies({"aggs": {}}, [BUCKETS], columns)

    assert found == [("a", 10, 1, 1, 4.0, 7.5, 9), ("a", 20, 1, 1, 4.0, 7.5, 9)]


def test_an_answer_without_a_column_or_with_buckets_side_by_side_is_an_error():
    with pytest.raises(RunError, match=r"the answer has no column avg_x; it has: 50\.0_p, avg_s"):
        rows_from_replies({"aggs": {}}, [BUCKETS], outputs("avg_x"))
    beside = {"aggregations": {"a": {"buckets": []}, "b": {"buckets": []}}}
    with pytest.raises(RunError, match="b has buckets beside others"):
        rows_from_replies({"aggs": {}}, [beside], outputs("a"))
    some = {"hits": {"total": {"value": 10_000, "relation": "gte"}, "hits": []}, "aggregations": {}}
    with pytest.raises(RunError, match="the answer has no column count; it has: none"):
        rows_from_replies({"aggs": {}}, [some], outputs("count"))


def test_hits_are_rows_and_a_field_that_a_document_lacks_is_null():
    hits = [{"_source": {"a": 1, "b": "2"}}, {"fields": {"b": [3]}}]

    assert rows_from_replies({}, [{"hits": {"hits": hits}}], outputs("a", "b")) == [
        (1, 2),
        (None, 3),
    ]
    assert rows_from_replies({}, [{"hits": {"hits": []}}], outputs("a")) == []
    counted = {"hits": {"total": {"value": 4, "relation": "eq"}, "hits": []}}
    assert rows_from_replies({"size": 0}, [counted], outputs("count")) == [(4,)]
