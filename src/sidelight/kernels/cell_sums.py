r"""Sums of a latent kernel over all pairs in any number of dimensions: near pairs one by one, far cells as a whole.

For points Z (n, q), a profile k of bandwidth 1, weights w (n,) and a second kernel a_i·a_j of factors A (n, r)

    s_i = Σ_j w_j (a_i·a_j) k(|z_i - z_j|²)

The points are partitioned into m cells (``kernels.cell_lists``). Row i is summed over members of near cells and over
its links one by one, and over the other members of every other cell C as a whole, Σ_j running over those members:

    Σ_{j in C} w_j (a_i·a_j) k(|z_i - z_j|²)  ≈  (a_i·Σ_j w_j a_j) κ(|z_i - c|², v)

with c the weighted mean of the cell and v its weighted mean squared distance from c (over q dimensions). κ stands for
the mean of k over the cell:

    student    κ(D, v) = 1 / (1 + D + v)                         D + v is the mean of |z_i - z_j|²
    gaussian   κ(D, v) = (1 + t)^(-q/2) exp(-D / (1 + t))         t = 2 v / q: the mean over a normal cloud

The lists stay the same while the points move, so the sums are a smooth function of Z (through c and v as well), and the
gradient here is the exact gradient of that function, on which a line search can rely. As the points move, the lists
get worse: ``cell_sum_error`` compares some rows with their exact sums.

With u_i = w_i / s_i and M_iy = u_i · (weight of y) · (-∂k/∂r²), half the negative gradient of Σ_i w_i log s_i is

    row i      Σ_y M_iy (z_i - y)                       y: near rows, links, and means of far cells
    near row   -Σ_i M_ij (z_i - z_j)
    member j   -(w_j/W) Σ_i M_ic (z_i - c) + (w_j/W) (z_j - c) Σ_i T_ic     W: weight of its cell, T: M with -∂κ/∂v

Cost, with cells of √(n/p) rows of which p are listed: 2 n √(n p) kernel values, as matrix products in float32. Memory
O(n (p + q)). Tiles are fixed groups of cells, added in order: the same bits with any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sidelight.base.tiles import run_tiles, sum_in_order
from sidelight.base.types import Array, Slice
from sidelight.neighbours.distances import squared_distances

from .cell_lists import CellLists, Links, TileLists
from .profiles import GAUSSIAN, Profile

__all__ = ["CellSums", "cell_sum_cost", "cell_sum_error", "cell_sums"]


_VALUE, _AXIS = 1e-8, 4e-10  # seconds of a kernel value, and of each of its dimensions (measured on one thread)
_CHECKED = 64  # rows that the sums are checked on
_FARTHEST = 60.0  # the exponent of a Gaussian is cut there: smaller values are subnormal numbers, slow, and add nothing


@dataclass(frozen=True)
class CellSums:
    """Sums s (n,), and half the negative gradient (n, q) of Σ_i w_i log s_i."""

    sums: Array
    pushes: Array


def cell_sums(
    Z: Array,
    lists: CellLists,
    profile: Profile,
    *,
    weights: Array,
    factors: Array | None = None,
    floor: Array | float = 0.0,
    n_jobs: int | None = None,
) -> CellSums:
    """Row sums, and the gradient of their logarithms.

    Parameters
    ----------
    Z : array of shape (n, q)
    lists : CellLists
    profile : Profile
        Gaussian or Student.
    weights : array of shape (n,)
        w, above 0.
    factors : array of shape (n, r) or None
        A; None: the second kernel is 1.
    floor : array of shape (n,) or float
        Smallest value of a sum (factors with entries below 0 can have sums below 0).
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    CellSums

    Examples
    --------
    >>> from sidelight.kernels.cell_lists import cell_lists
    >>> from sidelight.kernels.profiles import STUDENT
    >>> Z = np.array([[0.0], [1.0]])
    >>> cell_sums(Z, cell_lists(Z, listed=2), STUDENT, weights=np.ones(2)).sums
    array([1.5, 1.5])
    """
    field = _Field(Z, lists, profile, weights, factors, floor)
    parts = run_tiles(field.tile, lists.tiles, n_jobs)
    sums, pushes = np.concatenate([part.sums for part in parts]), np.concatenate([part.own for part in parts])
    for tile, part in zip(lists.tiles, parts, strict=True):
        pushes[tile.listed] -= part.on_rows
    pushes += field.on_members(sum_in_order([part.on_cells for part in parts]))
    found = CellSums(np.empty(sums.shape), np.empty(pushes.shape))
    found.sums[lists.order], found.pushes[lists.order] = sums, pushes
    return found


def cell_sum_cost(n: int, q: int, listed: int) -> tuple[float, float]:
    """Estimated bytes of the lists and the sums, and seconds of an evaluation, of n points in q dimensions.

    Examples
    --------
    >>> round(cell_sum_cost(40_000, 10, 16)[1] / cell_sum_cost(10_000, 10, 16)[1], 3)
    8.0
    """
    return n * (16.0 * listed + 40.0 * q), 2 * n * (n * listed) ** 0.5 * (_VALUE + _AXIS * q)


def cell_sum_error(
    sums: Array, Z: Array, profile: Profile, *, weights: Array, factors: Array | None = None, seed: int = 0
) -> float:
    """The largest relative error of ``sums`` (n,) on 64 random rows."""
    n = len(Z)
    rows = np.sort(np.random.default_rng(seed).choice(n, min(n, _CHECKED), replace=False))
    K = profile.value(squared_distances(Z[rows], Z))
    if factors is not None:
        K *= factors[rows] @ factors.T
    return float(np.abs(sums[rows] / (K @ weights) - 1).max())


@dataclass(frozen=True)
class _Pushes:
    """Result of one tile.

    Parameters
    ----------
    sums : array of shape (c,)
    own : array of shape (c, q)
        Pushes on the rows of the tile.
    on_rows : array of shape (l, q)
        Pushes on the listed rows, with the opposite sign.
    on_cells : array of shape (m, q + 2)
        Σ_i M z_i, Σ_i M and Σ_i T of every cell.
    """

    sums: Array
    own: Array
    on_rows: Array
    on_cells: Array


class _Field:
    """The points in the order of their cells, with means, spreads and summed weights of the cells."""

    def __init__(
        self,
        Z: Array,
        lists: CellLists,
        profile: Profile,
        weights: Array,
        factors: Array | None,
        floor: Array | float,
    ) -> None:
        order, starts = lists.order, lists.start[:-1]
        self.lists, self.profile, self.cell = lists, profile, lists.cell
        Z, self.w = Z[order] - Z.mean(axis=0), weights[order].astype(np.float64)
        self.floor = np.broadcast_to(np.asarray(floor, dtype=np.float64), len(order))[order]
        self.total = np.add.reduceat(self.w, starts)
        means = np.add.reduceat(self.w[:, None] * Z, starts, axis=0) / self.total[:, None]
        self.apart = Z - means[self.cell]
        squares = self.w * np.einsum("ij,ij->i", self.apart, self.apart)
        self.spread = np.add.reduceat(squares, starts) / self.total
        self.Z, self.means = _with_ones(Z), _with_ones(means)
        self.far = _FarKernel(profile, means, self.spread)
        self.unit = factors is None and bool((weights == 1).all())
        self.A = None if factors is None else factors[order].astype(np.float32)
        one = self.w[:, None] if factors is None else self.w[:, None] * factors[order]
        self.single, self.merged = one.astype(np.float32), np.add.reduceat(one, starts).astype(np.float32)

    def tile(self, tile: TileLists) -> _Pushes:
        """All pairs of the rows of a tile."""
        q = self.Z.shape[1] - 1
        on_rows = np.zeros((len(tile.listed), q + 1), dtype=np.float32)
        on_cells = np.zeros((self.lists.n_cells, q + 2))
        linked = _Linked(self, tile.links)
        sums, inverses, own = [], [], []
        for group in tile.groups:
            s, u, pushed = self._group(group, tile, linked, on_rows, on_cells)
            sums.append(s)
            inverses.append(u)
            own.append(pushed)
        single = self.Z[tile.listed].astype(np.float64)
        opposite = on_rows[:, :-1] - single[:, :-1] * on_rows[:, -1:]
        pushes = np.concatenate(own)
        first = self.lists.start[tile.first]
        linked.push(np.concatenate(inverses), first, pushes, opposite)
        return _Pushes(np.concatenate(sums), pushes, opposite, on_cells)

    def _group(
        self, cells: Slice, tile: TileLists, linked: _Linked, on_rows: Array, on_cells: Array
    ) -> tuple[Array, Array, Array]:
        """Sums (c,) of the rows of some cells, w / s (c,), and the pushes on them (c, q) but for their links."""
        start = self.lists.start
        rows = slice(start[cells.start], start[cells.stop])
        numbers = range(cells.start, cells.stop)
        near = [self._near(a, tile.members[a - tile.first]) for a in numbers]
        K, E = self.far.values(self.Z[rows])
        Q = self._far_weights(cells, linked)
        s = np.concatenate([_row_sums(*block) for block in near]).astype(np.float64)
        s += _row_sums(K, Q) + linked.sums(rows)
        s = np.maximum(s, self.floor[rows])
        u = self.w[rows] / s
        v = u.astype(np.float32)[:, None]
        z = self.Z[rows]
        scaled = v * z
        G = self.far.slopes(K)
        G *= Q
        pulled = G @ self.means
        on_cells[:, :-1] += G.T @ scaled
        on_cells[:, -1] += self.far.through_spread(G, E, v)
        for a, (kernel, weight) in zip(numbers, near, strict=True):
            own = slice(start[a] - rows.start, start[a + 1] - rows.start)
            members, places = tile.members[a - tile.first], tile.places[a - tile.first]
            G = self.profile.slope(kernel, out=kernel)
            if not self.unit:
                G *= weight
            pulled[own] += G @ self.Z.take(members, axis=0)
            on_rows[places] = on_rows.take(places, axis=0) + G.T @ scaled[own]
        pushed = (z[:, :-1] * pulled[:, -1:] - pulled[:, :-1]) * v
        return s, u, pushed.astype(np.float64)

    def _near(self, a: int, members: Array) -> tuple[Array, Array]:
        """Kernel values (c, l) of the rows of a cell and the members of its listed cells, and their weights."""
        rows = slice(self.lists.start[a], self.lists.start[a + 1])
        # relative to the cell's own mean: coordinates of near points stay small, and so does the rounding of float32
        z, y = self.Z[rows] - self.means[a], self.Z.take(members, axis=0)
        y -= self.means[a]
        z[:, -1], y[:, -1] = 1.0, np.einsum("ij,ij->i", y, y)
        norms = np.einsum("ij,ij->i", z[:, :-1], z[:, :-1])
        z[:, :-1] *= -2.0
        R = z @ y.T
        R += norms[:, None]
        np.maximum(R, 0.0, out=R)  # a trial step of the line search may be so long that float32 rounds below -1
        if self.profile is GAUSSIAN:
            np.minimum(R, _FARTHEST, out=R)
        weight = self.single[members].T
        return self.profile.value(R), weight if self.A is None else self.A[rows] @ weight

    def _far_weights(self, cells: Slice, linked: _Linked) -> Array:
        """Summed weights (c, m) of every cell for each row of some cells: 0 for listed cells, less that of links."""
        start = self.lists.start
        rows = slice(start[cells.start], start[cells.stop])
        Q = self.merged.T
        Q = np.repeat(Q, rows.stop - rows.start, axis=0) if self.A is None else self.A[rows] @ Q
        for a in range(cells.start, cells.stop):
            Q[start[a] - rows.start : start[a + 1] - rows.start, self.lists.near[a]] = 0.0
        linked.take_out(Q, rows)
        return Q

    def on_members(self, on_cells: Array) -> Array:
        """Pushes on the members (n, q) from those on their cells: through the mean, and through the spread."""
        means = self.means[:, :-1].astype(np.float64)
        through_mean = on_cells[:, :-2] - means * on_cells[:, -2:-1]
        share = (self.w / self.total[self.cell])[:, None]
        return np.asarray(share * (on_cells[self.cell, -1:] * self.apart - through_mean[self.cell]))


class _FarKernel:
    """κ(|z - c|², v), the kernel of a row and a whole cell, and its slopes."""

    def __init__(self, profile: Profile, means: Array, spread: Array) -> None:
        q = means.shape[1]
        self.q, self.gaussian, self.profile = q, profile is GAUSSIAN, profile
        widened = 1.0 + 2.0 * spread / q if self.gaussian else np.ones(len(spread))
        squares = np.einsum("ij,ij->i", means, means)
        self.right = np.column_stack([-2.0 * means, squares if self.gaussian else squares + spread])
        self.right = (self.right / widened[:, None]).astype(np.float32).T
        self.narrowed = (1.0 / widened).astype(np.float32)
        self.height = (widened ** (-0.5 * q)).astype(np.float32)

    def values(self, Z: Array) -> tuple[Array, Array]:
        """κ (c, m) at rows (c, q + 1) whose last column is 1, and for a Gaussian its exponent D / (1 + t)."""
        norms = np.einsum("ij,ij->i", Z[:, :-1], Z[:, :-1])[:, None]
        R = Z @ self.right
        R += norms * self.narrowed if self.gaussian else norms
        if not self.gaussian:
            return self.profile.value(R), R
        np.minimum(R, _FARTHEST, out=R)
        K = self.profile.value(R.copy())
        K *= self.height
        return K, R

    def slopes(self, K: Array) -> Array:
        """-∂κ/∂D from the values, which are overwritten."""
        return np.multiply(K, self.narrowed, out=K) if self.gaussian else self.profile.slope(K, out=K)

    def through_spread(self, G: Array, E: Array, u: Array) -> Array:
        """``Σ_i u_i (-∂κ/∂v)`` (m,), from weighted slopes G; for a Gaussian -∂κ/∂v = -∂κ/∂D (1 - 2 E / q)."""
        if not self.gaussian:
            return np.asarray(G.T @ u[:, 0])
        return np.asarray(G.T @ u[:, 0] - (2.0 / self.q) * np.einsum("ij,ij->j", G * u, E))


class _Linked:
    """The links of a tile: kernel values, weights, and their share of the sums over cells, to subtract."""

    def __init__(self, field: _Field, links: Links) -> None:
        one, other = links.one, links.other
        self.links, self.profile = links, field.profile
        self.apart = field.Z[one, :-1] - field.Z[other, :-1]
        R = np.einsum("ij,ij->i", self.apart, self.apart)
        if field.profile is GAUSSIAN:
            np.minimum(R, _FARTHEST, out=R)
        self.K = field.profile.value(R)
        weight = field.w[other]
        if field.A is not None:
            weight = weight * np.einsum("ij,ij->i", field.A[one], field.A[other])
        self.weight = weight.astype(np.float32)
        self.taken = np.bincount(links.hole, weights=weight, minlength=len(links.rows)).astype(np.float32)

    def sums(self, rows: Slice) -> Array:
        """Weighted sums over the links of some rows (c,)."""
        some = _within(self.links.one, rows)
        terms = (self.weight[some] * self.K[some]).astype(np.float64)
        return np.bincount(self.links.one[some] - rows.start, weights=terms, minlength=rows.stop - rows.start)

    def take_out(self, Q: Array, rows: Slice) -> None:
        """Subtract the weights of links from those of their cells (c, m), for some rows."""
        some = _within(self.links.rows, rows)
        Q[self.links.rows[some] - rows.start, self.links.cells[some]] -= self.taken[some]

    def push(self, u: Array, first: int, pushed: Array, opposite: Array) -> None:
        """Add the gradient of the links to the rows of the tile (c, q) from ``first`` on, and to the listed rows."""
        if not len(self.K):
            return
        one = self.links.one - first
        M = u[one] * self.weight * self.profile.slope(self.K)
        number = np.arange(len(M) + 1)
        pushed += csr_array((M, one, number), shape=(len(M), len(pushed))).T @ self.apart
        opposite += csr_array((M, self.links.places, number), shape=(len(M), len(opposite))).T @ self.apart


def _row_sums(K: Array, Q: Array) -> Array:
    """``Σ_y K_iy Q_iy`` (c,), for weights Q (c, l), or (1, l) if they are the same for all rows."""
    return np.asarray(K @ Q[0] if len(Q) == 1 else np.einsum("ij,ij->i", K, Q))


def _within(ascending: Array, rows: Slice) -> Slice:
    """Where an ascending array has values between the ends of a slice."""
    first, last = np.searchsorted(ascending, [rows.start, rows.stop])
    return slice(int(first), int(last))


def _with_ones(A: Array) -> Array:
    """The columns of A in float32, and a column of ones."""
    return np.column_stack([A, np.ones(len(A))]).astype(np.float32)
