"""Any configuration: refused in lines of text that never show a credential, or planned."""

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzzing import fuzzed
from tests.unit.fuzz.conftest import SECRET, SHOWN_SECRET

SOUND = """\
namespace: bench
targets:
  lite: {module: sqlite, runner: local, path: x.db}
  pg:
    module: postgres
    runner: local
    connection_string: host=db password=${PG}
    password: S3cr3t+P/a%ss
    transaction: read committed
  base: &base {module: influxdb, url: "http://h:1", token_from: {secret: a, key: b}}
  more: {<<: *base, timeout_s: 5m}
"""
KEYS = st.sampled_from(
    "namespace targets lite pg module runner queries database_pods path connection_string password"
    " password_from token url port timeout_s busy_timeout_s synchronous on null 1 << w"
    " node_size".split()
) | st.text(max_size=5)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        "${PG} ${NOT_SET} local kubernetes sqlite postgres mongodb null a:b ..os:x host=h 1e999 -1"
        " 70000 inf simulator.modules.contract:Database".split()
    ),
    st.sampled_from(
        [SECRET, f"postgresql://u:{SECRET}", f"passwd={SECRET}", "1" * 5000, "\x1b[2J", "\0"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)
OPTIONS = (
    "runner path connection_string password passwd password_from url port line_port host user"
    " database queries database_pods node_size busy_timeout_s connect_timeout_s synchronous w j"
).split()
ENTRIES = st.fixed_dictionaries(
    {"module": st.sampled_from(["sqlite", "postgres", "mongodb", "null", "graphite", "mysql"])},
    optional=dict.fromkeys(OPTIONS, VALUES),
)
PLANNED = ("insert", "--runner=local", "--dry-run", "--batch=10", "--workers=1", "-c", "c.yaml")


def check(run, folder, content, *extra):
    (folder / "c.yaml").write_bytes(content)
    for command in (("targets", "-c", "c.yaml"), (*PLANNED, "-t", "pg", *extra)):
        done = run(*command)
        assert SHOWN_SECRET not in done.out + done.err
        assert len(done.err) < 20_000


@fuzzed(4)
@given(
    content=st.binary(max_size=200)
    | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace"))
)
@example(content=b"a: &a [*a]")
@example(content=b"a: 2020-13-45")
def test_no_bytes_cause_a_traceback(run, folder, content):
    check(run, folder, content)


@fuzzed(4)
@given(
    start=st.integers(0, len(SOUND)),
    length=st.integers(0, 40),
    patch=st.text(st.sampled_from("{}[]:,-&*!|>'\"#%@` \n\tab01<~?\0\x1b\xff"), max_size=12),
)
def test_a_sound_file_with_a_damaged_place(run, folder, start, length, patch):
    text = SOUND[:start] + patch + SOUND[start + length :]

    check(run, folder, text.encode())


@fuzzed(4)
@given(entry=ENTRIES, others=st.dictionaries(KEYS, VALUES, max_size=2))
def test_any_entry_of_a_target(run, folder, entry, others):
    text = yaml.safe_dump({"targets": {"pg": entry, **others}}, allow_unicode=True)

    check(run, folder, text.encode("utf-8", "replace"))


@fuzzed(4)
@given(
    extra=st.lists(
        st.one_of(
            st.tuples(KEYS, SCALARS).map(lambda pair: f"{pair[0]}={pair[1]}"),
            st.sampled_from([f"password{SECRET}", SECRET, f"passwort={SECRET}", f"{SECRET}=1"]),
            st.text(max_size=10),
        ),
        max_size=3,
    )
)
def test_no_extra_option_causes_a_traceback(run, folder, extra):
    words = [f"--extra-option={word}" for word in extra if "\0" not in word]

    check(run, folder, SOUND.encode(), *words)
