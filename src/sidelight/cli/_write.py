"""Writing tables: whole or not at all, and never over an existing file unasked."""

from __future__ import annotations

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

from ._matrix import Matrix
from ._output import CommandError

__all__ = ["check_format", "check_free", "embedding_frame", "latent_names", "put_frame", "write_frame"]

_FORMATS = (".csv", ".tsv", ".parquet", ".npy")


def check_free(paths: Iterable[Path], *, force: bool) -> None:
    """Complain before any work is done when a file would be overwritten or cannot be written."""
    for path in paths:
        if path.is_dir():
            raise CommandError(f"{path}: is a folder, not a file")
        if path.exists() and not force:
            raise CommandError(f"{path}: exists already; use --force to overwrite it, or choose another --out")


def check_format(path: Path) -> None:
    """Raise CommandError for a file suffix that is no supported format."""
    if path.suffix.lower() not in _FORMATS:
        raise CommandError(f"--out {path}: end the name with one of {', '.join(_FORMATS)}")


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
    """Return row number, row name, columns ``first``, latent coordinates and colours side by side."""
    latent = {**(first or {}), **{name: Z[:, k] for k, name in enumerate(names_of_axes)}}
    names: dict[str, Any] = {}
    if matrix.row_names is not None:
        names[str(matrix.row_names.name)] = matrix.row_names.to_numpy()
    others = {str(name): matrix.colours[name].to_numpy() for name in matrix.colours.columns}
    own = {"row", *latent}
    names, others = (
        {f"{name} (data)" if name in own else name: values for name, values in part.items()} for part in (names, others)
    )
    return pd.DataFrame({"row": matrix.rows, **names, **latent, **others})


def put_frame(frame: pd.DataFrame, path: Path, values: NDArray[Any]) -> None:
    """Write a table in the format that the name says; ``.npy`` holds the ``values`` only."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif suffix == ".npy":
        np.save(path, values)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",", lineterminator="\n")


def write_frame(frame: pd.DataFrame, path: Path, values: NDArray[Any]) -> None:
    """Write a table atomically, with its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as unfinished:
        put_frame(frame, unfinished, values)
