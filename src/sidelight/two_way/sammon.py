"""Sammon mapping as a function: latent points for ``TwoWayEmbedding``, which adds the maps that it does not have."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from sidelight.base.messages import error_message
from sidelight.base.result import Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.base.validation import check_integer, check_number, checked_array
from sidelight.base.warnings import warn
from sidelight.objectives.sammon import SammonStress
from sidelight.solvers.eigen import landmark_scaling
from sidelight.solvers.lbfgs import minimise

__all__ = ["sammon_mapping"]

_OWNER = "sammon_mapping"


@one_blas_thread
def sammon_mapping(X: object, n_components: int = 2, *, max_iter: int = 500, tol: float = 1e-9) -> Array:
    """Return latent points (n, n_components) whose distances have the least Sammon stress [1]_ [2]_.

    Minimises ``Σ_{i<j} (d_ij - δ_ij)² / d_ij`` with d the Euclidean distances between the rows and δ those between the
    latent points, by L-BFGS from classical scaling. The same call gives the same result. Equal rows have one point.
    O(n²) memory, for up to some thousand rows.

    Parameters
    ----------
    X : array of shape (n, d)
    n_components : int, default=2
        Latent dimensions.
    max_iter : int, default=500
        Maximum number of L-BFGS iterations.
    tol : float, default=1e-9
        Relative decrease of the stress below which the minimisation has converged.

    Returns
    -------
    Z : array of shape (n, n_components)
        Centred, in units of the data.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` iterations were not enough.

    References
    ----------
    .. [1] J. W. Sammon, "A nonlinear mapping for data structure analysis", IEEE Transactions on Computers 18, 401-409,
       1969.
    .. [2] R. Memisevic, "Non-linear latent factor models for revealing structure in high-dimensional data", PhD thesis,
       University of Toronto, 2007, section 2.3.1.

    Examples
    --------
    >>> from sidelight import TwoWayEmbedding
    >>> from sidelight.datasets import s_curve
    >>> from sidelight.two_way.sammon import sammon_mapping
    >>> X = s_curve(100, random_state=0).X
    >>> model = TwoWayEmbedding().fit(X, embedding=sammon_mapping(X))
    >>> model.transform(X[:3]).shape
    (3, 2)
    """
    check_integer(_OWNER, "n_components", n_components, 1)
    check_integer(_OWNER, "max_iter", max_iter, 1)
    check_number(_OWNER, "tol", tol, 0.0)
    rows = np.asarray(checked_array(_OWNER, X, dtype=np.float64, ensure_min_samples=2))
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    distances = cdist(distinct, distinct)
    unit = float(distances.mean())
    if unit == 0.0:
        return np.zeros((len(rows), n_components))
    scaled = landmark_scaling(distances / unit, np.arange(len(distinct)), n_components)
    start = np.zeros((len(distinct), n_components))
    start[:, : scaled.shape[1]] = scaled
    found = minimise(SammonStress(distances / unit).value_and_grad, start, max_iter=max_iter, tolerance=tol)
    if found.status is Status.ITERATIONS:
        rule = f"did not let the stress converge: it {found.message}"
        warn(error_message(_OWNER, "max_iter", max_iter, rule, "Raise max_iter or tol"), ConvergenceWarning)
    Z = unit * found.point[which.ravel()]
    return np.asarray(Z - Z.mean(axis=0))
