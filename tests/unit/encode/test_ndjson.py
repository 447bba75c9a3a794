"""The bulk format: what a JSON reader finds in it, whatever the values."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Coded, Values
from simulator.data.schema import TimeUnit, Type
from simulator.encode.ndjson import documents
from tests.unit.encode.blocks import block


def encode(batch):
    key = next((column for column in batch.table.columns if column.name == "id"), None)
    columns = [column for column in batch.table.columns if column is not key]
    return documents(columns, TimeUnit.MILLISECOND, key).encode(batch, 10**6)


def read(payloads):
    """Read pairs of lines as any JSON reader does."""
    lines = [json.loads(line) for line in b"".join(payloads).splitlines()]
    return lines[::2], lines[1::2]


def test_a_row_is_an_action_and_a_document():
    batch = block(
        {
            "at": (Type.TIMESTAMP, Values(np.array([1_795_232_700_123, -1]))),
            "n": (Type.INT64, Values(np.array([-(2**63), 2**63 - 1]))),
            "f": (Type.FLOAT32, Coded(np.array([0, 1]), np.array([-0.5, 20.015625], np.float32))),
            "b": (Type.BOOL, Values(np.array([True, False]), np.array([True, False]))),
        }
    )
    (payload,) = encode(batch)
    assert payload == (
        b'{"create":{}}\n'
        b'{"at":1795232700123,"n":-9223372036854775808,"f":-0.500000,"b":true}\n'
        b'{"create":{}}\n'
        b'{"at":-1,"n":9223372036854775807,"f":20.015625,"b":null}\n'
    )


def test_a_key_is_the_id_and_no_field():
    batch = block(
        {
            "id": (Type.TEXT, Values(np.array([b'a"1', b"bb"]))),
            "n": (Type.INT16, Values(np.array([1, 2], np.int16))),
        }
    )
    actions, rows = read(encode(batch))
    assert actions == [{"create": {"_id": 'a"1'}}, {"create": {"_id": "bb"}}]
    assert rows == [{"n": 1}, {"n": 2}]


def test_any_name_is_a_field():
    names = ["plain", 'say "x"', "back\\slash", "tab\t", "東京", "%s"]
    batch = block({name: (Type.BOOL, Values(np.array([True]))) for name in names})
    assert read(encode(batch))[1] == [dict.fromkeys(names, True)]


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1))
def test_any_text_comes_back(texts):
    items = np.array([text.encode() for text in texts])
    for data in (Values(items), Coded(np.arange(len(items)), items)):
        assert read(encode(block({"x": (Type.TEXT, data)})))[1] == [{"x": text} for text in texts]


@pytest.mark.parametrize("has_key", [False, True])
def test_an_action_may_name_the_index(has_key):
    key = {"id": (Type.TEXT, Values(np.array([b"a", b"bb"])))} if has_key else {}
    batch = block({**key, "n": (Type.INT16, Values(np.array([1, 2], np.int16)))})
    *keys, number = batch.table.columns
    text = documents([number], TimeUnit.SECOND, keys[0] if keys else None, "Maschinen-ä")

    pieces = [bytes(piece) for piece in text.between(batch, np.array([0, 0, 2]))]
    actions, rows = read(pieces)
    named = {"_index": "Maschinen-ä"}
    ids = [{"_id": "a"}, {"_id": "bb"}] if has_key else [{}, {}]
    assert actions == [{"create": {**named, **each}} for each in ids]
    assert rows == [{"n": 1}, {"n": 2}]
    assert pieces[0] == b""
