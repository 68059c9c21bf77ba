"""The most likely point instead of the mean one (S1 eqs. 9 and 10): maps that choose where the mean would compromise.

backward  g(x) = arg max_z  log Σ_j w_j(x) k(|z - z_j|²) - log Σ_j k(|z - z_j|²) - λ · penalty(z)
forward   f(z) = arg max_x  log Σ_j w_j(z) exp(-|x - x_j|² / h(z)),        h(z) = Σ_j w_j(z) h_j

with the weights w of the mean maps and k the latent kernel. The first is the information content of (x, z). The ratio
of two sums of Gaussians does not fall at infinity, so it needs the penalty of the fit, per row: the power or the box
of z, or for stretch ``Σ_j w_j(x) |z - z_j|²``, which is ``|z - mean|²`` up to a constant. It is climbed by BFGS, all
rows at once, each with a Hessian and a step of its own. The second is the mode of p(x | z), found by mean shift.
Both start at the best of the mean and the heaviest training rows: halfway between two modes the mean is a saddle.
A row's answer does not depend on the others. Cost: O(n q) a row and step backward, O(n d) forward; memory by tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from sidelight.kernels.distances import padded_product, squared_distances
from sidelight.kernels.profiles import profile
from sidelight.kernels.tiles import run_tiles, spans

from .kernel_map import KernelMap

__all__ = ["InformationContent", "conditional_log_density", "conditional_mode", "content_mode"]

Array = npt.NDArray[Any]
_BUDGET = 2_000_000  # numbers in the temporaries of one tile
_STARTS = 8  # training rows looked at beside the mean
_BACKGROUND = 1e-3  # ε of the stretch penalty


@dataclass(frozen=True)
class InformationContent:
    """``z -> log Σ_j W_j k_j - log Σ_j k_j - λ · penalty(z)``, one function for each row of ``W`` (m, n)."""

    points: Array
    W: Array
    kernel: str
    penalty: str
    weight: float

    def take(self, rows: Array) -> InformationContent:
        """The functions of some rows."""
        return InformationContent(self.points, self.W[rows], self.kernel, self.penalty, self.weight)

    def value_and_grad(self, Z: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, q) at one point per row; -inf where no weighted row is within reach."""
        shape = profile(self.kernel)
        R = squared_distances(Z, self.points)
        logs = shape.log_value(R)
        K = shape.value(R)
        # -d log k / d r²; where k vanishes it is 1 for the Gaussian and does not count for the others
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
        return total, -2.0 * (Z * P.sum(axis=1, keepdims=True) - padded_product(P, self.points))

    def _penalised(self, Z: Array) -> tuple[Array, Array]:
        """λ times the penalty of each row, and its gradient."""
        if self.penalty == "stretch":
            away = Z - padded_product(self.W, self.points)
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
    """``g(x)`` for each query (m, q); ``weight`` is λ."""
    Z = backward.outputs

    def one(rows: slice) -> Array:
        content = InformationContent(Z, backward.weights.matrix(Q[rows]), kernel, penalty, weight)
        starts = _starts(content.W, Z, lambda at: content.value_and_grad(at)[0])
        return climb(content, starts)

    return np.concatenate(run_tiles(one, spans(len(Q), max(1, _BUDGET // (4 * len(Z)))), n_jobs))


def conditional_mode(mapped: KernelMap, Q: Array, bandwidths: Array, n_jobs: int | None = None) -> Array:
    """``f`` for each query (m, d); ``bandwidths`` (n,) are those of the output rows."""
    X = mapped.outputs

    def one(rows: slice) -> Array:
        W = mapped.weights.matrix(Q[rows])
        h = W @ bandwidths
        starts = _starts(W, X, lambda at: conditional_log_density(at, X, W, h))
        return _mean_shift(starts, X, W, h)

    return np.concatenate(run_tiles(one, spans(len(Q), max(1, _BUDGET // (4 * len(X)))), n_jobs))


def conditional_log_density(at: Array, X: Array, W: Array, h: Array) -> Array:
    """``log Σ_j W_j exp(-|x - x_j|² / h)`` at one point per row (m,), up to the normaliser."""
    with np.errstate(divide="ignore"):
        found: Array = logsumexp(np.log(W) - squared_distances(at, X) / h[:, None], axis=1)
    return found


def _starts(W: Array, points: Array, value: Callable[[Array], Array]) -> Array:
    """For each row the best of the weighted mean and of the heaviest points."""
    best = padded_product(W, points)
    height = value(best)
    heaviest = np.argsort(-W, axis=1, kind="stable")[:, :_STARTS]
    for column in heaviest.T:
        other = points[column]
        found = value(other)
        better = found > height
        best[better], height[better] = other[better], found[better]
    return best


def _mean_shift(x: Array, X: Array, W: Array, h: Array, *, n_steps: int = 300, tolerance: float = 1e-8) -> Array:
    """Climb ``x <- Σ_j W_j k_j x_j / Σ_j W_j k_j`` until a step is less than ``tolerance`` bandwidths."""
    active = np.arange(len(x))
    for _ in range(n_steps):
        with np.errstate(divide="ignore"):
            logs = np.log(W[active]) - squared_distances(x[active], X) / h[active, None]
        P = np.exp(logs - logs.max(axis=1, keepdims=True))
        moved = padded_product(P / P.sum(axis=1, keepdims=True), X)
        far = ((moved - x[active]) ** 2).sum(axis=1) > tolerance**2 * h[active]
        x[active] = moved
        active = active[far]
        if not len(active):
            break
    return x


def climb(content: InformationContent, Z: Array, *, n_steps: int = 100, tolerance: float = 1e-7) -> Array:
    """The nearest maximum of each row's function: BFGS for all rows at once, steps of at most one bandwidth."""
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
    """Halve each row's step until it climbs enough: who moved, the steps, and the heights and slopes there."""
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
    """The BFGS update of each inverse Hessian (of the negative), kept where the curvature is not positive."""
    curvature = np.einsum("ir,ir->i", s, y)
    fine = curvature > 1e-12
    rho = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=fine)
    A = np.eye(s.shape[1]) - rho[:, None, None] * s[:, :, None] * y[:, None, :]
    new = A @ H @ A.transpose(0, 2, 1) + rho[:, None, None] * s[:, :, None] * s[:, None, :]
    return np.asarray(np.where(fine[:, None, None], new, H))
