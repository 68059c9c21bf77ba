"""Read rows to embed from any file: text tables, Parquet, Arrow, JSON, spreadsheets, databases, arrays, pictures."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.tables.table_encoder import TableEncoder

from ._columns import ColumnRoles, choose_columns, encode_columns, encode_new_rows, match_columns
from ._encoded_table import TableOptions
from ._matrix import Matrix
from ._output import CommandError
from ._plain_columns import plain_columns, unique_names
from ._source import STANDARD_INPUT, Source, open_source

__all__ = ["Reading", "Table", "open_data", "read", "read_frame", "read_table", "read_written"]

_ARRAYS = {"array": "NumPy file", "mtx": "Matrix Market file"}


@dataclass(frozen=True)
class Reading:
    """How to read a file: the user's options, and the columns a model expects.

    Parameters
    ----------
    wishes : ColumnRoles
        Columns for colour, label and leaving out.
    key : str, optional
        Array of an NPZ file.
    layer, obsm : str, optional
        Part of an AnnData file.
    image_size : tuple (height, width), optional
        Size that pictures are brought to.
    image_shape : tuple (height, width), optional
        How rows of plain columns fold into pictures.
    expected : sequence of str, optional
        Feature names of a fitted model, to be matched by name.
    sheet : str, optional
        Sheet of a spreadsheet, by name or number from 1.
    query : str, optional
        SQL query of a database.
    recursive : bool
        Whether pictures in sub-folders are read, too.
    table : TableOptions, optional
        How columns of a table become numbers; None: numeric columns are taken as they are.
    encoder : TableEncoder, optional
        Of a fitted model, for new rows of a table.
    singular : array of shape (k, d), optional
        Singular vectors that the sparse matrix of a fitted model was reduced by, for new rows.
    sparse : bool
        Whether the model takes sparse rows, so that large ones stay sparse.
    """

    wishes: ColumnRoles = field(default_factory=ColumnRoles)
    key: str | None = None
    layer: str | None = None
    obsm: str | None = None
    image_size: tuple[int, int] | None = None
    image_shape: tuple[int, int] | None = None
    expected: Sequence[str] | None = None
    sheet: str | None = None
    query: str | None = None
    recursive: bool = False
    table: TableOptions | None = None
    encoder: TableEncoder | None = None
    singular: NDArray[np.float64] | None = None
    sparse: bool = False


@dataclass(frozen=True)
class Table:
    """A table with its columns as they are.

    Parameters
    ----------
    frame : DataFrame
    kind : str
        What kind of file it is, for people: "CSV separated by commas, UTF-8".
    title : str
        Name of the file, for messages.
    remarks : tuple of str
        How the file was read, where that is worth saying.
    source : Source, optional
        The file, opened.
    """

    frame: pd.DataFrame
    kind: str
    title: str
    remarks: tuple[str, ...] = ()
    source: Source | None = None


def read(path: Path, how: Reading) -> Matrix:
    """Read rows to embed from any supported file or folder, or from standard input (``-``)."""
    _, found = open_data(path, how)
    if isinstance(found, Matrix):
        return found
    if how.encoder is not None:
        matrix = encode_new_rows(found.frame, how.encoder, how.wishes, found.title)
    elif how.expected is not None:
        matrix = match_columns(found.frame, how.expected, how.wishes, found.title)
    elif how.table is not None and how.image_shape is None:
        matrix = encode_columns(found.frame, how.wishes, how.table, found.title)
    else:
        matrix = choose_columns(found.frame, how.wishes, found.title)
    return replace(matrix, remarks=[*found.remarks, *matrix.remarks])


def open_data(path: Path, how: Reading) -> tuple[str, Table | Matrix]:
    """Return what kind of file it is, and its table; or, of arrays, pictures and cells, the rows to embed."""
    if _is_folder(path):
        from ._images import read_images

        return "folder of pictures", read_images(path, how)
    source = open_source(path)
    _check_options(source, how)
    if source.format == "anndata":
        from ._anndata import read_anndata

        if source.content is not None:
            raise CommandError(f"{source.title}: an AnnData file is read in place; unpack it to a file first")
        return "AnnData file", read_anndata(path, how)
    if source.format in _ARRAYS:
        from ._read_arrays import read_arrays

        return _ARRAYS[source.format], read_arrays(source, how)
    table = _read_table(source, how)
    return table.kind, table


def read_frame(path: Path, how: Reading | None = None) -> pd.DataFrame:
    """Read a table with its columns as they are."""
    return read_table(path, how).frame


def read_table(path: Path, how: Reading | None = None) -> Table:
    """Read a table with its columns as they are, and how it was read."""
    if _is_folder(path):
        raise CommandError(f"{path}: is a folder; give a file with a table")
    _, found = open_data(path, how or Reading())
    if isinstance(found, Matrix):
        raise CommandError(f"{path}: holds arrays; give a table")
    return found


def read_written(table: Table) -> tuple[pd.DataFrame | None, str | None]:
    """Return the entries of a text table as they are written, and its delimiter; None for other tables."""
    if table.source is None or table.source.format != "text":
        return None, None
    from ._read_text import read_written_text

    written, delimiter = read_written_text(table.source)
    written = written.set_axis(unique_names(list(written.columns)), axis=1)
    return written[list(table.frame.columns)], delimiter


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder of pictures; a folder whose name ends with ``.parquet`` is one table in many files."""
    return path.is_dir() and path.suffix.lower() != ".parquet"


def _read_table(source: Source, how: Reading) -> Table:
    """Return the table of an open source, with plain columns."""
    try:
        frame, kind, remarks = _read_format(source, how)
    except (ValueError, UnicodeError, csv.Error, EOFError, OSError, pd.errors.ParserError) as error:
        name = source.suffix[1:].upper() or source.format
        raise CommandError(f"{source.title}: not a readable {name} file ({_one_line(error)})") from error
    if not frame.shape[1]:
        raise CommandError(f"{source.title}: the table has no columns")
    if frame.empty:
        raise CommandError(f"{source.title}: the table has no rows")
    frame, changed = plain_columns(frame.reset_index(drop=True))
    packed = "" if source.content is None or source.path == STANDARD_INPUT else f", packed ({source.path.suffix[1:]})"
    title = source.title if source.path == STANDARD_INPUT else source.path.name
    return Table(frame, kind + packed, title, (*remarks, *changed), source)


def _read_format(source: Source, how: Reading) -> tuple[pd.DataFrame, str, list[str]]:
    # Each reader is imported when its format is met: a CSV file needs no database.
    if source.format == "text":
        from ._read_text import read_text

        return read_text(source)
    if source.format in ("sqlite", "duckdb"):
        from ._read_database import read_duckdb, read_sqlite

        return (read_sqlite if source.format == "sqlite" else read_duckdb)(source, how.query)
    from ._read_tables import read_arrow, read_json, read_parquet, read_sheet

    if source.format == "sheet":
        return read_sheet(source, how.sheet)
    return {"parquet": read_parquet, "arrow": read_arrow, "json": read_json}[source.format](source)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _check_options(source: Source, how: Reading) -> None:
    """Raise for an option that does not apply to this kind of file."""
    if how.recursive:
        raise CommandError(f"--recursive: {source.title} is not a folder of pictures; leave --recursive out")
    if how.sheet is not None and source.format != "sheet":
        raise CommandError(f"--sheet {how.sheet}: {source.title} is not a spreadsheet; leave --sheet out")
    if how.query is not None and source.format not in ("sqlite", "duckdb"):
        raise CommandError(f"--query: {source.title} is not a SQLite or DuckDB file; leave --query out")
