"""What the user says about the file, and which other options that rules out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar

from cli.files.objects import name_of, uri_of
from cli.input.options import Opt, Options
from cli.input.parameters import option_of, parameters
from simulator.data.records import RecordFormat
from simulator.data.schema import PrimaryKey, Role
from simulator.data.workloads.base import Params
from simulator.data.workloads.declared import DeclaredParams
from simulator.data.workloads.file import FileParams, OnError
from simulator.errors import ConfigError

TEXT_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
PARQUET_SUFFIX = ".parquet"
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
"""Names that --delimiter takes -> the character."""
EPOCHS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
"""Units that --time-format takes instead of a format."""

_TWICE = "every row of the file is written once"
_NOT_DRAWN = "the rows are those of the file"
NOT_WITH_DATA = {
    "--num-inserts": "the file determines how many rows there are",
    "--prefill": _TWICE,
    "--steps": _TWICE,
    "--workload": _NOT_DRAWN,
    "--seed": _NOT_DRAWN,
    "--start-time": _NOT_DRAWN,
    **dict.fromkeys(map(option_of, parameters()), _NOT_DRAWN),
}
"""Options of `insert` that mean nothing with a file -> why."""
_NOT_SHOWN = {
    "num_inserts", "prefill", "steps", "workload", "seed", "start_ms", "clean", "limit",
}  # fmt: skip
READ_BEFORE = "it was read when it was prepared"
_ONLY_WITH_DATA = ("--time-column", "--tags", "--delimiter", "--time-format", "--on-error")


class Reading(Options):
    """How a file of the user's own is read."""

    GROUP: ClassVar[str] = "Rows from a file"

    time_column: Annotated[str | None, Opt(repeats=True)] = None
    """Column of --data with the time of a row.  [default: the only timestamp]"""
    time_format: Annotated[str, Opt(metavar="FORMAT", repeats=True)] = ""
    """Format of the times in --data, such as '%d/%m/%Y %H:%M:%S'; or s, ms, us or ns for integers
    that count from 1970.  [default: ISO 8601]
    """
    tags: Annotated[str, Opt(metavar="A,B", repeats=True)] = ""
    """Columns of --data that identify the series of a row, stored as text.  [default: none]"""
    delimiter: Annotated[str, Opt(metavar="CHARACTER", repeats=True)] = ""
    """What separates the cells of --data: a character, or comma, semicolon, tab, pipe.
    [default: detected]
    """
    on_error: OnError = OnError.STOP
    """What to do with a cell of --data that does not have its column's type: stop, store the
    column as text, store the cell as NULL, or skip the row.
    """

    def request(self, file: Path, primary_key: PrimaryKey) -> "Request":
        """Return what is said about the file."""
        return Request(
            file=file,
            time_column=self.time_column,
            tags=tuple(name for name in self.tags.split(",") if name),
            primary_key=primary_key,
            delimiter=DELIMITERS.get(self.delimiter, self.delimiter),
            time_format=self.time_format,
            on_error=self.on_error,
        )


class FileRows(Reading):
    """The options of `insert` about a file whose rows it inserts."""

    GROUP: ClassVar[str] = "Rows from a file"

    data: Annotated[Path | None, Opt(metavar="PATH", repeats=True)] = None
    """Insert the rows of this file (CSV, TSV, either with .gz, or Parquet; also s3://BUCKET/KEY)
    instead of a workload's, or those of a folder that `prepare` has written. On Kubernetes: such a
    folder, or a file with --data-format, in a volume claim, claim:NAME/PATH.
    """
    data_format: RecordFormat | None = None
    """Send the records of --data (a file of `generate`, or - for standard input) as they are
    written in this format, without decoding them. Tables that exist are refused unless --clean is
    given. With --target null this measures the client alone.
    """
    manifest: Annotated[Path | None, Opt(metavar="FILE", repeats=True)] = None
    """What the file of --data-format holds, here or in its volume claim; without it --workload
    and its options say which tables, and only the number of rows is verified.  [default:
    FILE.json beside --data]
    """


