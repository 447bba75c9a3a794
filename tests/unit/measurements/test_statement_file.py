"""Files of the user's own statements: where one ends, and what is wrong."""

import pytest

from iotbench.config.targets.config import Target
from iotbench.measurements.insert import checks as insert_options
from iotbench.measurements.insert.options import InsertOptions
from iotbench.measurements.insert.statement_file import read_statements
from simulator.errors import ConfigError
from simulator.modules.victoriametrics.database import VictoriaMetrics

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
        "--setup: victoriametrics: this module carries out no statements of others; leave it out"
        in insert_options.target_problems(options, target, force=True)
    )
