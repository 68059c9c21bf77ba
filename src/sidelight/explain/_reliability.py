"""How far each row of a map can be believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.random import random_numbers
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import RandomState
from sidelight.base.validation import check_integer

from ._calibration import calibrated
from ._mapped_rows import read_mapped_rows
from ._resampled_maps import halves, resampled
from ._row_parts import row_parts, surroundings
from ._tables import tidy

__all__ = ["reliability"]

Array = npt.NDArray[Any]


@one_blas_thread
def reliability(
    model: Any,
    X: Any = None,
    *,
    given: Any = None,
    bootstrap: int = 0,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    output: str | None = None,
) -> Any:
    """How far each row of a map can be believed, between 0 and 1, and why.

    Parameters
    ----------
    model : fitted model or Pipeline
        Any model with a map.
    X : array, sparse array or table of shape (m, d), or None, default=None
        Rows; None: the training rows. Neighbours are looked for among the training rows, or, for models that keep none
        (ProbabilisticPCA, coordinated mixtures, estimators of scikit-learn), among the rows of X.
    given : array of shape (m,) or (m, g), or table, default=None
        The known variables of the rows of X, for a model that was fitted with them: rows are compared after their
        effect, as the model sees them.
    bootstrap : int, default=0
        Number of maps of random halves of the rows, from which ``stable`` and ``displaced`` follow. The model is fitted
        that often with its own settings, and needs the rows of its fit as X.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        For the sample of rows that far ranks are estimated by, and for the halves. None is a fixed seed.
    output : {"pandas", "polars"} or None, default=None
        As for :func:`local`.

    Returns
    -------
    table
        A record for each row, between 0 and 1:

        ``reliability``
            the probability that the map is right about the row: of rows called 0.8 about four in five are;
        ``kept``
            how far its neighbours in the data are its neighbours on the map (0: they are anywhere);
        ``true``
            how far its neighbours on the map are its neighbours in the data;
        ``returns``
            how well the row comes back from its place without being part of the map: the share of what its own
            neighbours in the data tell of it;
        ``stays``
            how near to its place it would be put had it been left out: 1 less the distance, in units of the median
            distance between two rows of the map. The map's own answer up to 10,000 rows and 64 columns, else that of
            the row's neighbours in the data;
        ``stable`` (with ``bootstrap``)
            how far its neighbours on the map are its neighbours in maps of half of the rows;
        ``displaced`` (with ``bootstrap``)
            how far its place is from that in these maps, turned and scaled onto this one (Procrustes), in units of the
            median distance between two rows of the map. 0 is best; not bounded by 1.

    See Also
    --------
    sidelight.evaluate.trustworthiness : One number for the whole map.
    sidelight.plot.reliability : The map in its colours.

    Examples
    --------
    >>> from sidelight import KernelInformationEmbedding, explain
    >>> from sidelight.datasets import s_curve
    >>> model = KernelInformationEmbedding().fit(s_curve(200, random_state=0).X)
    >>> table = explain.reliability(model)
    >>> bool(table.reliability.median() > 0.9)
    True
    """
    owner = "explain.reliability"
    check_integer(owner, "bootstrap", bootstrap, 0)
    rng = random_numbers(random_state)
    read = read_mapped_rows(owner, model, X, given, n_jobs)
    parts = row_parts(surroundings(read.rows, read.asked, n_jobs), rng, n_jobs)
    columns: dict[str, Array] = {
        "row": np.arange(len(parts.kept)),
        "reliability": calibrated(parts.kept, parts.true),
        "kept": parts.kept,
        "true": parts.true,
        "returns": parts.returns,
        "stays": parts.stays,
    }
    if bootstrap:
        refit = halves(owner, model, X, given, read, n_jobs)
        columns["stable"], columns["displaced"] = resampled(read.rows.places, refit, bootstrap, rng, n_jobs)
    return tidy(owner, columns, output)
