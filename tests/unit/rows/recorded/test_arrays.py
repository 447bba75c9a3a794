"""A prepared folder from a stranger, whose digest is right: it is refused, or all of it is read."""

import json

import numpy as np
import pytest

from iotbench.rows.files.columns import MAX_LEVELS
from iotbench.rows.files.prepare import convert_file
from iotbench.rows.files.request import FilesRequest
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.file import FileParams, FileReading
from simulator.errors import ConfigError
from simulator.records.prepared import NAME, describe, read_prepared_file

CSV = "at,rack,load,on,seen,n\n" + "".join(
    f"2024-05-0{day},r{day % 2},{day}.5,{'true' if day % 2 else ''},2024-05-01,{day}\n"
    for day in range(1, 9)
)
TIME, TAG, FLOAT, BOOL, SEEN, NUMBER = range(6)


def _folder(tmp_path, text):
    source, folder = tmp_path / "x.csv", tmp_path / "x.rows"
    source.write_text(text)
    folder.mkdir()
    reading = FileReading(time_column="at", tags=("rack",))
    params = convert_file(FilesRequest((source,), reading, PrimaryKey.NONE), folder, quiet=True)
    (folder / NAME).write_text(describe(folder, params).model_dump_json())
    return folder


def _refused(folder):
    """Return why a folder is refused, once its digest is that of its arrays."""
    described_as = json.loads((folder / NAME).read_text())
    params = FileParams.model_construct(**described_as["params"])
    described_as |= describe(folder, params).model_dump(include={"size_bytes", "sha256"})
    (folder / NAME).write_text(json.dumps(described_as))
    with pytest.raises(ConfigError) as refused:
        read_prepared_file(folder, "x.rows")
    assert str(refused.value).startswith("--data: x.rows")
    return str(refused.value)


def _describe(**changes):
    def change(folder):
        described_as = json.loads((folder / NAME).read_text())
        described_as["params"] |= changes
        (folder / NAME).write_text(json.dumps(described_as))

    return change


def _column(place, **changes):
    def change(folder):
        described_as = json.loads((folder / NAME).read_text())
        described_as["params"]["columns"][place] |= changes
        (folder / NAME).write_text(json.dumps(described_as))

    return change


def _write(name, items, kind=np.int64):
    return lambda folder: np.array(items, kind).tofile(folder / name)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        # Rows that are described and not there, and rows that are there and not described.
        (_describe(rows=12), "0.values: has 64 bytes, expected 96"),
        (_describe(rows=5), "0.values: has 64 bytes, expected 40"),
        (_describe(rows=10**13), "params.rows"),
        (_describe(rows=0), "params.rows"),
        (lambda folder: (folder / "2.values").unlink(), "2.values: has 0 bytes, expected 64"),
        (lambda folder: (folder / "9.values").write_bytes(b"1"), "9.values: is of no column"),
        (_column(BOOL, nullable=False), "3.valid: is of no column"),
        # Names that are statements, patterns or nothing.
        (_describe(table='x"; DROP TABLE users; --'), "params.table"),
        (_describe(table="x */ ; DROP TABLE users; /*"), "params.table"),
        (_describe(table="*"), "params.table"),
        (_describe(table=""), "params.table"),
        (_describe(table="x\n"), "params.table"),
        # Columns that no file has.
        (_column(FLOAT, name="AT"), "another name for each column"),
        (_column(TIME, role="field"), "one column with the time of every row"),
        (_column(TIME, nullable=True), "one column with the time of every row"),
        (_column(FLOAT, coded=True), "codes of texts only"),
        # Values that no column holds.
        (_write("0.values", [2**62] * 8), "column 'at': holds a time outside the years 1 to 9999"),
        (_write("1.codes", [99] * 8), "column 'rack': holds a code without a text"),
        (_write("1.codes", [-1] * 8), "holds a code without a text"),
        (_write("2.values", [np.nan] * 8, float), "column 'load': holds a float that is not fin"),
        (_write("3.values", [7] * 8, np.uint8), "holds a boolean that is neither 0 nor 1"),
        (_write("3.valid", [7] * 8, np.uint8), "holds a flag that is neither 0 nor 1"),
        (_write("4.values", [-(2**62)] * 8), "column 'seen': holds a time outside"),
        (_column(NUMBER, type="int32"), "5.values: has 64 bytes, expected 32"),
        # What is said of values and is not so.
        (_write("3.valid", [1] * 8, np.uint8), "column 'on': is described as having NULLs"),
        (_write("0.values", [1714521600000000] * 8), "tags and time are described as different"),
        (_write("5.values", [2**61] * 8), "column 'n': has no sum that fits into int64"),
        (
            _write("2.values", [1e300] * 8, float),
            "column 'load': has no sum that fits into float64",
        ),
    ],
)
def test_what_its_description_and_its_arrays_disagree_about_is_named(tmp_path, change, words):
    folder = _folder(tmp_path, CSV)
    change(folder)
    assert words in _refused(folder)


