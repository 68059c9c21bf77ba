"""Fit a model to an AnnData object."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

import sidelight
from sidelight.base.capabilities import capabilities
from sidelight.base.chain import as_chain, name_of
from sidelight.base.messages import error_message
from sidelight.information.conditioning import Conditioning
from sidelight.information.kernel_information_embedding import KernelInformationEmbedding

from ._obs import check_kept, columns_to_fit, warn_of_missing
from ._only_here import only_here
from ._results import checked_adata, fit_record, record_key, target
from ._rows import part_for, rows_to_fit

__all__ = ["embed"]

_OWNER = "embed"


def embed(
    adata: Any,
    *,
    given: str | Sequence[str] | None = None,
    keep: str | Sequence[str] | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    key_added: str = "X_sidelight",
    n_components: int | None = None,
    estimator: Any = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Embed the cells of an AnnData object, factor out the columns ``given``, and return the fitted model.

    Parameters
    ----------
    adata : AnnData
        In memory or backed, with dense or sparse ``X``.
    given : str or sequence of str, default=None
        Columns of ``obs`` to factor out, such as "batch", "donor" or "pct_mito". Their types decide: categories, text,
        booleans and integers with few distinct values are categories, other numbers are quantities (override with
        ``conditioning=Conditioning(types={"plate": "category"})``). Cells with a missing entry are placed by the map
        that averages over ``given``, with a warning.
    keep : str or sequence of str, default=None
        Columns of ``obs`` that the embedding should show, such as "condition" or "cell_type". The fit does not use
        them. Before the fit, a ``DesignWarning`` says if factoring out ``given`` removes one of them, too (each donor
        has one condition only, or batches are conditions). After the fit, ``uns`` names their values that exist in one
        group only (``only_here``).
    use_rep : str or None, default=None
        Entry of ``obsm`` to embed, such as "X_pca". None: ``layer``, or ``X``.
    layer : str or None, default=None
        Layer to embed. None: ``X``.
    key_added : str, default="X_sidelight"
        The embedding is written to ``obsm[key_added]`` as a plain array, and the record of the fit to ``uns`` under the
        same key without its ``X_``.
    n_components : int or None, default=None
        Latent dimensions; None: the default of the model, which is 2.
    estimator : estimator, Pipeline or None, default=None
        The model to fit; it is fitted itself, not a copy. None: ``KernelInformationEmbedding(**parameters)``.
    copy : bool, default=False
        False: write to ``adata`` and return the model. True: leave ``adata`` as it is and return a copy of it with the
        results, as functions of scanpy do (pass an ``estimator`` to keep the model as well).
    **parameters
        Of :class:`~sidelight.KernelInformationEmbedding`.

    Returns
    -------
    model or AnnData
        The fitted model. It knows the names of its columns (``feature_names_in_``) and of ``given``; ``sidelight.save``
        keeps it in a file. With ``copy=True`` the copy instead.

    See Also
    --------
    transform : Place other cells on the map.
    counterfactual : Predict cells under another value.
    corrected : Subtract the effect of ``given``.
    attributions : Which genes separate groups.
    sidelight.KernelInformationEmbedding : The model.

    Notes
    -----
    ``uns["sidelight"]`` has ``method``, ``params`` (those that are not None), ``given``, ``use_rep`` or ``layer``, the
    estimated ``cost`` (``bytes`` and ``seconds``; of a Pipeline, that of its last step), the ``seconds`` that the fit
    took, and the ``version`` of Sidelight. Where cells have no counterparts in another group, ``only_here`` says how
    many, and with ``keep`` of which type: "186 of 190 cells with type = 'A549' exist in plate = '1' only".

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd, sidelight
    >>> rng = np.random.default_rng(0)
    >>> batch = np.repeat(["a", "b"], 60)
    >>> X = rng.normal(size=(120, 6)) + 3.0 * (batch == "b")[:, None]
    >>> obs = pd.DataFrame({"batch": pd.Categorical(batch)}, index=[f"cell{i}" for i in range(120)])
    >>> adata = anndata.AnnData(X, obs=obs)
    >>> model = sidelight.anndata.embed(adata, given="batch", max_iter=50)
    >>> adata.obsm["X_sidelight"].shape, sorted(adata.uns["sidelight"])
    ((120, 2), ['cost', 'given', 'method', 'params', 'seconds', 'version'])
    """
    checked_adata(_OWNER, adata)
    model = _model(estimator, n_components, parameters)
    part = part_for(_OWNER, adata, use_rep, layer)
    columns = columns_to_fit(_OWNER, adata.obs, given)
    if columns is not None:
        _check_takes_given(model)
    check_kept(_OWNER, adata.obs, columns, keep, _types(model))
    warn_of_missing(_OWNER, columns)
    rows = rows_to_fit(_OWNER, model, part)
    out = target(_OWNER, adata, copy)
    began = time.perf_counter()
    _fit(model, rows, columns)
    seconds = time.perf_counter() - began
    cost = _cost(model, *part.values.shape, given=columns is not None)
    _keep_names(model, part.names)
    out.obsm[key_added] = np.array(as_chain(model).embedding_)
    out.uns[record_key(key_added)] = fit_record(
        _parameters(model),
        method=name_of(as_chain(model)),
        given=None if columns is None else [str(name) for name in columns.columns],
        use_rep=use_rep,
        layer=layer,
        only_here=only_here(_OWNER, model, adata.obs, columns, [keep] if isinstance(keep, str) else keep or ()) or None,
        cost=cost,
        seconds=seconds,
        version=sidelight.__version__,
    )
    return out if copy else model


