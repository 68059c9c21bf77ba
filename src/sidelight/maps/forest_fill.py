r"""Missing entries by regression trees on rows that a Gaussian has completed.

For each group g of columns that are missing together (the indicators of one category; else one column), extremely
randomised trees predict the error of the Gaussian from the completed row:

    c = E[x | x_O]                        the row completed by the Gaussian, from entries observed outside of g
    x_g ≈ c_g + m,    m = 1/T Σ_t μ_t(c),    Var[x_g] = 1/T Σ_t ν_t(c) - m²

μ_t, ν_t are the mean and the mean square of x_g - c_g over the training rows in the leaf of c. So trees learn only what
is not linear. For training, g is removed from each row before it is completed: fills that have seen x_g would tell it.

The trees are scikit-learn's, kept as arrays (a model file has no code) and followed by ``Forest``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans, thread_count

from .linear_gaussian_maps import LinearGaussianMaps

__all__ = ["Forest", "ForestFill", "column_groups", "completion_work", "fit_forest_fill", "grown"]

Array = npt.NDArray[Any]
_TREES = 40
_LEAF = 3  # rows in a leaf at least
_SPLIT_INPUTS = 0.5  # share of the inputs that are tried at each split
_MOST_INPUTS = 40  # columns a forest looks at: those that correlate most with its group
_MOST_ROWS = 5000  # rows a forest is grown from
_BLOCK = 4096  # rows that are sent down the trees together


@dataclass(frozen=True)
class Forest:
    """Regression trees of some columns; the nodes of all trees stand in one list.

    Parameters
    ----------
    columns, inputs : int arrays of shape (c,) and (p,)
        Predicted columns, and those that splits look at.
    roots : int array of shape (t,)
        First node of each tree.
    feature, left, right : int arrays of shape (nodes,)
        Input that a node splits by, and its children; a leaf is its own child.
    threshold : array of shape (nodes,)
        Left if the input is at most this.
    mean, square : arrays of shape (nodes, c)
        Mean and mean square of the Gaussian's errors over the training rows of a leaf.
    depth : int
        Most splits from a root to a leaf.
    """

    columns: Array
    inputs: Array
    roots: Array
    feature: Array
    left: Array
    right: Array
    threshold: Array
    mean: Array
    square: Array
    depth: int

    def moments(self, A: Array) -> tuple[Array, Array]:
        """Mean and variance (m, c) of the Gaussian's errors, from completed rows (m, d)."""
        leaf = self._leaves(A[:, self.inputs].astype(np.float32))
        mean = self.mean[leaf].mean(axis=1)
        return mean, np.maximum(self.square[leaf].mean(axis=1) - mean**2, 0.0)

    def _leaves(self, A: Array) -> Array:
        """Leaf of each row in each tree (m, t)."""
        rows = np.arange(len(A))[:, None]
        node = np.broadcast_to(self.roots, (len(A), len(self.roots)))
        for _ in range(self.depth):
            node = np.where(A[rows, self.feature[node]] <= self.threshold[node], self.left[node], self.right[node])
        return node


@dataclass(frozen=True)
class ForestFill:
    """A Gaussian, and forests for the columns that had gaps; other columns are left to the Gaussian."""

    base: LinearGaussianMaps
    forests: tuple[Forest, ...]

    def moments(self, X: Array, n_jobs: int | None) -> tuple[Array, Array]:
        """Mean and variance (m, d) of missing entries (NaN), each row independently; observed ones have variance 0."""
        completed, spread = self.base.complete(X, n_jobs), self.base.missing_variance(X, n_jobs)
        gone: Array = np.asarray(np.isnan(X))

        def one(task: tuple[Forest, slice]) -> tuple[Array, Array]:
            forest, part = task
            return forest.moments(completed[part])

        tasks = [(forest, part) for forest in self.forests for part in spans(len(X), _BLOCK)]
        mean = np.array(completed)
        for (forest, part), (error, variance) in zip(tasks, run_tiles(one, tasks, n_jobs), strict=True):
            missing = gone[part, forest.columns]
            mean[part, forest.columns] += np.where(missing, error, 0.0)
            spread[part, forest.columns] = np.where(missing, variance, 0.0)
        return mean, spread