@dataclass(frozen=True, slots=True)
class Request:
    """A file to insert."""

    file: Path
    time_column: str | None
    tags: tuple[str, ...]
    primary_key: PrimaryKey
    delimiter: str = ""
    """Empty: detect it."""
    time_format: str = ""
    """Empty: times are ISO 8601, or as Parquet declares them."""
    on_error: OnError = OnError.STOP
    copy: Path | None = None
    """The copy of a file in an object store that is read in its place."""

    @property
    def path(self) -> Path:
        """Where it is read."""
        return self.copy or self.file

    @property
    def name(self) -> str:
        """The file as the user names it."""
        return name_of(self.file)

    @property
    def is_parquet(self) -> bool:
        """Whether the file is Parquet, and not delimited text."""
        return self.file.name.lower().endswith(PARQUET_SUFFIX)

    def check(self) -> None:
        """Raise ConfigError for what is wrong without looking into the file."""
        name = self.file.name.lower()
        if self.file.is_dir():
            raise ConfigError(
                f"--data: {self.name}: is a folder that `prepare` has not written; name the file,"
                " or a folder with a file.json"
            )
        if not name.endswith((*TEXT_SUFFIXES, PARQUET_SUFFIX)):
            expected = ", ".join(f"*{suffix}" for suffix in TEXT_SUFFIXES)
            raise ConfigError(
                f"--data: {self.name}: expected {expected} or *{PARQUET_SUFFIX}; convert or rename"
                " the file"
            )
        if not uri_of(self.file) and not self.file.is_file():
            raise ConfigError(f"--data: {self.name}: no such file")
        problems = [*self._delimiter_problems(), *self._time_format_problems()]
        if self.is_parquet and self.on_error is OnError.TEXT:
            problems.append("--on-error text: the columns of a Parquet file have types; use null")
        if problems:
            raise ConfigError(problems)

    def _delimiter_problems(self) -> list[str]:
        given = self.delimiter
        if given and self.is_parquet:
            return ["--delimiter: a Parquet file has none; leave it out"]
        if given and (
            len(given) != 1 or not given.isascii() or given.isalnum() or given in '"\r\n'
        ):
            names = ", ".join(DELIMITERS)
            return [f"--delimiter: expected one character, or one of {names}; got {given!r}"]
        return []

    def _time_format_problems(self) -> list[str]:
        given = self.time_format
        if not given or given in EPOCHS:
            return []
        expected = (
            "expected a format such as '%d/%m/%Y %H:%M:%S', or s, ms, us or ns for integers that"
            f" count from 1970; got {given!r}"
        )
        try:
            sample = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
            datetime.strptime(sample.strftime(given), given)  # noqa: DTZ007
        except (ValueError, UnicodeError):
            return [f"--time-format: {expected}"]
        if "%Y" not in given and "%y" not in given:
            return [f"--time-format: has no year (%Y or %y): {expected}"]
        return []


def conflicts(given: Mapping[str, Any], *, prepared: bool = False) -> list[str]:
    """Return which of the given options (name -> value) do not go together.

    `prepared`: --data is a folder of `prepare`.
    """
    if "--manifest" in given:
        return ["--manifest: describes a file of --data-format; leave it out, or name the format"]
    if "--data" not in given:
        return [
            f"{name}: describes a --data file; leave it out, or name the file with --data"
            for name in _ONLY_WITH_DATA
            if name in given
        ]
    problems = [
        f"{name}: {reason}; leave it out with --data"
        for name, reason in NOT_WITH_DATA.items()
        if name in given
    ]
    if prepared:
        problems += [
            f"{name}: {READ_BEFORE}; leave it out, or prepare the file again"
            for name in _ONLY_WITH_DATA
            if name in given
        ]
    if not given.get("--clean", True):
        problems.append(f"--no-clean: {_TWICE}; leave it out with --data")
    return problems


def shown_options(options: Mapping[str, Any], params: Params) -> dict[str, Any]:
    """Return the options of an insert for display; with a file, without those it rules out."""
    if not isinstance(params, FileParams):
        shown = {name: value for name, value in options.items() if value is not None}
        if isinstance(params, DeclaredParams):
            return {**shown, "declared": params.digest}
        return {**shown, **params.model_dump(mode="json")}
    of_role = {role: [c.name for c in params.columns if c.role is role] for role in Role}
    reading = {
        "delimiter": params.delimiter,
        "time_format": params.time_format,
        "on_error": "" if params.on_error is OnError.STOP else params.on_error.value,
    }
    return {
        "data": params.source,
        "rows": params.rows,
        "time_column": of_role[Role.TIME][0],
        "tags": of_role[Role.TAG],
        **{name: value for name, value in reading.items() if value},
        **{name: value for name, value in options.items() if name not in _NOT_SHOWN},
    }
