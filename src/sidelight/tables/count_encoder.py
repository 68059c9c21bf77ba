"""Counts as leading coordinates of their deviance residuals, without a dense copy, and back.

Poisson model of a row i with total nᵢ and a column j with share πⱼ of all counts: μᵢⱼ = nᵢ πⱼ, and

    rᵢⱼ = sign(yᵢⱼ - μᵢⱼ) √(2 [yᵢⱼ log(yᵢⱼ / μᵢⱼ) - yᵢⱼ + μᵢⱼ])         deviance residual
    rᵢⱼ = -√(2 nᵢ) √πⱼ   where yᵢⱼ = 0

so the residuals of all zeros together are a product of one column and one row, and R = S - a bᵀ with a = √(2 n), b = √π
and S as sparse as the counts. Its leading directions are those of ``maps.truncated``. Back: with u = y / μ and
c = r² / (2 μ), the equation u log u - u + 1 = c has the solution u = exp(1 + W((c - 1) / e)), W Lambert's function: its
upper branch for r > 0, its lower branch for r < 0, and u = 0 from c = 1 on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import lambertw
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sidelight.base.capabilities import ENCODER
from sidelight.base.columns import chosen_columns
from sidelight.base.cost import Cost, announce_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread, spans
from sidelight.base.validation import check_integer, check_rows, checked_array, checked_latent, validated
from sidelight.maps.truncated import RANK, truncated_basis

__all__ = ["CountEncoder", "deviance_residuals"]

Array = npt.NDArray[Any]
_FLOATS = [np.float64, np.float32]
_BLOCK = 512  # rows that are written out at a time on the way back


class CountEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Encode counts, sparse or dense, as a few coordinates for an embedding, and decode them to expected counts.

    The coordinates are the principal ones of the Poisson deviance residuals of the counts, given the total of each row
    and the share of each column: the approximation of GLM-PCA by Townes et al. [1]_. A transformer, to be put before
    any embedding; no logarithm, no offset, no choice of a size factor. No dense matrix of residuals is made.

    Parameters
    ----------
    n_components : int, default=50
        Number of coordinates, at most the number of rows or columns.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.

    Attributes
    ----------
    shares_ : array of shape (d,)
        Share of each column in all counts. Columns without a count in ``fit`` are ignored in new rows.
    total_ : float
        Median of the totals of the rows with counts.
    reduction_ : TruncatedBasis
        Column means and directions of the residuals.
    n_features_in_ : int

    See Also
    --------
    TableEncoder : Columns of several kinds, as numbers.
    sidelight.anndata.embed : Counts of cells, with their annotation.

    References
    ----------
    .. [1] F. W. Townes, S. C. Hicks, M. J. Aryee and R. A. Irizarry. Feature selection and dimension reduction for
       single-cell RNA-Seq based on a multinomial model. Genome Biology 20, 295, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from sidelight import CountEncoder
    >>> counts = sparse.csr_array(np.random.default_rng(0).poisson(0.3, size=(100, 40)))
    >>> encoder = CountEncoder(n_components=5).fit(counts)
    >>> encoder.transform(counts).shape, encoder.inverse_transform(encoder.transform(counts)).shape
    ((100, 5), (100, 40))
    """

    _capabilities = ENCODER

    def __init__(self, n_components: int = RANK, *, n_jobs: int | None = None) -> None:
        self.n_components = n_components
        self.n_jobs = n_jobs

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Any, y: Any = None) -> CountEncoder:
        """Find the shares of the columns and the leading directions of the residuals of counts ``X`` (n, d)."""
        del y
        check_integer(self, "n_components", self.n_components, 1)
        counts = self._counts(X, ensure_min_samples=2)
        announce_cost(self, self.estimate_cost(*counts.shape), counts.shape[0])
        sums = np.asarray(counts.sum(axis=0, dtype=np.float64)).ravel()
        totals = _totals(counts)
        shares = sums / (sums.sum() or 1.0)
        S, left, right = _residuals(counts, totals, shares)
        found = truncated_basis(S, self.n_components, left=left[:, None], right=right[:, None], n_jobs=self.n_jobs)
        self.shares_, self.reduction_ = shares, found
        self.total_ = float(np.median(totals[totals > 0])) if (totals > 0).any() else 1.0
        return self

    @one_blas_thread
    def transform(self, X: Any) -> Array:
        """Coordinates (m, k) of counts ``X`` (m, d), each row independently of the others."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        S, left, right = _residuals(counts, _totals(counts), self.shares_)
        V = self.reduction_.basis
        scores = self.reduction_.scores(S) - np.outer(left, right @ V)
        return np.asarray(scores.astype(counts.dtype, copy=False))

    @one_blas_thread
    def inverse_transform(self, X: Any, *, totals: Any = None, columns: Any = None) -> Array:
        """Expected counts (m, d), dense, of coordinates ``X`` (m, k).

        Parameters
        ----------
        X : array of shape (m, k)
        totals : array of shape (m,), number or None, default=None
            Totals of the rows, which the coordinates do not contain; None: ``total_``, the median of the training rows.

        columns : names, numbers or mask, default=None
            Columns of the data to return, in this order, without computing the others; None: all.

        Returns
        -------
        counts : array of shape (m, d), or (m, len(columns))
            0 or more; their sum is near the total, not equal to it.
        """
        check_is_fitted(self)
        T = checked_latent(self, X, self._n_features_out)
        depth = np.full(len(T), self.total_)
        if totals is not None:
            given = checked_array(self, np.atleast_1d(totals), ensure_2d=False, dtype=np.float64, input_name="totals")
            depth = np.broadcast_to(given, len(T)) if len(given) == 1 else given
            check_rows(self, "totals", depth, len(T))
        reduction, shares = self.reduction_, self.shares_
        if columns is not None:
            names = getattr(self, "feature_names_in_", None)
            at = chosen_columns(self, columns, self.n_features_in_, names)
            reduction, shares = reduction.of_columns(at), shares[at]
        out = np.empty((len(T), len(shares)), dtype=T.dtype)
        for rows in spans(len(T), _BLOCK):
            out[rows] = _expected(reduction.rows(T[rows].astype(np.float64)), np.outer(depth[rows], shares))
        return out

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit of n rows and d columns, if 5 % of the counts are not 0."""
        width = self.n_components + 10
        entries = 0.05 * n * d
        return Cost(int(36 * entries + 8 * width * (4 * n + 18 * d) + 2**26), 0.05 + 1e-8 * entries * width)

    @property
    def _n_features_out(self) -> int:
        return int(self.reduction_.basis.shape[1])

    def _counts(self, X: Any, **options: Any) -> Any:
        """Validated counts in CSR format without stored zeros, float64 or float32."""
        rows = validated(self, X, accept_sparse="csr", dtype=_FLOATS, **options)
        counts = sparse.csr_array(rows)
        if counts.nnz and counts.data.min() < 0:
            seen, rule = f"{counts.data.min():g}", "is below 0, which no count is"
            raise ValueError(error_message(self, "X", seen, f"Negative values in data: {rule}", "Give raw counts"))
        if counts.nnz and (counts.data == 0).any():
            counts = counts.copy()
            counts.eliminate_zeros()
        return counts

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def deviance_residuals(encoder: CountEncoder, X: Any) -> Array:
    """Deviance residuals (m, d), dense, of counts ``X`` (m, d): the units in which a fitted encoder is linear."""
    check_is_fitted(encoder)
    counts = encoder._counts(X, reset=False)
    S, left, right = _residuals(counts, _totals(counts), encoder.shares_)
    return np.asarray(S.toarray() - np.outer(left, right))