def _levels(descr="'|S8'", shape="(1,)", content=b""):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
    return b"\x93NUMPY\x01\x00v\x00" + header.encode() + b"\n" + content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "column 'rack'"),
        (_levels(shape="(100000000000,)"), "has another number of texts than its header says"),
        (_levels(shape="(2, 4)", content=bytes(64)), "is not a list of texts"),
        (_levels(descr="'|O'", content=bytes(8)), "is not a list of texts"),
        (_levels(content=b"\xff" * 8), "holds a text that is not UTF-8"),
        (_levels(shape="(2,)", content=b"1234567\xc3\xa9234567\0"), "a text that is not UTF-8"),
        (_levels(shape="(2,)", content=b"abcdefghabcdefgh"), "has two codes for one text"),
        (_levels(content=b"a\0b\0\0\0\0\0"), "holds a text with a NUL byte"),
        (_levels(descr="'|S2000'", content=b"a" * 2000), "a text of more than 1024 bytes"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_lists_of_texts_are_checked(tmp_path, content, words):
    folder = _folder(tmp_path, CSV)
    (folder / "1.levels").write_bytes(content)
    _write("1.codes", [0] * 8)(folder)
    assert words in _refused(folder)


@pytest.fixture(scope="module")
def long_texts(tmp_path_factory):
    """Return a folder with more different texts than have codes, some with an umlaut."""
    rows = "".join(f"2024-05-01,{n}ä\n" for n in range(MAX_LEVELS + 5))
    return _folder(tmp_path_factory.mktemp("long"), "at,rack\n" + rows)


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        ("1.bytes", lambda content: content[:-1], "lacks texts"),
        ("1.bytes", lambda content: content + b"a", "goes on after the last text"),
        ("1.bytes", lambda content: b"\0" + content[1:], "a text with a NUL byte"),
        ("1.bytes", lambda content: b"\xff" + content[1:], "a text that is not UTF-8"),
        ("1.offsets", lambda content: content[8:], "expected 524,336"),
        ("1.offsets", lambda content: content[:8] + b"\x02" + content[9:], "is not UTF-8"),
        ("1.offsets", lambda content: content[:-8] + b"\xff" * 8, "ends before it begins"),
        ("1.offsets", lambda content: content[:-8] + b"\x7f" * 8, "more than 1024 bytes"),
        ("1.offsets", lambda content: b"\x01" + content[1:], "lacks the beginning"),
    ],
)
def test_texts_in_a_row_are_checked(long_texts, name, changed, words):
    whole, description = (long_texts / name).read_bytes(), (long_texts / NAME).read_bytes()
    try:
        (long_texts / name).write_bytes(changed(whole))
        assert words in _refused(long_texts)
    finally:
        (long_texts / name).write_bytes(whole)
        (long_texts / NAME).write_bytes(description)


def test_untouched_folders_are_taken(tmp_path, long_texts):
    assert read_prepared_file(_folder(tmp_path, CSV), "x").params.rows == 8
    assert not read_prepared_file(long_texts, "x").params.columns[1].coded


def test_where_the_rows_are_is_not_believed(tmp_path):
    """A claim would be mounted by pods, and other files would be read for later queries."""
    folder = _folder(tmp_path, CSV)
    _describe(claim="theirs", files=["/etc/passwd"], folder="/elsewhere", kept=False)(folder)
    found = read_prepared_file(folder, "x.rows").params
    assert (found.claim, found.files, found.folder) == ("", (), str(folder))
    assert found.kept
