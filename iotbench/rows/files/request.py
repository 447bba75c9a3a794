"""The user's description of the files, and the options that files exclude."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.parameters import option_of, parameters
from iotbench.config.input.values import Count, Names
from iotbench.machine.inputs import problem_of
from iotbench.machine.objects import name_of, uri_of, url_of
from iotbench.rows.files.names import is_pattern, table_name
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.file import (
    FileReading,
    Nanoseconds,
    OnError,
    RepeatedHour,
)
from simulator.errors import ConfigError
from simulator.protocol.records import RecordFormat

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
"""Names that --delimiter takes -> the character."""
EPOCHS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
"""Units that --time-format takes instead of a format."""

_MOST_FILES = 10_000
_SHOWN_PROBLEMS = 10
_TWICE = "every row of the file is written once"
_NOT_DRAWN = "the rows are those of the file"
NOT_WITH_DATA = {
    "--num-inserts": "the file determines how many rows there are",
    "--prefill": _TWICE,
    "--steps": _TWICE,
    "--workload": _NOT_DRAWN,
    "--seed": _NOT_DRAWN,
    "--start-time": _NOT_DRAWN,
    "--out-of-order": "rows are sent in the order of the file",
    **dict.fromkeys(map(option_of, parameters()), _NOT_DRAWN),
}
"""Option of `insert` that does not apply to a file -> reason."""
STANDARD_INPUT = "-"


class Decimal(StrEnum):
    """Decimal separator."""

    POINT = "point"
    COMMA = "comma"


class ReadingOptions(Options):
    """Options for reading the user's file."""

    GROUP: ClassVar[str] = "Rows from a file"

    time_column: Annotated[str, Opt(metavar="A,B", repeats=True)] = ""
    """Column of --data with the time of a row, or several columns to join with blanks, such as
    Date,Time.  [default: the only timestamp]
    """
    time_format: Annotated[str, Opt(metavar="FORMAT", repeats=True)] = ""
    """Format of the times in --data, such as '%d/%m/%Y %H:%M:%S'; or s, ms, us or ns for numbers
    that count from 1970.  [default: ISO 8601; the unit of numbers is recognised]
    """
    time_zone: Annotated[str, Opt(metavar="ZONE", repeats=True)] = ""
    """Zone of the times in --data that have none: a name such as Europe/Berlin, or an offset such
    as +02:00.  [default: UTC]
    """
    repeated_hour: RepeatedHour = RepeatedHour.STOP
    """Treatment of a time that occurs twice in its zone, when summer time ends: stop, or take the
    first or the second one.
    """
    nanoseconds: Nanoseconds = Nanoseconds.STOP
    """Treatment of a time in --data finer than a microsecond: stop, cut it, or keep the
    rest in another column, COLUMN_ns.
    """
    tags: Annotated[Names, Opt(repeats=True)] = ()
    """Columns of --data that identify the series of a row, stored as text.  [default: none]"""
    only_columns: Annotated[Names, Opt(repeats=True)] = ()
    """The only columns of --data that are read.  [default: all]"""
    drop_columns: Annotated[Names, Opt(repeats=True)] = ()
    """Columns of --data that are left out.  [default: none]"""
    null: Annotated[tuple[str, ...], Opt(metavar="CELL", repeats=True)] = ()
    """A cell of --data that means NULL, such as -999, in addition to empty cells and the usual
    spellings; may be given several times.
    """
    delimiter: Annotated[str, Opt(metavar="CHARACTER", repeats=True)] = ""
    """Separator of the cells of --data: a character, or comma, semicolon, tab, pipe.
    [default: detected]
    """
    decimal: Decimal = Decimal.POINT
    """Separator of the fraction of a number in --data: point or comma."""
    skip_lines: Annotated[Count, Opt(least=0, most=1_000_000)] = 0
    """Number of lines of --data to skip above the heading."""
    comment: Annotated[str, Opt(metavar="CHARACTER", repeats=True)] = ""
    """Leave out the lines of --data that begin with this character.  [default: none]"""
    heading: bool = True
    """The first line of --data has the names of the columns; with --no-heading they are column_1,
    column_2 and so on.
    """
    measurement: Annotated[str, Opt(metavar="NAME", repeats=True)] = ""
    """Measurement to read from a --data file of line protocol.  [default: the only one]
    """
    on_error: OnError = OnError.STOP
    """Treatment of a cell of --data without its column's type: stop, store the
    column as text, store the cell as NULL, or skip the row.
    """

    def request(self, files: Sequence[Path], primary_key: PrimaryKey) -> "FilesRequest":
        """Return the description of the files."""
        given = self.model_dump(include={*FileReading.model_fields})
        given["delimiter"] = DELIMITERS.get(self.delimiter, self.delimiter)
        reading = FileReading(**given, decimal_comma=self.decimal is Decimal.COMMA)
        return FilesRequest(tuple(files), reading, primary_key)


