"""One stored value, altered by its smallest step: the commands find it on every database."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simulator.data.block import Block, Values
from simulator.data.dataset import Dataset
from simulator.data.reader import DatasetReader
from simulator.data.schema import Type
from simulator.modules.contract import BATCH, Database
from tests.contract.harness import send
from tests.contract.targets import STORING, Target
from tests.integration.conftest import CommandLine
from tests.integration.test_databases import arguments
from tests.integration.test_records import configured

FIRST = {(each.server, each.database.name): name for name, each in reversed(STORING.items())}
DATABASES = [name for name in reversed(FIRST.values()) if not STORING[name].stand_in]
"""A target for each module on each server."""
OFTEN = ("sqlite", "postgres")
"""On the others tests/contract finds the smallest step, and the commands are the same."""
UPDATE = "UPDATE events SET temperature = {new!r} WHERE sequence_number = {row}"
MUTATE = "ALTER TABLE events UPDATE temperature = {new!r} WHERE sequence_number = {row}"


def _in_collection(database: Database[Any], row: int, new: float) -> None:
    with database.administration() as session:
        altered = {"$set": {"temperature": new}}
        session.database["events"].update_one({"sequence_number": row}, altered)


def _in_index(database: Database[Any], row: int, new: float) -> None:
    with database.administration() as session:
        asked = {"query": {"term": {"sequence_number": row}}}
        (found,) = session.call("POST", "/events/_search", asked)["hits"]["hits"]
        document = {**found["_source"], "temperature": new}
        session.call("PUT", f"/events/_doc/{found['_id']}?refresh=true", document)


def _in_series(database: Database[Any], row: int, new: float) -> None:
    """Replace the series by one with another value."""
    name = f"{database.options.prefix}events_temperature"  # type: ignore[attr-defined]
    with database.administration() as session:
        exported = b"".join(session.api.export(f'{{__name__="{name}"}}', 0, 2**43))
        series = json.loads(exported)
        series["values"][row] = new
        session.api.call("/api/v1/admin/tsdb/delete_series", {"match[]": name})
        session.http.request("POST", "/api/v1/import", json.dumps(series).encode())


ALTERING: dict[str, str | Callable[[Database[Any], int, float], None]] = {
    **dict.fromkeys(("sqlite", "duckdb", "postgres", "timescaledb", "mysql"), UPDATE),
    "questdb": UPDATE.replace("{new!r}", "CAST({new!r} AS FLOAT)"),
    "clickhouse": MUTATE, "clickhouse_embedded": MUTATE,
    "mongodb": _in_collection, "elasticsearch": _in_index, "victoriametrics": _in_series,
}  # fmt: skip
"""Module -> how a value is altered; the others replace a row that is sent again."""


def alter(target: Target, database: Database[Any], dataset: Dataset) -> int:
    """Alter the highest temperature by the smallest step; return the number of its row."""
    (turn,) = DatasetReader(dataset).blocks(dataset.ranges)
    (block,) = turn
    temperatures = block.data["temperature"].values()
    row = int(np.argmax(temperatures))
    number = temperatures[row : row + 1].astype(np.float64 if target.doubles else np.float32)
    new = np.nextafter(number, np.inf, dtype=number.dtype)
    if target.module == "victoriametrics":
        new = number + 10**-6  # the sixth decimal is the last one
    how = ALTERING.get(target.database.name)
    if isinstance(how, str):
        database.carry_out(how.format(new=float(new[0]), row=row))
    elif how:
        how(database, row, float(new[0]))
    else:
        wide = Type.FLOAT64 if target.doubles else Type.FLOAT32
        columns = [replace(c, type=wide) if c.name == "temperature" else c
                   for c in block.table.columns]  # fmt: skip
        table = replace(block.table, columns=tuple(columns))
        one = block.take(np.array([row]))
        with database.connect() as session:
            data = {**one.data, "temperature": Values(new)}
            send(session, Block(table, one.part, one.rows, data), BATCH, 1)
    return row


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "target",
    [
        pytest.param(STORING[name], id=name, marks=[] if name in OFTEN else [pytest.mark.rare])
        for name in DATABASES
    ],
)
def test_verify_and_query_end_with_3_after_a_value_was_altered(
    cli: CommandLine, request: pytest.FixtureRequest, target: Target
) -> None:
    reach = request.getfixturevalue("server_options") if target.server else {}
    options = {**reach, **target.options(request)}
    words = (*configured(cli, target.module, options)[:2], "--quiet")
    few = [word for word in arguments(target.module) if "inserts" not in word]
    done = cli.run("insert", *words, "--workers=1", "--batch=100", "--num-inserts=500", *few)
    assert done.code == 0, done.err
    assert cli.run("query", *words).code == 0
    dataset = Dataset.model_validate(cli.results()[0]["manifest"]["dataset"])
    row = alter(target, target.open(request), dataset)

    verified = cli.run("verify", words[0], "--quiet", "--verify=full")
    asked = cli.run("query", *words)

    assert (verified.code, asked.code) == (3, 3), verified.out + verified.err + asked.err
    assert f"missing 1 ({row}); not expected 1 (" in verified.out, verified.out
    assert "mismatch" in asked.out
