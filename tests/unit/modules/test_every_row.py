"""All rows of a table: the truth is hashed over the columns that each module returns."""

import pytest

from simulator.data.dataset import DatasetReader
from simulator.data.query import RowsQuery, outputs
from simulator.modules import MODULES, database_class
from tests.unit import specs

STORING = [name for name in MODULES if database_class(name).capabilities.stores]


@pytest.mark.parametrize("workload", ["iot", "cpu"])
@pytest.mark.parametrize("module", STORING)
def test_a_module_returns_the_columns_of_a_table_whatever_their_order(module, workload):
    database = database_class(module)
    given = {
        name: "x" if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in database.options_model.model_fields.items()
    }
    made = database(database.options_model.model_construct(**given))
    for key in database.capabilities.primary_keys:
        dataset = specs.dataset(workload=workload, primary_key=key)
        for table in DatasetReader(dataset).tables:
            query = RowsQuery(table)
            found = made.render(query).outputs
            assert {*map(_named, found)} == {*map(_named, outputs(query))}


def _named(column):
    """A column without how its values arrive."""
    return column.name, column.type, column.unit
