"""Maps by the conditional mode instead of the mean (S1 eqs. 9 and 10): never between two modes, as the mean may be.

backward  g(x) = arg max_z  log Σ_j w_j(x) k(|z - z_j|²) - log Σ_j k(|z - z_j|²) - λ · penalty(z)
forward   f(z) = arg max_x  log Σ_j w_j(z) k_X(|x - x_j|² / h(z)),         h(z) = Σ_j w_j(z) h_j

with the weights w of the mean maps, k the latent kernel and k_X the kernel of the density of the data. The first is the
pointwise information content of (x, z). The ratio of two sums of Gaussians does not fall at infinity, so it needs the
penalty of the fit, per row: the power or the box of z, or for stretch ``Σ_j w_j(x) |z - z_j|²``, which is
``|z - mean|²`` up to a constant. It is maximised by BFGS for all rows at once, each with its own Hessian and step. The
second is the mode of p(x | z), found by mean shift.
Both start at the best of the mean and the training rows of largest weight, as halfway between two modes the mean is a
saddle. Rows are independent. Cost per row and step: O(n q) backward, O(n d) forward; memory is bounded by tiles.

With more than ``nearby.MANY`` training rows each query uses its own subset (``points`` (m, k, p) instead of (n, p)):
rows with weight and, backward, the ``_AROUND`` latent points nearest to each candidate start. Kernels of rows further
away are left out of Σ_j k. The cost is then O(k q) or O(k d).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from sidelight.base.tiles import run_tiles, spans
from sidelight.kernels.profiles import GAUSSIAN, Profile, profile
from sidelight.neighbours.distances import padded_product, squared_distances

from .kernel_map import KernelMap
from .nearby import RowSearch, is_many, row_search
from .weights import AdaptiveWeights, FixedWeights, PrecomputedWeights, answers_by_map_tile

__all__ = ["InformationContent", "conditional_log_density", "conditional_mode", "content_mode"]

Array = npt.NDArray[Any]
_BUDGET = 2_000_000  # numbers in the temporaries of one tile
_STARTS = 8  # training rows tried as initial points, besides the mean
_BACKGROUND = 1e-3  # ε of the stretch penalty
_AROUND = 100  # latent points around each start
_NOWHERE = 1e60  # where no kernel reaches


@dataclass(frozen=True)
class InformationContent:
    """The backward objective ``z -> log Σ_j W_j k_j - log Σ_j k_j - λ · penalty(z)``, one for each row of ``W`` (m, n).

    ``points`` are the latent points: (n, q), the same for all queries, or (m, n, q), n for each query. ``weight`` is λ.
    """

    points: Array
    W: Array
    kernel: str
    penalty: str
    weight: float

    def take(self, rows: Array) -> InformationContent:
        """The objectives of a subset of the queries."""
        return InformationContent(_those(self.points, rows), self.W[rows], self.kernel, self.penalty, self.weight)

    def value_and_grad(self, Z: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, q) at Z (m, q); -inf where all weighted kernels vanish."""
        shape = profile(self.kernel)
        R = _apart(Z, self.points)
        logs = shape.log_value(R)
        K = shape.value(R)
        # -d log k / d r²; where k vanishes it is 1 for the Gaussian, and irrelevant for other kernels
        fall = np.divide(shape.slope(K), K, out=np.ones_like(K), where=K > 0)
        with np.errstate(divide="ignore"):
            joint, joint_grad = self._log_sum(logs + np.log(self.W), fall, Z)
        marginal, marginal_grad = self._log_sum(logs, fall, Z)
        cost, cost_grad = self._penalised(Z)
        value = np.where(np.isfinite(joint), joint - np.where(np.isfinite(marginal), marginal, 0.0), -np.inf) - cost
        return value, joint_grad - marginal_grad - cost_grad

    def _log_sum(self, logs: Array, fall: Array, Z: Array) -> tuple[Array, Array]:
        total = logsumexp(logs, axis=1)
        P = fall * np.exp(logs - np.where(np.isfinite(total), total, 0.0)[:, None])
        return total, -2.0 * (Z * P.sum(axis=1, keepdims=True) - _combined(P, self.points))

    def _penalised(self, Z: Array) -> tuple[Array, Array]:
        """λ times the penalty of each row, and its gradient."""
        if self.penalty == "stretch":
            away = Z - _combined(self.W, self.points)
            value, grad = (away**2 + _BACKGROUND * Z**2), 2.0 * (away + _BACKGROUND * Z)
        elif self.penalty == "box":
            outside = np.maximum(np.abs(Z) - 1.0, 0.0)
            value, grad = outside**2, 2.0 * np.sign(Z) * outside
        else:
            power = 4 if self.penalty == "l4" else 2
            value, grad = Z**power, power * Z ** (power - 1)
        return self.weight * value.sum(axis=1), self.weight * grad


