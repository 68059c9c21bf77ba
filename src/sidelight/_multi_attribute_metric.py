"""One metric for several attributes at once: a direction for each, and their span (S4, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ._messages import complain
from ._metric_map import FORMS, MetricMap, directions
from ._validation import check_choice
from .kernels.tiles import one_blas_thread
from .objectives.scatter import LabelScatter, NoScatter, PairScatter, Scatter
from .side.contradictions import distinct_pairs
from .side.labels import label_codes
from .side.pairs import Pairs
from .solvers.generalised import joined

__all__ = ["MultiAttributeMetric"]

Array = npt.NDArray[Any]


class MultiAttributeMetric(MetricMap, BaseEstimator):
    """Learn one metric that shows several attributes: ``n_components`` directions for each, joined.

    Parameters
    ----------
    n_components : int, default=1
        Directions for each attribute. The metric has this many times the number of attributes, or fewer where two
        attributes share a direction.
    kernel, gamma, degree, regularization, form
        As in :class:`EquivalenceMetric`.

    Attributes
    ----------
    components_ : array of shape (r, d)
        The factor C of A = CᵀC, an orthonormal basis (absent with a kernel).
    attributes_ : tuple of str
        Names of the attributes.
    mahalanobis_ : array of shape (d, d)
    mean_ : array of shape (d,)
    n_features_in_ : int
        As in :class:`EquivalenceMetric`.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import MultiAttributeMetric
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> model = MultiAttributeMetric().fit(X, y=X[:, :2] > 0)
    >>> model.components_.shape
    (2, 6)
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
    def fit(self, X: Array, y: Any = None, *, same: Any = None) -> MultiAttributeMetric:
        """Learn the metric.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array or table of shape (n, attributes), optional
            A column of labels for each attribute: short for all pairs of equal ones. Not read where pairs are given.
        same : dict of Pairs or of arrays of shape (m, 2), optional
            Pairs that are the same, by the name of the attribute. With nothing given, the metric is that of PCA.
        """
        check_choice(self, "form", self.form, FORMS)
        X = self._checked_rows(X)
        said = self._said(y, same, len(X))
        span, T = self._spanned(X)
        found = [directions(one, T, self.form, self.regularization, int(self.n_components)) for one in said.values()]
        V = joined(np.column_stack([V for V, _ in found]), found[0][1])
        self.attributes_ = tuple(said)
        self._keep(span, V, units=span.scale if self.form == "literal" else 1.0)
        return self

    def _said(self, y: Any, same: Any, n: int) -> dict[str, Scatter]:
        if same is None:
            if y is None:
                return {"nothing": NoScatter()}
            return {name: LabelScatter(codes, only_same=True) for name, codes in label_codes(self, y, n).items()}
        named: Any = {"same": same} if isinstance(same, Pairs) else same
        if not isinstance(named, Mapping) or not named:
            rule, remedy = "does not name attributes", "Give a dict from names to pairs, or labels as y"
            raise ValueError(complain(self, "same", type(same).__name__, rule, remedy))
        none = np.empty((0, 2), dtype=np.int64)
        checked = {str(name): distinct_pairs(self, f"same[{name!r}]", pairs, n) for name, pairs in named.items()}
        return {name: PairScatter(pairs.index, none, n) for name, pairs in checked.items()}
