"""Long random texts: each alone, of the length asked for, and made of all letters alike."""

import numpy as np
import pytest

from simulator.data.mixer import letters_of, random_texts

LETTERS = letters_of(b"abcdefg")


def texts(numbers, lengths, key=1):
    return random_texts(key, np.array(numbers, np.int64), np.array(lengths, np.int64), LETTERS)


def test_a_text_depends_on_its_key_number_and_length_only():
    lengths = (np.arange(300) % 97 + 1) * 1024
    whole = texts(range(300), lengths).to_list()

    assert [len(text) for text in whole] == lengths.tolist()
    assert len({*whole}) == 300
    for some in ([0], [17, 18, 200], [*range(90, 300)]):
        assert texts(some, lengths[some]).to_list() == [whole[number] for number in some]
    assert texts([5], [4 << 20]).to_list()[0][:6144] == whole[5]
    assert not {text[:64] for text in texts(range(300), lengths, key=2).to_list()} & {
        text[:64] for text in whole
    }


@pytest.mark.parametrize("size", [0, 1])
def test_few_texts_and_empty_ones_are_texts(size):
    assert texts(range(size), [0] * size).to_list() == [b""] * size