def content_mode(
    backward: KernelMap, Q: Array, *, kernel: str, penalty: str, weight: float, n_jobs: int | None = None
) -> Array:
    """Backward map by the mode of the information content.

    Parameters
    ----------
    backward : KernelMap
        The mean map, data to latent points.
    Q : array of shape (m, d)
        Queries.
    kernel : str
        Profile of the latent kernel.
    penalty : str
        Penalty of the fit: "stretch", "box", "l2" or "l4".
    weight : float
        Its weight λ.
    n_jobs : int or None
        Threads.

    Returns
    -------
    Z : array of shape (m, q)
    """
    Z = backward.outputs
    many = _limited(backward)
    if many is not None:
        search = row_search(Z)

        def nearby(Q: Array, near: Array) -> Array:
            points, W = _latent_rows(search, *many.listed(Q, near))
            content = InformationContent(points, W, kernel, penalty, weight)
            return maximise_batch(content, _starts(W, points, lambda at: content.value_and_grad(at)[0]))

        tile = _BUDGET // (40 * _AROUND * Z.shape[1])
        return answers_by_map_tile(many, Q, np.empty((len(Q), Z.shape[1])), nearby, tile, n_jobs)

    def one(rows: slice) -> Array:
        content = InformationContent(Z, backward.weights.matrix(Q[rows]), kernel, penalty, weight)
        starts = _starts(content.W, Z, lambda at: content.value_and_grad(at)[0])
        return maximise_batch(content, starts)

    return np.concatenate(run_tiles(one, spans(len(Q), max(1, _BUDGET // (4 * len(Z)))), n_jobs))


def conditional_mode(
    mapped: KernelMap, Q: Array, bandwidths: Array, n_jobs: int | None = None, kernel: str = "gaussian"
) -> Array:
    """Mode of the conditional density of the outputs at each query, by mean shift.

    Parameters
    ----------
    mapped : KernelMap
        The mean map.
    Q : array of shape (m, q)
        Queries.
    bandwidths : array of shape (n,)
        Bandwidths of the output rows.
    n_jobs : int or None
        Threads.
    kernel : str
        Profile of the kernel of the output rows.

    Returns
    -------
    modes : array of shape (m, d)
    """
    X = mapped.outputs
    shape = profile(kernel).density_profile(X.shape[1])
    many = _limited(mapped)
    if many is not None:

        def nearby(Q: Array, near: Array) -> Array:
            index, W = many.listed(Q, near)
            own, h = X[index].astype(np.float64, copy=False), np.einsum("ij,ij->i", W, bandwidths[index])
            starts = _starts(W, own, lambda at: conditional_log_density(at, own, W, h, shape))
            return _mean_shift(starts, own, W, h, shape)

        tile = _BUDGET // (2 * 60 * X.shape[1])
        return answers_by_map_tile(many, Q, np.empty((len(Q), X.shape[1])), nearby, tile, n_jobs)

    def one(rows: slice) -> Array:
        W = mapped.weights.matrix(Q[rows])
        h = W @ bandwidths
        starts = _starts(W, X, lambda at: conditional_log_density(at, X, W, h, shape))
        return _mean_shift(starts, X, W, h, shape)

    return np.concatenate(run_tiles(one, spans(len(Q), max(1, _BUDGET // (4 * len(X)))), n_jobs))


def conditional_log_density(at: Array, X: Array, W: Array, h: Array, shape: Profile = GAUSSIAN) -> Array:
    """Conditional log density ``log Σ_j W_j k(|x - x_j|² / h)`` (m,), up to the normaliser.

    Parameters
    ----------
    at : array of shape (m, d)
        One point per query.
    X : array of shape (n, d) or (m, n, d)
        Training outputs, the same for all queries or n for each.
    W : array of shape (m, n)
        Weights.
    h : array of shape (m,)
        Bandwidths.
    shape : Profile
        Of the kernel k.
    """
    with np.errstate(divide="ignore"):
        found: Array = logsumexp(np.log(W) + shape.log_value(_apart(at, X) / h[:, None]), axis=1)
    return found


def _limited(mapped: KernelMap) -> FixedWeights | AdaptiveWeights | None:
    """The weights of a map with many training rows, which are limited to the nearest; None for other maps."""
    weights = mapped.weights
    return None if isinstance(weights, PrecomputedWeights) or not is_many(weights.inputs) else weights


def _latent_rows(search: RowSearch, index: Array, W: Array) -> tuple[Array, Array]:
    """Latent points used for each query (m, k, q), and their weights (m, k): 0 for those near the candidate starts.

    The second copy of a duplicate point is moved so far away that it does not count.
    """
    Z, m = search.X, len(index)
    heaviest = np.take_along_axis(index, np.argsort(-W, axis=1, kind="stable")[:, :_STARTS], axis=1)
    mean = _combined(W, Z[index])
    starts = np.concatenate([mean[:, None], Z[heaviest]], axis=1)
    around = search.nearest(starts.reshape(-1, Z.shape[1]), _AROUND, n_jobs=1).index.reshape(m, -1)
    seen = np.concatenate([index, around], axis=1)
    order = np.argsort(seen, axis=1, kind="stable")  # stable: the first of duplicates has the weight
    seen = np.take_along_axis(seen, order, axis=1)
    again = np.zeros(seen.shape, dtype=bool)
    again[:, 1:] = seen[:, 1:] == seen[:, :-1]
    W = np.take_along_axis(np.concatenate([W, np.zeros(around.shape)], axis=1), order, axis=1)
    return np.where(again[:, :, None], _NOWHERE, Z[seen]), W


def _apart(at: Array, points: Array) -> Array:
    """Squared distances (m, n) from one point per query to the points of all queries, or to its own."""
    if points.ndim == 2:
        return squared_distances(at, points)
    difference = points - at[:, None]
    return np.asarray(np.einsum("ikd,ikd->ik", difference, difference))


def _combined(W: Array, points: Array) -> Array:
    """Weighted sums ``Σ_j W_ij points_j`` (m, p), each row independently."""
    return padded_product(W, points) if points.ndim == 2 else np.asarray((W[:, None] @ points)[:, 0])


def _those(points: Array, rows: Array) -> Array:
    """The points of a subset of the queries."""
    return points if points.ndim == 2 else points[rows]


def _starts(W: Array, points: Array, value: Callable[[Array], Array]) -> Array:
    """Initial points (m, p): for each query the best of the weighted mean and the points of largest weight."""
    best = _combined(W, points)
    height = value(best)
    heaviest = np.argsort(-W, axis=1, kind="stable")[:, :_STARTS]
    for column in heaviest.T:
        other = points[column] if points.ndim == 2 else points[np.arange(len(W)), column]
        found = value(other)
        better = found > height
        best[better], height[better] = other[better], found[better]
    return best


def _mean_shift(
    x: Array, X: Array, W: Array, h: Array, shape: Profile, *, n_steps: int = 300, tolerance: float = 1e-8
) -> Array:
    """Mean shift: iterate ``x <- Σ_j W_j s_j x_j / Σ_j W_j s_j`` until a step is below ``tolerance`` times √h.

    s_j is the slope ``-dk/d(r²)`` of the kernel of row j at x; for the Gaussian it is k itself.
    """
    active = np.arange(len(x))
    for _ in range(n_steps):
        with np.errstate(divide="ignore"):
            logs = np.log(W[active]) + shape.log_slope(_apart(x[active], _those(X, active)) / h[active, None])
        P = np.exp(logs - logs.max(axis=1, keepdims=True))
        moved = _combined(P / P.sum(axis=1, keepdims=True), _those(X, active))
        far = ((moved - x[active]) ** 2).sum(axis=1) > tolerance**2 * h[active]
        x[active] = moved
        active = active[far]
        if not len(active):
            break
    return x


def maximise_batch(content: InformationContent, Z: Array, *, n_steps: int = 100, tolerance: float = 1e-7) -> Array:
    """Local maximum of each query's objective, from Z (m, q): batched BFGS with steps of at most one bandwidth."""
    Z = Z.copy()
    m, q = Z.shape
    height, slope = content.value_and_grad(Z)
    inverse = np.broadcast_to(0.25 * np.eye(q), (m, q, q)).copy()
    active = np.flatnonzero(np.isfinite(height))
    for _ in range(n_steps):
        active = active[np.abs(slope[active]).max(axis=1) > tolerance]
        if not len(active):
            break
        direction = np.einsum("irs,is->ir", inverse[active], slope[active])
        direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1.0)
        went, step, found = _line_search(content.take(active), Z[active], height[active], slope[active], direction)
        active, step = active[went], step[went]
        Z[active] += step
        height[active], change = found[0][went], found[1][went] - slope[active]
        slope[active] += change
        inverse[active] = _updated(inverse[active], step, -change)
    return Z


def _line_search(
    content: InformationContent, Z: Array, height: Array, slope: Array, direction: Array
) -> tuple[Array, Array, tuple[Array, Array]]:
    """Backtracking line search for each query: which rows moved, the steps, and the values and gradients there."""
    step, new_height, new_slope = direction.copy(), height.copy(), slope.copy()
    went = np.zeros(len(Z), dtype=bool)
    waiting = np.arange(len(Z))
    for _ in range(30):
        found, there = content.take(waiting).value_and_grad(Z[waiting] + step[waiting])
        climbs = found > height[waiting] + 1e-4 * np.einsum("ir,ir->i", step[waiting], slope[waiting])
        done = waiting[climbs]
        went[done], new_height[done], new_slope[done] = True, found[climbs], there[climbs]
        waiting = waiting[~climbs]
        if not len(waiting):
            break
        step[waiting] *= 0.5
    return went, step, (new_height, new_slope)


def _updated(H: Array, s: Array, y: Array) -> Array:
    """BFGS update of each inverse Hessian (of the negative objective); skipped where the curvature is not positive."""
    curvature = np.einsum("ir,ir->i", s, y)
    fine = curvature > 1e-12
    rho = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=fine)
    A = np.eye(s.shape[1]) - rho[:, None, None] * s[:, :, None] * y[:, None, :]
    new = A @ H @ A.transpose(0, 2, 1) + rho[:, None, None] * s[:, :, None] * s[:, None, :]
    return np.asarray(np.where(fine[:, None, None], new, H))
