"""What is printed: no character that a terminal obeys."""

import pytest

from cli.host.streams import plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc é 中", "a\tb\nc é 中"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b2J", "\\x9b2J"),
        ("\r", "\\r"),
        ("\0", "\\x00"),
        ("\u202e", "\\u202e"),
        ("\udcff", "\\udcff"),
    ],
)
def test_a_control_character_is_written_out(text, shown):
    assert plain(text) == shown
