"""Compute many delayed arrays and take them in their order, without holding all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array

from ._dask import dask

__all__ = ["in_order"]

_AHEAD = 4  # tasks per core that are computed before the first of them is taken, without a cluster


def in_order(parts: Sequence[Any]) -> Iterator[Array]:
    """Iterate over computed arrays: as one graph on a cluster, else a few at a time on threads.

    On a cluster all begin at once and stay with the workers until they are taken; a worker that dies with some of them
    has them computed again. Whoever stops early cancels the rest.
    """
    client = _client()
    if client is None:
        for some in spans(len(parts), _AHEAD * (os.cpu_count() or 1)):
            yield from map(np.array, dask.compute(*parts[some]))
        return
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):  # the model is in it, once
        futures = client.compute(list(parts))
    try:
        for k in range(len(futures)):
            found = np.array(futures[k].result())
            futures[k].release()
            yield found
    finally:
        client.cancel([future for future in futures if not future.done()])


def _client() -> Any:
    """The client of the cluster that Dask would use now; None: Dask would use this process."""
    scheduler = dask.base.get_scheduler()
    client = getattr(scheduler, "__self__", None)
    return client if hasattr(client, "scheduler_info") else None
