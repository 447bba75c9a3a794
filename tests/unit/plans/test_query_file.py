"""`--queries FILE`: everything that is wrong with the file is named at once."""

import pytest

from iotbench.measurements.query.own import read_own
from simulator.data.own_query import ParameterSource
from simulator.data.schema import Type
from simulator.errors import ConfigError

RIGHT = """
queries:
  warm:
    table: events
    window: 1h
    parameters: {device: {column: device_id}, n: {between: [1, 9]}, w: {values: [a, 1, 2.5]}}
    columns: {n: int64, mean: float64}
    text:
      sql: "SELECT {device}, {n}, {w} FROM {table} WHERE t >= {start} AND t < {end}"
"""


def problems_of(tmp_path, text):
    path = tmp_path / "q.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        read_own(str(path))
    return [problem.removeprefix(f"{path}: ") for problem in error.value.problems]


def test_a_right_file_becomes_queries(tmp_path):
    (tmp_path / "q.yaml").write_text(RIGHT)
    (query,) = read_own(str(tmp_path / "q.yaml")).queries.values()

    assert query.window_ms == 3_600_000
    assert query.columns == {"n": Type.INT64, "mean": Type.FLOAT64}
    assert query.parameters["n"] == ParameterSource(between=(1, 9))
    assert query.parameters["w"].values == ("a", 1, 2.5)


def test_every_problem_of_the_shape_is_named(tmp_path):
    found = problems_of(
        tmp_path,
        """
queries:
  a: {colums: {}, text: {sql: x}, window: soon}
  b:
    columns: {n: int}
    text: [SELECT]
    parameters: {x: {}, y: {between: [2, 1]}, z: {values: [true]}, v: {column: a, values: [b]}}
""",
    )

    for expected in (
        "queries.a.colums: unknown key (did you mean 'columns'?)",
        "queries.a.columns: is required",
        "queries.a.window: expected a duration",
        "queries.b.columns.n: expected 'int64', 'float64', 'bool' or 'text'",
        "queries.b.text: expected a mapping",
        "queries.b.parameters.x: expected exactly one of between, values, column",
        "queries.b.parameters.y: between: the first number must not be the greater one",
        "queries.b.parameters.z.values.0: expected a text or a number",
        "queries.b.parameters.v: expected exactly one of between, values, column",
    ):
        assert any(each.startswith(expected) for each in found), (expected, found)


def test_every_problem_of_names_and_texts_is_named(tmp_path):
    found = problems_of(
        tmp_path,
        """
queries:
  A b: {columns: {}, text: {}}
  c:
    parameters: {table: {values: [1]}, B: {values: [1]}, used: {values: [1]}}
    columns: {n: int64}
    text:
      sqll: "SELECT '{used}', {B}, {unused}, {start}"
""",
    )

    assert found == [
        "queries.A b: expected a name of lower-case letters, digits, - and _",
        "queries.A b.columns: expected at least one, got none",
        "queries.A b.text: expected at least one, got none",
        "queries.c.parameters.table: the name is reserved; choose another",
        "queries.c.parameters.B: expected a name of lower-case letters, digits and _",
        "queries.c.text.sqll: is neither a module nor a language (did you mean 'sql'?)",
        "queries.c.text.sqll: {start} is not a parameter (set window)",
        "queries.c.text.sqll: {unused} is not a parameter (did you mean 'used'?)",
        "queries.c.text.sqll: does not use {B}, so it would ask something else than others",
        "queries.c.text.sqll: does not use {table}, so it would ask something else than others",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("queries: {}", "queries: expected 1 to 100, got 0"),
        ("[]", "expected a mapping, got an empty list"),
        ("queries: {a: {columns: {n: int64}, text: {sql: x}}, a: {}}", "is already set in line 1"),
        (
            "queries: {a: {columns: {n: int64}, text: {sql: " + "x" * 200_001 + "}}}",
            "expected texts of 200,000 characters at most, got 200,001",
        ),
    ],
)
def test_a_file_has_bounds(tmp_path, text, problem):
    (found,) = problems_of(tmp_path, text)
    assert problem in found
