"""A metric from pairs that are the same and pairs that are different, in closed form (S4, section 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ._messages import complain
from ._metric_map import FORMS, MetricMap, directions, reach
from ._validation import check_choice
from .kernels.tiles import one_blas_thread
from .objectives.scatter import LabelScatter, NoScatter, PairScatter, Scatter
from .side.contradictions import distinct_pairs, refuse_contradictions
from .side.labels import label_codes

__all__ = ["EquivalenceMetric"]

Array = npt.NDArray[Any]


class EquivalenceMetric(MetricMap, BaseEstimator):
    """Learn a metric from hints: these rows belong together, those apart.

    Minimises ``Σ_same |x_i - x_j|²_A - Σ_different |x_i - x_j|²_A`` over A of unit size and rank ``n_components``:
    eigenvectors, no solver. A transformer: put it before any embedding.

    Parameters
    ----------
    n_components : int, default=1
        Rank of the metric, and columns of ``transform``. The best metric of all has rank one, and makes a line of
        every embedding: ask for as many as the embedding shall have dimensions, at least.
    kernel : {"rbf", "poly"}, callable or None, default=None
        Learn in the space of a kernel. A callable takes rows (m, d) and (n, d) and returns (m, n).
    gamma : float or None, default=None
        ``exp(-gamma |a - b|²)``, ``(gamma a·b + 1)^degree`` (of centred rows); None: 1 / mean squared distance.
    degree : int, default=3
        Of "poly".
    regularization : float or "auto", default="auto"
        How far scatters are shrunk to a multiple of the identity, in mean variances. Larger: nearer to PCA. "auto" is
        0.1 + 2p/m for m pairs in p dimensions: few pairs say little of many columns. Not used by the literal form.
    form : {"generalised", "literal"}, default="generalised"
        "generalised" measures the scatter of the pairs relative to that of the data, so that the metric does not
        depend on the units of the columns but for the shrinkage, and scales each direction so that same pairs are
        equally far apart along all; "literal" is the source's problem, A ⪯ I/r and tr A = 1.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        The factor C of A = CᵀC (absent with a kernel).
    mahalanobis_ : array of shape (d, d)
        A itself, made when asked for.
    mean_ : array of shape (d,)
        What ``transform`` subtracts (absent with a kernel).
    n_pairs_ : tuple of int
        Same and different pairs that were used.
    n_components_ : int
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import EquivalenceMetric
    >>> X = np.random.default_rng(0).normal(size=(100, 2)) * [1, 9]
    >>> hints = EquivalenceMetric().fit(X, y=X[:, 0] > 0)
    >>> np.abs(hints.transform(X)[:, 0] @ X / np.linalg.norm(X, axis=0)).argmax()
    np.int64(0)
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        kernel: Any = None,
        gamma: float | None = None,
        degree: int = 3,
        regularization: float | str = "auto",
        form: str = "generalised",
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.regularization = regularization
        self.form = form

    @one_blas_thread
    def fit(self, X: Array, y: Any = None, *, same: Any = None, different: Any = None) -> EquivalenceMetric:
        """Learn the metric.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,), optional
            Class labels: short for all pairs, same within a class and different across (None or NaN: not known).
            Not read where pairs are given.
        same, different : Pairs or array of shape (m, 2), optional
            Row numbers of pairs. With nothing given, the metric is that of PCA.
        """
        check_choice(self, "form", self.form, FORMS)
        X = self._checked_rows(X)
        scatter = self._said(y, same, different, len(X))
        span, T = self._spanned(X)
        V, inner = directions(scatter, T, self.form, self.regularization, int(self.n_components))
        if self.form == "generalised":
            V = V / reach(scatter, T, V, self.regularization)
        V = V / np.sqrt(float(inner @ (V**2).sum(axis=1)) or 1.0)
        self.n_pairs_ = (scatter.n_same, scatter.n_different)
        self._keep(span, V, units=span.scale if self.form == "literal" else 1.0)
        return self

    def _said(self, y: Any, same: Any, different: Any, n: int) -> Scatter:
        if same is None and different is None:
            if y is None:
                return NoScatter()
            columns = list(label_codes(self, y, n).values())
            if len(columns) > 1:
                rule, remedy = "is more than one label per row", "Use MultiAttributeMetric for several attributes"
                raise ValueError(complain(self, "y", f"{len(columns)} columns", rule, remedy))
            return LabelScatter(columns[0])
        none = np.empty((0, 2), dtype=np.int64)
        together = distinct_pairs(self, "same", none if same is None else same, n)
        apart = distinct_pairs(self, "different", none if different is None else different, n)
        refuse_contradictions(self, together, apart)
        return PairScatter(together.index, apart.index, n)
