"""The published results: the README's table is made of them, and all of them are verified."""

from cli.bundle.folder import problems_of
from cli.experiment.record import PlanRecord
from tests import published


def records():
    paths = sorted(published.FOLDER.glob("plan-*.json"))
    return [PlanRecord.model_validate_json(path.read_bytes()) for path in paths]


def test_the_table_of_the_readme_is_that_of_the_published_results():
    _, _, rest = published.README.read_text().partition(published.BEGIN)
    text, end, _ = rest.partition(published.END)

    assert end
    assert text == published.table()


def test_every_database_whose_server_the_tests_run_is_published():
    assert {line.target for each in records() for line in each.lines} == set(published.targets())


def test_what_is_published_was_measured_whole_and_is_verified():
    for record in records():
        assert record.status == "done"
        for line in record.lines:
            assert (line.target, line.repeats, line.verdict) == (line.target, 3, "verified")


def test_the_folder_is_as_it_was_published():
    assert list(problems_of(published.BUNDLE)) == []
