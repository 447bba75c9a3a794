"""Any data file: planned, or refused in a line that names the place."""

import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzzing import fuzzed

PLANNED = ("insert", "-c", "c.yaml", "-t", "lite", "--dry-run", "--workers=1", "--batch=10", "-q")
CELLS = st.one_of(
    st.sampled_from(
        "1 -1 1.5 1e999 nan true 2026-01-01 9999-99-99 9223372036854775808 x é NULL 0x1".split()
    ),
    st.sampled_from(["", "2026-01-01 00:00:00", '"', '""', '"a,b"', "\x1b[2J"]),
    st.text(max_size=6),
)
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=6)


@pytest.fixture(scope="module")
def check(run, folder):
    (folder / "c.yaml").write_text("targets: {lite: {module: sqlite, runner: local, path: x.db}}\n")

    def check(name: str, content: bytes, *options: str) -> None:
        (folder / name).write_bytes(content)
        done = run(*PLANNED, f"--data={name}", *options)
        assert len(done.err) < 20_000

    return check


@fuzzed(2)
@given(content=st.binary(max_size=120), suffix=st.sampled_from(["csv", "tsv", "parquet", "csv.gz"]))
@example(content=b"time,temp\xe9rature\n2026-01-01,1\n", suffix="csv")
@example(content=b"time,a\n2026-01-01,1\n2026-01-01,\xe9,3\n", suffix="csv")
@example(content=b"\xef\xbb\xbftime,a\n2026-01-01,1\n", suffix="csv")
@example(content=b"\xff\xfet\0i\0", suffix="csv")
@example(content=b"time,a\n2026-01-01,\0\n", suffix="csv")
@example(content=b"time,\x1b[2J\n2026-01-01,1\n", suffix="csv")
@example(content=b"time," + b"x" * 200_000 + b"\n2026-01-01,1\n", suffix="csv")
@example(content=b"time,a\n2026-01-01," + b"x" * 5_000_000 + b"\n", suffix="csv")
@example(content=b",".join([b"c"] * 5000) + b"\n" + b",".join([b"1"] * 5000), suffix="csv")
@example(content=b"PAR1" * 10, suffix="parquet")
@example(content=gzip.compress(b"time,a\n2026-01-01,1\n")[:-6], suffix="csv.gz")
def test_no_bytes_cause_a_traceback(check, content, suffix):
    check(f"x.{suffix}", content)


@fuzzed(2)
@given(
    names=st.lists(CELLS, min_size=1, max_size=4),
    rows=ROWS,
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16"]),
    options=st.lists(
        st.sampled_from(
            "--on-error=skip --on-error=null --on-error=text --tags=x --time-column=time"
            " --time-format=s --time-format=%Y-%m-%d --delimiter=; --primary-key=client".split()
        ),
        max_size=2,
    ),
)
def test_no_table_causes_a_traceback(check, *, names, rows, delimiter, end, encoding, options):
    text = end.join(delimiter.join(cells) for cells in [["time", *names], *rows])

    check("x.csv", text.encode(encoding, "replace"), *options)