class FileRows(ReadingOptions):
    """The options of `insert` about a file with rows to insert."""

    GROUP: ClassVar[str] = "Rows from a file"

    data: Annotated[tuple[Path, ...], Opt(metavar="PATH", repeats=True)] = ()
    """Insert the rows of this file (CSV, TSV or Parquet; also s3://BUCKET/KEY) instead of a
    workload's, or the rows of a folder that `prepare` has written. Repeated, or a folder of files,
    or a pattern such as 'days/*.csv': all of them make one table. On Kubernetes: such a prepared
    folder, or a file with --data-format, in a volume claim, claim:NAME/PATH.
    """
    data_format: RecordFormat | None = None
    """Send the records of --data (a file of `generate`, or - for standard input) in this format,
    without decoding them. Existing tables are refused unless --clean is given. With --target null
    this measures the client alone.
    """
    manifest: Annotated[Path | None, Opt(metavar="FILE", repeats=True)] = None
    """Description of the file of --data-format, here or in its volume claim; without it --workload
    and its options define the tables, and only the number of rows is verified.  [default:
    FILE.json next to --data]
    """

    @property
    def place(self) -> Path | None:
        """Path of the file or folder, if exactly one is named."""
        return self.data[0] if len(self.data) == 1 else None


@dataclass(frozen=True, slots=True)
class FilesRequest:
    """Files of one table to insert."""

    named: tuple[Path, ...]
    """Paths of files and folders, and patterns."""
    reading: FileReading
    primary_key: PrimaryKey
    content_sha256: str = ""
    """Digest of the uncompressed content of a single file, from its manifest; empty: unknown."""

    @property
    def name(self) -> str:
        """Names of the files as the user gave them."""
        return ", ".join(map(name_of, self.named))

    @property
    def table(self) -> str:
        """Name of the table."""
        return table_name(self.named)

    def files(self) -> tuple[Path, ...]:
        """Return the named files in order; ConfigError for a name without files."""
        problems: list[str] = []
        found = [file for each in self.named for file in _find_files(each, problems)]
        seen: dict[object, Path] = {}
        for file in found:
            if first := seen.get(identity := _identify(file)):
                same = "is named twice" if first == file else f"is the same file as {first}"
                problems.append(f"--data: {name_of(file)}: {same}; name it once")
            seen[identity] = file
        if problems:
            raise ConfigError(problems[:_SHOWN_PROBLEMS])
        return tuple(found)

    def check(self) -> None:
        """Raise ConfigError for problems that do not depend on the files' content."""
        problems = [
            *_character_problems("--delimiter", self.reading.delimiter),
            *_character_problems("--comment", self.reading.comment),
            *_time_format_problems(self.reading.time_format),
        ]
        if self.reading.only_columns and self.reading.drop_columns:
            problems.append("--drop-columns: cannot be used with --only-columns; leave one out")
        try:
            self.files()
        except ConfigError as error:
            problems += error.problems
        if problems:
            raise ConfigError(problems)


