"""Unsupervised kernel regression: latent points from which the data is told best.

Minimise over Z (n, q) the leave-one-out error of the forward map (S0 2.19; Meinicke et al. 2005) and a penalty

    E(Z) = Σ_i |x_i - Σ_{j≠i} w_ij x_j|² / Σ_i |x_i - x̄|²,    w_ij ∝ k(|z_i - z_j|²),    minimise E + λ · penalty

while λ falls to ``regularization``, from a deterministic start. The forward map is what is learned; the backward map is
kernel regression the other way, which the source's method does not have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from sidelight.base.capabilities import TWO_WAY_ITERATIVE
from sidelight.base.cost import Cost, refuse_if_too_large
from sidelight.base.fitting import KeptInterrupt, all_or_nothing
from sidelight.base.messages import complain
from sidelight.base.random import random_numbers
from sidelight.base.result import Callback, Status
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_choice, check_integer, check_number, check_rows, refuse_far_start, validated
from sidelight.kernels.data_kernel import DataKernel, perplexity_kernel
from sidelight.kernels.profiles import profile
from sidelight.maps.frames import Frame
from sidelight.maps.model_maps import keep_maps
from sidelight.maps.two_way import TwoWayMaps
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.objectives.reconstruction import LeaveOneOutReconstruction
from sidelight.solvers.annealed_fit import check_annealing, follow_path, keep_path, penalty_of
from sidelight.solvers.eigen import GraphSpectrum, graph_spectrum, landmark_scaling
from sidelight.solvers.smoother import smoother_vectors

__all__ = ["UnsupervisedKernelRegression"]

Array = npt.NDArray[Any]
_MODES = 64  # smooth directions the solver is preconditioned with


class UnsupervisedKernelRegression(ClassNamePrefixFeaturesOutMixin, TwoWayMaps, BaseEstimator):
    """Embed rows so that each is told as well as can be by its neighbours on the map, with maps both ways.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    perplexity : float, default=30
        Effective neighbours of a row (at most a third of the rows) in the kernel of the data, which makes the start,
        the stretch penalty and the backward map. The objective itself does not use it.
    n_neighbors : int or None, default=15
        The graph of mutual neighbours along which the kernel measures distances; None: in straight lines.
    latent_kernel : "gaussian", "student" or "quartic", default="gaussian"
        Profile of the latent kernel, whose bandwidth is 1.
    regularization : float, default=0.003
        The weight λ of the penalty at the end of the path, against an error that is a share of the variance.
    penalty : "stretch", "l2", "l4" or "box", default="stretch"
        What is penalised: the pulling apart of neighbours, the power of the latent points, its fourth-power form,
        which aligns with the axes, or leaving the unit box.
    regularization_start : float or None, default=None
        λ at the beginning of the path; None: 30 times ``regularization``.
    regularization_decay : float, default=0.5
        λ is multiplied by this from one stage to the next.
    init : "mds", "spectral", "random" or array of shape (n, q), default="mds"
        Where the path begins: landmark scaling of the distances along the graph (Isomap), the vectors of
        ``SmootherEmbedding``, noise. All but the noise are the same for every seed, and their size is chosen by the
        objective. With noise let the path begin at ``regularization_start=1``.
    max_iter : int, default=500
        Iterations of each stage at most.
    tol : float, default=1e-6
        A stage ends when an iteration improves the objective by less.
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
        ``E`` at the embedding.
    bandwidth_ : array of shape (n,)
        Of the data kernel, in squared units of the data.
    history_ : list of dict
        stage, regularization, iteration, objective, terms and seconds of each iteration.
    path_ : array of shape (stages, n, q)
        The embedding at the end of each stage of the annealing.
    regularization_path_ : array of shape (stages,)
        Their λ.
    n_iter_ : int
    n_features_in_ : int

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

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30.0,
        n_neighbors: int | None = 15,
        latent_kernel: str = "gaussian",
        regularization: float = 0.003,
        penalty: str = "stretch",
        regularization_start: float | None = None,
        regularization_decay: float = 0.5,
        init: str | Array = "mds",
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: Any = None,
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
        self.regularization_start = regularization_start
        self.regularization_decay = regularization_decay
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: Any = None) -> UnsupervisedKernelRegression:
        """Embed the rows of ``X`` (n, d) and keep the maps both ways; ``y`` is ignored."""
        del y
        self._check_parameters()
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        refuse_if_too_large(self, self.estimate_cost(*X.shape), len(X))
        self.frame_ = Frame.of(X)
        points = self.frame_.points(X)
        perplexity = float(max(1.0 + 1e-6, min(self.perplexity, (len(X) - 1) / 3)))
        kernel = perplexity_kernel(points, perplexity, self.n_neighbors, n_jobs=self.n_jobs)
        spectrum = graph_spectrum(kernel.matrix, _MODES)
        error = LeaveOneOutReconstruction(points, profile(self.latent_kernel), n_jobs=self.n_jobs)
        penalty = penalty_of(self, kernel.matrix)
        ours = isinstance(self.init, str) and self.init != "random"  # then its size is ours to choose, too
        start = self._start(points, kernel, spectrum) if ours else self._chosen_start(len(X))
        path = follow_path(self, {"error": (1.0, error)}, penalty, start, spectrum.precondition, resize=ours)
        Z = keep_path(self, path, X.dtype)
        self.reconstruction_error_ = error.value(Z)
        self.bandwidth_ = kernel.bandwidth * self.frame_.scale**2
        keep_maps(self, X, Z, points, kernel, self.latent_kernel)
        if path.status is Status.INTERRUPTED:
            raise KeptInterrupt
        return self

    def fit_transform(self, X: Array, y: Any = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y).embedding_)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """What a fit of n rows and d columns takes, before it is paid."""
        pairs, stored, width = n * n / 2, 4.5 * self.perplexity * n, min(n, d)
        size = 4 * pairs + 8 * n * (4 * d + 8 * width) + 40 * stored + 2**26
        evaluation = 1e-3 + pairs * (2e-8 + 2e-10 * width)
        return Cost(int(size), float(0.2 + 150 * evaluation + 3e-10 * n * n * d + 5e-4 * n))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        check_number(self, "perplexity", self.perplexity, 1.0)
        if self.n_neighbors is not None:
            check_integer(self, "n_neighbors", self.n_neighbors, 1)
        check_annealing(self)
        if isinstance(self.init, str):
            check_choice(self, "init", self.init, ("mds", "spectral", "random"))

    def _chosen_start(self, n: int) -> Array:
        """An array that was given, or small noise."""
        q = self.n_components
        if isinstance(self.init, str):
            return np.asarray(0.1 * random_numbers(self.random_state).standard_normal((n, q)))
        start = np.array(self.init, dtype=np.float64)
        check_rows(self, "init", start, n)
        if start.shape != (n, q) or not np.isfinite(start).all():
            rule = f"is not a finite array of shape ({n}, {q})"
            raise ValueError(complain(self, "init", f"array of shape {start.shape}", rule, "Give one row per row"))
        refuse_far_start(self, start)
        return start

    def _start(self, points: Array, kernel: DataKernel, spectrum: GraphSpectrum) -> Array:
        start = np.zeros((len(points), self.n_components))
        if self.init == "spectral":
            found = smoother_vectors(kernel.matrix, self.n_components, spectrum).vectors
        else:
            rows, D = landmark_distances(points, kernel.graph, n_jobs=self.n_jobs)
            found = landmark_scaling(D, rows, self.n_components)
        start[:, : found.shape[1]] = found
        return start

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
