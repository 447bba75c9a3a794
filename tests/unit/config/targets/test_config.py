"""config.yaml: everything that is wrong is reported at once, with what was probably meant."""

import re
import textwrap
from pathlib import Path

import pytest

from iotbench.config.targets.config import load
from iotbench.config.targets.given import SecretRef
from simulator.errors import ConfigError, nearest
from simulator.modules.contract import BATCH
from simulator.modules.null import Encoding, Null
from simulator.modules.sqlite import SqliteOptions

ROOT = Path(__file__).parents[4]


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "c.yaml").write_text(textwrap.dedent(text))
        return read()

    return write


def read(name="c.yaml"):
    return load(Path(name))


def problems_of(call, *args):
    with pytest.raises(ConfigError) as error:
        call(*args)
    return list(error.value.problems)


SOUND = """
    targets:
      lite:
        module: sqlite
        runner: local
        path: x.db
        queries:
          count-events: SELECT 1
"""


def test_a_sound_file_resolves(write):
    config = write(SOUND)
    target = config.resolve("lite", {})

    assert config.namespace == "default"
    assert (target.name, target.module, target.runner) == ("lite", "sqlite", "local")
    assert target.options == SqliteOptions(path="x.db")
    assert target.tuned == {"count-events": "SELECT 1"}
    assert target.open().options is target.options


@pytest.mark.usefixtures("write")
def test_a_missing_file_is_named():
    (problem,) = problems_of(read, "nowhere.yaml")

    assert problem == (
        "nowhere.yaml: cannot be read: No such file or directory; --config names the file"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# nothing but a comment", "c.yaml: is empty; it must have `targets:`"),
        ("- a", "c.yaml: expected a mapping with `targets:`, got a list of 1 item"),
        ("namespace: x", "c.yaml: targets: expected a mapping of targets, got nothing"),
        ("targets: {}", "c.yaml: targets: expected a mapping of targets, got an empty mapping"),
        ("targets: 3", "c.yaml: targets: expected a mapping of targets, got 3"),
        (
            "targets: {a: x}",
            "c.yaml: targets.a: expected a mapping with `module:`, got text of 1 character",
        ),
        (
            "targets: {a: {path: x}}",
            "c.yaml: targets.a.module: expected a module's name, got nothing",
        ),
        (
            "targets: {a: {module: sqlite, runner: remote}}",
            "c.yaml: targets.a.runner: expected local or kubernetes, got text of 6 characters",
        ),
        (
            "targets: {a: {module: sqlite, queries: [x]}}",
            "c.yaml: targets.a.queries: expected query names with their text",
        ),
    ],
)
def test_a_wrong_type_is_reported_with_what_was_expected(write, text, problem):
    assert problems_of(write, text) == [problem]


def test_all_problems_of_a_file_are_reported_together(write):
    text = """
        namespaces: x
        namespace: 3
        targets:
          a: {module: sqlit}
          b: {runner: remote, module: [], queries: 1}
    """

    assert problems_of(write, text) == [
        "c.yaml: namespaces: unknown key (did you mean 'namespace'?)",
        "c.yaml: namespace: expected text, got 3",
        "c.yaml: targets.b.module: expected a module's name, got an empty list",
        "c.yaml: targets.b.runner: expected local or kubernetes, got text of 6 characters",
        "c.yaml: targets.b.queries: expected query names with their text",
    ]


LITE = "lite: {module: sqlite, runner: local, path: x.db}"