def fit_forest_fill(X: Array, base: LinearGaussianMaps, *, seed: int, n_jobs: int | None) -> ForestFill:
    """Grow the forests of rows.

    Parameters
    ----------
    X : array of shape (n, d)
        Standardised rows, NaN where an entry is missing.
    base : LinearGaussianMaps
        Fitted to the same rows.
    seed : int
        Of the trees and of the rows they are grown from.
    n_jobs : int or None
        Threads.
    """
    gone: Array = np.asarray(np.isnan(X))
    near = np.abs(np.nan_to_num(_correlations(base.complete(X, n_jobs))))
    forests = []
    for number, columns in enumerate(column_groups(gone)):
        rng = np.random.default_rng([seed, number])
        seen = np.flatnonzero(~gone[:, columns].any(axis=1))
        if len(seen) < 2 * _LEAF:
            continue
        if len(seen) > _MOST_ROWS:
            seen = np.sort(rng.choice(seen, _MOST_ROWS, replace=False))
        inputs = np.sort(np.argsort(-near[columns].max(axis=0), kind="stable")[:_MOST_INPUTS])
        hidden = np.array(X[seen])
        hidden[:, columns] = np.nan
        completed = base.complete(hidden, n_jobs)
        error = X[np.ix_(seen, columns)] - completed[:, columns]
        forests.append(grown(completed[:, inputs], error, columns, inputs, int(rng.integers(2**31)), n_jobs))
    return ForestFill(base, tuple(forests))


def completion_work(n: int, d: int) -> float:
    """Operations of completing n rows once for each of d columns: a system of d equations for each row."""
    return min(n, _MOST_ROWS) * float(d) ** 4 / 3.0


def column_groups(gone: Array) -> list[Array]:
    """Columns (those with gaps, if any has) in lists, together where they are missing in the same rows.

    ``gone`` (n, d) marks missing entries.
    """
    if not gone.any():
        return [np.array([column]) for column in range(gone.shape[1])]
    _, group = np.unique(gone, axis=1, return_inverse=True)
    found = [np.flatnonzero(np.ravel(group) == g) for g in range(int(group.max()) + 1)]
    return [columns for columns in found if gone[:, columns].any()]


def _correlations(A: Array) -> Array:
    """Correlations (d, d) of the columns of complete rows; 0 for a constant column."""
    away = A - A.mean(axis=0)
    size = np.sqrt((away**2).sum(axis=0))
    away = away / np.where(size > 0, size, 1.0)
    return np.asarray(away.T @ away)


def grown(A: Array, target: Array, columns: Array, inputs: Array, seed: int, n_jobs: int | None) -> Forest:
    """Grow trees on inputs ``A`` (n, p) and keep them as arrays."""
    from sklearn.ensemble import ExtraTreesRegressor  # most fits grow none, and the import takes a tenth of a second

    trees = ExtraTreesRegressor(
        _TREES, min_samples_leaf=_LEAF, max_features=_SPLIT_INPUTS, random_state=seed, n_jobs=thread_count(n_jobs)
    ).fit(A, target if target.shape[1] > 1 else target[:, 0])
    single = A.astype(np.float32)
    parts = [_nodes(member.tree_, single, target) for member in trees.estimators_]
    sizes = np.array([len(part[0]) for part in parts])
    roots = np.cumsum(sizes) - sizes
    feature, threshold, left, right, mean, square = (
        np.concatenate([part[k] + (root if k in (2, 3) else 0) for part, root in zip(parts, roots, strict=True)])
        for k in range(6)
    )
    depth = max(int(member.tree_.max_depth) for member in trees.estimators_)
    return Forest(columns, inputs, roots, feature, left, right, threshold, mean, square, depth)


def _nodes(tree: Any, A: Array, target: Array) -> tuple[Array, ...]:
    """Feature, threshold, left and right child, mean and mean square of the nodes of one tree."""
    n = int(tree.node_count)
    own = np.arange(n)
    is_leaf = tree.children_left < 0
    leaf = tree.apply(A)
    count = np.maximum(np.bincount(leaf, minlength=n), 1)[:, None]
    mean, square = (
        np.stack([np.bincount(leaf, column, minlength=n) for column in values.T], axis=1) / count
        for values in (target, target**2)
    )
    left, right = (np.where(is_leaf, own, side) for side in (tree.children_left, tree.children_right))
    feature = np.where(is_leaf, 0, tree.feature)
    return feature, tree.threshold.copy(), left, right, mean, square