def _model(estimator: Any, n_components: int | None, parameters: dict[str, Any]) -> Any:
    if n_components is not None:
        parameters = {**parameters, "n_components": n_components}
    if estimator is None:
        return KernelInformationEmbedding(**parameters)
    if parameters:
        rule = "sets its own parameters"
        remedy = f"Set {next(iter(parameters))} there, and leave it out here"
        raise ValueError(error_message(_OWNER, "estimator", type(estimator).__name__, rule, remedy))
    return estimator


def _fit(model: Any, rows: Any, columns: Any) -> None:
    """Fit, with ``given`` passed to the model, or to the last step of a Pipeline."""
    if columns is None:
        model.fit(rows)
    elif isinstance(model, Pipeline):
        model.fit(rows, **{f"{model.steps[-1][0]}__given": columns})
    else:
        model.fit(rows, given=columns)


def _types(model: Any) -> Any:
    """The types of the columns of ``given`` that the user set, or None."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    return Conditioning.of(last.conditioning).types if hasattr(last, "conditioning") else None


def _check_takes_given(model: Any) -> None:
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not capabilities(last).takes_given:
        remedy = "Use KernelInformationEmbedding, or leave given out"
        raise ValueError(error_message(_OWNER, "estimator", type(last).__name__, "takes no given", remedy))


def _keep_names(model: Any, names: list[str]) -> None:
    """Keep the names of columns where rows were a sparse matrix, which has none."""
    first = as_chain(model).steps[0] if isinstance(model, Pipeline) else model
    if not hasattr(first, "feature_names_in_"):
        first.feature_names_in_ = np.array(names, dtype=object)


def _cost(model: Any, n: int, d: int, *, given: bool) -> dict[str, float] | None:
    """Estimated cost of the model; of a Pipeline, that of its fitted last step, in the columns that it sees."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not capabilities(last).has_cost:
        return None
    width = int(getattr(last, "n_features_in_", d)) if isinstance(model, Pipeline) else d
    cost = last.estimate_cost(n, width, **({"given": True} if given else {}))
    return {"bytes": float(cost.bytes), "seconds": float(cost.seconds)}


def _parameters(model: Any) -> dict[str, Any]:
    if not isinstance(model, Pipeline):
        return dict(model.get_params(deep=False))
    return {name: step.get_params(deep=False) for name, step in model.steps if hasattr(step, "get_params")}
