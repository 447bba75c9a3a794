"""The messages that the collector's HTTP allows, by the schemas of its models, for hypothesis."""

from typing import Any, TypeAlias

from hypothesis import strategies as st
from pydantic.json_schema import models_json_schema

from simulator.control.workers.endpoints import KINDS

Schema: TypeAlias = dict[str, Any]

_LONG = 200
_MANY = 5
STATUSES = {200, 400, 403, 408, 409, 413}
"""Path -> possible answers to a POST."""
_, _FOUND = models_json_schema(
    [(kind.message, "validation") for kind in KINDS.values()], ref_template="{model}"
)
SCHEMAS: Schema = _FOUND["$defs"]
"""Name of a model -> its schema."""


def of_schema(schema: Schema) -> st.SearchStrategy[Any]:
    """Return a strategy of the values that a schema allows."""
    if "$ref" in schema:
        return of_schema(SCHEMAS[schema["$ref"]])
    if "anyOf" in schema:
        return st.one_of(map(of_schema, schema["anyOf"]))
    match schema["type"]:
        case "integer":
            most = schema.get("exclusiveMaximum")
            return st.integers(schema.get("minimum"), most and most - 1)
        case "number":
            least = schema.get("minimum")
            return st.floats(least, allow_nan=False, allow_infinity=False)
        case "string":
            return _of_string(schema)
        case "array":
            return _of_array(schema)
        case "null" | "boolean" as kind:
            return st.booleans() if kind == "boolean" else st.none()
        case "object":
            parts = {name: of_schema(part) for name, part in schema["properties"].items()}
            required = {name: parts.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(required, optional=parts)
    raise NotImplementedError(schema)


def _of_string(schema: Schema) -> st.SearchStrategy[str]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True)
    longest = min(schema.get("maxLength", _LONG), _LONG)
    return st.text(min_size=schema.get("minLength", 0), max_size=longest)


def _of_array(schema: Schema) -> st.SearchStrategy[Any]:
    if "prefixItems" in schema:
        return st.tuples(*map(of_schema, schema["prefixItems"]))
    most, least = min(schema.get("maxItems", _MANY), _MANY), schema.get("minItems", 0)
    return st.lists(of_schema(schema["items"]), min_size=least, max_size=most)
