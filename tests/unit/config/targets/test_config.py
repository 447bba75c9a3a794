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


@pytest.mark.parametrize("text", ["", "# nothing but a comment\n"])
def test_an_empty_file_is_reported(write, text):
    assert problems_of(write, text) == ["c.yaml: is empty; it must have `targets:`"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
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


def test_an_unknown_module_concerns_only_its_own_target(write):
    config = write("targets: {a: {module: sqlit}, b: {module: sqlite, runner: local, path: x.db}}")

    assert config.resolve("b", {}).module == "sqlite"
    (problem,) = problems_of(config.resolve, "a", {})
    assert problem == "c.yaml: targets.a.module: unknown module (did you mean 'sqlite'?)"
    assert config.find_broken() == {"a": problem}


def test_an_option_is_found_by_one_word_of_its_name():
    known = ["wait_for_sync", "query_timeout_s", "replication_factor"]

    assert nearest("sync", known) == "did you mean 'wait_for_sync'?"
    assert nearest("Replication", known) == "did you mean 'replication_factor'?"
    assert nearest("query", [*known, "idle_query_timeout_s"]).startswith("known: ")


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


def test_environment_variables_are_put_in(write, monkeypatch):
    monkeypatch.setenv("FOLDER", "/data")
    monkeypatch.setenv("NAME", "x")
    config = write("""
        targets:
          lite: {module: sqlite, runner: local, path: "${FOLDER}/${NAME}.db$HOME"}
    """)

    assert config.resolve("lite", {}).options.path == "/data/x.db$HOME"


def test_a_variable_that_is_not_set_is_no_problem_where_its_option_is_overridden(
    write, monkeypatch
):
    monkeypatch.delenv("NOT_SET", raising=False)
    config = write("""
        targets:
          lite: {module: sqlite, runner: local, path: "${NOT_SET}"}
    """)

    assert config.resolve("lite", {"path": "y.db"}).options.path == "y.db"


def test_an_unused_target_may_have_variables_that_are_not_set(write, monkeypatch):
    monkeypatch.delenv("NOT_SET", raising=False)
    config = write("""
        targets:
          lite: {module: sqlite, runner: local}
          other: {module: sqlite, runner: local, path: "${NOT_SET}"}
    """)

    assert config.resolve("lite", {}).options == SqliteOptions()


def test_extra_options_override_the_files(write):
    options = write(SOUND).resolve("lite", {"path": "y.db", "busy_timeout_s": "1.5"}).options

    assert options == SqliteOptions(path="y.db", busy_timeout_s=1.5)


def test_a_wrong_extra_option_is_reported_as_such(write):
    (problem,) = problems_of(write(SOUND).resolve, "lite", {"synchronous": "maybe"})

    assert problem == (
        "--extra-option synchronous: expected 'off', 'normal', 'full' or 'extra', got text of 5"
        " characters"
    )


@pytest.mark.parametrize("runner", ["", ", runner: kubernetes"])
def test_a_database_in_a_file_cannot_be_shared_by_pods(write, runner):
    config = write(f"targets: {{lite: {{module: sqlite{runner}}}}}")
    (problem,) = problems_of(config.resolve, "lite", {})

    assert "use --runner local" in problem


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


@pytest.mark.parametrize("size", ["[4]", "true", "null", "''", "x" * 41, "a;b"])
def test_the_size_of_a_node_is_a_word(write, size):
    (problem,) = problems_of(write, f"targets: {{a: {{module: sqlite, node_size: {size}}}}}")

    assert "targets.a.node_size: expected up to 40 letters and digits, such as CR4" in problem
    assert write("targets: {a: {module: sqlite, node_size: 16 CPUs}}").resolve("a", {}, "local")


def test_a_required_credential_may_come_from_a_secret(write):
    entry = "{module: postgres, connection_string_from: {secret: app, key: uri}}"
    target = write(f"targets: {{pg: {entry}}}").resolve("pg", {})

    assert target.secrets() == {}


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


@pytest.mark.parametrize("given", ["x", "{secret: app}", "{secret: app, key: 3}", "{file: 3}"])
def test_a_wrong_reference_to_a_secret_is_reported(write, given):
    config = write(f"targets: {{pg: {{module: postgres, password_from: {given}}}}}")
    reported = problems_of(config.resolve, "pg", {})

    assert reported[0].startswith(
        "c.yaml: targets.pg.password_from: expected {secret: NAME, key: KEY}"
    )


def test_only_a_credential_comes_from_a_secret(write):
    config = write("targets: {pg: {module: postgres, transaction_from: {secret: a, key: b}}}")
    reported = problems_of(config.resolve, "pg", {})

    assert "targets.pg.transaction_from: module postgres has no such option" in " ".join(reported)


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


def test_a_key_may_override_what_it_merges(write):
    config = write("""
        targets:
          one: &one {module: sqlite, runner: local, path: a.db}
          two:
            <<: *one
            path: b.db
    """)

    assert config.resolve("two", {}).options.path == "b.db"


@pytest.mark.parametrize(("name", "word"), [("null", "none"), ("~", "none"), ("on", "true")])
def test_a_name_that_yaml_does_not_read_as_text_is_reported_with_the_remedy(write, name, word):
    (problem,) = problems_of(write, f"targets: {{{name}: {{module: sqlite}}}}")

    assert f"reads the name of one target as {word}" in problem
    assert 'write it in quotes, as in "null":' in problem


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("life", "did you mean 'lite'?"),
        ("LITE", "did you mean 'lite'?"),
        (
            "cratedb_pg",
            "known: lite; or a server of this module: cratedb+postgresql://USER@HOST:5432/SCHEMA",
        ),
    ],
)
def test_an_unknown_target_names_the_nearest_or_all(write, name, hint):
    assert problems_of(write(SOUND).resolve, name, {}) == [
        f"target '{name}' is not in c.yaml ({hint})"
    ]


def test_numeric_options_may_be_written_with_units(write):
    config = write("""
        targets:
          lite: {module: sqlite, runner: local, busy_timeout_s: 2m}
    """)

    assert config.resolve("lite", {}).options.busy_timeout_s == 120.0
    assert config.resolve("lite", {"busy_timeout_s": "1500ms"}).options.busy_timeout_s == 1.5


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


def test_an_environment_variable_with_other_bytes_is_refused(write, monkeypatch):
    monkeypatch.setenv("PG", "\udcff")
    config = write('targets: {pg: {module: postgres, connection_string: "${PG}"}}')

    assert "PG is not valid UTF-8" in problems_of(config.resolve, "pg", {})[0]
