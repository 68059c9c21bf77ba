"""Writing tables: whole or not at all, and never over an existing file unasked."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.base.capabilities import axis_names_of
from sidelight.base.chain import last_step_of
from sidelight.base.files import atomic_write
from sidelight.base.model import FittedModel

from ._columns import suggestion
from ._matrix import Matrix
from ._output import CommandError

__all__ = ["check_format", "check_free", "embedding_frame", "latent_names", "put_frame", "write_frame"]

_FORMATS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".arrow", ".jsonl", ".npy")
_SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def check_free(paths: Iterable[Path], *, force: bool) -> None:
    """Complain before any work is done when a file would be overwritten or cannot be written."""
    for path in paths:
        if path.is_dir():
            raise CommandError(f"{path}: is a folder, not a file")
        if path.exists() and not force:
            raise CommandError(f"{path}: exists already; use --force to overwrite it, or choose another --out")
        _check_place(path)


def _check_place(path: Path) -> None:
    """Complain when a file cannot be made at ``path``, by making one for a moment in the nearest folder there is."""
    place = next(parent for parent in path.absolute().parents if parent.exists())
    if not place.is_dir():
        raise CommandError(f"{path}: cannot be written, because {place} is a file; choose another --out")
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CommandError(f"{path}: the folder {place} cannot be written to ({why}); choose another --out") from error


def check_format(path: Path) -> None:
    """Raise CommandError for an ending of the file name that is no supported format."""
    if path.suffix.lower() in _SHEETS:
        raise CommandError(f"--out {path}: spreadsheets are not written; end the name with .csv, which they open")
    if _format_of(path) not in _FORMATS:
        near = suggestion(path.suffix.lower(), _FORMATS)
        raise CommandError(f"--out {path}: end the name with one of {', '.join(_FORMATS)}{near}")


def _format_of(path: Path) -> str:
    """Return the ending that says the format: ``.csv``, or ``.csv.gz`` of two."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    return "".join(suffixes) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def latent_names(model: FittedModel) -> list[str]:
    """Return z1, z2, ..., each with the relation whose axis it is.

    Examples
    --------
    >>> from sidelight import MultipleRelationalEmbedding, Relation
    >>> side = {"light": Relation.from_values(np.arange(20.0))}
    >>> latent_names(MultipleRelationalEmbedding(2, random_state=0).fit(np.eye(20), relations=side))
    ['z1_light', 'z2']
    """
    owners = axis_names_of(model) or [""] * len(last_step_of(model).get_feature_names_out())
    return [f"z{k + 1}_{owner}" if owner else f"z{k + 1}" for k, owner in enumerate(owners)]


def embedding_frame(
    matrix: Matrix, Z: NDArray[Any], names_of_axes: list[str], first: Mapping[str, NDArray[Any]] | None = None
) -> pd.DataFrame:
    """Return row number, row name, identifiers, columns ``first``, latent coordinates and colours side by side."""
    latent = {**(first or {}), **{name: Z[:, k] for k, name in enumerate(names_of_axes)}}
    names: dict[str, Any] = {}
    if matrix.row_names is not None:
        names[str(matrix.row_names.name)] = matrix.row_names.to_numpy()
    names |= {str(name): matrix.identifiers[name].to_numpy() for name in matrix.identifiers.columns}
    others = {str(name): matrix.colours[name].to_numpy() for name in matrix.colours.columns}
    own = {"row", *latent}
    names, others = (
        {f"{name} (data)" if name in own else name: values for name, values in part.items()} for part in (names, others)
    )
    return pd.DataFrame({"row": matrix.rows, **names, **latent, **others})


def put_frame(
    frame: pd.DataFrame, path: Path, values: NDArray[Any], ending: str | None = None, delimiter: str | None = None
) -> None:
    """Write a table in the format that ``ending`` says, or else the name; ``.npy`` holds the ``values`` only.

    ``delimiter`` of text: by default a comma, in TSV a tab.
    """
    ending = _format_of(path) if ending is None else ending
    if ending == ".parquet":
        _plain_entries(frame).to_parquet(path, index=False)
    elif ending in (".feather", ".arrow"):
        _plain_entries(frame).reset_index(drop=True).to_feather(path)
    elif ending == ".npy":
        np.save(path, values)
    elif ending == ".jsonl":
        path.write_text(_json_lines(frame), encoding="utf-8")
    else:
        between = delimiter or ("\t" if ending.startswith(".tsv") else ",")
        text = frame.to_csv(index=False, sep=between, lineterminator="\n")
        content = text.encode("utf-8")
        # Without the time in its head, the same table gives the same bytes.
        path.write_bytes(gzip.compress(content, mtime=0) if ending.endswith(".gz") else content)


def _plain_entries(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with columns of different kinds of entries as text, because Arrow has one kind in each."""
    mixed = [
        name
        for name in frame.columns
        if frame[name].dtype == object and len({type(entry) for entry in frame[name].dropna()}) > 1
    ]
    return frame.assign(**{name: frame[name].map(str, na_action="ignore") for name in mixed})


def _json_lines(frame: pd.DataFrame) -> str:
    records = frame.astype(object).where(frame.notna(), None).to_dict(orient="records")
    return "".join(json.dumps(record, default=_json_entry, ensure_ascii=False) + "\n" for record in records)


def _json_entry(entry: Any) -> Any:
    if isinstance(entry, np.generic):
        return entry.item()
    return entry.isoformat() if hasattr(entry, "isoformat") else str(entry)


def write_frame(frame: pd.DataFrame, path: Path, values: NDArray[Any], *, delimiter: str | None = None) -> None:
    """Write a table atomically, with its folder if need be; ``delimiter`` is that of text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as unfinished:
        put_frame(frame, unfinished, values, _format_of(path), delimiter)
