"""The published results: the README's table is made of them, and all of them are verified."""

from cli.bundle.folder import problems_of
from cli.targets.advice import SUFFIX
from tests import published
from tests.published.measuring import targets
from tests.published.table import PROMISES, picture, rows, with_table

ROWS = rows()


def test_the_table_of_the_readme_is_that_of_the_published_results():
    text = published.README.read_text()

    assert published.BEGIN in text
    assert text == with_table(text)


def test_the_picture_of_the_readme_is_that_of_the_published_results():
    assert published.PICTURE.read_text() == picture(ROWS)
    assert f"]({published.PICTURE.relative_to(published.ROOT)})" in published.README.read_text()


def test_every_database_whose_server_the_tests_run_is_published():
    installed = {target for target in targets() if not target.endswith(SUFFIX)}

    assert installed <= {row.target for row in ROWS} <= {*targets()}


def test_rows_are_grouped_by_what_they_promise_and_named_as_their_servers_are():
    promises = [row.promise for row in ROWS]
    products = {row.target: row.product for row in ROWS}

    assert promises == sorted(promises)
    assert {*promises} == {*range(len(PROMISES))}
    assert products["mongodb"].startswith("FerretDB ")
    assert "Apache edition" in products["timescaledb"]
    assert all(row.server and row.server.durable for row in ROWS if row.promise == 0)


def test_what_is_published_was_measured_whole_and_is_verified():
    for row in ROWS:
        assert row.record.status == "done"
        for line in row.record.lines:
            assert (line.target, line.verdict) == (row.target, "verified")
            assert line.repeats >= 2


def test_the_folder_is_as_it_was_published():
    assert list(problems_of(published.BUNDLE)) == []