@pytest.mark.parametrize(
    ("targets", "extra", "problem"),
    [
        (f"{LITE}, life: {{module: sqlit}}", {}, ""),
        ("lite: {module: sqlit}", {}, "c.yaml: targets.lite.module: unknown module (did you mean"),
        (LITE, {"synchronous": "maybe"}, "--extra-option synchronous: expected 'off', 'normal',"),
        (
            "lite: {module: sqlite}",
            {},
            "data in a file on one machine, which pods do not share: use",
        ),
        ("lite: {module: sqlite, runner: kubernetes}", {}, "use --runner local"),
        (
            "lite: {module: postgres, connection_string: h, transaction_from: {secret: a, key: b}}",
            {},
            "c.yaml: targets.lite.transaction_from: module postgres has no such option",
        ),
        *(
            (
                f"lite: {{module: postgres, connection_string: h, password_from: {given}}}",
                {},
                "c.yaml: targets.lite.password_from: expected {secret: NAME, key: KEY}",
            )
            for given in ("x", "{secret: app}", "{secret: app, key: 3}", "{file: 3}")
        ),
        (f"null: {{module: sqlite}}, {LITE}", {}, 'is not text; write it in quotes, as in "null":'),
        (f"on: {{module: sqlite}}, {LITE}", {}, "YAML reads the name of one target as true"),
        ("life: {module: sqlite}, LITE: {module: sqlite}", {}, "(did you mean 'LITE'?)"),
        ("other: {module: sqlite}", {}, "target 'lite' is not in c.yaml (known: other)"),
        ("lite: {module: sqlite, runner: local, path: '${BYTES}'}", {}, "BYTES is not valid UTF-8"),
        ("lite: {module: sqlite, runner: local, path: '${NOT_SET}'}", {}, "NOT_SET is not set"),
    ],
)
def test_a_problem_of_a_target_is_reported_with_its_place(
    write, monkeypatch, targets, extra, problem
):
    monkeypatch.delenv("NOT_SET", raising=False)
    monkeypatch.setenv("BYTES", "\udcff")

    def resolve():
        return write(f"targets: {{{targets}}}").resolve("lite", extra)

    if problem:
        (reported,) = problems_of(resolve)
        assert problem in reported
    else:
        assert resolve().module == "sqlite"


def test_an_unknown_target_may_be_a_module_with_a_url(write):
    (problem,) = problems_of(write(SOUND).resolve, "cratedb_pg", {})

    assert problem.endswith(
        "; or a server of this module: cratedb+postgresql://USER@HOST:5432/SCHEMA)"
    )


@pytest.mark.parametrize(
    ("given", "extra", "expected"),
    [
        ("path: '${FOLDER}/${NAME}.db$HOME'", {}, {"path": "/data/x.db$HOME"}),
        ("path: '${NOT_SET}'", {"path": "y.db"}, {"path": "y.db"}),
        ("path: x.db", {"busy_timeout_s": "1500ms"}, {"path": "x.db", "busy_timeout_s": 1.5}),
        ("busy_timeout_s: 2m", {}, {"busy_timeout_s": 120.0}),
        ("<<: {path: a.db}, path: b.db", {}, {"path": "b.db"}),
    ],
)
def test_options_have_variables_units_and_extra_options(write, monkeypatch, given, extra, expected):
    monkeypatch.setenv("FOLDER", "/data")
    monkeypatch.setenv("NAME", "x")
    monkeypatch.delenv("NOT_SET", raising=False)
    unused = "unused: {module: sqlite, path: '${NOT_SET}'}"
    config = write(f"targets: {{lite: {{module: sqlite, runner: local, {given}}}, {unused}}}")

    assert config.resolve("lite", extra).options == SqliteOptions(**expected)


def test_an_option_is_found_by_one_word_of_its_name():
    known = ["wait_for_sync", "query_timeout_s", "replication_factor"]

    assert nearest("sync", known) == "did you mean 'wait_for_sync'?"
    assert nearest("Replication", known) == "did you mean 'replication_factor'?"
    assert nearest("query", [*known, "idle_query_timeout_s"]).startswith("known: ")


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("organization", "did you mean 'org'?"),
        ("ORG_NAME", "did you mean 'org'?"),
        ("lang", "did you mean 'language'?"),
        ("o", "known: "),
        ("ca_path", "known: "),
    ],
)
def test_an_option_is_found_by_a_longer_or_shorter_form_of_its_name(write, typed, hint):
    config = write("targets: {influx: {module: influxdb, runner: local, url: http://h:8086}}")
    with pytest.raises(ConfigError) as raised:
        config.resolve("influx", {typed: "x"})

    assert f"module influxdb has no such option ({hint}" in str(raised.value)


