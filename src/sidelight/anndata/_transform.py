"""Place the cells of another AnnData object on the map of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.base.capabilities import given_of, require
from sidelight.base.chain import as_chain

from ._obs import known_columns
from ._results import checked_adata, target
from ._rows import model_rows

__all__ = ["transform"]

_OWNER = "transform"


def transform(
    adata: Any,
    model: Any,
    *,
    use_rep: str | None = None,
    layer: str | None = None,
    use_given: bool = True,
    key_added: str = "X_sidelight",
    copy: bool = False,
) -> Any:
    """Place cells on the map of a fitted model (query to reference), each cell independently of the others.

    Parameters
    ----------
    adata : AnnData
        The query. Genes are matched to those of the model by name, in any order. Genes that the model does not
        know are left out. Genes that the query lacks are filled in cell by cell with the model's own reconstruction of
        the cell, starting from the mean of the training cells, with a warning that says how many they are.
    model : fitted model or Pipeline
        Of :func:`embed`, ``sidelight.load``, the command line, or a ``fit``.
    use_rep, layer : str or None, default=None
        Where the rows are, as in :func:`embed`. Without both: the entry of ``obsm`` that the model was fitted on, which
        the names of its columns say; for a model of genes ``X``. A layer has to be named again.
    use_given : bool, default=True
        Use the columns of ``obs`` that the model was given. Cells of a category that it was not fitted with (a new
        batch) are placed by the map that averages over ``given``, with a warning; so are all, if a column is missing.
        False: place all cells by that map.
    key_added : str, default="X_sidelight"
        The places are written to ``obsm[key_added]``.
    copy : bool, default=False
        Leave ``adata`` as it is and return a copy of it with the result.

    Returns
    -------
    AnnData or None
        The copy, or None with ``copy=False``.

    See Also
    --------
    embed : The fit.
    adapt : Learn a batch that the model does not know.

    Examples
    --------
    >>> import anndata, numpy as np, sidelight
    >>> X = np.random.default_rng(0).normal(size=(120, 4))
    >>> genes = [f"gene{i}" for i in range(4)]
    >>> reference, query = (anndata.AnnData(rows) for rows in (X[:100], X[100:, ::-1]))
    >>> reference.var_names, query.var_names = genes, genes[::-1]
    >>> model = sidelight.anndata.embed(reference, max_iter=50)
    >>> sidelight.anndata.transform(query, model)
    >>> query.obsm["X_sidelight"].shape
    (20, 2)
    """
    checked_adata(_OWNER, adata)
    chain = as_chain(model)
    require(_OWNER, chain, "has_transform")
    given = given_of(chain) if use_given else None
    columns = None if given is None else known_columns(_OWNER, adata.obs, given)
    side = {} if columns is None else {"given": columns}
    rows = model_rows(_OWNER, adata, chain, use_rep, layer, side)
    out = target(_OWNER, adata, copy)
    out.obsm[key_added] = np.asarray(chain.transform(rows, **side))
    return out if copy else None
