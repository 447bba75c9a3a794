"""The type that stores an Arrow type without loss."""

from typing import Any

from simulator.data.schema import Type

_TYPES = {
    "int8": Type.INT16,
    "int16": Type.INT16,
    "uint8": Type.INT16,
    "int32": Type.INT32,
    "uint16": Type.INT32,
    "int64": Type.INT64,
    "uint32": Type.INT64,
    "uint64": Type.INT64,
    "float": Type.FLOAT32,
    "double": Type.FLOAT64,
    "bool": Type.BOOL,
    "string": Type.TEXT,
    "large_string": Type.TEXT,
    "string_view": Type.TEXT,
    "date32[day]": Type.TIMESTAMP,
    "date64[ms]": Type.TIMESTAMP,
}
_REFUSED = {
    "decimal": "float64 does not keep its exact digits; convert it to float64, or to integers of"
    " its last digit",
    "binary": "it is not text; convert it to UTF-8 text, or leave it out",
    "null": "it has no values and no type; leave it out",
}


def type_of(arrow_type: Any) -> Type | None:
    """Return the type that stores an Arrow type without loss, if one does."""
    name = str(arrow_type)
    if name.startswith("dictionary<"):
        value_type = _TYPES.get(str(arrow_type.value_type))
        return value_type if value_type is Type.TEXT else None
    return Type.TIMESTAMP if name.startswith("timestamp[") else _TYPES.get(name)


def refusal(arrow_type: Any) -> str:
    """Return why an Arrow type cannot be stored, and what to do."""
    name = str(arrow_type)
    for word, reason in _REFUSED.items():
        if word in name:
            return f"{name} cannot be stored: {reason}"
    return f"{name} cannot be stored: convert it to a number, text or timestamp, or leave it out"