def test_all_problems_of_a_target_are_reported_together(write, monkeypatch):
    monkeypatch.delenv("NOT_SET", raising=False)
    config = write("""
        targets:
          lite: {module: sqlite, pth: "${NOT_SET}", busy_timeout_s: soon, on: 1}
    """)
    reported = problems_of(config.resolve, "lite", {"synchronos": "off"})

    assert reported[0] == ("c.yaml: targets.lite.pth: the environment variable NOT_SET is not set")
    assert sorted(reported[1:-1]) == [
        "--extra-option synchronos: module sqlite has no such option (did you mean 'synchronous'?)",
        "c.yaml: targets.lite.busy_timeout_s: expected a number, got text of 4 characters",
        "c.yaml: targets.lite.pth: module sqlite has no such option (did you mean 'path'?)",
        (
            "c.yaml: targets.lite.true: module sqlite has no such option"
            " (known: busy_timeout_s, create_indices, path, synchronous)"
        ),
    ]
    assert reported[-1].startswith("c.yaml: targets.lite: module sqlite stores its data in a file")


def test_targets_run_on_kubernetes_unless_they_say_local(write):
    config = write("namespace: bench\ntargets: {pg: {module: postgres, connection_string: x=y}}")
    target = config.resolve("pg", {})

    assert (target.runner, target.namespace) == ("kubernetes", "bench")


FROM_SECRET = """
    targets:
      pg:
        module: postgres
        connection_string: host=db
        password_from: {secret: app, key: word}
        database_pods: {app: postgres}
"""


def test_a_credential_from_a_secret_is_known_to_the_pods_alone(write):
    target = write(FROM_SECRET).resolve("pg", {})

    assert target.secret_refs == {"password": SecretRef("app", "word")}
    assert target.secrets() == {"connection_string": "host=db"}
    assert target.options.public()["password"] == "***"
    assert target.database_pods == {"app": "postgres"}
    entry = "{module: postgres, connection_string_from: {secret: app, key: uri}}"
    assert write(f"targets: {{pg: {entry}}}").resolve("pg", {}).secrets() == {}


@pytest.mark.parametrize("size", ["[4]", "true", "null", "''", "x" * 41, "a;b"])
def test_the_size_of_a_node_is_a_word(write, size):
    (problem,) = problems_of(write, f"targets: {{a: {{module: sqlite, node_size: {size}}}}}")

    assert "targets.a.node_size: expected up to 40 letters and digits, such as CR4" in problem
    assert write("targets: {a: {module: sqlite, node_size: 16 CPUs}}").resolve("a", {}, "local")


def test_the_command_that_restarts_a_database_is_text(write):
    (problem,) = problems_of(write, "targets: {a: {module: sqlite, restart_with: [up]}}")

    assert "targets.a.restart_with: expected a command, such as" in problem
    config = write("targets: {a: {module: sqlite, restart_with: up}}")
    assert config.resolve("a", {}, "local").restart_with == "up"


@pytest.mark.parametrize("name", load(ROOT / "config.yaml").targets)
def test_each_target_of_the_project_is_complete_with_the_secrets_that_pods_read(name):
    database = load(ROOT / "config.yaml").resolve(name, {}).open()

    key = next(iter(database.capabilities.primary_keys))
    assert database.problems(key, 1, BATCH, 1000) == []


def test_a_secret_is_left_out_where_there_are_no_pods_or_the_option_is_given(write):
    config = write(FROM_SECRET)

    assert config.resolve("pg", {}, "local").secret_refs == {}
    assert config.resolve("pg", {"password": "x"}).secret_refs == {}
    assert config.resolve("pg", {"password": "x"}).secrets()["password"] == "x"


FROM_FILE = "targets: {pg: {module: postgres, connection_string: h, password_from: {file: word}}}"


@pytest.mark.parametrize("runner", ["local", "kubernetes"])
def test_a_credential_from_a_file_is_read_beside_the_configuration(write, runner):
    config = write(FROM_FILE)
    path = (config.path.parent / "word").absolute()
    path.write_text("${x}\n")
    target = config.resolve("pg", {}, runner)

    assert target.secrets()["password"] == "${x}"
    assert target.credential_files == {"password": path}
    assert config.resolve("pg", {"password": "x"}, runner).credential_files == {}


