"""Genes behind a representation: the components of a linear one, such as scanpy's ``X_pca``, from ``varm``.

    Y = X P + constant           Y (n, k) of obsm, X (n, genes), P (genes, k) of varm

scanpy may centre X (``zero_center``) and notes it in ``uns`` only; the constant is the mean of Y - X P in either case.
A model of Y becomes a model of the genes by putting two linear steps before it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sidelight.base.messages import error_message

from ._parts import in_memory, is_sparse
from ._rows import part_for

__all__ = ["GeneModel", "gene_model", "loadings_key"]

Array = npt.NDArray[Any]
_ROUNDING = 1e-3  # of Y, in units of its spread, that X P may miss: scanpy computes in float32


@dataclass(frozen=True)
class GeneModel:
    """A model of genes, the rows that it takes (n, d), dense or sparse, and the names of their d genes."""

    model: Pipeline
    rows: Any
    genes: list[str]


def loadings_key(owner: str, adata: Any, representation: str, loadings: str) -> str:
    """Return the entry of ``varm`` with the components of an entry of ``obsm``; raises where there is none.

    ``loadings``: its name, or "auto": that of the entry itself, or "PCs" for "X_pca", as scanpy names them.
    """
    if loadings != "auto":
        if loadings in adata.varm:
            return loadings
        there = ", ".join(map(repr, adata.varm)) or "none"
        raise ValueError(error_message(owner, "loadings", loadings, "is not in adata.varm", f"There is: {there}"))
    usual = [representation, *(["PCs"] if representation == "X_pca" else [])]
    found = [key for key in usual if key in adata.varm]
    if not found:
        rule = f"has no {' or '.join(f'varm[{key!r}]' for key in reversed(usual))} that says how genes make it"
        remedy = "Name the entry of varm with loadings=, or give loadings=None to rank its columns instead of genes"
        raise ValueError(error_message(owner, "use_rep", representation, rule, remedy))
    return found[0]


def gene_model(owner: str, adata: Any, model: Any, representation: str, loadings: str, layer: str | None) -> GeneModel:
    """Return a model of the genes behind ``obsm[representation]``, that a model was fitted on.

    Parameters
    ----------
    owner : str
        For messages.
    adata : AnnData
    model : fitted model or Pipeline
    representation, loadings : str
        Entries of ``obsm`` and of ``varm``.
    layer : str or None
        The layer with the genes; None: ``X``.
    """
    P = np.asarray(in_memory(adata.varm[loadings]), dtype=np.float64)
    Y = np.asarray(in_memory(adata.obsm[representation]), dtype=np.float64)
    if P.shape[1] != Y.shape[1]:
        rule = f"has {P.shape[1]} columns, and obsm[{representation!r}] has {Y.shape[1]}"
        raise ValueError(error_message(owner, "loadings", loadings, rule, "Name the entry of varm that belongs to it"))
    used = np.flatnonzero(P.any(axis=1))  # scanpy leaves 0 where a gene was not used
    part = part_for(owner, adata, None, layer)
    rows = part.values.tocsc()[:, used].tocsr() if is_sparse(part.values) else part.values[:, used]
    found = np.asarray(rows @ P[used])
    constant = (Y - found).mean(axis=0)
    spread = float(np.square(Y - Y.mean(axis=0)).sum()) or 1.0
    missed = float(np.sqrt(np.square(Y - found - constant).sum() / spread))
    if missed > _ROUNDING:
        rule = f"is not {part.title} times varm[{loadings!r}] ({missed:.0%} of it is something else)"
        remedy = "Give layer= with the values that it was computed from, or loadings=None to rank its columns"
        raise ValueError(error_message(owner, "use_rep", representation, rule, remedy))
    steps = [("genes", _components(P[used])), ("constant", _constant(constant)), *_bare_steps(model)]
    return GeneModel(Pipeline(steps), rows, [part.names[gene] for gene in used])


def _components(P: Array) -> TruncatedSVD:
    """The step from genes (d,) to components (k,)."""
    step = TruncatedSVD(P.shape[1])
    step.components_, step.n_features_in_ = P.T, len(P)
    return step


def _constant(constant: Array) -> StandardScaler:
    """The step that adds a constant (k,)."""
    step = StandardScaler(with_std=False)
    step.mean_, step.var_, step.scale_ = -constant, None, None
    step.n_features_in_, step.n_samples_seen_ = len(constant), 1
    return step


def _bare_steps(model: Any) -> list[tuple[str, Any]]:
    """The steps of a model without the names of its columns, because the steps before it have none."""
    steps = list(model.steps) if isinstance(model, Pipeline) else [("model", model)]
    first = copy(steps[0][1])
    vars(first).pop("feature_names_in_", None)
    return [(steps[0][0], first), *steps[1:]]
