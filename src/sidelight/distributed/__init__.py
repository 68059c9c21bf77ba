"""Fits and maps on Dask: the same models, rows on a cluster (extra ``scale``).

    from sidelight.distributed import DaskRows
    model.fit_batches(DaskRows(frame))                  # a model that is a sum over rows
    sidelight.embed_rows(DaskRows(frame), "out.npy")    # a map: a sample is fitted here, all rows are placed there

Every step of a fit is one graph: a statistic of each partition, added pair by pair in fixed order. What crosses the
network is the parameters of the model and these sums, never rows. Placing sends the fitted sample to each worker once,
and gets the places back.
"""

from sidelight.base.messages import require_extra

require_extra("dask", "sidelight.distributed", "scale")

from ._dask_rows import DaskRows  # noqa: E402  (a missing Dask gets a sentence first)

__all__ = ["DaskRows"]
