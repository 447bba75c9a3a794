"""The HTTP of the collector as an OpenAPI document, made of the models that it parses.

And the messages that it allows, as strategies for hypothesis.

`python -m tests.unit.control.openapi` prints it.
"""

import json
import sys
from typing import Any, TypeAlias

from hypothesis import strategies as st
from pydantic.json_schema import models_json_schema

from simulator import __version__
from simulator.control.workers.endpoints import KINDS
from simulator.protocol.messages import TOKEN_HEADER, UID_HEADER, UID_PATTERN

Schema: TypeAlias = dict[str, Any]

_LONG = 200
_MANY = 5
REFUSALS = {
    400: "the message or the uid is invalid",
    403: "the token is not that of the run",
    408: "the body came too slowly",
    409: "the message is out of turn, or of another process",
    413: "the body is too large",
}
STATUSES = {200, *REFUSALS}
"""What a POST to a path of the document may be answered with."""


def document() -> Schema:
    """Return the OpenAPI document."""
    messages = {kind.message for kind in KINDS.values()}
    replies = {kind.reply for kind in KINDS.values()}
    _, definitions = models_json_schema(
        [(model, "validation") for model in (*messages, *replies)],
        ref_template="#/components/schemas/{model}",
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "The collector of a run", "version": __version__},
        "paths": {
            path: {
                "post": {
                    "summary": (kind.message.__doc__ or "").strip(),
                    "parameters": [
                        _header(TOKEN_HEADER, "^[!-~]+$"),
                        _header(UID_HEADER, UID_PATTERN),
                    ],
                    "requestBody": {"required": True, "content": _json_of(kind.message.__name__)},
                    "responses": {
                        "200": {"description": "taken", "content": _json_of(kind.reply.__name__)},
                        **{
                            str(status): {
                                "description": reason,
                                "content": {"text/plain": {"schema": {"type": "string"}}},
                            }
                            for status, reason in REFUSALS.items()
                        },
                    },
                }
            }
            for path, kind in KINDS.items()
        },
        "components": {"schemas": definitions["$defs"]},
    }


def _header(name: str, pattern: str) -> Schema:
    schema = {"type": "string", "pattern": pattern}
    return {"name": name, "in": "header", "required": True, "schema": schema}


def _json_of(model: str) -> Schema:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{model}"}}}


def body_schema(document: Schema, path: str) -> Schema:
    """Return the schema of the message that a path takes."""
    content = document["paths"][path]["post"]["requestBody"]["content"]
    schema: Schema = content["application/json"]["schema"]
    return schema


def of_schema(document: Schema, schema: Schema) -> st.SearchStrategy[Any]:
    """Return a strategy of the values that a schema of the document allows."""
    if "$ref" in schema:
        return of_schema(document, definition(document, schema))
    if "anyOf" in schema:
        return st.one_of([of_schema(document, choice) for choice in schema["anyOf"]])
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
            return _of_array(document, schema)
        case "null" | "boolean" as kind:
            return st.booleans() if kind == "boolean" else st.none()
        case "object":
            parts = {name: of_schema(document, s) for name, s in schema["properties"].items()}
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


def _of_array(document: Schema, schema: Schema) -> st.SearchStrategy[Any]:
    if "prefixItems" in schema:
        return st.tuples(*(of_schema(document, each) for each in schema["prefixItems"]))
    most, least = min(schema.get("maxItems", _MANY), _MANY), schema.get("minItems", 0)
    return st.lists(of_schema(document, schema["items"]), min_size=least, max_size=most)


def definition(document: Schema, schema: Schema) -> Schema:
    """Return the schema that another one refers to."""
    found: Schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return found


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=2)
