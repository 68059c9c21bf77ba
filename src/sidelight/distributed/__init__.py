"""Fits and maps on Dask: the same models, rows on a cluster (extra ``scale``).

    from sidelight.distributed import DaskRows
    model.fit_batches(DaskRows(frame))                  # a model that is a sum over rows
    sidelight.embed_rows(DaskRows(frame), "out.npy")    # a map: a sample is fitted here, all rows are placed there

Every step of a fit is one graph: a statistic of each partition, added pair by pair in fixed order. What crosses the
network is the parameters of the model and these sums, never rows. Placing sends the fitted sample to each worker once,
and gets the places back. ``transform``, ``inverse_transform``, ``score_samples`` and ``score`` of this module are lazy:
a Dask array or data frame in, the same out.
"""

from sidelight.base.messages import require_extra

require_extra("dask", "sidelight.distributed", "scale")

from ._dask_rows import DaskRows  # noqa: E402  (a missing Dask gets a sentence first)
from ._lazy import inverse_transform, score, score_samples, transform  # noqa: E402

__all__ = ["DaskRows", "inverse_transform", "score", "score_samples", "transform"]
