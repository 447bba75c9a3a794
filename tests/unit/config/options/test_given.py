"""The words of a command, as its result keeps them: they give the same command again."""

import click
import pytest

from iotbench.commands.main import commands
from iotbench.config.options.given import build_given_command
from simulator.modules.postgres.database import PostgresOptions
from simulator.modules.sqlite import SqliteOptions
from tests import ROOT

LITE = SqliteOptions(path="x.db")
PLACE = {
    "output", "form", "quiet", "dry_run", "junit", "result_tags", "metrics_out", "timings", "ui",
    "verbose",
}  # fmt: skip
"""Options that a repetition chooses itself."""
SAMPLES = {
    "count": "3",
    "size": "1MB",
    "n,n-m,...": "1,2-4",
    "number": "2.5",
    "prefix": "bench_",
    "share": "5%",
    "n": "multiple",
    "n[@rate]:duration,...": "1:60s,8:5m",
    "duration": "90s",
    "duration|share": "50%",
    "share:duration": "5%:600s",
    "instant": "2026-11-01T00:00:00Z",
    "a,b,...": "one,two",
    "insert=n,query=n": "insert=80,query=20",
    "file": str(ROOT / "iotbench/plans/published/queries/loose-index-scan.yaml"),
}


def context_of(name, *arguments):
    return commands.commands[name].make_context(name, list(arguments))


def words_of(name, *arguments, options=LITE):
    with context_of(name, *arguments):
        return build_given_command(options).words


def meant(name, arguments):
    given = context_of(name, *arguments).params
    return {key: value for key, value in given.items() if key not in PLACE}


@pytest.mark.parametrize(
    "given",
    [
        "insert -t sqlite -w 1,2 -r 3 --batch 1e3 --no-clean --rate=2.5k",
        "insert -qt sqlite --workload devops --start 2026-11-01 --end 2026-11-02 --interval 10s",
        "insert --data rooms.csv --time-format=%d/%m/%Y\\ %H:%M --tags a,b --delimiter ; -t s",
        "insert -t s --extra-option path=a.db --extra-option synchronous=full --import --clean",
        "query -t sqlite -w 1-4 --types *-host-1-hr,newest --ramp --response-limit 50ms",
        "query -t s --fail-if p99_ms>20 --fail-if p50_ms>10 --namespace n --values a --set b=c",
        "verify --target sqlite --verify counts --timeout 90s",
        "capacity -t sqlite --slo p99_ms<50 --duration 5s --repeats 3",
    ],
)
def test_the_words_give_the_same_command_and_the_same_words(given):
    name, *arguments = given.replace("\\ ", "\0").split()
    arguments = [word.replace("\0", " ") for word in arguments]
    found, *words = words_of(name, *arguments)

    assert found == name
    assert meant(name, words) == meant(name, arguments)
    assert words_of(name, *words) == (found, *words)


@pytest.mark.parametrize("name", ["insert", "query", "mixed", "verify", "capacity"])
def test_every_option_is_kept_unless_it_says_where_the_result_goes(name):
    for option in commands.commands[name].params:
        if not isinstance(option, click.Option) or option.name in PLACE | {"help"}:
            continue
        flag = max(option.opts, key=len)
        kind = option.type
        sample = kind.choices[0] if isinstance(kind, click.Choice) else "x=y"
        sample = SAMPLES.get(kind.name, sample)
        given = [flag] if option.is_flag else [flag, sample]
        required = [] if option.name == "target" else ["--target", "sqlite"]
        if name == "capacity" and option.name != "objectives":
            required += ["--slo", "p99_ms < 5"]
        words = words_of(name, *required, *given)

        assert words[-len(given) :] == tuple(given), flag


def test_where_the_result_goes_and_how_it_is_printed_is_left_out():
    given = "-t sqlite -q --output o --format json --tag before --junit x.xml".split()

    assert words_of("insert", *given) == ("insert", "--target", "sqlite")


def test_a_credential_is_kept_as_a_variable_only(monkeypatch):
    monkeypatch.setenv("PG", "host=h password=s3cret-word")
    options = PostgresOptions(connection_string="host=h password=s3cret-word")

    def kept(value):
        given = ("-t", "pg", "--extra-option", f"connection_string={value}")
        return words_of("insert", *given, options=options)[-1]

    assert kept("${PG}") == "connection_string=${PG}"
    assert kept("host=h password=s3cret-word") == "connection_string=***"
    assert kept("host=${HOST} password=s3cret-word") == "connection_string=***"
    words = words_of("insert", "-t", "pg", "--set", "a=s3cret-word", options=options)
    assert "s3cret-word" not in " ".join(words)
