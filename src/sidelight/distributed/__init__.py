"""Fits on Dask: the same models, rows on a cluster (extra ``scale``).

    from sidelight.distributed import DaskRows
    model.fit_batches(DaskRows(frame))

Every step of a fit is one graph: a statistic of each partition, added pair by pair in fixed order. What crosses the
network is the parameters of the model and these sums, never rows.
"""

from ._dask_rows import DaskRows

__all__ = ["DaskRows"]
