"""Drivers return the types that the documentation has: what is compared is known."""

from datetime import datetime

from simulator.data.query import RowsQuery
from tests.unit.handed_over import SHORTENED, WITH_ZONE, read_handed_over


def test_a_driver_hands_over_the_types_that_are_documented(target, database):
    wide = target.wide()
    wide.fill(database)
    statement = database.render(RowsQuery(wide.tables[0]))
    found = {}
    with database.connect() as session:
        for row in (row for rows in session.stream(statement, 100) for row in rows):
            for column, cell in zip(statement.outputs, row, strict=True):
                if cell is not None:
                    found.setdefault(column.type, set()).add(_type_of(column, cell))

    assert found == {kind: read_handed_over()[database.name][kind] for kind in found}


def _type_of(column, cell):
    if isinstance(cell, datetime) and cell.tzinfo:
        return type(cell).__name__ + WITH_ZONE
    return type(cell).__name__ + SHORTENED * column.shortened
