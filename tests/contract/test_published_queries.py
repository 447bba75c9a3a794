"""The published queries, and others of each kind, read on every module as texts.yaml has them.

`python -m tests.contract.test_published_queries` writes the file again: read each difference.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    Function,
    OneOf,
    Operator,
    Query,
    RowsQuery,
    Selection,
)
from simulator.modules import MODULES, database_class
from simulator.modules.contract import Unsupported
from tests.contract.devices import QUERIES, TABLE

FILE = Path(__file__).with_name("texts.yaml")
REACH = {
    "connection_string": "host=h",
    "database": "benchmark",
    "host": "h",
    "hosts": "h",
    "search_url": "http://h",
    "token": "t",
    "uri": "qdb://h:2836",
    "url": "http://h",
    "user": "u",
}
"""Values of options that are required."""
COUNT = Aggregate(Function.COUNT)
ONE, SOME = (Selection((OneOf("device_id", ids),)) for ids in (("a",), ("a'b", "c")))
ASKED: Mapping[str, Query] = {
    **QUERIES,
    "selected rows": RowsQuery(
        TABLE,
        ("timestamp", "temperature"),
        Selection(
            SOME.one_of, (Condition("temperature", Operator.AT_MOST, -0.5),), since=5, until=9_000
        ),
    ),
    "newest rows": RowsQuery(TABLE, ("temperature",), ONE, newest=3),
    "last of each device": AggregateQuery(
        TABLE, (COUNT, Aggregate(Function.LAST, "temperature")), ("device_id",)
    ),
    "means of minutes": AggregateQuery(
        TABLE, (COUNT, Aggregate(Function.AVG, "temperature")), ("device_id",), 60_000, SOME
    ),
    "newest minutes": AggregateQuery(TABLE, (COUNT,), bucket=60_000, newest=5),
}


STORING = [name for name in MODULES if database_class(name).capabilities.stores]


def texts_of(module: str) -> dict[str, str]:
    """Return each query as the module writes it, or why it does not."""
    cls: Any = database_class(module)
    required = {n: REACH[n] for n, f in cls.options_model.model_fields.items() if f.is_required()}
    database = cls(cls.options_model(**required))
    texts = {}
    for name, query in ASKED.items():
        try:
            texts[name] = database.render(query).text
        except Unsupported as error:
            texts[name] = f"unsupported: {error}"
    return texts


@pytest.mark.parametrize("module", STORING)
def test_queries_read_as_published(module):
    assert texts_of(module) == yaml.safe_load(FILE.read_text())[module]


def test_the_modules_are_in_the_order_in_which_they_are_written():
    """Otherwise a new module would change every line of the file."""
    assert [*yaml.safe_load(FILE.read_text())] == STORING


class _Text(str):
    """Text that is written as a block of lines."""

    __slots__ = ()


def _write_block(dumper: yaml.SafeDumper, text: _Text) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")


if __name__ == "__main__":
    yaml.SafeDumper.add_representer(_Text, _write_block)
    every = {m: {name: _Text(text) for name, text in texts_of(m).items()} for m in STORING}
    FILE.write_text(yaml.safe_dump(every, width=10**6, sort_keys=False, allow_unicode=True))