def _find_files(named: Path, problems: list[str]) -> list[Path]:
    """Return the files that a path, a folder or a pattern names."""
    if uri_of(named):
        return [named]
    nothing = ""
    if named.is_dir():
        nothing = "is a folder without files; name others"
        found = _match_files(named, "**/*")
        inside = [(each, each.relative_to(named).parts) for each in found]
        found = [each for each, parts in inside if not any(part[0] in "._" for part in parts)]
    elif is_pattern(named) and not named.exists():
        nothing = "no file fits this pattern"
        found = _match_files(Path(named.anchor), str(named.relative_to(named.anchor)))
    else:
        found = [named]
    if nothing and not found:
        problems.append(f"--data: {named}: {nothing}")
    if len(found) > _MOST_FILES:
        problems.append(f"--data: {named}: has more than {_MOST_FILES:,} files; name fewer")
        return []
    for file in found:
        if problem := problem_of(file):
            if not file.exists() and url_of(file):
                problem = "only files and s3://BUCKET/KEY are read; download it"
            elif not file.exists() and str(file) == STANDARD_INPUT:
                problem = "standard input can be read once only; save it, or name --data-format"
            problems.append(f"--data: {name_of(file)}: {problem}")
    return found


def _match_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match a pattern, in order; at most one more than the maximum."""
    try:
        return sorted(
            islice((each for each in folder.glob(pattern) if not each.is_dir()), _MOST_FILES + 1)
        )
    except (OSError, ValueError):  # such as a folder that cannot be read, or `a**b`
        return []


def _identify(file: Path) -> object:
    """Return the identity of a file, which is the same for all names of the file."""
    if uri := uri_of(file):
        return uri
    try:
        found = file.stat()
    except OSError:  # reported as a file that cannot be read
        return file
    return found.st_dev, found.st_ino


def _character_problems(option: str, given: str) -> list[str]:
    if given and (len(given) != 1 or not given.isascii() or given.isalnum() or given in '"\r\n'):
        names = f", or one of {', '.join(DELIMITERS)}" if option == "--delimiter" else ""
        expected = "expected one character of ASCII, no letter, digit, quote or line break"
        return [f"{option}: {expected}{names}; got {given!r}"]
    return []


def _time_format_problems(given: str) -> list[str]:
    if not given or given in EPOCHS:
        return []
    expected = (
        "expected a format such as '%d/%m/%Y %H:%M:%S', or s, ms, us or ns for numbers that"
        f" count from 1970; got {given!r}"
    )
    sample = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
    dated = given if "%Y" in given or "%y" in given else f"%Y {given}"
    try:
        datetime.strptime(sample.strftime(dated), dated)  # noqa: DTZ007
    except (ValueError, UnicodeError):
        return [f"--time-format: {expected}"]
    return [] if dated == given else [f"--time-format: has no year (%Y or %y): {expected}"]


def conflicts(given: Mapping[str, Any], *, prepared: bool = False) -> list[str]:
    """Return a message for each conflict among the given options (name -> value).

    `prepared` is True if --data is a folder that `prepare` wrote.
    """
    if "--manifest" in given:
        return ["--manifest: describes a file of --data-format; leave it out, or name the format"]
    said = [each.names[0] for each in ReadingOptions.declare().values() if each.names[0] in given]
    if "--data" not in given:
        return [
            f"{name}: describes a --data file; leave it out, or name the file with --data"
            for name in said
        ]
    problems = [
        f"{name}: {reason}; leave it out with --data"
        for name, reason in NOT_WITH_DATA.items()
        if name in given
    ]
    if prepared:
        problems += [
            f"{name}: it was read when it was prepared; leave it out, or prepare the file again"
            for name in said
        ]
    if not given.get("--clean", True):
        problems.append(f"--no-clean: {_TWICE}; leave it out with --data")
    return problems
