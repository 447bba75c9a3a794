"""Options that choose how rows are inserted: alike on every database with transactions."""

import pytest

from simulator.data.schema import PrimaryKey
from simulator.modules.contract import BATCH, SINGLE
from simulator.modules.mysql.database import MySql
from simulator.modules.postgres.database import Postgres
from simulator.modules.shared.sql.language import PREPARED, TRANSACTION, VALUES

REACH = {
    Postgres: {"connection_string": "host=nowhere"},
    MySql: {"host": "nowhere", "user": "nobody", "database": "none"},
}


@pytest.fixture(params=REACH)
def opened(request):
    kind = request.param
    return lambda **options: kind(kind.options_model(**REACH[kind], **options))


@pytest.mark.parametrize(
    ("options", "modes"),
    [
        ({}, (SINGLE, BATCH)),
        ({"use_values_lists": True}, (None, VALUES)),
        ({"transaction": True}, (None, TRANSACTION)),
        ({"prepared": True}, (PREPARED, PREPARED)),
        ({"prepared": True, "transaction": True}, (None, PREPARED)),
    ],
)
def test_a_mode_is_chosen_by_options_and_batch_size(opened, options, modes):
    database = opened(**options)
    for mode, chosen in zip((SINGLE, BATCH), modes, strict=True):
        problems = database.problems(PrimaryKey.DB, 1, mode, 10)
        if chosen is None:
            assert ["--batch" in problem for problem in problems] == [True]
        else:
            assert (problems, database.insert_mode(mode)) == ([], chosen)


@pytest.mark.parametrize("other", ["transaction", "prepared"])
def test_a_batch_is_one_statement_or_many(opened, other):
    (problem,) = opened(use_values_lists=True, **{other: True}).problems(PrimaryKey.DB, 1, BATCH, 9)

    assert problem == f"{other} and use_values_lists exclude each other; choose one"


@pytest.mark.parametrize(("options", "mode"), [({}, BATCH), ({"prepared": True}, SINGLE)])
def test_only_a_batch_of_single_rows_is_committed_after_some_time(opened, options, mode):
    (problem,) = opened(commit_every_s=1, **options).problems(PrimaryKey.DB, 1, mode, 1)

    assert problem.startswith("commit_every_s needs transaction=true, or prepared=true")
    assert opened(commit_every_s=1, prepared=True).problems(PrimaryKey.DB, 1, BATCH, 9) == []
