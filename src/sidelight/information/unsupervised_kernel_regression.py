"""Unsupervised kernel regression: latent points from which kernel regression reconstructs the data best.

Minimise over Z (n, q) the leave-one-out error of the forward map (S0 2.19; Meinicke et al. 2005) and a penalty

    E(Z) = Σ_i |x_i - Σ_{j≠i} w_ij x_j|² / Σ_i |x_i - x̄|²,    w_ij ∝ k(|z_i - z_j|²),    minimise E + λ · penalty

while λ falls to ``regularization``, from a deterministic start. The forward map (latent to data) is learned. The
backward map is kernel regression in the other direction, which the source's method does not have.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from sidelight.base.alias import accept_moved_parameters
from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, check_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.result import Callback
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_integer, check_number, checked_start, validated
from sidelight.kernels.data_kernel import DataKernel, perplexity_kernel
from sidelight.kernels.profiles import LATENT_PROFILES, profile
from sidelight.maps.frames import Frame
from sidelight.maps.mean_map_mixin import MeanMapMixin
from sidelight.maps.two_way import kernel_maps
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.neighbours.search import neighbour_seconds
from sidelight.objectives.penalties import penalty_named
from sidelight.objectives.reconstruction import LeaveOneOutReconstruction
from sidelight.solvers.anneal import best_size
from sidelight.solvers.annealing import fitted_path
from sidelight.solvers.eigen import GraphSpectrum, graph_spectrum, landmark_scaling
from sidelight.solvers.smoother import smoother_vectors

from ._annealed import SMOOTH_MODES, Descent, annealed
from ._annealed_mixin import AnnealedMixin
from ._power_limit import check_limit
from ._settings import LatentSettings
from ._starts import noise, padded
from .annealing import Annealing

__all__ = ["UnsupervisedKernelRegression"]


class UnsupervisedKernelRegression(ClassNamePrefixFeaturesOutMixin, AnnealedMixin, MeanMapMixin, Estimator):
    """Embed rows so that kernel regression from their latent neighbours reconstructs them best, with maps both ways.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    perplexity : float, default=30
        Effective neighbours of a row (at most a third of the rows) in the data kernel, which is used for the initial
        points, the stretch penalty and the backward map. The reconstruction error itself does not use it.
    n_neighbors : int or None, default=15
        Neighbours in the mutual nearest-neighbour graph along which the data kernel measures distances (geodesic
        distances). None: straight-line distances.
    latent_kernel : "gaussian", "student" or "quartic", default="gaussian"
        Profile of the latent kernel, whose bandwidth is 1.
    regularization : float or Annealing, default=0.003
        The weight λ of the penalty at the end of the annealing, relative to an error that is a share of the variance.
        An :class:`Annealing` also sets the schedule of λ.
    penalty : "stretch", "l2", "l4" or "box", default="stretch"
        The penalised quantity. "stretch": distances between neighbours. "l2": the mean squared norm of the latent
        points. "l4": its fourth-power form, which aligns with the axes. "box": leaving the unit box.
    init : "mds", "spectral", "random" or array of shape (n, q), default="mds"
        Initial latent points. "mds": landmark multidimensional scaling of distances along the graph (Isomap).
        "spectral": the vectors of ``SmootherEmbedding``. "random": noise; use it with
        ``regularization=Annealing(0.003, start=1.0)``. All but "random" are the same for every seed, and the objective
        chooses their scale.
    max_iter : int, default=500
        Maximum number of iterations of each stage.
    tol : float, default=1e-6
        The last stage ends when two consecutive iterations improve the objective by less than this, relatively. Earlier
        stages use 10 times ``tol``.
    random_state : int, RandomState or None, default=None
        For ``init="random"`` and ``sample``. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable or None, default=None
        Called with a state (stage, n_stages, iteration, objective, terms, seconds, embedding) after each iteration;
        returning True stops the fit there.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
    reconstruction_error_ : float
        Leave-one-out reconstruction error of the embedding, as a share of the variance.
    bandwidth_ : array of shape (n,)
        Bandwidth of the data kernel, in squared units of the data.
    history_ : list of dict
        stage, regularization, iteration, objective, terms and seconds of each iteration.
    path_ : array of shape (stages, n, q)
        The embedding at the end of each stage of the annealing.
    regularization_path_ : array of shape (stages,)
        Their λ.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    SmootherEmbedding : A closed form of a related objective.
    KernelInformationEmbedding : Maps both ways that factor out what is known.

    References
    ----------
    .. [1] P. Meinicke, S. Klanke, R. Memisevic and H. Ritter. Principal surfaces from unsupervised kernel regression.
           IEEE Transactions on Pattern Analysis and Machine Intelligence 27(9), 2005.
    .. [2] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, section 2.3.2.

    Examples
    --------
    >>> from sidelight import UnsupervisedKernelRegression
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(200, random_state=0)
    >>> model = UnsupervisedKernelRegression(n_components=2).fit(data.X)
    >>> model.embedding_.shape, round(model.score(data.X), 1)
    ((200, 2), 1.0)
    """

    _capabilities = TWO_WAY_ITERATIVE

    @accept_moved_parameters
    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30.0,
        n_neighbors: int | None = 15,
        latent_kernel: str = "gaussian",
        regularization: float | Annealing = 0.003,
        penalty: str = "stretch",
        init: str | Array = "mds",
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.n_neighbors = n_neighbors
        self.latent_kernel = latent_kernel
        self.regularization = regularization
        self.penalty = penalty
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None) -> UnsupervisedKernelRegression:
        """Embed the rows of ``X`` (n, d) and fit the maps both ways; ``y`` is ignored."""
        del y
        self._check_parameters()
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        n, q = len(X), self.n_components
        check_cost(self, self.estimate_cost(*X.shape), n)
        frame = Frame.of(X)
        points = frame.points(X)
        perplexity = float(max(1.0 + 1e-6, min(self.perplexity, (n - 1) / 3)))
        kernel = perplexity_kernel(points, perplexity, self.n_neighbors, n_jobs=self.n_jobs)
        spectrum = graph_spectrum(kernel.matrix, SMOOTH_MODES)
        error = LeaveOneOutReconstruction(points, profile(self.latent_kernel), n_jobs=self.n_jobs)
        penalty = penalty_named(self.penalty, kernel.matrix)
        descent = Descent({"error": (1.0, error)}, penalty, spectrum.precondition)
        annealing = self._annealing()
        if not isinstance(self.init, str):
            start = checked_start(self, self.init, (n, q))
        elif self.init == "random":
            start = noise(self.random_state, n, q)
        else:  # only the shape of such a start is meaningful: the objective chooses its scale
            start = best_size(descent.objective_at(annealing.first), self._start(points, kernel, spectrum))
        progress = self._progress()
        path = annealed(descent, annealing.schedule(), start, annealing, progress)
        progress.end(path, annealing.max_iter)

        kept = fitted_path(path, X.dtype)
        Z = group_means(kept.point, equal_row_groups(points))
        maps = kernel_maps(frame, points, Z, kernel, self.latent_kernel, n_jobs=self.n_jobs)
        self.reconstruction_error_ = error.value(kept.point)
        self.bandwidth_ = kernel.bandwidth * frame.scale**2
        self._keep_maps(maps, np.asarray(Z.astype(X.dtype)))
        self._keep_path(path, kept, kept.stages)
        return self

    def fit_transform(self, X: Array, y: object = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y).embedding_)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit of n rows and d columns, before fitting."""
        pairs, stored, width = n * n / 2, 4.5 * self.perplexity * n, min(n, d)
        size = 4 * pairs + 8 * n * (4 * d + 8 * width) + 40 * stored + 2**26
        evaluation = 1e-3 + pairs * (2e-8 + 2e-10 * width)
        return Cost(int(size), float(0.2 + 150 * evaluation + neighbour_seconds(n, d) + 5e-4 * n))

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        check_number(owner, "perplexity", self.perplexity, 1.0)
        if self.n_neighbors is not None:
            check_integer(owner, "n_neighbors", self.n_neighbors, 1)
        latent = LatentSettings(self.n_components, self.latent_kernel, self.penalty, self.init, self.random_state)
        latent.check(owner, kernels=LATENT_PROFILES, starts=("mds", "spectral", "random"))
        self._check_annealing()
        check_limit(owner, Annealing.of(self.regularization).limit, self.penalty)

    def _start(self, points: Array, kernel: DataKernel, spectrum: GraphSpectrum) -> Array:
        """Initial latent points (n, q) for ``init`` "spectral" (smoother vectors) or "mds" (landmark scaling)."""
        if self.init == "spectral":
            found = smoother_vectors(kernel.matrix, self.n_components, spectrum).vectors
        else:
            rows, D = landmark_distances(points, kernel.graph, n_jobs=self.n_jobs)
            found = landmark_scaling(D, rows, self.n_components)
        return padded(found, len(points), self.n_components)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
