"""Which genes separate groups of cells on the map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sidelight.base.capabilities import feature_names_of, given_of
from sidelight.base.chain import as_chain
from sidelight.base.messages import error_message
from sidelight.explain import groups
from sidelight.explain import selection as explain_selection

from ._components import gene_model, loadings_key
from ._obs import own_columns
from ._results import checked_adata, target
from ._rows import model_rows, part_for, representation_of

__all__ = ["attributions"]

Array = npt.NDArray[Any]
_OWNER = "attributions"
_SELECTED, _REST = "selection", "rest"


def attributions(
    adata: Any,
    model: Any,
    *,
    groupby: str | None = None,
    selection: Any = None,
    use_rep: str | None = None,
    layer: str | None = None,
    loadings: str | None = "auto",
    key_added: str = "attributions",
    n_resamples: int = 200,
    random_state: int = 0,
    tolerance: float = 1e-4,
    copy: bool = False,
) -> Any:
    """Rank genes by how much they separate each group of cells from all other cells on the map.

    The score of a gene is its contribution to the difference between the mean places on the map
    (:func:`sidelight.explain.difference`), after subtracting the effect of ``given``. Genes that differ, but that the
    map does not use, have low scores.

    Parameters
    ----------
    adata : AnnData
        Genes are matched to those of the model by name, as in :func:`transform`.
    model : fitted model or Pipeline
        Has ``jacobian``. Behind a ``CountEncoder``, genes are compared in deviance residuals.
    groupby : str or None, default=None
        Column of ``obs``: each of its groups is compared with all other cells. Cells without an entry are left out.
    selection : mask, or sequence of names of cells, or None, default=None
        Instead of ``groupby``: these cells are compared with all others.
    use_rep, layer : str or None, default=None
        Where the rows are, as in :func:`transform`. For a model of an entry of ``obsm``, ``layer`` is that of the genes
        behind it; None: ``X``.
    loadings : str or None, default="auto"
        For a model of an entry of ``obsm`` that is linear in the genes, such as "X_pca": the entry of ``varm`` with its
        components. "auto": that of the same name, or "PCs" of "X_pca", as scanpy writes them. None: rank the columns of
        the entry instead of genes.
    key_added : str, default="attributions"
        Entry of ``uns`` that is written.
    n_resamples, random_state, tolerance
        As for :func:`sidelight.explain.difference`.
    copy : bool, default=False
        Leave ``adata`` as it is and return a copy of it with the result.

    Returns
    -------
    AnnData or None
        The copy, or None with ``copy=False``.

    See Also
    --------
    sidelight.explain.groups : The same of arrays and data frames.
    embed : The fit.

    Notes
    -----
    ``uns[key_added]`` has, as ``rank_genes_groups`` of scanpy does, the arrays ``names``, ``scores``, ``pvals`` and
    ``pvals_adj`` with a field for each group, genes with the largest scores first, so that
    ``sc.pl.rank_genes_groups(adata, key="attributions")`` draws them. The score is the contribution along the line on
    the map from the other cells to the group, in units of the map; ``differences`` are those of the mean values.
    ``table`` is the tidy table, with contributions by axis and their intervals. Cells are taken as independent.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd, sidelight
    >>> kind = np.tile(["a", "b"], 50)
    >>> X = np.random.default_rng(0).normal(size=(100, 5)) + np.outer(kind == "b", [0, 0, 4.0, 0, 0])
    >>> adata = anndata.AnnData(X, obs=pd.DataFrame({"kind": kind}, index=np.arange(100).astype(str)))
    >>> model = sidelight.anndata.embed(adata, max_iter=50)
    >>> sidelight.anndata.attributions(adata, model, groupby="kind")
    >>> str(adata.uns["attributions"]["names"]["b"][0])
    '2'
    """
    checked_adata(_OWNER, adata)
    labels = _labels(adata, groupby, selection)
    chain = as_chain(model)
    given = given_of(chain)
    known = None if given is None else own_columns(_OWNER, adata.obs, given)
    names: dict[str, str] = {}
    representation = use_rep or representation_of(adata, feature_names_of(chain))
    if representation is None or loadings is None:
        rows = model_rows(_OWNER, adata, chain, use_rep, layer, {} if known is None else {"given": known})
    else:
        part_for(_OWNER, adata, representation, None)  # it is there, or a sentence
        key = loadings_key(_OWNER, adata, representation, loadings)
        found = gene_model(_OWNER, adata, model, representation, key, layer)
        model, rows, names = found.model, found.rows, {str(place): gene for place, gene in enumerate(found.genes)}
    out = target(_OWNER, adata, copy)
    options: dict[str, Any] = {"n_resamples": n_resamples, "random_state": random_state, "tolerance": tolerance}
    if selection is None:
        table = groups(model, rows, labels, given=known, output="pandas", **options)
    else:
        table = explain_selection(model, rows, labels == _SELECTED, given=known, output="pandas", **options)
        table.insert(0, "group", _SELECTED)
    table["feature"] = [names.get(str(feature), feature) for feature in table["feature"]]
    for name in ("group", "axis", "feature"):
        table[name] = table[name].astype(str)  # plain text, as files of anndata hold it
    out.uns[key_added] = {**_ranked(table), "table": table, "params": _parameters(groupby, options)}
    return out if copy else None


def _labels(adata: Any, groupby: str | None, selection: Any) -> Array:
    """Group of each cell (n,), None where it has none."""
    if (groupby is None) == (selection is None):
        seen = "nothing" if groupby is None else f"{groupby!r} beside a selection"
        raise ValueError(error_message(_OWNER, "groupby", seen, "does not say which cells", "Give one of the two"))
    if groupby is not None:
        if groupby not in adata.obs.columns:
            there = ", ".join(map(repr, adata.obs.columns[:12])) or "none"
            rule = "is not a column of adata.obs"
            raise ValueError(error_message(_OWNER, "groupby", groupby, rule, f"There is: {there}"))
        column = adata.obs[groupby]
        return np.array([None if pd.isna(entry) else str(entry) for entry in column], dtype=object)
    chosen = np.asarray(selection)
    if chosen.dtype != bool:
        unknown = [str(name) for name in chosen if str(name) not in adata.obs_names]
        if unknown:
            rule = "is not the name of a cell"
            raise ValueError(error_message(_OWNER, "selection", unknown[0], rule, "Give names from adata.obs_names"))
        chosen = adata.obs_names.isin([str(name) for name in chosen])
    if chosen.shape != (adata.n_obs,):
        rule = f"does not match the {adata.n_obs} cells"
        raise ValueError(error_message(_OWNER, "selection", f"mask of {len(chosen)}", rule, "Give one entry per cell"))
    return np.where(chosen, _SELECTED, _REST).astype(object)


def _ranked(table: pd.DataFrame) -> dict[str, Array]:
    """Arrays with a field for each group, genes with the largest scores first."""
    found: dict[str, dict[str, Array]] = {}
    for group, part in table.groupby("group", sort=False):
        wide = part.pivot_table(index="feature", columns="axis", values="contribution", sort=False)
        moved = wide.sum(axis=0).to_numpy()
        genes = part[part["p"].notna() | part["difference"].notna()].drop_duplicates("feature").set_index("feature")
        along = wide.loc[genes.index].to_numpy() @ (moved / (np.linalg.norm(moved) or 1.0))
        order = np.argsort(-along, kind="stable")
        columns = {"scores": along, "pvals": genes["p"], "pvals_adj": genes["fdr"], "differences": genes["difference"]}
        ranked = {name: np.asarray(values, dtype=np.float64)[order] for name, values in columns.items()}
        found[str(group)] = {"names": np.asarray(genes.index, dtype=str)[order], **ranked}
    return {name: _fields({group: one[name] for group, one in found.items()}) for name in next(iter(found.values()))}


def _fields(columns: Mapping[str, Array]) -> Array:
    """An array with a field for each group."""
    kinds = [(group, values.dtype) for group, values in columns.items()]
    return np.rec.fromarrays(list(columns.values()), dtype=np.dtype(kinds))


def _parameters(groupby: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    return {"groupby": groupby or _SELECTED, "reference": _REST, "method": "attributions", **options}
