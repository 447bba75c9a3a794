"""CSV and TSV files: delimiters, compression, headings, encodings, NULLs."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pyarrow as pa
import pytest

ROWS = [("t", "x", "s"), ("2024-01-01 09:30:00", "1", "a"), ("2024-01-01 09:31:00", "2", "b c")]
STORED = {"t": [1704101400000000, 1704101460000000], "x": [1, 2], "s": ["a", "b c"]}


def text(delimiter):
    return "".join(f"{delimiter.join(row)}\n" for row in ROWS)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_detected(prepare, delimiter):
    assert prepare(text(delimiter)).values == STORED


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bars.tsv", text("\t").encode()),
        ("bars.csv.gz", gzip.compress(text(",").encode(), mtime=0)),
        ("BARS.TSV.GZ", gzip.compress(text("\t").encode(), mtime=0)),
        ("parts.csv.gz", b"".join(gzip.compress(bytes([b]), mtime=0) for b in text(",").encode())),
        ("mark.csv", b"\xef\xbb\xbf" + text(",").encode()),
        ("windows.csv", text(",").replace("\n", "\r\n").encode()),
        ("no_end.csv", text(",").rstrip("\n").encode()),
        ("blank.csv", text(",").replace("\n", "\n\n").encode()),
    ],
)  # fmt: skip
def test_the_same_rows_in_another_form(prepare, name, content):
    assert prepare(content, name=name).values == STORED


def test_a_delimiter_can_be_named(prepare, refused):
    odd = text("^")

    assert prepare(odd, delimiter="^").values == STORED
    assert "--delimiter names the separator" in refused(odd)
    for wrong in ("::", "a", '"', "\n", "§"):
        expected = "expected one character of ASCII, no letter, digit, quote or line break"
        assert f"--delimiter: {expected}" in refused(odd, delimiter=wrong)
        assert f"--comment: {expected}; got {wrong!r}" in refused(odd, comment=wrong)


def test_a_comma_in_cells_is_no_delimiter(prepare):
    german = "t;note\n2024-01-01;1,5\n2024-01-02;2,5 m\n"

    assert prepare(german).values["note"] == ["1,5", "2,5 m"]
    assert [*prepare("t;a,b,c\n2024-01-01;1\n").types] == ["t", "a,b,c"]


def test_a_tab_in_a_heading_of_a_csv_file_is_no_delimiter_when_rows_do_not_have_it(prepare):
    assert prepare("t,a\tb,c\td\n2024-01-01,1,2\n").types["a\tb"] == "int64"


def tarred():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.csv"), io.BytesIO())
    return out.getvalue()


def packed(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in members:
            archive.writestr(name, text(","))
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(text(",").encode()),
        pa.compress(text(",").encode(), "zstd", asbytes=True),
        bz2.compress(text(",").encode()),
        lzma.compress(text(",").encode()),
        pa.compress(text(",").encode(), "lz4", asbytes=True),
        packed("days/monday.csv"),
        packed("monday.csv", "__MACOSX/._monday.csv"),
    ],
    ids=["gzip", "zstd", "bz2", "xz", "lz4", "zip", "zip of macOS"],  # their bytes hold the time
)
@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x"])
def test_compression_is_known_by_content_whatever_the_name(prepare, name, content):
    assert prepare(content, name=name).values == STORED


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (packed("a.csv", "b.csv"), "expected an archive of one file, found 2 (a.csv, b.csv)"),
        (packed("[Content_Types].xml", "a"), "is a workbook; save the sheet as CSV"),
        (packed("a.csv")[:-30], "cannot be read: File is not a zip file"),
        (gzip.compress(b"PAR1\0\0"), "cannot be read: Parquet file size is 6 bytes"),
        (b"SQLite format 3\0", "is an SQLite database; export it as CSV or Parquet"),
        (b"\x89HDF\r\n\x1a\n\0", "is an HDF5 or NetCDF file; export it as CSV or Parquet"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "is a 7z archive; unpack it"),
        (gzip.compress(tarred()), "is a tar archive; unpack it"),
        (
            gzip.compress(gzip.compress(b"t,x\n")),
            "is compressed twice, by gzip and gzip;",
        ),
        (gzip.compress(lzma.compress(b"t,x\n")), "is compressed twice, by xz and gzip; unpack it"),
        (lzma.compress(b"t,x\n" * 99)[:-9], "cannot be read: it does not end as an xz file does"),
        (lzma.compress(text(",").encode()) + text(",").encode(), "or something else follows"),
        (b"t,x\n2024-05-01,\0\n", "line 2 has a NUL byte; expected text in UTF-8"),
        (b"PAR1\0\0\0\0\0\0\0\0", "cannot be read: Parquet magic bytes not found"),
    ],
    ids=[
        "two members",
        "workbook",
        "damaged archive",
        "Parquet in gzip",
        "SQLite",
        "HDF5",
        "7z",
        "tar",
        "gzip twice",
        "xz in gzip",
        "cut xz",
        "xz and text",
        "NUL",
        "Parquet",
    ],
)
def test_other_files_are_refused_by_their_content(refused, content, reason):
    assert reason in refused(content)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is empty; it needs a line with the names"),
        ("\n\n", "is empty"),
        ("t,x\n", "has no rows, only the heading (t, x)"),
        ("t,x", "has no rows, only the heading (t, x)"),
        ("1,2,3\n", "has no heading: line 1 looks like data (1, 2, 3); add a line with"),
        ("2024-01-01,a\n", "has no heading: line 1 looks like data"),
        ("2024-01-01,a\n2024-01-02,b\n", "has no heading: line 1 looks like data"),
        ("1,2\n3,4\n", "has no heading"),
    ],
)
def test_a_file_without_heading_or_rows_is_refused(refused, content, reason):
    assert reason in refused(content)


def test_a_year_may_be_the_name_of_a_column(prepare):
    assert prepare("t,2023,2024\n2024-01-01,1,2\n").types["2024"] == "int64"


def test_a_missing_text_is_null_and_a_quoted_empty_one_is_not(prepare):
    file = prepare('t,a,b,n\n2024-01-01,,"",\n2024-01-02,x,,NULL\n2024-01-03,NA,y,7\n')

    assert file.values["a"] == [None, "x", "NA"]
    assert file.values["b"] == ["", None, "y"]
    assert file.values["n"] == [None, None, 7]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"t,temp\xe9rature\n2024-01-01,1\n", "line 1, column 2: b'temp\\xe9rature'"),
        (b"t,s\n2024-01-01,ok\n2024-01-02,caf\xe9\n", "line 3, column 's': b'caf\\xe9'"),
        (b't,s,u\n2024-01-01,"a\nb",ok\n2024-01-02,,\xff\n', "line 4, column 'u': b'\\xff'"),
    ],
)
def test_bytes_that_are_not_utf8_are_named_with_line_and_column(refused, content, place):
    said = refused(content)

    assert f"{place} is not valid UTF-8; convert the file" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_named(refused, encoding):
    said = refused("t,x\n1,2\n".encode(encoding))
    assert "convert it, for example with iconv -f UTF-16" in said


def test_lines_above_are_left_out_up_to_the_end_of_the_file(prepare, refused):
    assert prepare(f"a\nb\n{text(',')}", skip_lines=2).values == STORED
    assert refused("t,x\n2024-05-01,1\n", skip_lines=50).startswith("--skip-lines: ")
    assert "bars.csv has 2 lines; leave fewer out" in refused("t,x\n2024-05-01,1\n", skip_lines=3)
    assert "is empty below line 2; it needs a line with" in refused("t,x\n1,2\n", skip_lines=2)


def test_a_cut_or_false_gzip_file_is_refused(refused):
    content = gzip.compress(("t,x\n" + "2024-01-01,1\n" * 100_000).encode())

    assert "cannot be read: Truncated" in refused(content[:-20], name="cut.csv.gz")
    assert "cannot be read" in refused(content[:5] + b"x" * 40, name="false.csv.gz")


ROW = "2024-01-01,1\n"


def test_a_row_with_a_wrong_number_of_cells_is_named(refused):
    for many in (1, 30_000):
        said = refused("t,x\n" + ROW * many + "2024-01-01\n" + ROW)
        assert f"line {many + 2}: expected 2 cells as in the heading, found 1" in said
        assert "--on-error skip" in said


def test_rows_with_a_wrong_number_of_cells_can_be_skipped_and_later_lines_are_still_right(prepare):
    ragged = "t,x\n" + ROW + "2024-01-01\n\n" + ROW * 25_000 + "a,b,c\n" + ROW
    file = prepare(ragged, on_error="skip")

    assert file.params.rows == 25_002
    (bad,) = file.params.bad_cells
    assert (bad.count, bad.first) == (2, ("line 3: 1", "line 25005: 3"))
    assert "2 rows do not have 2 cells (line 3: 1, line 25005: 3)" in bad.describe()
    wrong = prepare(ragged + "2024-01-01,one\n", on_error="skip").params.bad_cells
    assert [bad.first[0] for bad in wrong] == ["line 3: 1", "line 25007: 'one'"]


def test_a_hexadecimal_number_beyond_64_bits_is_not_a_negative_one(prepare, refused):
    assert prepare("t,x\n2024-05-01,0x7FFFFFFFFFFFFFFF\n2024-05-02,-1\n").values["x"] == [
        2**63 - 1,
        -1,
    ]
    content = "t,x\n2024-05-01,0xFFFFFFFFFFFFFFFF\n2024-05-02,1\n2024-05-03,2\n"
    assert "'0xFFFFFFFFFFFFFFFF' is not an integer of 64 bits" in refused(content)
