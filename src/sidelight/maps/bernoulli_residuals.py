r"""Correlations of binary columns within the charts of a Bernoulli mixture, for imputation.

    C = Σ_n Σ_s r_ns (x_n - θ_s)(x_n - θ_s)ᵀ / n + λ I,    m = Σ_s r_s(x_O) θ_s
    E[x_M | x_O] ≈ m_M + C_MO C_OO⁻¹ (x_O - m_O)

Columns are independent inside a chart, so that a pixel is predicted by the chart alone and not by its neighbours. The
covariance inside the charts, one for all of them, adds these: a linear correction of the mixture's own prediction, as
in ridge regression. It does not change the density.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.objectives.gaussian import Gaussian, gaussian_entries, gaussian_of
from sidelight.rows import Rows, Sums

from .bernoulli_charts import BernoulliCharts
from .truncated import is_sparse

__all__ = ["MOST_COLUMNS", "chances", "residual_gaussian"]

Array = npt.NDArray[Any]
MOST_COLUMNS = 1000
"""Columns up to which their covariance is kept."""
_RIDGE = 0.02  # λ, chosen on digits and USPS; a variance is at most 0.25
_SURE = 0.02  # no entry is said to be more certain than this


def residual_gaussian(rows: Rows, charts: BernoulliCharts) -> Gaussian | None:
    """The Gaussian of residuals of rows inside the charts, all centred at 0; None where columns are too many."""
    if rows.n_features > MOST_COLUMNS:
        return None

    def statistic(X: Any) -> Sums:
        R = charts.responsibilities(X)
        M = R @ charts.means
        if is_sparse(X):
            return {"rows": np.array(len(R)), "n": R.sum(axis=0), "xx": (X.T @ X).toarray(), "xm": X.T @ M}
        filled = np.where(np.isnan(X), M, X)
        return {"rows": np.array(len(X)), "n": R.sum(axis=0), "xx": filled.T @ filled, "xm": filled.T @ M}

    sums = rows.total(statistic)
    centres = (charts.means.T * sums["n"]) @ charts.means
    C = (sums["xx"] - sums["xm"] - sums["xm"].T + centres) / float(sums["rows"])
    return gaussian_of(np.zeros(len(C)), C + _RIDGE * np.eye(len(C)))


def chances(charts: BernoulliCharts, residuals: Gaussian | None, X: Array) -> Array:
    """Probability of a 1 in each missing entry of rows (n, d), given the observed ones; of observed entries, any."""
    own = charts.expected(X)
    if residuals is None:
        return own
    moved = own + gaussian_entries(residuals, np.asarray(X, dtype=np.float64) - own)[0]
    return np.asarray(np.clip(moved, _SURE, 1.0 - _SURE))
