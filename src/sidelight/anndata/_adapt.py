"""Teach a fitted model a category that it was not fitted with."""

from __future__ import annotations

from typing import Any

import pandas as pd

from sidelight.base.capabilities import capabilities, given_of
from sidelight.base.chain import Chain, as_chain
from sidelight.base.messages import error_message
from sidelight.side.given import Given
from sidelight.side.new_category import new_category_rows

from ._results import checked_adata
from ._rows import model_rows

__all__ = ["adapt"]

_OWNER = "adapt"


def adapt(adata: Any, model: Any, *, use_rep: str | None = None, layer: str | None = None) -> Any:
    """Return a copy of a model that has learned a new category (such as a batch) from its cells in ``adata``.

    The map and the cells on it do not move. The offset of the new category is the one that places its cells beside
    similar cells of the fit (:meth:`KernelInformationEmbedding.adapt <sidelight.KernelInformationEmbedding.adapt>`).
    :func:`transform`, :func:`corrected` and :func:`counterfactual` with the copy accept the new category; ``adapted_``
    describes what was learned.

    Parameters
    ----------
    adata : AnnData
        Cells. Those of the one category that the model does not know are used, and all others are ignored.
    model : fitted model or Pipeline
        Fitted with ``given`` (columns of categories and of numbers). The new category is in one of these columns.
    use_rep, layer : str or None, default=None
        Where the rows are, as in :func:`transform`.

    Returns
    -------
    model
        The copy.

    See Also
    --------
    embed : The fit.
    transform : Place cells of batches that the model knows.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd, sidelight
    >>> batch = np.repeat(["a", "b", "c"], 40)
    >>> X = np.random.default_rng(0).normal(size=(120, 4)) + np.repeat([0.0, 5.0, -4.0], 40)[:, None]
    >>> cells = anndata.AnnData(X, obs=pd.DataFrame({"batch": batch}, index=np.arange(120).astype(str)))
    >>> model = sidelight.anndata.embed(cells[:80].copy(), given="batch", max_iter=20, tol=1e-2)
    >>> wider = sidelight.anndata.adapt(cells, model)
    >>> sidelight.anndata.corrected(cells, wider, to={"batch": "a"})
    >>> bool(abs(cells.layers["corrected"].mean()) < 0.5)
    True
    """
    checked_adata(_OWNER, adata)
    chain = as_chain(model)
    given = given_of(chain)
    if given is None or not capabilities(chain).has_adapt:
        rule = "has no groups that one could be added to"
        remedy = "Give a KernelInformationEmbedding that was fitted with given"
        raise ValueError(error_message(_OWNER, "model", type(model).__name__, rule, remedy))
    absent = [column.name for column in given.columns if column.name not in adata.obs.columns]
    if absent:
        rule = f"lacks {', '.join(map(repr, absent))}, which the model was given"
        raise ValueError(error_message(_OWNER, "adata", "obs", rule, "Add the column"))
    new = new_category_rows(_OWNER, "adata", "obs", _plain_columns(adata.obs, given), adata.n_obs, given)
    part = adata[new] if not adata.isbacked else adata[new].to_memory()
    rows = model_rows(_OWNER, part, chain, use_rep, layer, {})
    wider = chain.adapt(rows, given=_plain_columns(part.obs, given))
    return wider.pipeline if isinstance(wider, Chain) else wider


def _plain_columns(obs: pd.DataFrame, given: Given) -> pd.DataFrame:
    """The columns of ``given``, categories as plain entries: a categorical type lists categories of other cells."""
    names = [column.name for column in given.columns]
    table = obs[names].reset_index(drop=True)
    return table.assign(**{c.name: table[c.name].astype(object) for c in given.columns if c.categories})
