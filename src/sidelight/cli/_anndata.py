"""AnnData files: cells as rows, `obs` columns as colours, the embedding in `obsm`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from sidelight.anndata._parts import NoSuchPartError, Part, as_array, match_names, read_part
from sidelight.base.messages import count_of, require_extra

from ._columns import suggestion
from ._matrix import Matrix
from ._output import CommandError
from ._sparse_rows import MOST_ENTRIES, is_sparse, kept_sparse

__all__ = ["OBSM_KEY", "read_anndata", "write_anndata"]

OBSM_KEY = "X_sidelight"
_LARGEST = 4e9


def read_anndata(path: Path, how: Any) -> Matrix:
    """Read ``X``, a layer or an ``obsm`` entry as the matrix, and ``obs`` as colours."""
    data = _open(path)
    part = _part(data, how, path)
    if how.expected is not None:
        part = _matched(part, list(how.expected), path)
    wishes = how.wishes
    wishes.check(data.obs.columns, f"obs of {path.name}")
    chosen = wishes.shown(name for name in data.obs.columns if name not in {*wishes.drop, wishes.label})
    cells = data.obs_names if wishes.label is None else data.obs[wishes.label]
    X = _values(part.values, path, how)
    stays = ", and stays sparse: it is reduced to 50 principal coordinates" if is_sparse(X) else ""
    return Matrix(
        X=X,
        names=part.names,
        colours=_plain_columns(data.obs[chosen]),
        given=wishes.known(_plain_columns(data.obs)),
        attributes=wishes.labels(_plain_columns(data.obs)),
        related=wishes.related(_plain_columns(data.obs)),
        row_names=pd.Series(np.asarray(cells, dtype=object), name=wishes.label or "obs_name"),
        remarks=[f"{part.title} ({part.values.shape[0]} x {part.values.shape[1]}) is embedded{stays}."]
        + ([f"Offered as colours: {', '.join(chosen)}."] if chosen else []),
    )


def write_anndata(source: Path, target: Path, Z: NDArray[Any], rows: NDArray[np.int64]) -> None:
    """Write a copy of ``source`` with the embedding in ``obsm``; rows that were left out are NaN."""
    data = _open(source)
    whole = np.full((data.n_obs, Z.shape[1]), np.nan)
    whole[rows] = Z
    data.obsm[OBSM_KEY] = whole
    data.write_h5ad(target)


def _open(path: Path) -> Any:
    anndata = require_extra("anndata", "Reading .h5ad files", "anndata")
    try:
        return anndata.read_h5ad(path)
    except Exception as error:  # h5py and anndata raise a dozen kinds for a file that is not theirs
        raise CommandError(f"{path}: not a readable AnnData file ({error})") from error


def _part(data: Any, how: Any, path: Path) -> Part:
    try:
        return read_part(data, obsm=how.obsm, layer=how.layer)
    except NoSuchPartError as missing:
        there = ", ".join(missing.names)
        if missing.kind == "X":
            raise CommandError(f"{path}: has no X; choose with --layer ({there}) or --obsm") from None
        has = f"it has {there or 'none'}{suggestion(missing.key, missing.names)}"
        raise CommandError(f"--{missing.kind} {missing.key}: {path.name} has no such entry; {has}") from None


def _matched(part: Part, expected: list[str], path: Path) -> Part:
    places, missing = match_names(part.names, expected)
    if missing:
        raise CommandError(
            f"{path}: lacks {count_of(len(missing), 'column')} that the model was fitted on, such as {missing[0]}"
        )
    return replace(part, values=part.values[:, places], names=expected)


def _values(values: Any, path: Path, how: Any) -> Any:
    """Rows as an array; a large sparse matrix stays one where the model takes it."""
    size = float(np.prod(values.shape)) * 8
    if sparse.issparse(values) and how.sparse and size > 8 * MOST_ENTRIES:
        return kept_sparse(values, str(path))
    if sparse.issparse(values) and size > _LARGEST:
        raise CommandError(f"{path}: would take {size / 1e9:.0f} GB as a full matrix; embed --obsm X_pca instead")
    return as_array(values)


def _plain_columns(obs: pd.DataFrame) -> pd.DataFrame:
    """Categories become text, everything else stays: nothing downstream needs to know pandas categories."""
    plain = {
        name: obs[name].astype(object) if isinstance(obs[name].dtype, pd.CategoricalDtype) else obs[name]
        for name in obs.columns
    }
    return pd.DataFrame(plain).reset_index(drop=True)
