"""Any command line: planned, or refused in lines that say what to write."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzzing import fuzzed
from tests.unit.fuzz.conftest import SECRET, SHOWN_SECRET

NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(str),
    st.sampled_from(
        "99999999999999999999 inf nan 1e-300 -1 0 1 65536 100000000 1e999 1-1000000000 1,2,4 1-1000"
        " 366d 1h30m 10k 2.5M 2026-11-01 9999-12-31T23:59:59-12:00 0001-01-01T00:00:00+14:00 1_000"
        " ٣".split()
    ),
    st.just("9" * 5000),
)
WORDS = st.one_of(
    st.sampled_from(
        "lite null nil none c.yaml results /dev/null /dev/zero / . csv json full counts local"
        " kubernetes client multiple file iot tab ; count-events".split()
    ),
    st.sampled_from(["", "\x1b[2J", "a\nb", "\udcff", "x" * 5000]),
    st.text(max_size=8),
)
OPTIONS = st.sampled_from(
    "--workers --runs --num-inserts --batch --prefill --steps --rate --seed --devices --tick-ms"
    " --start-time --timeout --tables --tables-by --primary-key --verify --output --format --data"
    " --time-column --time-format --tags --delimiter --on-error --workload --dataset --types"
    " --count --burn-in --print-interval --response-limit --ramp-step --ramp-interval"
    " --moving-average"
    " --runner --namespace --kubeconfig --context --image --values --set --config".split()
)
FLAGS = st.sampled_from(
    ["--quiet", "--force", "--no-clean", "--clean", "--keep", "--ramp", "-h", "--x", "-"]
)
WORD = st.one_of(
    st.tuples(OPTIONS, NUMBERS | WORDS).map("=".join),
    st.tuples(OPTIONS, NUMBERS).map("=".join),
    FLAGS,
)


@pytest.fixture(scope="module")
def check(run, folder):
    (folder / "c.yaml").write_text("""
        targets:
          lite: {module: sqlite, runner: local, path: x.db}
          nil: {module: "null", runner: local}
    """)

    def check(command: str, *words: str) -> None:
        usable = [word for word in words if "\0" not in word]
        done = run(command, "-c", "c.yaml", "-t", "lite", *usable, "--dry-run")
        assert SHOWN_SECRET not in done.err
        assert len(done.out) + len(done.err) < 100_000

    return check


@fuzzed(2)
@given(command=st.sampled_from(["insert", "query", "verify"]), words=st.lists(WORD, max_size=4))
@example(command="insert", words=["--runs=100000000"])
@example(command="insert", words=["--workers=1-1000", "--force", "--runs=10"])
@example(command="insert", words=["--steps=10000", "--workers=1"])
@example(command="insert", words=["--workers=100", "--force", "--runs=1000"])
@example(command="insert", words=["--workers=10000", "--force", "--runs=10", "--prefill=1M"])
@example(command="insert", words=["--rate=1e-300"])
@example(command="insert", words=["--timeout=1e300"])
@example(command="insert", words=["--batch=1e15"])
@example(command="insert", words=["--tick-ms=9223372036854775807"])
@example(command="insert", words=["--devices=14776336", "--workers=1"])
@example(command="insert", words=[f"--extra-option=password={SECRET}", SECRET])
@example(command="insert", words=[f"--extra-option=password{SECRET}"])
def test_no_options_cause_a_traceback(check, command, words):
    check(command, *words)


@fuzzed(2)
@given(
    words=st.lists(
        WORDS | st.sampled_from(["insert", "show", "targets", "cleanup", "--tables"]), max_size=3
    )
)
def test_no_words_cause_a_traceback(run, words):
    run("show", *(word for word in words if "\0" not in word))
    run(
        *(word for word in words if "\0" not in word and word not in ("insert", "cleanup")),
        "--help",
    )
