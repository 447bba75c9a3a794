"""The part of AQL that the module `arangodb` uses, as documented. It is not ArangoDB, and slow.

https://docs.arango.ai/arangodb/3.12/aql/: arithmetic is in doubles, values of different types are
ordered, texts are ordered by a language and not by their bytes, and aggregates ignore NULL.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cmp_to_key, partial
from itertools import islice
from typing import Any

Rows = Iterator[dict[str, Any]]
_TOKEN = re.compile(
    r'\s*("(?:[^"\\]|\\.)*"|`[^`]*`|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[A-Za-z_]\w*|[=!<>]=|&&|[-+*/%<>?:()\[\]{},.=])'
)
_LEVELS = (("&&",), ("==", "!=", ">=", "<=", "<", ">", "IN"), ("+", "-"), ("*", "/", "%"))


class AqlError(Exception):
    """A query that cannot be parsed; the text is the server's message."""


class UnknownCollection(AqlError):
    """The query names a collection that does not exist."""


def run(text: str, collections: Mapping[str, Any]) -> list[Any]:
    """Return the query's results; a collection is a dictionary of documents."""
    parser = _Parser(text, collections)
    result = parser.query()
    if parser.tokens:
        raise AqlError(f"syntax error, unexpected {parser.tokens[0]}")
    return result({})


# --- values ---------------------------------------------------------------------------------------


def compare(left: Any, right: Any) -> int:
    """Return -1, 0 or 1: null < bool < number < text < array < object."""
    ranks = [_rank(left), _rank(right)]
    if ranks[0] != ranks[1]:
        return -1 if ranks[0] < ranks[1] else 1
    if isinstance(left, list):
        for one, other in zip(left, right, strict=False):
            if found := compare(one, other):
                return found
        return compare(len(left), len(right))
    if isinstance(left, str):
        left, right = ((text.casefold(), text.swapcase()) for text in (left, right))
    if left is None or left == right:
        return 0
    return -1 if left < right else 1


def _rank(value: Any) -> int:
    if value is None:
        return 0
    kinds = (bool, (int, float), str, list, dict)
    return 1 + next(rank for rank, kind in enumerate(kinds) if isinstance(value, kind))


def _number(value: Any) -> float:
    if value is None:
        return 0.0
    assert isinstance(value, int | float), value
    return float(value)


def _show(value: Any) -> Any:
    """Return a value as JSON shows it: a whole double has no point."""
    if isinstance(value, float) and value == int(value) and abs(value) < 2**63:
        return int(value) if value else value
    return value


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda a, b: compare(a, b) == 0,
    "!=": lambda a, b: compare(a, b) != 0,
    ">=": lambda a, b: compare(a, b) >= 0,
    "<=": lambda a, b: compare(a, b) <= 0,
    "<": lambda a, b: compare(a, b) < 0,
    ">": lambda a, b: compare(a, b) > 0,
    "+": lambda a, b: _number(a) + _number(b),
    "-": lambda a, b: _number(a) - _number(b),
    "*": lambda a, b: _number(a) * _number(b),
    "/": lambda a, b: _number(a) / _number(b),
    "%": lambda a, b: math.fmod(_number(a), _number(b)),
    "&&": lambda a, b: a and b,
    "IN": lambda a, among: any(compare(a, each) == 0 for each in among),
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "TO_HEX": lambda text: ("" if text is None else text).encode().hex(),
    "TO_NUMBER": lambda value: int(value or 0),
    "UNION": lambda *arrays: [item for array in arrays for item in array],
}


def _sum(values: list[Any]) -> Any:
    numbers = [value for value in values if value is not None]
    if not values or not all(isinstance(n, int | float) and type(n) is not bool for n in numbers):
        return None
    total = 0.0
    for number in numbers:
        total += float(number)
    return total if math.isfinite(total) else None


_AGGREGATES: dict[str, Callable[[list[Any]], Any]] = {
    "COUNT": len,
    "SUM": _sum,
    "MIN": lambda vs: min((v for v in vs if v is not None), key=cmp_to_key(compare), default=None),
    "MAX": lambda values: max(values, key=cmp_to_key(compare), default=None),
}


def _group(rows: Rows, keys: list[tuple[str, Callable[..., Any]]]) -> Iterator[Any]:
    """Yield each group's key and rows; without a key there is one group, even of no rows."""
    groups: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}
    if not keys:
        groups["[]"] = {}, []
    for row in rows:
        found = {name: expression(row) for name, expression in keys}
        place = json.dumps([_show(value) for value in found.values()])
        groups.setdefault(place, (found, []))[1].append(row)
    yield from groups.values()


# --- queries --------------------------------------------------------------------------------------


