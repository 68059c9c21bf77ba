"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "OUT_HELP", "ROWS_OUT_HELP",
    "ActionColumn", "AnnDataLayer", "AnnDataObsm", "ArrayKey", "Attribute", "BatchSample", "Batches", "Colour",
    "ColumnKind", "CorrectedTo", "DataFile", "Debug", "Different", "DistanceMatrix", "Distances", "Drop", "Force",
    "Given", "GivenType", "GivenValue", "ImageShape", "ImageSize", "Interval", "Json", "Label", "MethodSettings",
    "Missing", "MissingValues", "ModelPath", "Now", "Period", "Query", "Quiet", "Recursive", "RelationColumn",
    "Residual", "Same", "Settings", "Sheet", "SomeColumns", "TableFormat", "TableFormats", "TrajectoryColumn", "View",
    "ViewY", "parse_size",
]  # fmt: skip

_KNOWN = "Side information"
"""Help panel of the options for side information."""


OUT_HELP = "Table to write: csv, tsv, csv.gz, parquet, feather, arrow, jsonl or npy."
"""Help of ``--out`` of the commands that write one table."""

ROWS_OUT_HELP = f"{OUT_HELP[:-1]}; a name without ending is a folder for pictures, if the rows are some."
"""The same of the commands that write rows of data."""


class MissingValues(StrEnum):
    """Treatment of rows with missing values."""

    keep = "keep"
    error = "error"
    drop = "drop"
    mean = "mean"


class TableFormats(StrEnum):
    """Formats of the table that ``embed`` writes."""

    csv = "csv"
    parquet = "parquet"
    arrow = "arrow"


