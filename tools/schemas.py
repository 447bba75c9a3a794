"""The JSON Schemas of results, configurations, plans, own queries and workloads, for editors."""

import json
from collections.abc import Mapping
from typing import Any

from iotbench.config.input.parameters import parameters, word_of
from iotbench.config.targets.config import NAME_PATTERN, RUNNERS
from iotbench.measurements.insert.workload_file import TABLE_NAME, WorkloadFile
from iotbench.measurements.query.own import LANGUAGES, QUERY_NAME, QueryFile
from iotbench.plans.plan import Plan
from iotbench.results.result import FORMAT_VERSION, Result
from simulator.data.workloads import GENERATORS
from simulator.modules import MODULES, database_class

Schema = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXTS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
_VARIABLE: Schema = {"type": "string", "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*\}"}
_QUANTITY: Schema = {"type": "string", "pattern": r"^[\d_.]+|\$\{[A-Za-z_][A-Za-z0-9_]*\}"}
"""Schema of a number in the user's notation, such as 10k or 30s, or an environment variable."""


def _require_texts(*names: str) -> Schema:
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": list(names),
        "additionalProperties": False,
    }


_SOURCE: Schema = {
    "description": "a key of a Secret of the namespace, which only the pods read, or a file",
    "anyOf": [_require_texts("secret", "key"), _require_texts("file")],
}


def result_schema() -> str:
    """Return the JSON Schema of result files."""
    schema = Result.model_json_schema(mode="serialization")
    return _format(schema, f"Result file of format {FORMAT_VERSION}")


def plan_schema() -> str:
    """Return the JSON Schema of plans."""
    schema = Plan.model_json_schema()
    insert, setting = (schema["$defs"][name]["properties"] for name in ("Insert", "Setting"))
    insert["workload"]["anyOf"] = [{"enum": list(GENERATORS)}, {"pattern": r"\.ya?ml$"}]
    insert["parameters"]["propertyNames"] = {"enum": sorted(map(word_of, parameters()))}
    setting["only"]["items"]["enum"] = list(MODULES)
    setting["modules"]["propertyNames"] = {"enum": list(MODULES)}
    return _format(schema, "Plan")


def queries_schema() -> str:
    """Return the JSON Schema of files with a user's own queries."""
    schema = QueryFile.model_json_schema()
    schema["properties"]["queries"]["propertyNames"] = {"pattern": f"^{QUERY_NAME}$"}
    text = schema["$defs"]["OwnQueryEntry"]["properties"]["text"]
    text["propertyNames"] = {"enum": [*LANGUAGES, *MODULES]}
    return _format(schema, "Own queries")


def workload_schema() -> str:
    """Return the JSON Schema of files that declare a workload."""
    schema = WorkloadFile.model_json_schema()
    names = {"pattern": f"^{TABLE_NAME}$"}
    schema["properties"]["tables"]["propertyNames"] = names
    table = schema["$defs"]["TableOf"]["properties"]
    table["tags"]["propertyNames"] = table["fields"]["propertyNames"] = names
    table["tags"]["additionalProperties"] = {
        "anyOf": [table["tags"]["additionalProperties"], {"type": "null"}]
    }
    return _format(schema, "Workload")


def config_schema() -> str:
    """Return the JSON Schema of configurations; each module defines the options of its targets."""
    is_module: list[Schema] = [
        {
            "if": {"properties": {"module": {"const": module}}},
            "then": {"$ref": f"#/$defs/{module}"},
        }
        for module in MODULES
    ]
    target = {
        "type": "object",
        "properties": {"module": _describe_module()},
        "required": ["module"],
        "allOf": is_module,
    }
    schema = {
        "type": "object",
        "properties": {
            "namespace": {"type": "string", "description": "of the benchmark's pods"},
            "targets": {
                "type": "object",
                "minProperties": 1,
                "propertyNames": {"pattern": f"^{NAME_PATTERN}$"},
                "additionalProperties": {"$ref": "#/$defs/target"},
            },
        },
        "required": ["targets"],
        "additionalProperties": False,
        "$defs": {
            "target": target,
            "credential_source": _SOURCE,
            **{module: _describe_options(module) for module in MODULES},
        },
    }
    return _format(schema, "Configuration: the targets")


def _format(schema: Schema, title: str) -> str:
    return json.dumps({**schema, "$schema": _DIALECT, "title": title}, indent=1) + "\n"


def _describe_module() -> Schema:
    return {
        "type": "string",
        "description": "the code for one database; package.file:Class for a module of your own",
        "anyOf": [{"enum": list(MODULES)}, {"pattern": ":"}],
    }


def _describe_options(module: str) -> Schema:
    """Return the schema of a target; no key is required, because --extra-option may set it."""
    model = database_class(module).options_model
    schema = model.model_json_schema()
    types = schema.get("$defs", {})
    own = {name: _describe_option(option, types) for name, option in schema["properties"].items()}
    return {
        "type": "object",
        "properties": {
            "module": {"const": module},
            "runner": {
                "enum": list(RUNNERS),
                "default": "kubernetes",
                "description": "where collector and workers run: as processes here, or as pods",
            },
            "queries": _TEXTS | {"description": "this target's own text for a query"},
            "node_size": {
                "type": "string",
                "description": "of the database, as its document has it",
            },
            "database_pods": _TEXTS | {"description": "labels of the database's pods"},
            "restart_with": {
                "type": "string",
                "description": "command that restarts the database after a fault",
            },
            **own,
            **{
                f"{name}_from": {"$ref": "#/$defs/credential_source"}
                for name in model.credentials()
            },
        },
        "additionalProperties": False,
    }


def _describe_option(option: Mapping[str, Any], types: Mapping[str, Schema]) -> Schema:
    """Return the schema of an option, which may also be set by an environment variable."""
    about = {key: option[key] for key in ("description", "default") if option.get(key) is not None}
    kinds = [
        types[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        for each in option.get("anyOf", [option])
    ]
    words = {"default", "description", "title"}
    kinds = [{key: each[key] for key in each if key not in words} for each in kinds]
    if any(kind.get("type") in {"integer", "number"} for kind in kinds):
        kinds.append(_QUANTITY)
    elif not any(kind.get("type") == "string" and "enum" not in kind for kind in kinds):
        kinds.append(_VARIABLE)
    return {**about, "anyOf": kinds}