@pytest.mark.parametrize(
    ("content", "problem"), [(None, "cannot read .*: No such file"), (b"\xff", "not valid UTF-8")]
)
def test_a_credentials_file_that_cannot_be_read_is_reported(write, content, problem):
    config = write(FROM_FILE)
    if content:
        (config.path.parent / "word").write_bytes(content)
    (reported,) = problems_of(config.resolve, "pg", {}, "local")

    assert re.search(rf"targets\.pg\.password_from: {problem}|word is {problem}", reported)


def test_a_module_of_ones_own_is_a_dotted_path(write):
    target = write("""
        targets:
          mine: {module: "simulator.modules.null:Null", runner: local, encode: csv}
    """).resolve("mine", {})

    assert isinstance(target.open(), Null)
    assert target.options.encode is Encoding.CSV


@pytest.mark.parametrize(
    ("module", "reported"),
    [
        ("no.such:Thing", "cannot be imported: ModuleNotFoundError: No module named 'no'"),
        ("simulator.modules.null:Nil", "cannot be imported: .*has no attribute 'Nil'"),
        ("..os:x", "expected package.file:Class"),
        ("a b:c", "expected package.file:Class"),
        ("simulator.modules.contract:Database", "Database lacks connect, create, describe"),
        (
            "simulator.modules.null:Encoding",
            "Encoding is not a simulator.modules.contract.Database",
        ),
    ],
)
def test_a_module_that_cannot_be_found_is_reported(write, module, reported):
    config = write(f"targets: {{mine: {{module: '{module}', runner: local}}}}")

    with pytest.raises(ConfigError, match=reported):
        config.resolve("mine", {})


def test_a_key_that_is_set_twice_is_reported_with_both_lines(write):
    text = """\
        targets:
          lite: {module: sqlite, runner: local}
          other:
            module: "null"
            module: sqlite
          lite: {module: "null"}
        """

    assert problems_of(write, text) == [
        "c.yaml: line 5: targets.other.module is already set in line 4; remove one of them",
        "c.yaml: line 6: targets.lite is already set in line 2; remove one of them",
    ]


SECRET = "Hu-nter2/x"


@pytest.mark.parametrize(
    "text",
    [
        "- {0}",
        "{0}",
        "namespace: [{0}]",
        "passwordX{0}: 1",
        "targets: {0}",
        "targets: {{pg: {0}}}",
        "targets: {{'{0}': {{module: sqlite}}}}",
        "targets: {{pg: {{module: '{0}'}}}}",
        "targets: {{pg: {{module: sqlite, runner: '{0}'}}}}",
        "targets: {{pg: {{module: sqlite, queries: '{0}'}}}}",
        "targets: {{pg: {{module: sqlite, database_pods: '{0}'}}}}",
        "targets: {{pg: {{module: sqlite, node_size: ['{0}']}}}}",
        "targets: [\n'{0}",
        "targets: *{0}",
        "targets: !!{0} x",
        "targets: !{0} x",
        "password: {0}: x: [",
        "a: '{0}'\n  b: {0}",
        "{0}: 1\n{0}: 2",
    ],
)
def test_no_message_about_a_file_repeats_what_may_be_a_credential(write, text):
    problems = problems_of(lambda: write(text.format(SECRET)).resolve("pg", {}))

    assert problems
    assert not any("Hu-nter" in problem or "nter2" in problem for problem in problems)


@pytest.mark.parametrize(
    "entry",
    [
        "password_from: {0}",
        "password_from: [{0}]",
        "password_from: {{secret: {0}}}",
        "passwort: {0}",
        "password{0}: x",
        "connect_timeout_s: {0}",
        "transaction: {0}",
        "password: [{0}]",
    ],
)
def test_no_message_about_a_target_repeats_what_may_be_a_credential(write, entry):
    config = write(f"targets: {{pg: {{module: postgres, {entry.format(SECRET)}}}}}")
    problems = problems_of(config.resolve, "pg", {SECRET: SECRET, "passwd": SECRET})

    assert not any("nter" in problem for problem in problems)


def test_an_environment_variable_in_a_wrong_place_is_not_repeated(write, monkeypatch):
    monkeypatch.setenv("PG", SECRET)
    config = write("""
        targets: {pg: {module: postgres, connection_string: h, transaction: "${PG}"}}
    """)

    assert "nter" not in problems_of(config.resolve, "pg", {"connect_timeout_s": "${PG}"})[0]
