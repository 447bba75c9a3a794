"""Files that declare workloads, and statements of the user: all that is wrong is named."""

import pytest

from iotbench.config.targets.config import Target
from iotbench.measurements.insert import checks as insert_options
from iotbench.measurements.insert.checks import generator_params
from iotbench.measurements.insert.options import InsertOptions
from iotbench.measurements.insert.statement_file import read_statements
from iotbench.measurements.insert.workload_file import class_of, read_workload
from simulator.data.workloads.declared import Declared
from simulator.data.workloads.iot import Iot
from simulator.errors import ConfigError
from simulator.modules.victoriametrics.database import VictoriaMetrics

TABLE = "duration: 1h\ntables:\n  t:\n    series: {series}\n    interval: 1s\n{rest}"
FIELD = "    tags: {{key: }}\n    fields:\n      f: {{type: {type}, {how}}}\n"


def problems_of(tmp_path, text):
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        read_workload(str(path))
    return [problem.removeprefix(f"{path}: ") for problem in error.value.problems]


@pytest.mark.parametrize(
    ("kind", "how", "words"),
    [
        ("int16", "uniform: [0, 40000]", "expected numbers from -32,768 to 32,767"),
        ("int64", "uniform: [0.5, 2]", "uniform: expected whole numbers"),
        ("int64", "uniform: [0, 3e9]", "uniform: expected less than 2**31 different numbers"),
        ("int32", "values: [a]", "values: expected whole numbers"),
        ("int32", "normal: [0, 1], step: 2", "step: is for float32 and float64"),
        ("float64", "uniform: [2, 1]", "uniform: expected the lower number first"),
        ("float64", "values: [1, x]", "values: expected numbers"),
        ("float64", "normal: [0, -1]", "normal: expected a standard deviation from 0 on"),
        ("float64", "exponential: 0", "exponential: expected a mean above 0"),
        ("float64", "true_share: 10%", "expected one of values, uniform, normal, exponential"),
        ("float64", "values: [1], normal: [0, 1]", "got values, normal"),
        ("text", "length: [5, 2]", "length: expected two numbers from 0 to 1,000"),
        ("text", "values: [on]", "values: expected texts; put numbers in quotes"),
        ("text", "values: [a, b], weights: [1]", "weights: expected 2, one for each value"),
        ("text", "values: [a], weights: [0]", "not all of them 0"),
        ("bool", "nulls: 10%", "expected one of true_share, got none"),
        ("text", "values: [a, b], zipf: 0", "zipf: must be more than 0"),
        ("text", "values: [a, b], zipf: 1, latest: 1", "expected one of zipf, hotspot, latest"),
        (
            "text",
            "values: [a, b], weights: [1, 2], zipf: 1",
            "weights, zipf: both set how frequent",
        ),
        ("text", "values: [a, b], hotspot: [20%, 120%]", "hotspot.1: expected a share"),
        ("int32", "uniform: [0, 9], zipf: 1", "zipf: chooses among values or texts of a length"),
        ("bool", "true_share: 10%, latest: 1", "latest: chooses among values or texts of a length"),
        ("double", "uniform: [0, 1]", "f.type: expected 'int16', "),
        ("float64", "uniforn: [0, 1]", "unknown key (did you mean 'uniform'?)"),
    ],
)
def test_a_wrong_field_is_named_with_its_place(tmp_path, kind, how, words):
    text = TABLE.format(series=2, rest=FIELD.format(type=kind, how=how))
    problems = problems_of(tmp_path, text)

    assert all(problem.startswith("tables.t.fields.f") for problem in problems)
    assert any(words in problem for problem in problems), problems


def test_everything_is_named_at_once(tmp_path):
    text = (
        "duration: 1h\ntables:\n"
        "  Big: {series: 2, interval: 1s, fields: {f: {type: bool, true_share: 0.5}}}\n"
        "  t: {series: 1, interval: 1s, time: f, tags: {id: }, fields: {f: {type: bool,"
        " true_share: 0.5}}}\n"
    )

    assert problems_of(tmp_path, text) == [
        "tables.Big: expected a name of lower-case letters, digits and _",
        (
            "tables.Big.tags: expected one that differs in each series, since a row is known by its"
            " tags and its time; leave values and count out of one"
        ),
        "tables.t.f: is the name of 2 columns",
        "tables.t.id: expected a name of lower-case letters, digits and _, other than id",
    ]


