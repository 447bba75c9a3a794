"""`--ui [HOST]:PORT`."""

import pytest

from iotbench.output.live.address import Address, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (":8089", Address("127.0.0.1", 8089)),
        ("localhost:0", Address("localhost", 0)),
        ("0.0.0.0:80", Address("0.0.0.0", 80)),
        ("[::1]:8089", Address("::1", 8089)),
    ],
)
def test_an_address_is_a_host_and_a_port(text, address):
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", "8089", ":", ":x", "::1:8089", ":65536", "a b:1", "u@h:1"])
def test_anything_else_is_refused_with_what_was_expected(text):
    with pytest.raises(ValueError, match=r"^expected \[HOST\]:PORT, .* got"):
        parse_address(text)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("host.example", False), ("", False)],
)  # fmt: skip
def test_only_this_machine_reaches_a_loopback_address(host, is_local):
    assert Address(host, 1).is_local == is_local


def test_a_url_puts_an_address_of_ipv6_in_brackets():
    assert Address("::1", 0).url(7) == "http://[::1]:7/"
    assert str(Address("127.0.0.1", 8089)) == "127.0.0.1:8089"
