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

from sidelight.base.messages import require_extra

require_extra("pandas", "sidelight.anndata", "anndata")

from ._adapt import adapt  # noqa: E402  (without pandas, which anndata brings, a sentence comes first)
from ._attributions import attributions  # noqa: E402
from ._corrected import corrected  # noqa: E402
from ._counterfactual import counterfactual  # noqa: E402
from ._embed import embed  # noqa: E402
from ._transform import transform  # noqa: E402

__all__ = ["adapt", "attributions", "corrected", "counterfactual", "embed", "transform"]
