"""Numbers, durations, ranges and instants as people write them."""

from datetime import UTC, datetime

import pytest

from iotbench.config.input.quantities import (
    as_option,
    parse_bytes,
    parse_count,
    parse_counts,
    parse_duration_s,
    parse_instant,
    parse_number,
)

COUNTS = {
    "1000": 1000, "1_000": 1000, "10k": 10_000, "10K": 10_000, "2.5M": 2_500_000, "1G": 10**9,
    "1e6": 10**6, "1.5e3": 1500, " 7 ": 7, "0": 0, "-3": -3, "9007199254740993": 9007199254740993,
}  # fmt: skip
NO_COUNTS = ["", "ten", "1.5", "1k5", "k", "10 k", "1,000", "1e-3", "inf", "nan", "0x10", "1e999"]


@pytest.mark.parametrize(("text", "count"), COUNTS.items())
def test_a_count_may_be_written_in_many_ways(text, count):
    assert parse_count(text) == count


@pytest.mark.parametrize("text", NO_COUNTS)
def test_what_is_no_count_is_refused_with_examples(text):
    with pytest.raises(ValueError, match="expected a whole number such as 1000, 10k or 1e6"):
        parse_count(text)


SIZES = {
    "180GB": 180 * 10**9, "180G": 180 * 10**9, "2 TB": None, "2TB": 2 * 10**12, "1.5TiB": 3 << 39,
    "168GiB": 168 << 30, "5e9": 5 * 10**9, "100kB": 10**5, "1": 1, "0": None, "-1GB": None,
    "0.5": None, "GB": None, "1PB": None, "9e99TB": None, "": None, "1GBi": None,
}  # fmt: skip


@pytest.mark.parametrize(("text", "size_bytes"), SIZES.items())
def test_a_size_has_decimal_or_binary_units(text, size_bytes):
    if size_bytes is None:
        with pytest.raises(ValueError, match="expected a size such as 180GB, 168GiB or 2TB"):
            parse_bytes(text)
    else:
        assert parse_bytes(text) == size_bytes


@pytest.mark.parametrize(("text", "number"), [("2.5k", 2500.0), ("0.5", 0.5), ("1e3", 1000.0)])
def test_a_number_may_have_a_fraction(text, number):
    assert parse_number(text) == number


@pytest.mark.parametrize("text", ["inf", "nan", "1e999", "-inf", ".", "_", ""])
def test_a_number_is_finite(text):
    with pytest.raises(ValueError, match="expected a number"):
        parse_number(text)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("1", (1,)),
        ("1,4,8", (1, 4, 8)),
        ("1-4", (1, 2, 3, 4)),
        ("8,1-2, 4", (8, 1, 2, 4)),
        ("1k", (1000,)),
        ("3-3", (3,)),
        ("-1", (-1,)),
    ],
)
def test_counts_are_separated_by_commas_or_are_ranges(text, counts):
    assert parse_counts(text) == counts


@pytest.mark.parametrize("text", ["", "1,", "4-1", "1-", "1-1000000", "many", "1..4"])
def test_what_are_no_counts_is_refused_with_examples(text):
    with pytest.raises(ValueError, match=r"such as 1,4,8 or 1-4, got ['\"]"):
        parse_counts(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30.0),
        ("30s", 30.0),
        ("1.5", 1.5),
        ("500ms", 0.5),
        ("5m", 300.0),
        ("1h30m", 5400.0),
        ("2d", 172_800.0),
        ("0", 0.0),
        ("1.5h", 5400.0),
    ],
)
def test_a_duration_may_have_units(text, seconds):
    assert parse_duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "5 minutes", "1h30", "inf", "-5m", "1y"])
def test_what_is_no_duration_is_refused_with_examples(text):
    with pytest.raises(ValueError, match="expected a duration such as 30s, 5m or 1h30m"):
        parse_duration_s(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-01T00:00:00",
        "2026-11-01T00:00:00Z",
        "2026-11-01 00:00:00",
        "2026-11-01",
        "2026-11-01T01:00:00+01:00",
        "2026-11-01T00:00:00.000Z",
    ],
)
def test_an_instant_is_in_utc_unless_it_has_an_offset(text):
    assert parse_instant(text) == datetime(2026, 11, 1, tzinfo=UTC)


def test_what_is_no_instant_is_refused_with_an_example():
    with pytest.raises(ValueError, match="such as 2026-11-01T00:00:00Z, got '1 May'"):
        parse_instant("1 May")


@pytest.mark.parametrize(
    ("name", "kind", "value", "option"),
    [
        ("shards", int, "1k", 1000),
        ("shards", int | None, "1k", 1000),
        ("timeout_s", float, "1m", 60.0),
        ("retention_s", int, "1h", 3600),
        ("retention_s", int, "1.5", 1.5),
        ("rate", float, "2k", 2000.0),
        ("refresh_interval", str, "30s", "30s"),
        ("replicas", str | int, "1k", "1k"),
        ("shards", int, "many", "many"),
        ("shards", int, 3, 3),
        ("on", bool, "1k", "1k"),
    ],
)
def test_only_numeric_options_are_read_as_numbers(name, kind, value, option):
    assert as_option(name, kind, value) == option


@pytest.mark.parametrize("text", ["99999999999999999999", "-1e30", "9" * 5000])
def test_a_count_beyond_64_bits_is_refused_with_the_limit(text):
    with pytest.raises(ValueError, match="expected a whole number"):
        parse_count(text)


@pytest.mark.parametrize("text", ["inf", "nan", "1e300", "367d", "9" * 400 + "h"])
def test_a_duration_beyond_a_year_is_refused_with_the_limit(text):
    with pytest.raises(ValueError, match="such as 30s, 5m or 1h30m, at most 366d") as error:
        parse_duration_s(text)
    assert len(str(error.value)) < 120


@pytest.mark.parametrize("text", ["1-1000000000", "1-600,1-600", "1," * 2000 + "1"])
def test_a_list_of_counts_is_bounded(text):
    with pytest.raises(ValueError, match="expected at most 1,000 whole numbers"):
        parse_counts(text)


def test_an_instant_whose_offset_leaves_the_calendar_is_refused():
    with pytest.raises(ValueError, match="expected an instant"):
        parse_instant("0001-01-01T00:00:00+14:00")
