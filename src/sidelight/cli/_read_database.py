"""Read a table or a query of a SQLite or DuckDB file; the connection is read-only."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from importlib import import_module
from typing import Any
from urllib.parse import quote

import pandas as pd

from ._columns import suggestion
from ._output import CommandError
from ._source import Source

__all__ = ["read_duckdb", "read_sqlite"]

_MOST_LISTED = 20
_SQLITE_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name"
)
_DUCKDB_TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY table_schema <> 'main', 1, 2"
)
_NO_TABLE = re.compile(r"no such table: (\S+)|Table with name (\S+) does not exist")
_READING = {
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
}  # fmt: skip


def read_sqlite(source: Source, query: str | None) -> tuple[pd.DataFrame, str, list[str]]:
    """Return the rows of a query, or of the only table, their description and remarks."""
    _check_unpacked(source)
    tables: list[str] = []
    address = f"file:{quote(str(source.path.resolve()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            tables = [name for (name,) in connection.execute(_SQLITE_TABLES)]
            asked = query or _select_all(_only_table(tables, source))
            connection.set_authorizer(_allow_reading)
            cursor = connection.execute(asked)
            if cursor.description is None:
                raise CommandError("--query: the query returns no rows; write a SELECT")
            names = [column[0] for column in cursor.description]
            frame = pd.DataFrame.from_records(cursor.fetchall(), columns=names)
    except sqlite3.Error as error:
        if query is None:
            raise CommandError(f"{source.title}: not a readable SQLite file ({error})") from error
        raise CommandError(_query_error(str(error), tables, "not authorized" in str(error))) from error
    return frame, _words("SQLite", query, tables), []


def _allow_reading(action: int, *_: Any) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def read_duckdb(source: Source, query: str | None) -> tuple[pd.DataFrame, str, list[str]]:
    """Return the rows of a query, or of the only table, their description and remarks."""
    _check_unpacked(source)
    try:
        duckdb: Any = import_module("duckdb")
    except ImportError as error:
        remedy = "which is not installed. Run: pip install duckdb."
        raise CommandError(f"Reading DuckDB files needs duckdb, {remedy}") from error
    tables: list[str] = []
    try:
        # Without access to other files a query can neither write nor load anything.
        rules = {"enable_external_access": "false"}
        with duckdb.connect(str(source.path), read_only=True, config=rules) as connection:
            found = connection.execute(_DUCKDB_TABLES).fetchall()
            tables = [name if schema == "main" else f"{schema}.{name}" for schema, name in found]
            asked = query or _select_all(*found[tables.index(_only_table(tables, source))])
            statements = connection.extract_statements(asked)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise CommandError("--query: only reading is possible; write one SELECT")
            frame = connection.execute(statements[0]).df()
    except duckdb.Error as error:
        if query is None:
            raise CommandError(f"{source.title}: not a readable DuckDB file ({_first_line(error)})") from error
        raise CommandError(_query_error(_first_line(error), tables, forbidden=False)) from error
    return frame, _words("DuckDB", query, tables), []


def _check_unpacked(source: Source) -> None:
    if source.content is not None:
        raise CommandError(f"{source.title}: a database is read in place; unpack it to a file first")


def _only_table(tables: list[str], source: Source) -> str:
    if not tables:
        raise CommandError(f"{source.title}: the database has no tables")
    if len(tables) > 1:
        listed = ", ".join(tables[:_MOST_LISTED]) + (" ..." if len(tables) > _MOST_LISTED else "")
        example = f"--query '{_select_all(*tables[0].split('.'))}'"
        raise CommandError(f"{source.title}: has {len(tables)} tables ({listed}); choose with {example}")
    return tables[0]


def _select_all(*path: str) -> str:
    """Return the query for a whole table, by its name or by schema and name.

    Examples
    --------
    >>> _select_all("main", "order")
    'SELECT * FROM "main"."order"'
    """
    return "SELECT * FROM " + ".".join('"' + part.replace('"', '""') + '"' for part in path)


def _query_error(said: str, tables: list[str], forbidden: bool) -> str:
    if forbidden:
        return "--query: only reading is possible; write one SELECT"
    found = _NO_TABLE.search(said)
    if found is None:
        return f"--query: {said}"
    name = (found[1] or found[2]).strip("\"'!;")
    listed = ", ".join(tables[:_MOST_LISTED]) or "none"
    return f"--query: there is no table {name}; the database has {listed}{suggestion(name, tables)}"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _words(kind: str, query: str | None, tables: list[str]) -> str:
    return f"table {tables[0]} of a {kind} database" if query is None else f"query of a {kind} database"