TableFormat = Annotated[TableFormats, typer.Option("--format", help="Format of the table with the embedding.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
Missing = Annotated[
    MissingValues,
    typer.Option(
        "--missing",
        help="Missing entries: keep (model them), error, drop (leave out their rows) or mean (column means).",
    ),
]
Colour = Annotated[
    list[str] | None,
    typer.Option("--colour", "--color", "-c", metavar="COLUMN", help="Colour by this column; not embedded."),
]
Label = Annotated[str | None, typer.Option("--label", metavar="COLUMN", help="Column that names the rows.")]
Drop = Annotated[list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Leave this column out.")]
Given = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        "-g",
        metavar="COLUMN",
        help="Known column to factor out of the map (repeatable).",
        rich_help_panel=_KNOWN,
    ),
]
GivenType = Annotated[
    list[str] | None,
    typer.Option(
        "--given-type",
        metavar="[COLUMN=]TYPE",
        help="Type of a given column: category, number, ordinal, angle (degrees), or its period, e.g. hour=24.",
        rich_help_panel=_KNOWN,
    ),
]
GivenValue = Annotated[
    list[str] | None,
    typer.Option("--given", "-g", metavar="COLUMN=VALUE", help="Value of a given column to reconstruct for."),
]
Now = Annotated[
    list[str] | None,
    typer.Option("--now", metavar="COLUMN=VALUE", help="Current value of the rows, if the data file lacks the column."),
]
Residual = Annotated[
    float | None,
    typer.Option(
        "--residual",
        min=0.0,
        max=1.0,
        help="Share of a row's residual to keep: 0 gives the mean of similar rows, 1 keeps all of it, rescaled. "
        "Default: the share that the model has estimated.",
    ),
]
Interval = Annotated[
    float | None,
    typer.Option(
        "--interval",
        metavar="SHARE",
        help="Add NAME_low and NAME_high, which hold this share of the entries of such rows (0.9).",
    ),
]
CorrectedTo = Annotated[
    list[str] | None,
    typer.Option("--to", metavar="COLUMN=VALUE", help="Move the rows to this value; without it, to the mean effect."),
]
SomeColumns = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="NAME", help="Write this column only, such as a gene; repeat it for more."),
]
Period = Annotated[
    list[str] | None,
    typer.Option("--period", metavar="COLUMN=NUMBER", help="Period of a colour column, e.g. angle=360."),
]
Same = Annotated[
    Path | None,
    typer.Option(
        "--same",
        metavar="FILE",
        help="Pairs of equivalent rows (numbers from 0, or names by --label): a metric is learned from them before the "
        "embedding. With --given: corresponding rows of different groups.",
        rich_help_panel=_KNOWN,
    ),
]
Different = Annotated[
    Path | None,
    typer.Option(
        "--different",
        metavar="FILE",
        help="Pairs of rows that are different, for the metric; with or without --same.",
        rich_help_panel=_KNOWN,
    ),
]
Distances = Annotated[
    Path | None,
    typer.Option(
        "--distances",
        metavar="FILE",
        help="Row, row, distance: a metric is learned from these distances before the embedding.",
        rich_help_panel=_KNOWN,
    ),
]
Attribute = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="COLUMN",
        help="Column to emphasise: a metric in which rows with equal entries are close is learned first; the column "
        "itself is not embedded (repeatable).",
        rich_help_panel=_KNOWN,
    ),
]
Plain = Annotated[
    bool,
    typer.Option(
        "--plain",
        help="Fit a second model without --given, and show its map in the report for comparison.",
        rich_help_panel=_KNOWN,
    ),
]
RelationColumn = Annotated[
    list[str] | None,
    typer.Option(
        "--relation",
        metavar="[NAME=]COLUMN[:KIND]",
        help="Column that defines a relation, to be shown by an axis: --method relational. KIND is labels, values, "
        "angle (degrees) or a period; several columns: a+b; empty entries are not known; not embedded (repeatable).",
        rich_help_panel=_KNOWN,
    ),
]
ViewY = Annotated[
    Path | None,
    typer.Option(
        "--view-y",
        "--view2",  # the former name
        metavar="FILE",
        help="Second view of the same rows; leave rows without it empty: --method joint.",
        rich_help_panel=_KNOWN,
    ),
]
ActionColumn = Annotated[
    str | None,
    typer.Option(
        "--actions",
        metavar="COLUMN",
        help="Action taken at each row, in temporal order; empty at the end of a trajectory: --method action.",
        rich_help_panel=_KNOWN,
    ),
]
TrajectoryColumn = Annotated[
    str | None,
    typer.Option(
        "--trajectory",
        metavar="COLUMN",
        help="Rows with equal entries are one trajectory, in temporal order: with --actions; or for missing entries.",
        rich_help_panel=_KNOWN,
    ),
]
DistanceMatrix = Annotated[
    Path | None,
    typer.Option(
        "--distances-matrix",
        metavar="FILE",
        help="Distances between all rows (square CSV, Parquet or NPY), or a sparse graph of them (NPZ, MTX), in place "
        "of columns; those of DATA colour the map, and DATA may be the same file.",
        rich_help_panel=_KNOWN,
    ),
]
Batches = Annotated[
    bool,
    typer.Option("--batches", help="NPY or Parquet larger than memory: fit a sample, embed all rows in batches."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="NPY or Parquet (s3://..., gs://... too) on a Dask cluster: its scheduler's address, or local. A sample "
        "is fitted here, all rows are embedded by the workers.",
    ),
]
BatchSample = Annotated[
    int, typer.Option("--sample", min=10, help="With --batches and --cluster: number of rows to fit.")
]
View = Annotated[
    str,
    typer.Option(
        "--view",
        metavar="x|y",
        help="View of a model of two views: x (the data) or y (the file of --view-y).",
    ),
]
ArrayKey = Annotated[str | None, typer.Option("--key", help="Array of an NPZ file to embed.")]
AnnDataLayer = Annotated[str | None, typer.Option("--layer", help="AnnData: embed this layer instead of X.")]
AnnDataObsm = Annotated[str | None, typer.Option("--obsm", metavar="KEY", help="AnnData: embed this obsm entry.")]
ImageSize = Annotated[str | None, typer.Option("--image-size", metavar="WxH", help="Resize pictures to this size.")]
ImageShape = Annotated[
    str | None, typer.Option("--image-shape", metavar="WxH", help="Each row is a picture of this size.")
]
ColumnKind = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="COLUMN=KIND", help="Treat a column as number, category, text, ... (repeatable)."),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", metavar="NAME", help="Sheet of a spreadsheet, by name or number from 1.")
]
Query = Annotated[
    str | None,
    typer.Option("--query", metavar="SQL", help="SELECT from a SQLite or DuckDB file, which is not changed."),
]
Recursive = Annotated[bool, typer.Option("--recursive", help="Include pictures of sub-folders.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of the method, e.g. perplexity=50, kernel.storage=sparse, or metric__kernel=rbf.",
    ),
]
MethodSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="METHOD__NAME=VALUE", help="A setting of one method, e.g. tsne__perplexity=20."),
]
ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A file model.sidelight.", show_default=False)]
DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="A table (CSV, Parquet, Arrow, JSON, Excel, SQLite, DuckDB, packed or not), NPY, NPZ, MTX or h5ad file, a "
        "folder of pictures, or - for standard input.",
        show_default=False,
    ),
]


def parse_size(text: str | None, option: str) -> tuple[int, int] | None:
    """Read ``WxH`` (or one number for a square) as (height, width).

    Examples
    --------
    >>> parse_size("32x24", "--image-size")
    (24, 32)
    """
    if text is None:
        return None
    found = re.fullmatch(r"([1-9]\d{0,4})(?:[x×,]([1-9]\d{0,4}))?", text.strip())
    if found is None:
        raise typer.BadParameter(f"write the size as WIDTHxHEIGHT, for example 32x32, not {text}", param_hint=option)
    return int(found[2] or found[1]), int(found[1])
