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


@pytest.mark.parametrize(("text", "count"), COUNTS.items())
def test_a_count_may_be_written_in_many_ways(text, count):
    assert parse_count(text) == count


@pytest.mark.parametrize(("text", "number"), [("2.5k", 2500.0), ("0.5", 0.5), ("1e3", 1000.0)])
def test_a_number_may_have_a_fraction(text, number):
    assert parse_number(text) == number


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


SIZES = {
    "180GB": 180 * 10**9, "180G": 180 * 10**9, "2TB": 2 * 10**12, "1.5TiB": 3 << 39,
    "168GiB": 168 << 30, "5e9": 5 * 10**9, "100kB": 10**5, "1": 1,
}  # fmt: skip


@pytest.mark.parametrize(("text", "size_bytes"), SIZES.items())
def test_a_size_has_decimal_or_binary_units(text, size_bytes):
    assert parse_bytes(text) == size_bytes


REFUSED = {
    (parse_count, "expected a whole number"): (
        "", "ten", "1.5", "1k5", "k", "10 k", "1,000", "1e-3", "inf", "nan", "0x10", "1e999",
        "99999999999999999999", "-1e30", "9" * 5000,
    ),
    (parse_bytes, "expected a size such as 180GB, 168GiB or 2TB"): (
        "2 TB", "0", "-1GB", "0.5", "GB", "1PB", "9e99TB", "", "1GBi",
    ),
    (parse_number, "expected a number"): ("inf", "nan", "1e999", "-inf", ".", "_", ""),
    (parse_counts, "expected at most 1,000 whole numbers .* such as 1,4,8 or 1-4, got ['\"]"): (
        "", "1,", "4-1", "1-", "1-1000000000", "many", "1..4", "1-600,1-600", "1," * 2000 + "1",
    ),
    (parse_duration_s, "expected a duration such as 30s, 5m or 1h30m, at most 366d"): (
        "", "s", "5 minutes", "1h30", "inf", "-5m", "1y", "nan", "1e300", "367d", "9" * 400 + "h",
    ),
    (parse_instant, "expected an instant such as 2026-11-01T00:00:00Z, got "): (
        "1 May", "0001-01-01T00:00:00+14:00",
    ),
}  # fmt: skip
"""Parser and form in its message -> texts without that form, or beyond its limits."""


@pytest.mark.parametrize(
    ("parse", "form", "text"), [(*key, text) for key, texts in REFUSED.items() for text in texts]
)
def test_what_cannot_be_read_is_refused_in_a_short_line_with_the_form(parse, form, text):
    with pytest.raises(ValueError, match=form) as error:
        parse(text)
    assert len(str(error.value)) < 140