def test_a_skew_that_tags_or_a_table_cannot_have_is_named(tmp_path):
    text = (
        "duration: 1h\ntables:\n  t:\n    series: 1001\n    interval: 1s\n    zipf: 1\n"
        "    tags: {{key: {{{key}}}, site: {{values: [a, b]{site}}}}}\n"
        "    fields: {{f: {{type: bool, true_share: 0.5}}}}\n"
    )

    assert problems_of(tmp_path, text.format(key="", site="")) == [
        (
            "tables.t.zipf: expected an interval of 1,001 ms at least, since so many rows are"
            " spread over it, a millisecond apart at least; got 1s"
        )
    ]
    assert problems_of(tmp_path, text.format(key="hotspot: [20%, 80%]", site=", latest: 1")) == [
        "tables.t.tags.key: hotspot: chooses among values or count names; add one",
        "tables.t.tags.site: latest: a series keeps its tags; use it in a field or the table",
    ]


def test_a_name_and_a_path_have_a_class_and_no_other_options(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(TABLE.format(series=1, rest=FIELD.format(type="bool", how="true_share: 0.5")))
    options = InsertOptions(workload=str(path), parameters={"scale": 3}, num_inserts=5)
    with pytest.raises(ConfigError) as error:
        generator_params(options)

    assert (class_of("iot"), class_of(str(path))) == (Iot, Declared)
    assert list(error.value.problems) == [
        f"--scale: is an option of other workloads; {path} declares all of it",
        (
            "--num-inserts: the rows of workload declared have an end and are shared by the"
            " workers; use --limit"
        ),
    ]


TEXT = """
-- how it is asked
CREATE INDEX a ON events (device_id);  -- by device
CREATE FUNCTION f() RETURNS int AS $$
  SELECT 1;
  SELECT 2;
$$ LANGUAGE sql;

ALTER TABLE events SET (x = ';')
"""


def read(tmp_path, text):
    path = tmp_path / "own.sql"
    path.write_text(text)
    return read_statements(str(path))


def test_a_statement_ends_with_a_semicolon_at_the_end_of_a_line(tmp_path):
    first, second, third = read(tmp_path, TEXT).statements

    assert first == "CREATE INDEX a ON events (device_id)"
    assert second.startswith("CREATE FUNCTION f()")
    assert second.endswith("$$ LANGUAGE sql")
    assert "SELECT 1;\n  SELECT 2;" in second
    assert third == "ALTER TABLE events SET (x = ';')"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-- nothing\n", "expected at least one statement, got none"),
        ("DO $$ x;\n", r"\$\$ is opened and not closed"),
        ("x" * 200_001, "expected 200,000 characters at most"),
    ],
)
def test_what_is_no_file_of_statements_is_refused(tmp_path, text, words):
    with pytest.raises(ConfigError, match=words):
        read(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.sql: cannot be read"):
        read_statements(str(tmp_path / "nowhere.sql"))


def test_a_file_of_statements_without_an_end_is_refused_and_not_read():
    """A stranger's plan may name it, before the plan is trusted."""
    with pytest.raises(ConfigError, match="is a pipe or device, expected a regular file"):
        read_statements("/dev/zero")


def test_databases_without_statements_and_tables_that_are_there_are_refused(tmp_path):
    own = read(tmp_path, "x;")
    options = InsertOptions(setup=own, clean=False, runs=1)
    model = VictoriaMetrics.options_model
    target = Target("vm", "victoriametrics", "local", model(url="http://localhost"), {})

    assert (
        "--setup, --teardown: are for tables that each run creates; leave --no-clean out"
        in insert_options.option_problems(options)
    )
    assert (
        "--setup: victoriametrics: this module runs no statements of the user; leave it out"
        in insert_options.target_problems(options, target, force=True)
    )
