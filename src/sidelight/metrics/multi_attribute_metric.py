"""One metric for several attributes at once: a direction for each, and their span (S4, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sidelight.base.capabilities import METRIC
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.base.validation import check_choice, check_integer
from sidelight.maps.hinted import informed_directions, literal_directions, usual_weight, variances_of
from sidelight.objectives.scatter import LabelScatter, PairScatter, Scatter, pooled
from sidelight.side.contradictions import distinct_pairs, refuse_contradictions
from sidelight.side.labels import label_codes
from sidelight.side.pairs import Pairs
from sidelight.solvers.generalised import joined

from ._learned_metric import FORMS, Kernel, learned_metric, span_rows
from ._metric_mixin import MetricMixin

__all__ = ["MultiAttributeMetric"]


_NONE = np.empty((0, 2), dtype=np.int64)


class MultiAttributeMetric(MetricMixin, Estimator):
    """Learn one metric that shows several attributes: ``n_components`` directions for each, joined.

    Parameters
    ----------
    n_components : int, default=1
        Directions for each attribute. The metric has this many times the number of attributes, or fewer where two
        attributes share a direction.
    kernel, gamma, degree, kernel_coordinates, form
        As in :class:`EquivalenceMetric`.
    regularization : float or "auto", default="auto"
        Weight of the prior, as a number of pairs. "auto": the number of dimensions, at most 30: a metric of so few
        directions has no Euclidean one to fall back to, so that nothing is held out to choose it.

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

    See Also
    --------
    EquivalenceMetric : for one attribute.

    References
    ----------
    .. [1] A. Ghodsi. Nonlinear dimensionality reduction with side information. PhD thesis, University of Waterloo,
           2005, section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import MultiAttributeMetric
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> model = MultiAttributeMetric().fit(X, y=X[:, :2] > 0)
    >>> model.components_.shape
    (2, 6)
    """

    _capabilities = METRIC.also("takes_pairs")
    n_components: int

    def __init__(
        self,
        n_components: int = 1,
        *,
        kernel: Kernel | None = None,
        gamma: float | None = None,
        degree: int = 3,
        kernel_coordinates: str = "pca",
        regularization: float | str = "auto",
        form: str = "generalised",
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.kernel_coordinates = kernel_coordinates
        self.regularization = regularization
        self.form = form

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None, *, same: object = None, different: object = None) -> MultiAttributeMetric:
        """Learn the metric.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array or table of shape (n, attributes), optional
            A column of labels for each attribute, equivalent to all pairs of equal ones. Ignored where pairs are given.
        same, different : dict of Pairs or of arrays of shape (m, 2), optional
            Pairs that are the same, and pairs that are different, by the name of the attribute; an attribute may have
            either or both. Without labels and pairs, the metric is that of PCA.
        """
        check_choice(self, "form", self.form, FORMS)
        check_integer(self, "n_components", self.n_components, 1)
        X = self._checked_fit_rows(X)
        scatters = self._scatters(y, same, different, len(X))
        span, T = span_rows(X, self.kernel, self.gamma, self.degree, self.kernel_coordinates)
        V = joined(np.column_stack([self._directions(*two, T) for two in scatters.values()]), self._inner(T))
        units = None if self.form == "literal" else 1.0
        self._keep_metric(learned_metric(type(self).__name__, span, T, V, self.n_components, units=units))
        self.attributes_ = tuple(scatters)
        return self

    def _directions(self, same: Scatter, different: Scatter, T: Array) -> Array:
        """Directions of one attribute, (p, n_components)."""
        if self.form == "literal":
            return literal_directions(same, different, T, int(self.n_components))
        return informed_directions(same, different, T, self._weight(T.shape[1]), int(self.n_components))

    def _inner(self, T: Array) -> Array:
        """The diagonal (p,) of the inner product in which the joined directions are orthonormal."""
        n, p = T.shape
        if self.form == "literal" or not p:
            return np.ones(p)
        variances = variances_of(T)
        return pooled(variances, n, np.full(p, variances.mean()), self._weight(p))

    def _weight(self, p: int) -> float:
        """Weight of the prior, in pairs, for p coordinates."""
        return usual_weight(p) if isinstance(self.regularization, str) else float(self.regularization)

    def _scatters(self, y: object, same: object, different: object, n: int) -> dict[str, tuple[Scatter, Scatter]]:
        """Scatter matrices of same and of different pairs of each attribute, from labels or from pairs."""
        none = PairScatter(_NONE, n)
        if same is None and different is None:
            if y is None:
                return {"nothing": (none, none)}
            return {name: (LabelScatter(codes), none) for name, codes in label_codes(self, y, n).items()}
        together, apart = self._named("same", same, n), self._named("different", different, n)
        scatters: dict[str, tuple[Scatter, Scatter]] = {}
        for name in {**together, **apart}:
            alike, unlike = (pairs.get(name, Pairs(_NONE, n)) for pairs in (together, apart))
            refuse_contradictions(self, alike, unlike, name)
            scatters[name] = PairScatter(alike.index, n), PairScatter(unlike.index, n)
        return scatters

    def _named(self, argument: str, given: object, n: int) -> dict[str, Pairs]:
        """Pairs of each attribute by its name; {} for None."""
        if given is None:
            return {}
        named = {"pairs": given} if isinstance(given, Pairs) else given
        if not isinstance(named, Mapping) or not named:
            rule, remedy = "does not name attributes", "Give a dict from names to pairs, or labels as y"
            raise ValueError(error_message(self, argument, type(given).__name__, rule, remedy))
        return {str(name): distinct_pairs(self, f"{argument}[{name!r}]", pairs, n) for name, pairs in named.items()}
