"""Embeddings of AnnData objects (extra ``anndata``), in the manner of scanpy.

    import sidelight

    model = sidelight.anndata.embed(adata, given=["batch", "pct_mito"], use_rep="X_pca")
    sidelight.anndata.transform(query, model)
    sidelight.anndata.counterfactual(adata, model, to={"condition": "stim"})
    wider = sidelight.anndata.adapt(later, model)
    sidelight.anndata.attributions(adata, model, groupby="cell_type")

Rows are read from ``X``, a layer or an entry of ``obsm``, side information from columns of ``obs``. Results are written
as plain arrays to ``obsm`` and ``layers``, where scanpy and others find them
(``sc.pp.neighbors(adata, use_rep="X_sidelight")``). The model is a plain model of this library that knows the names of
its genes; ``sidelight.save`` keeps it in one file.
"""

from ._adapt import adapt
from ._attributions import attributions
from ._corrected import corrected
from ._counterfactual import counterfactual
from ._embed import embed
from ._transform import transform

__all__ = ["adapt", "attributions", "corrected", "counterfactual", "embed", "transform"]
