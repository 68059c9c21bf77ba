"""Multiple relational embedding: one latent space for several kinds of similarity, with interpretable axes.

Each relation c sees the latent points through its own linear map R_c, learned with them (S0 ch. 4):

    minimise over Z, R_1 ... R_C    Σ_c w_c KL(P^c || Q^c(R_c Z))

so that unrelated relations use different axes and related ones share axes. Rows that a relation does not cover are
placed along its axes by the data. Cost of an evaluation: O(pairs stored · q), and a normaliser for each relation
(``objectives.entropy``): quadratic in its rows, or nearly linear if the fast transform applies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, check_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing, raise_if_interrupted
from sidelight.base.messages import error_message
from sidelight.base.progress import ProgressBar, combine_callbacks
from sidelight.base.result import Callback, State, Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState, SparseMatrix
from sidelight.base.validation import check_choice, check_integer, check_number, validated
from sidelight.kernels.gauss_transform import normaliser_cost
from sidelight.kernels.profiles import profile
from sidelight.kernels.relations import similarity
from sidelight.maps.relational_axes import Axes, canonical_axes
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import neighbour_seconds
from sidelight.objectives.relational import RelationalSum
from sidelight.side.relation import Relation
from sidelight.side.relations import Relations, as_relations
from sidelight.solvers.anneal import Path, anneal
from sidelight.solvers.annealing import end_progress
from sidelight.solvers.eigen import graph_spectrum

from ._relational_checks import check_relations, check_weights, with_two_rows
from ._relational_extension import Extension, extend_relations
from ._relational_maps import RelationalMaps, relational_maps
from ._relational_mixin import RelationalMixin
from ._relational_problem import ObjectiveSettings, first_unknowns, relational_objective
from ._relational_start import relational_start

__all__ = ["MultipleRelationalEmbedding"]


_DATA = "data"
_MODES = 64  # smooth eigenvectors of the graph in the preconditioner


class MultipleRelationalEmbedding(ClassNamePrefixFeaturesOutMixin, RelationalMixin, Estimator):
    """Embed rows so that one map shows several kinds of similarity, each along axes of its own.

    Every relation sees the latent space through a linear map that is learned with it [1]_ [2]_; with one relation and
    no such map this is stochastic neighbour embedding [3]_.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions: one for each relation, and some for the structure of the data beside them.
    transformation : "diagonal", "full" or "identity", default="diagonal"
        The linear map R_c of each relation: a weight for each axis, a full matrix, or the identity.
    weights : dict, default=None
        Weight of each relation in the objective, by name; 1 where not given, 5 for relations that ``extend`` extends.
    latent_kernel : "gaussian" or "student", default="gaussian"
        How similarity falls with latent distance: as in SNE, or with heavy tails.
    sparsity : float, default=0
        Strength of a penalty that makes each relation, except those of data, use few axes (diagonal transformations
        only).
    perplexity : float, default=10
        Effective neighbours of a row in the relation that X gives (with ``use_data``).
    n_neighbors : int or None, default=15
        Neighbours in the graph along which that relation measures distances (geodesic); None: straight-line distances.
    use_data : bool, default=True
        Whether X gives a relation ("data") of its own.
    extend : bool, default=True
        Whether labels and values that are known of some rows are predicted for the others, from the data, before the
        fit. False: rows that a relation does not know follow the other relations only, as in [2]_.
    init : "relations", "random" or array of shape (n, q), default="relations"
        Initial latent points: axes made from the relations, the same for every seed; random noise, as in [2]_; or the
        given points.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-6
        The fit ends when an iteration improves the objective by less.
    random_state : int, RandomState or None, default=None
        For ``init="random"`` and ``sample``. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable or None, default=None
        Called with a state after each iteration; returning True stops the fit there.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
    relation_names_ : list of str
        In the order of the rows of ``relation_weights_``; "data" first, if X gave it.
    relation_weights_ : array of shape (C, q)
        How much each relation uses each axis: its weight times the spread of its rows along the axis (of all rows, for
        a relation of one pair).
    relation_shares_ : array of shape (C, q)
        The same, squared and normalised to sum 1 for each relation.
    transformations_ : array of shape (C, q, q)
        The R_c, in units in which the largest weight on each axis is 1.
    axis_names_ : list of str
        The relation that each axis belongs to, "" for axes left to the data.
    relations_ : Relations
        The relations passed to ``fit``.
    relation_scores_ : dict of name to float
        Of relations that were extended to all rows: how well known rows are predicted without themselves (the share of
        labels that is right, R² of values).
    history_ : list of dict
        iteration, objective, terms (the divergence of each relation by name) and seconds of each iteration.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    Relations : What is known, relation by relation.
    KernelInformationEmbedding : Factors out what is known instead of showing it.
    MultiAttributeMetric : A metric from several attributes, for any embedding.

    References
    ----------
    .. [1] R. Memisevic and G. Hinton, "Multiple relational embedding", Advances in Neural Information Processing
       Systems 17, 913-920, 2005.
    .. [2] R. Memisevic, "Non-linear latent factor models for revealing structure in high-dimensional data", PhD thesis,
       University of Toronto, 2007, chapter 4.
    .. [3] G. Hinton and S. Roweis, "Stochastic neighbor embedding", Advances in Neural Information Processing Systems
       15, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import MultipleRelationalEmbedding, Relation
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(200, random_state=0)
    >>> height = np.where(np.arange(200) < 40, data.factors["height"], np.nan)
    >>> model = MultipleRelationalEmbedding(2).fit(data.X, relations={"height": Relation.from_values(height)})
    >>> model.axis_names_
    ['height', '']
    >>> bool(np.corrcoef(model.embedding_[40:, 0], data.factors["height"][40:])[0, 1] > 0.95)
    True
    """

    _capabilities = TWO_WAY_ITERATIVE.also("takes_relations", "has_relations")
    _fit_has_stages = False

    def __init__(
        self,
        n_components: int = 2,
        *,
        transformation: str = "diagonal",
        weights: dict[str, float] | None = None,
        latent_kernel: str = "gaussian",
        sparsity: float = 0.0,
        perplexity: float = 10.0,
        n_neighbors: int | None = 15,
        use_data: bool = True,
        extend: bool = True,
        init: str | Array = "relations",
        max_iter: int = 1000,
        tol: float = 1e-6,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.transformation = transformation
        self.weights = weights
        self.latent_kernel = latent_kernel
        self.sparsity = sparsity
        self.perplexity = perplexity
        self.n_neighbors = n_neighbors
        self.use_data = use_data
        self.extend = extend
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array | None, y: object = None, *, relations: object = None) -> MultipleRelationalEmbedding:
        """Embed the rows that the relations are about.

        Parameters
        ----------
        X : array of shape (n, d) or None
            Rows, whose similarity is the relation "data". None: only the relations are used, and rows need not have
            features, or not the same ones.
        y : ignored
        relations : Relations or dict of name to Relation, default=None
            Kinds of similarity, each on all rows or some.

        Returns
        -------
        self
        """
        del y
        self._check_parameters()
        owner = type(self).__name__
        if X is not None:
            X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        given = as_relations({} if relations is None else relations, None if X is None else len(X))
        every = self._all_relations(X, given)
        if not every:
            rule = "says nothing of how rows are alike"
            raise ValueError(error_message(self, "relations", relations, rule, "Give X, or a Relation"))
        check_weights(owner, self.weights, [_DATA, *given.names])
        n = len(given) if X is None else len(X)
        check_cost(self, self.estimate_cost(n, 0 if X is None else X.shape[1]), n)
        check_relations(owner, every, n)
        similarities = [similarity(relation, self.n_jobs) for relation in every.values()]
        extension = extend_relations(every, similarities, n) if self.extend else Extension(every, {})
        similarities = [
            own if extension.relations[name] is every[name] else similarity(extension.relations[name], self.n_jobs)
            for name, own in zip(every, similarities, strict=True)
        ]
        every = extension.relations
        objective = relational_objective(every, similarities, n, self._objective_settings(extension.scores))
        start = relational_start(list(every.values()), similarities, n, self.n_components)
        unknowns = first_unknowns(owner, objective, start, self.init, self.random_state)
        path = self._solve(objective, unknowns, start.graph)
        Z, R = objective.points_and_transformations(path.point)
        axes = canonical_axes(Z, R, list(every.values()), objective.transformation)
        if X is not None and len(every) == 1:  # with other relations, equal rows may belong in different places
            axes = replace(axes, Z=group_means(axes.Z, equal_row_groups(X)))
        maps = relational_maps(_data_spaces(X, given), axes.Z, n_jobs=self.n_jobs)
        self._keep(given, list(every), path, axes, maps, None if X is None else X.dtype)
        self.relation_scores_ = extension.scores
        raise_if_interrupted(path.status is Status.INTERRUPTED)
        return self

    def fit_transform(self, X: Array | None, y: object = None, *, relations: object = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y, relations=relations).embedding_)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit of n rows and d columns, with the relation "data" alone, before fitting."""
        stored = 6 * self.perplexity * n
        latent, evaluation = normaliser_cost(profile(self.latent_kernel), n, self.n_components)
        size = latent + 8 * n * d * 4 + 60 * stored + 2**26
        seconds = 0.1 + 100 * (evaluation + 6e-8 * stored) + neighbour_seconds(n, d) + 5e-4 * n
        return Cost(int(size), float(seconds))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        check_choice(self, "transformation", self.transformation, ("diagonal", "full", "identity"))
        check_choice(self, "latent_kernel", self.latent_kernel, ("gaussian", "student"))
        check_number(self, "perplexity", self.perplexity, 1.0)
        if self.n_neighbors is not None:
            check_integer(self, "n_neighbors", self.n_neighbors, 1)
        if self.sparsity != 0:
            check_number(self, "sparsity", self.sparsity, 0.0)
            if self.transformation != "diagonal":
                rule, remedy = "needs a weight for each axis", 'Use transformation="diagonal"'
                raise ValueError(error_message(self, "sparsity", self.sparsity, rule, remedy))
        check_integer(self, "max_iter", self.max_iter, 1)
        check_number(self, "tol", self.tol, 0.0)
        if isinstance(self.init, str):
            check_choice(self, "init", self.init, ("relations", "random"))

    def _all_relations(self, X: Array | None, given: Relations) -> dict[str, Relation]:
        """The relations of the fit by name: that of X first, then those given that have two rows to compare."""
        own = {}
        if X is not None and self.use_data and _DATA not in given:
            own[_DATA] = Relation.from_data(X, perplexity=self.perplexity, n_neighbors=self.n_neighbors)
        return own | with_two_rows(type(self).__name__, dict(given.items()))

    def _objective_settings(self, extended: Collection[str]) -> ObjectiveSettings:
        return ObjectiveSettings(
            self.transformation, self.weights or {}, extended, self.latent_kernel, self.sparsity, self.n_jobs
        )

    def _solve(self, objective: RelationalSum, start: Array, graph: SparseMatrix) -> Path:
        n, bar = objective.n, ProgressBar(type(self).__name__) if self.verbose else None
        spectrum = graph_spectrum(graph, _MODES)

        def precondition(G: Array) -> Array:
            """The inverse of the attraction's Hessian, (2/n) L, for the points; the R_c as they are."""
            return np.vstack([0.5 * n * spectrum.precondition(G[:n]), G[n:]])

        path = anneal(
            lambda _: objective.value_and_grad,
            [0.0],
            start,
            max_iter=self.max_iter,
            tolerance=self.tol,
            precondition=precondition,
            callback=_of_points(combine_callbacks(bar, self.callback), n),
        )
        end_progress(type(self).__name__, self.max_iter, bar, path)
        return path

    def _keep(
        self,
        given: Relations,
        names: list[str],
        path: Path,
        axes: Axes,
        maps: RelationalMaps,
        dtype: npt.DTypeLike | None,
    ) -> None:
        """Set all fitted attributes; ``dtype`` is that of X, None without X."""
        embedding = axes.Z.astype(np.float64 if dtype is None else dtype)
        self.has_data_ = dtype is not None
        if self.has_data_:
            self._keep_maps(maps.two_way(next(iter(maps.views))), embedding)
        else:
            self.embedding_ = embedding
            self.latent_frame_, self.latent_density_ = maps.latent_frame, maps.latent_density
        self.maps_ = dict(maps.views)
        self.relations_, self.relation_names_ = given, names
        self.transformations_, self.relation_weights_, self.relation_shares_ = axes.R, axes.weights, axes.shares
        self.axis_names_ = ["" if owner < 0 else names[owner] for owner in axes.owners]
        self.history_ = [vars(record) for record in path.history]
        self.n_iter_ = max(1, path.n_iter)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _data_spaces(X: Array | None, given: Relations) -> dict[str, tuple[Array, Array]]:
    """Features (m, d) and row numbers (m,) of X, if there is one, and of each data relation that was given."""
    spaces = {} if X is None else {_DATA: (X, np.arange(len(X)))}
    return spaces | {
        name: (relation.entries, relation.index) for name, relation in given.items() if relation.kind == "data"
    }


def _of_points(callback: Callback | None, n: int) -> Callable[[State], bool | None] | None:
    """The callback, shown the latent points only."""
    return None if callback is None else lambda state: callback(replace(state, point=state.point[:n]))
