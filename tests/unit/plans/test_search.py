"""A number is raised until the rate falls beyond the spread."""

import pytest

from iotbench.plans.settings import Search, Sought, best_number


@pytest.mark.parametrize(
    ("rates", "most", "following", "best"),
    [
        ({1: [5, 6, 7]}, 8, 2, 1),
        ({1: [5, 6, 7], 2: [8, 9, 9]}, 8, 4, 2),
        ({1: [5, 6, 7], 2: [7, 9, 9]}, 8, 4, 2),
        ({1: [5, 6, 7], 2: [1, 2, 3]}, 8, None, 1),
        ({1: [5, 6], 2: [7, 8], 4: [9, 9], 8: [10, 11]}, 8, None, 8),
        ({1: [5, 6], 2: [7, 8], 4: [9, 9], 8: [10, 11]}, 10, 10, 8),
        ({1: [5, 6], 2: [7, 8], 4: [6, 7]}, 16, 8, 2),
        ({1: [5, 6], 2: [7, 8], 4: [6, 7], 8: [5, 6]}, 16, None, 2),
        ({1: [499, 83], 2: [223, 226]}, 16, 4, 1),
        ({1: [499, 83], 2: [223, 226], 4: [700, 710]}, 16, 8, 4),
        ({1: []}, 8, None, 1),
        ({1: [5], 2: [9]}, 8, 4, 2),
        ({1: [9], 2: [5]}, 8, 4, 1),
        ({1: [5, 6], 2: []}, 8, None, 1),
    ],
)
def test_it_ends_where_all_repeats_are_below_the_best(rates, most, following, best):
    assert Search(Sought.SHARDS, most).next_number(rates) == following
    assert best_number(rates) == best


def test_it_begins_with_one_shard_or_a_batch_of_a_thousand():
    assert Search(Sought.SHARDS, 8).next_number({}) == 1
    assert Search(Sought.BATCH, 8000).next_number({}) == 1000


def test_batches_are_round_numbers():
    numbers = Search(Sought.BATCH, 100_000).numbers()
    assert numbers == [1000, 3000, 10_000, 30_000, 100_000]
    assert Search(Sought.BATCH, 20_000).numbers() == [1000, 3000, 10_000, 20_000]
