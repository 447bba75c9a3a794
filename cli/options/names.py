"""Under which names tables are made, and what of the user's may be replaced by them."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from cli.options.basic import option
from simulator.data.dataset import TABLE_PREFIX
from simulator.modules.base import OWN

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Prefix(click.ParamType[str]):
    """The beginning of tables' names."""

    name = "prefix"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.fullmatch(TABLE_PREFIX, value):
            self.fail(f"expected a letter, then letters, digits or _, all in lower case and 30 at"
                      f" most, such as bench_, got {value!r}", param, ctx)  # fmt: skip
        if value.startswith(OWN):
            self.fail(f"{OWN} is the beginning of this program's own tables; choose another")
        return value


def table_prefix_option(group: str) -> Callable[[_Function], _Function]:
    """Add --table-prefix."""
    return option(
        "--table-prefix",
        type=_Prefix(),
        default="",
        help="Beginning of the names of all tables, such as bench_, where the names of the workload"
        " are in use in the database.  [default: none]",
        group=group,
    )


def replace_table_option(group: str) -> Callable[[_Function], _Function]:
    """Add --replace-table."""
    return option(
        "--replace-table",
        "replace_tables",
        multiple=True,
        metavar="NAME",
        help="Drop this table, index, bucket or the like, though this program did not make it, with"
        " all that is stored in it; once for each. Without it, such a name is refused.",
        group=group,
    )
