"""A metric from pairs that are the same and pairs that are different, in closed form (S4, section 3.2)."""

from __future__ import annotations

import numpy as np

from sidelight.base.capabilities import METRIC
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.base.validation import check_choice
from sidelight.maps.hinted import informed_directions, literal_directions
from sidelight.objectives.scatter import LabelScatter, PairScatter, Scatter
from sidelight.side.contradictions import distinct_pairs, refuse_contradictions
from sidelight.side.labels import label_codes

from ._chosen_prior import ChosenPrior, chosen_prior
from ._learned_metric import Kernel, learned_metric, span_rows
from ._metric_mixin import MetricMixin

__all__ = ["EquivalenceMetric"]


_FORMS = ("auto", "within", "generalised", "literal")


class EquivalenceMetric(MetricMixin, Estimator):
    """Learn a metric from hints: these rows belong together, those apart.

    Directions in which same rows differ count for less; in the generalised form, directions in which different rows
    are further apart than any two rows count for more. The metric follows in closed form from scatter matrices. A
    transformer: put it before any embedding.

    Parameters
    ----------
    n_components : int or None, default=None
        Rank of the metric, and columns of ``transform``. None: all directions, each with its weight; best for a few
        hints. A number keeps the widest directions under the metric; best for labels and many hints. (In the literal
        form None is 1.)
    kernel : {"rbf", "poly"}, callable or None, default=None
        Learn in the space of a kernel. A callable takes rows (m, d) and (n, d) and returns (m, n).
    gamma : float or None, default=None
        Parameter of the kernels "rbf", ``exp(-gamma |a - b|²)``, and "poly", ``(gamma a·b + 1)^degree`` (of centred
        rows); None: 1 / mean squared distance.
    degree : int, default=3
        Degree of the kernel "poly".
    kernel_coordinates : {"pca", "columns"}, default="pca"
        With a kernel, learn on kernel-PCA coordinates, or on kernel columns ``[K(x_1, x), ..., K(x_n, x)]`` as
        [1]_ does (section 3.4), which give narrow directions less weight still.
    regularization : float or "auto", default="auto"
        Weight of the prior, as a number of pairs: without hints, same rows differ equally in all directions, and
        different rows as any two rows do. "auto": the weight under which held-out pairs are told from random ones best;
        infinite, so that the metric is Euclidean, where none is better than that (always with fewer than three
        pairs). A number takes the pairs at their word. Not used by the literal form.
    form : {"auto", "within", "generalised", "literal"}, default="auto"
        "within": A is the inverse of the scatter of same pairs, pooled with the prior; different pairs only help to
        choose ``regularization``. Few pairs change few directions. "generalised": different pairs change the metric
        too, and the prior has the size of the differences of same pairs. "auto": "within" where ``regularization`` is
        "auto" and there are same pairs, else "generalised". "literal" is the problem of [1]_: minimise
        ``Σ_same |x_i - x_j|²_A - Σ_different |x_i - x_j|²_A`` over A with A ⪯ I/r and tr A = 1. It depends on the units
        of the columns.

    Attributes
    ----------
    components_ : array of shape (r, d)
        The factor C of A = CᵀC, widest direction of the data first (absent with a kernel). The data is as spread out
        under A of full rank as it was.
    inverse_components_ : array of shape (r, d)
        ``inverse_transform`` is ``mean_ + Z @ inverse_components_`` (absent with a kernel).
    mahalanobis_ : array of shape (d, d)
        A itself, computed on access.
    mean_ : array of shape (d,)
        What ``transform`` subtracts, so the row that it takes to 0 (absent with a kernel).
    n_pairs_ : tuple of int
        Same and different pairs that were used.
    regularization_ : float
        The weight of the prior that was used; inf: the hints did not change the metric (0 in the literal form).
    form_ : str
        The form that was used.
    n_components_ : int
    n_features_in_ : int

    See Also
    --------
    MultiAttributeMetric : for several attributes at once.
    DistanceMetric : from known distances.

    References
    ----------
    .. [1] A. Ghodsi. Nonlinear dimensionality reduction with side information. PhD thesis, University of Waterloo,
           2005, section 3.2.
    .. [2] E. P. Xing, A. Y. Ng, M. I. Jordan and S. Russell. Distance metric learning, with application to clustering
           with side-information. Advances in Neural Information Processing Systems 15, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import EquivalenceMetric
    >>> X = np.random.default_rng(0).normal(size=(100, 2)) * [1, 9]
    >>> hints = EquivalenceMetric(1).fit(X, y=X[:, 0] > 0)
    >>> np.abs(hints.transform(X)[:, 0] @ X / np.linalg.norm(X, axis=0)).argmax()
    np.int64(0)
    """

    _capabilities = METRIC.also("takes_pairs")

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Kernel | None = None,
        gamma: float | None = None,
        degree: int = 3,
        kernel_coordinates: str = "pca",
        regularization: float | str = "auto",
        form: str = "auto",
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
    def fit(self, X: Array, y: object = None, *, same: object = None, different: object = None) -> EquivalenceMetric:
        """Learn the metric.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,), optional
            Class labels, equivalent to all pairs: same within a class and different across (None or NaN: unknown).
            Ignored where pairs are given.
        same, different : Pairs or array of shape (m, 2), optional
            Row numbers of pairs. Without labels and pairs, the metric is Euclidean (of rank ``n_components``: PCA's).
        """
        check_choice(self, "form", self.form, _FORMS)
        X = self._checked_fit_rows(X)
        together, apart = self._scatters(y, same, different, len(X))
        span, T = span_rows(X, self.kernel, self.gamma, self.degree, self.kernel_coordinates)
        if self.form == "literal":
            r = int(self.n_components or 1)
            V, prior = literal_directions(together, apart, T, r) / np.sqrt(r), ChosenPrior("literal", 0.0)
        else:
            prior = self._prior(together, apart, T)
            V = informed_directions(together, apart, T, prior.weight, self.n_components, form=prior.form)
        self._keep_metric(learned_metric(type(self).__name__, span, T, V, self.n_components))
        self.n_pairs_ = (together.n_pairs, apart.n_pairs)
        self.regularization_, self.form_ = prior.weight, prior.form
        return self

    def _prior(self, same: Scatter, different: Scatter, T: Array) -> ChosenPrior:
        """Form and weight of the prior, in pairs: those asked for, or chosen by held-out pairs."""
        if isinstance(self.regularization, str):
            return chosen_prior(same, different, T, self.n_components, self.form)
        return ChosenPrior("generalised" if self.form == "auto" else self.form, float(self.regularization))

    def _scatters(self, y: object, same: object, different: object, n: int) -> tuple[Scatter, Scatter]:
        """Scatter matrices of same and of different pairs, from labels or from pairs."""
        none = np.empty((0, 2), dtype=np.int64)
        if same is None and different is None:
            if y is None:
                return PairScatter(none, n), PairScatter(none, n)
            columns = list(label_codes(self, y, n).values())
            if len(columns) > 1:
                rule, remedy = "is more than one label per row", "Use MultiAttributeMetric for several attributes"
                raise ValueError(error_message(self, "y", f"{len(columns)} columns", rule, remedy))
            return LabelScatter(columns[0]), LabelScatter(columns[0], different=True)
        together = distinct_pairs(self, "same", none if same is None else same, n)
        apart = distinct_pairs(self, "different", none if different is None else different, n)
        refuse_contradictions(self, together, apart)
        return PairScatter(together.index, n), PairScatter(apart.index, n)