def _totals(counts: Any) -> Array:
    return np.asarray(counts.sum(axis=1, dtype=np.float64)).ravel()


def _residuals(counts: Any, totals: Array, shares: Array) -> tuple[Any, Array, Array]:
    """S (n, d), a (n,) and b (d,) of the residuals S - a bᵀ; 0 in columns without a share."""
    rows = np.repeat(np.arange(len(totals)), np.diff(counts.indptr))
    y = counts.data.astype(np.float64)
    mean = totals[rows] * shares[counts.indices]
    ratio = np.divide(y, mean, out=np.ones_like(y), where=mean > 0)
    deviance = np.where(mean > 0, 2.0 * (y * np.log(ratio) - (y - mean)), 0.0)
    left, right = np.sqrt(2.0 * totals), np.sqrt(shares)
    values = np.sign(ratio - 1.0) * np.sqrt(np.maximum(deviance, 0.0)) + left[rows] * right[counts.indices]
    return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape), left, right


def _expected(residuals: Array, mean: Array) -> Array:
    """Counts with these residuals (m, d), where ``mean`` (m, d) is expected."""
    positive = mean > 0
    c = np.square(residuals) / (2.0 * np.where(positive, mean, 1.0))
    above = np.exp(1.0 + lambertw((c - 1.0) / math.e, 0).real)
    below = np.exp(1.0 + lambertw((np.minimum(c, 1.0 - 1e-12) - 1.0) / math.e, -1).real)
    ratio = np.where(residuals >= 0, np.maximum(above, 1.0), np.where(c >= 1.0, 0.0, np.minimum(below, 1.0)))
    return np.where(positive, mean * ratio, 0.0)
