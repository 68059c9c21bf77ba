"""Kernel information embedding: latent points that keep as much information about the data as they can.

Maximise over Z (n, q) the Parzen estimate of the mutual information less a penalty (S0 ch. 3, S1 §2)

    I(X; Z) = H(Z) - H(X, Z),        minimise  -I + λ · penalty(Z)

while λ falls from a value at which the points are one clump to ``regularization``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_symmetric, validate_data

from ._cost import Cost, refuse_if_too_large
from ._frame import Frame
from ._messages import complain
from ._progress import ProgressBar, both
from ._two_way_maps import TwoWayMaps
from ._validation import check_choice, check_integer, check_number, check_rows
from .kernels.data_kernel import DataKernel, fixed_kernel, perplexity_kernel
from .kernels.landmarks import landmark_distances
from .kernels.profiles import profile
from .kernels.tiles import one_blas_thread
from .maps.kernel_map import KernelMap, best_perplexity
from .maps.parzen import ParzenDensity, fit_density
from .maps.weights import AdaptiveWeights, FixedWeights, PrecomputedWeights
from .objectives.entropy import EntropySum, information
from .objectives.evaluation import Objective, WeightedSum
from .objectives.penalties import Box, Power, Stretch
from .solvers.anneal import Path, ValueAndGrad, anneal, best_size, geometric
from .solvers.eigen import GraphSpectrum, graph_spectrum, landmark_scaling
from .solvers.result import Callback, Status

__all__ = ["KernelInformationEmbedding"]

Array = npt.NDArray[Any]
_MODES = 64  # smooth directions the solver is preconditioned with


class KernelInformationEmbedding(ClassNamePrefixFeaturesOutMixin, TwoWayMaps, BaseEstimator):
    """Embed rows so that the map keeps what the data says, with maps and densities both ways.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    bandwidth : "perplexity", "loo" or float, default="perplexity"
        How wide the data kernel is: each row its own, so that it has ``perplexity`` neighbours; one for all by
        leave-one-out likelihood; or that number (of squared distance).
    perplexity : float, default=30
        Effective neighbours of a row (at most a third of the rows).
    n_neighbors : int or None, default=15
        The graph of mutual neighbours along which a perplexity kernel measures distances; None: in straight lines.
    metric : "euclidean", "cosine" or "precomputed", default="euclidean"
        Distance between rows. With "precomputed", X holds the distances, and there is no way back to the data.
    kernel : "gaussian", "student" or "quartic", default="gaussian"
        Profile of a data kernel with one bandwidth (a perplexity kernel is Gaussian).
    latent_kernel : "gaussian", "student" or "quartic", default="gaussian"
        Profile of the latent kernel, whose bandwidth is 1.
    regularization : float, default=0.1
        The weight λ of the penalty at the end of the path. Smaller: finer detail, later over-fitting.
    penalty : "stretch", "l2", "l4" or "box", default="stretch"
        What is penalised: the pulling apart of neighbours, the power of the latent points (the source's; use
        λ of 0.001 to 0.05), its fourth-power form, which aligns with the axes, or leaving the unit box.
    regularization_start : float or None, default=None
        λ at the beginning of the path; None: 30 times ``regularization``.
    regularization_decay : float, default=0.5
        λ is multiplied by this from one stage to the next.
    init : "mds", "spectral", "pca", "random" or array of shape (n, q), default="mds"
        Where the path begins: landmark scaling of the distances the kernel is made of (along the graph: Isomap), the
        smoothest vectors of the kernel graph, principal components, noise. All but the noise are the same for
        every seed, and their size is chosen by the objective.
    max_iter : int, default=500
        Iterations of each stage at most.
    tol : float, default=1e-6
        A stage ends when an iteration improves the objective by less, relatively.
    random_state : int, RandomState or None, default=None
        For ``init="random"`` and ``sample``.
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
    bandwidth_ : float or array of shape (n,)
        Of the data kernel, in squared units of the data.
    perplexity_ : float
        The perplexity used (no more than a third of the rows).
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
    >>> from sidelight import KernelInformationEmbedding
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(200, random_state=0)
    >>> model = KernelInformationEmbedding(n_components=2).fit(data.X)
    >>> model.embedding_.shape, model.inverse_transform(model.transform(data.X)).shape
    ((200, 2), (200, 3))
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        bandwidth: str | float = "perplexity",
        perplexity: float = 30.0,
        n_neighbors: int | None = 15,
        metric: str = "euclidean",
        kernel: str = "gaussian",
        latent_kernel: str = "gaussian",
        regularization: float = 0.1,
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
        self.bandwidth = bandwidth
        self.perplexity = perplexity
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.kernel = kernel
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

    @one_blas_thread
    def fit(self, X: Array, y: Any = None) -> KernelInformationEmbedding:
        """Embed the rows of ``X`` (n, d) and keep the maps both ways; ``y`` is ignored."""
        del y
        self._check_parameters()
        X = self._check_data(X)
        refuse_if_too_large(self, self.estimate_cost(*X.shape), len(X))
        self.frame_ = Frame.of(X, self.metric)
        points = self.frame_.points(X)
        kernel = self._data_kernel(points)
        entropies = EntropySum(information(kernel.matrix), profile(self.latent_kernel), n_jobs=self.n_jobs)
        penalty = self._penalty(kernel)
        spectrum = graph_spectrum(kernel.matrix, max(_MODES, self.n_components))
        start = self._start(points, kernel, spectrum)
        path = self._solve(entropies, penalty, start, spectrum)
        self._keep(X, points, kernel, path)
        if path.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return self

    def fit_transform(self, X: Array, y: Any = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return self.fit(X, y).embedding_

    def estimate_cost(self, n: int, d: int) -> Cost:
        """What a fit of n rows and d columns takes, before it is paid."""
        dense = self.bandwidth != "perplexity"
        pairs, stored = n * n / 2, 4.5 * self.perplexity * n
        size = 4 * pairs * (2 if dense else 1) + 8 * n * d * 4 + 40 * stored + 2**26
        evaluation = 1e-3 + 5e-9 * pairs * (2 if dense else 1) + 6e-8 * stored * (not dense)
        seconds = 0.2 + 180 * evaluation + 3e-10 * n * n * d + 5e-4 * n  # 180: a middling number of evaluations
        return Cost(int(size), float(seconds))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        if not isinstance(self.bandwidth, str):
            check_number(self, "bandwidth", self.bandwidth, 0.0)
        else:
            check_choice(self, "bandwidth", self.bandwidth, ("perplexity", "loo"))
        check_number(self, "perplexity", self.perplexity, 1.0)
        if self.n_neighbors is not None:
            check_integer(self, "n_neighbors", self.n_neighbors, 1)
        check_choice(self, "metric", self.metric, ("euclidean", "cosine", "precomputed"))
        for name in ("kernel", "latent_kernel"):
            check_choice(self, name, getattr(self, name), ("gaussian", "student", "quartic"))
        check_choice(self, "penalty", self.penalty, ("stretch", "l2", "l4", "box"))
        check_number(self, "regularization", self.regularization, 0.0)
        if self.regularization_start is not None:
            check_number(self, "regularization_start", self.regularization_start, 0.0)
        check_number(self, "regularization_decay", self.regularization_decay, 0.0, 1.0)
        check_integer(self, "max_iter", self.max_iter, 1)
        check_number(self, "tol", self.tol, 0.0)
        if isinstance(self.init, str):
            check_choice(self, "init", self.init, ("mds", "spectral", "pca", "random"))

    def _check_data(self, X: Array) -> Array:
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        if self.metric == "precomputed":
            if X.shape[0] != X.shape[1]:
                rule = "is not square, as precomputed distances are"
                raise ValueError(complain(self, "X", f"array of shape {X.shape}", rule, "Give an (n, n) matrix"))
            if X.min() < 0:
                seen, rule = float(X.min()), "is a negative distance"
                raise ValueError(complain(self, "X", seen, rule, "Give distances, not similarities"))
            X = check_symmetric(X, raise_exception=False)
        return np.asarray(X)

    def _data_kernel(self, points: Array) -> DataKernel:
        precomputed = self.metric == "precomputed"
        if self.bandwidth == "perplexity":
            self.perplexity_ = float(max(1.0 + 1e-6, min(self.perplexity, (len(points) - 1) / 3)))
            return perplexity_kernel(
                points, self.perplexity_, self.n_neighbors, precomputed=precomputed, n_jobs=self.n_jobs
            )
        h = None if isinstance(self.bandwidth, str) else (np.sqrt(self.bandwidth) / self.frame_.scale) ** 2
        if h is not None and self.metric == "cosine":
            h = float(self.bandwidth)
        return fixed_kernel(points, h, profile(self.kernel), precomputed=precomputed, n_jobs=self.n_jobs)

    def _penalty(self, kernel: DataKernel) -> Objective:
        if self.penalty == "stretch":
            return Stretch(kernel.matrix)
        return Box() if self.penalty == "box" else Power(2 if self.penalty == "l2" else 4)

    def _start(self, points: Array, kernel: DataKernel, spectrum: GraphSpectrum) -> Array:
        n, q = len(points), self.n_components
        if not isinstance(self.init, str):
            start = np.array(self.init, dtype=np.float64)
            check_rows(self, "init", start, n)
            if start.shape != (n, q) or not np.isfinite(start).all():
                rule = f"is not a finite array of shape ({n}, {q})"
                raise ValueError(complain(self, "init", f"array of shape {start.shape}", rule, "Give one row per row"))
            return start
        if self.init == "random":
            return np.asarray(0.1 * check_random_state(self.random_state).standard_normal((n, q)))
        precomputed = self.metric == "precomputed"
        if self.init == "spectral":
            found = spectrum.coordinates(q)
        elif self.init == "pca" and not precomputed:
            found = PCA(min(q, *points.shape), svd_solver="full").fit_transform(points)
        else:
            graph = kernel.graph if self.init == "mds" else None
            rows, D = landmark_distances(points, graph, precomputed=precomputed, n_jobs=self.n_jobs)
            found = landmark_scaling(D, rows, q)
        start = np.zeros((n, q))
        start[:, : found.shape[1]] = found[:, :q]
        return start

    def _solve(self, entropies: EntropySum, penalty: Objective, start: Array, spectrum: GraphSpectrum) -> Path:
        first = self.regularization_start or 30.0 * self.regularization
        bar = ProgressBar(type(self).__name__) if self.verbose else None

        def objective_at(weight: float) -> ValueAndGrad:
            return WeightedSum({"-I": (1.0, entropies), "penalty": (weight, penalty)}).value_and_grad

        path = anneal(
            objective_at,
            geometric(first, self.regularization, self.regularization_decay),
            start if self._given_start() else best_size(objective_at(first), start),
            max_iter=self.max_iter,
            tolerance=self.tol,
            precondition=spectrum.precondition,
            callback=both(bar, self.callback),
        )
        if bar is not None:
            bar.close(f"{path.status.value}, {path.n_iter} iterations")
        if path.status in (Status.ITERATIONS, Status.STALLED):
            rule = f"did not let the last stage converge: it {path.stages[-1].message}"
            message = complain(self, "max_iter", self.max_iter, rule, "Raise max_iter or tol")
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
        return path

    def _given_start(self) -> bool:
        """Whether the size of the start is somebody's choice, and so not ours."""
        return not isinstance(self.init, str) or self.init == "random"

    def _keep(self, X: Array, points: Array, kernel: DataKernel, path: Path) -> None:
        Z = path.point - path.point.mean(axis=0)
        self.history_ = [vars(record) for record in path.history]
        self.path_ = np.array([stage.point - stage.point.mean(axis=0) for stage in path.stages], dtype=X.dtype)
        self.regularization_path_ = np.array(path.schedule)
        self.n_iter_ = max(1, path.n_iter)
        units = 1.0 if self.metric == "cosine" else self.frame_.scale**2
        self.bandwidth_ = kernel.bandwidth * units
        self.embedding_ = np.asarray(Z.astype(X.dtype))
        self.latent_frame_ = Frame(np.zeros(self.n_components), 1.0)
        self.latent_density_ = ParzenDensity(Z, np.ones(len(Z)), self.latent_kernel)
        if self.metric == "precomputed":
            candidates = min(len(X), round(3 * self.perplexity) + 1)
            perplexity = min(12.0, max(2.0, candidates / 3))
            self.backward_ = KernelMap(PrecomputedWeights(candidates, perplexity), Z)
            return
        inside = points if self.metric == "euclidean" else self.frame_.inside(X)
        self.forward_ = KernelMap(FixedWeights(Z, 1.0, self.latent_kernel), inside)
        if kernel.lists is not None:
            weights = AdaptiveWeights(points, kernel.lists, best_perplexity(points, Z, kernel.lists))
            self.backward_ = KernelMap(weights, Z)
            relative = np.asarray(kernel.bandwidth)
        else:
            self.backward_ = KernelMap(FixedWeights(points, float(kernel.bandwidth), self.kernel), Z)
            relative = np.full(len(X), float(kernel.bandwidth))
        self.density_ = fit_density(inside, relative)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