class _Parser:
    """Compiles each part of a query to a function of the variables."""

    def __init__(self, text: str, collections: Mapping[str, Any]) -> None:
        self.tokens = _TOKEN.findall(text)
        whole = (re.sub(r"\s", "", part) for part in (text, "".join(self.tokens)))
        if len({*whole}) > 1:
            raise AqlError("syntax error, unexpected character")
        self._collections = collections

    def _next(self, *expected: str) -> str:
        if not self.tokens or (expected and self.tokens[0] not in expected):
            raise AqlError(f"syntax error, expected {expected}, found {self.tokens[:3]}")
        return self.tokens.pop(0)

    def _if(self, *tokens: str) -> bool:
        if tuple(self.tokens[: len(tokens)]) != tokens:
            return False
        del self.tokens[: len(tokens)]
        return True

    def query(self) -> Callable[[dict[str, Any]], list[Any]]:
        self._next("FOR")
        name = self._next()
        self._next("IN")
        source, steps = self._read_source(), []
        while not self._if("RETURN"):
            clause = self._next("FILTER", "COLLECT", "SORT", "LIMIT")
            if clause == "FILTER":
                condition = self._expression()
                steps.append(partial(filter, condition))
            elif clause == "COLLECT":
                steps.append(self._collect())
            elif clause == "LIMIT":
                number = int(self._next())
                steps.append(lambda rows, number=number: islice(rows, number))
            elif not self._if("null"):
                steps.append(self._sort(self._expression()))
        returned = self._expression()

        def execute(outer: dict[str, Any]) -> list[Any]:
            rows: Rows = ({**outer, name: item} for item in source(outer))
            for step in steps:
                rows = step(rows)
            return [returned(row) for row in rows]

        return execute

    def _read_source(self) -> Callable[[dict[str, Any]], Any]:
        if self.tokens[0].startswith("`"):
            name = self._next()[1:-1]
            if name not in self._collections:
                raise UnknownCollection(f"collection or view not found: {name}")
            documents = self._collections[name]
            return lambda _: [*documents.values()]
        return self._expression()

    def _sort(self, key: Callable[..., Any]) -> Callable[[Rows], Rows]:
        self._next("DESC")
        in_order = cmp_to_key(lambda one, other: compare(key(one), key(other)))
        return lambda rows: iter(sorted(rows, key=in_order, reverse=True))

    def _collect(self) -> Callable[[Rows], Rows]:
        keys, aggregates, counted = [], [], ""
        while self.tokens[1:2] == ["="] and self.tokens[0] != "AGGREGATE":
            keys.append((self._next(), self._next("=") and self._expression()))
            self._if(",")
        if self._if("AGGREGATE"):
            aggregates.append(self._aggregate())
            while self._if(","):
                aggregates.append(self._aggregate())
        if self._if("WITH", "COUNT", "INTO"):
            counted = self._next()
        self._if("OPTIONS", "{", "method", ":", '"hash"', "}")

        def collect(rows: Rows) -> Rows:
            for found, members in _group(rows, keys):
                for name, function, expression in aggregates:
                    found[name] = _AGGREGATES[function]([expression(row) for row in members])
                yield {**found, **({counted: len(members)} if counted else {})}

        return collect

    def _aggregate(self) -> tuple[str, str, Callable[..., Any]]:
        name, _, function, _ = self._next(), self._next("="), self._next(), self._next("(")
        expression = self._expression()
        self._next(")")
        return name, function, expression

    # --- expressions ------------------------------------------------------------------------------

    def _expression(self) -> Callable[[dict[str, Any]], Any]:
        condition = self._binary(0)
        if not self._if("?"):
            return condition
        yes = self._expression()
        self._next(":")
        no = self._expression()
        return lambda row: yes(row) if condition(row) else no(row)

    def _binary(self, level: int) -> Callable[[dict[str, Any]], Any]:
        if level == len(_LEVELS):
            return self._postfix()
        left = self._binary(level + 1)
        while self.tokens and self.tokens[0] in _LEVELS[level]:
            left = self._apply(_OPERATORS[self._next()], left, self._binary(level + 1))
        return left

    def _apply(self, function: Callable[..., Any], *of: Callable[..., Any]) -> Callable[..., Any]:
        return lambda row: function(*(each(row) for each in of))

    def _postfix(self) -> Callable[[dict[str, Any]], Any]:
        value = self._primary()
        while self.tokens and self.tokens[0] in (".", "["):
            if self._next() == ".":
                token = self._next()
                value = self._apply(dict.get, value, self._return(token.strip("`")))
            else:
                value = self._apply(_element, value, self._expression())
                self._next("]")
        return value

    def _return(self, value: Any) -> Callable[..., Any]:
        return lambda _: value

    def _primary(self) -> Callable[[dict[str, Any]], Any]:
        token = self._next()
        if token == "(":
            inner = self.query() if self.tokens[0] == "FOR" else self._expression()
            self._next(")")
            return inner
        if token == "-":
            operand = self._postfix()
            return lambda row: -operand(row)
        if token == "[":
            items = self._read_list("]", self._expression)
            return lambda row: [_show(item(row)) for item in items]
        if token == "{":
            pairs = self._read_list("}", self._pair)
            return lambda row: {name: _show(value(row)) for name, value in pairs}
        if token in _FUNCTIONS:
            self._next("(")
            return self._apply(_FUNCTIONS[token], *self._read_list(")", self._expression))
        if token[0] == '"' or token[0].isdigit() or token in ("null", "true", "false"):
            return self._return(json.loads(token))
        if not token[0].isalpha():
            raise AqlError(f"syntax error, unexpected {token}")
        return lambda row: row[token]

    def _pair(self) -> tuple[str, Callable[..., Any]]:
        name = self._next()
        self._next(":")
        return name, self._expression()

    def _read_list(self, end: str, one: Callable[[], Any]) -> list[Any]:
        items = []
        while not self._if(end):
            items.append(one())
            if self.tokens[0] != end:
                self._next(",")
        return items


def _element(value: Any, place: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, dict):
        return value.get(place)
    return value[place]
