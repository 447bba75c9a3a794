"""Results in two tables of a database: whole files, and their figures for queries in SQL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from iotbench.machine.program import command_line
from iotbench.results.places import NewFile, ResultPlace, digest_of
from simulator.errors import BenchError, ConfigError, SetupError
from simulator.modules.contract import Database
from simulator.modules.shared.sql.database import SqlFile

FILES, FIGURES = "iotbench_results", "iotbench_figures"
_KEY = ("folder", "file")
_OF_FILES = (*_KEY, "figures", "content")
_NUMBER = "number"
"""Column that numbers the figures of a file."""
_AT_ONCE = 200
_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class PlaceDialect:
    """The parts of SQL in which the databases differ."""

    mark: str
    """Mark of a value in a statement."""
    begin: str
    exists: str
    """Statement that returns whether a table exists."""
    digest: str
    types: Mapping[type, str]
    alone: str = "SELECT 1"
    """Statement that makes others wait that create tables, until the transaction ends."""


DIALECTS = {
    "postgres": PlaceDialect(
        mark="%s",
        begin="BEGIN",
        exists="SELECT to_regclass(?) IS NOT NULL",
        digest="encode(sha256(convert_to(content, 'UTF8')), 'hex')",
        types={str: "text", int: "bigint", float: "double precision", datetime: "timestamptz"},
        alone="SELECT pg_advisory_xact_lock(5170466113)",  # a number of this program's own
    ),
    "sqlite": PlaceDialect(
        mark="?",
        begin="BEGIN IMMEDIATE",
        exists="SELECT count(*) FROM sqlite_master WHERE name = ?",
        digest="sha256(content)",
        types={str: "TEXT", int: "INTEGER", float: "REAL", datetime: "TEXT"},
    ),
}
"""Module -> its dialect."""


class TablePlace(ResultPlace):
    """Two tables of a database; a file and its figures are written in one transaction."""

    def __init__(self, path: Path, database: Database[Any], explain: Callable[[str], str]) -> None:
        """Store how to connect; `explain` adds a remedy to the cause of a failure."""
        super().__init__(path)
        self._database, self._explain = database, explain
        self._dialect = DIALECTS[database.name]
        self._file = database.path if isinstance(database, SqlFile) else None
        self._columns: Sequence[str] = ()

    @cached_property
    def _connection(self) -> Any:
        try:
            connection = self._database.connect().connection
        except BenchError as error:
            raise self._make_error(error) from None
        if self._file:
            connection.create_function("sha256", 1, lambda text: digest_of(text.encode()))
        return connection

    def _run(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run a statement, with `?` for each value; return its rows."""
        return self._ask(statement, values)[1]

    def _ask(self, statement: str, values: Sequence[Any]) -> tuple[list[str], list[Any]]:
        """Return the names of the columns of an answer, and its rows."""
        connection = self._connection
        try:
            cursor = connection.cursor()
            cursor.execute(statement.replace("?", self._dialect.mark), values)
            names = [each[0] for each in cursor.description or ()]
            return names, cursor.fetchall() if names else []
        except connection.Error as error:
            raise self._make_error(self._database.setup_error(error)) from None

    def _make_error(self, error: BenchError) -> SetupError:
        words = str(error).removeprefix(f"{self._database.name}: ")
        return SetupError(f"{self.path}: {self._explain(words)}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._run(self._dialect.begin)
        try:
            yield
            self._run("COMMIT")
        except BaseException:  # also Ctrl-C: nothing half is stored
            with suppress(SetupError):
                self._run("ROLLBACK")
            raise

    def list_names(self) -> list[str]:
        if self._file and not self._file.is_file():
            raise ConfigError(f"{self.path}: there is no such file")
        if not self._has(FILES, _OF_FILES):
            fill = command_line(["results", "copy", "FOLDER", str(self.path)])
            raise ConfigError(f"{self.path}: has no results: `{fill}` copies some into it")
        rows = self._run(f"SELECT folder, file FROM {FILES}")
        return [f"{folder}/{file}" if folder else file for folder, file in rows]

    def _has(self, table: str, columns: Sequence[str]) -> bool:
        """Return whether a table exists; ConfigError if it was not made by this program."""
        if not self._run(self._dialect.exists, (table,))[0][0]:
            return False
        there, _ = self._ask(f"SELECT * FROM {table} LIMIT 0", ())
        if there != [*columns]:
            names = ", ".join(there[:_MOST_SHOWN]) + " ..." * (len(there) > _MOST_SHOWN)
            raise ConfigError(
                f"{self.path}: its table {table} was not made by this version of the program, and"
                f" was not changed: expected {len(columns)} columns, {', '.join(columns[:4])} ...;"
                f" got {names}; use another database"
            )
        return True

    def fetch(self, names: Sequence[str]) -> dict[str, bytes]:
        by_folder: dict[str, list[str]] = {}
        for name in names:
            folder, file = _split(name)
            by_folder.setdefault(folder, []).append(file)
        found = {}
        for folder, files in by_folder.items():
            marks = ", ".join("?" for _ in files)
            chosen = f"SELECT file, content FROM {FILES} WHERE folder = ? AND file IN ({marks})"
            for file, content in self._run(chosen, (folder, *files)):
                found[f"{folder}/{file}" if folder else file] = content.encode()
        return found

    def digest(self, names: Any) -> dict[str, str]:
        """Return the digests, of the content as the database has it."""
        counted = f"SELECT count(*) FROM {FIGURES} f WHERE f.folder = r.folder AND f.file = r.file"
        rows = self._run(
            f"SELECT folder, file, {self._dialect.digest}, figures = ({counted}) FROM {FILES} r"
        )
        wanted = {*names}
        found = {f"{e[0]}/{e[1]}" if e[0] else e[1]: e[2] if e[3] else "" for e in rows}
        return {name: digest for name, digest in found.items() if name in wanted}

    def prepare(self, columns: Mapping[str, type]) -> None:
        """Create the tables that do not exist; ConfigError if one was not made by it."""
        types = self._dialect.types
        self._columns = (*_KEY, _NUMBER, *columns)
        text, number = types[str], types[int]
        key = f"folder {text}, file {text}"
        own = ", ".join(f'"{name}" {types[kind]}' for name, kind in columns.items())
        made = {
            FILES: f"{key}, figures {number} NOT NULL, content {text} NOT NULL,"
            " PRIMARY KEY (folder, file)",
            FIGURES: f"{key}, {_NUMBER} {number}, {own}, PRIMARY KEY (folder, file, {_NUMBER}),"
            f" FOREIGN KEY (folder, file) REFERENCES {FILES} ON DELETE CASCADE",
        }
        with self._transaction():
            self._run(self._dialect.alone)
            is_there = {
                FILES: self._has(FILES, _OF_FILES), FIGURES: self._has(FIGURES, self._columns)
            }  # fmt: skip
            for table, content in made.items():
                if not is_there[table]:
                    self._run(f"CREATE TABLE {table} ({content})")

    def write(self, files: Sequence[NewFile]) -> None:
        with self._transaction():
            for each in files:
                self._write(each)

    def _write(self, each: NewFile) -> None:
        key = _split(each.name)
        rows = [
            (*key, number, *(figure.get(column) for column in self._columns[3:]))
            for number, figure in enumerate(each.figures)
        ]
        self._run(
            f"INSERT INTO {FILES} (folder, file, figures, content) VALUES (?, ?, ?, ?) ON CONFLICT"
            " (folder, file) DO UPDATE SET figures = excluded.figures, content = excluded.content",
            (*key, len(rows), each.content.decode()),
        )
        self._run(f"DELETE FROM {FIGURES} WHERE folder = ? AND file = ?", key)
        names = ", ".join(f'"{column}"' for column in self._columns)
        marks = f"({', '.join('?' for _ in self._columns)})"
        for start in range(0, len(rows), _AT_ONCE):
            some = rows[start : start + _AT_ONCE]
            values = ", ".join(marks for _ in some)
            self._run(
                f"INSERT INTO {FIGURES} ({names}) VALUES {values}",
                [value for row in some for value in row],
            )


def _split(name: str) -> tuple[str, str]:
    """Return the folder of a file, and its name in it."""
    folder, _, file = name.rpartition("/")
    return folder, file
