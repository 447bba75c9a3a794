"""A query with a feature that the module's capabilities exclude is refused, with the reason."""

from dataclasses import replace

import pytest

from simulator.data.features import Feature
from simulator.data.query import NewestQuery, OneOf, RowsQuery, Selection
from simulator.data.query_type import always
from simulator.data.workloads.iot import EVENTS
from simulator.modules import MODULES, database_class
from simulator.modules.contract import Unsupported
from simulator.modules.sqlite import Sqlite, SqliteOptions

FEW = Selection((OneOf("device_id", ("a", "b")),))


class Narrow(Sqlite):
    """SQLite without two features."""

    capabilities = replace(
        Sqlite.capabilities,
        unsupported={Feature.VALUE_LISTS: "no lists here", Feature.CHOSEN_COLUMNS: "all or none"},
    )


def test_every_unsupported_feature_of_a_query_is_named_with_its_reason():
    database = Narrow(SqliteOptions())
    everything = database.render(RowsQuery(EVENTS))

    assert everything.text.startswith("SELECT")
    with pytest.raises(Unsupported) as refused:
        database.render(RowsQuery(EVENTS, ("device_id",), FEW))
    assert str(refused.value) == (
        "tags with one of several values: no lists here; "
        "rows with some of their columns: all or none"
    )
    types = {
        "refused": always(NewestQuery(EVENTS, ("device_id",), (), FEW)),
        "all": always(RowsQuery(EVENTS)),
    }
    assert database.select_answered(types, {"refused": "", "all": ""}) == ("all",)


@pytest.mark.parametrize("module", MODULES)
def test_reasons_are_given_and_are_no_sentences(module):
    for feature, reason in database_class(module).capabilities.unsupported.items():
        assert reason, feature
        assert not reason.endswith(".")
