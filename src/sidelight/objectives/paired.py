"""Objectives for two views, where each row may be observed in one view or in both.

Rows A have the first view, rows B the second, P = A ∩ B are paired; each row has one latent point.

    alternating   minimise  Σ_v (n_v / Σ n_v) (H(S_v, Z_v) - H(Z_v)),   v ∈ {A, B}
                  S the alternating kernel (``kernels.alternating``) and S_v its block: a plain information embedding
                  of what the views have in common. All rows paired: H(S, Z) - H(Z). One view only: plain objective.
    joint         minimise  I(X; Y | Z_P) - I(X; Z_A) - I(Y; Z_B)                       (S1 §4, eqs. 12 and 7)
                  I(X; Y | Z) = H(X,Z) + H(Y,Z) - H(Z) - H(X,Y,Z); a plain term only for a view with unpaired rows.

Unpaired rows of different views do not repel one another: they are of the same kind, observed differently, and may have
the same latent point. Each term is a mean over its own rows, as in the source.

In I(X; Y | Z) the product of kernels *repels* (its entropy is maximised). Without self-weight a row's sum over it has
no lower bound, so that pushing one pair far apart would dominate the objective. So adaptive kernels get their largest
value on the diagonal here.
"""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array
from sidelight.kernels.alternating import Kernel, ViewKernel, kernel_block, with_self_weight
from sidelight.kernels.profiles import Profile

from .entropy import Entropy, EntropySum, information, joint_information
from .evaluation import Evaluation, Objective

__all__ = ["OnRows", "alternating_parts", "joint_parts"]


Parts = dict[str, tuple[float, Objective]]


class OnRows:
    """Objective on a subset of rows, ``f(Z[rows])``; its gradient is 0 elsewhere; terms are ``H(...) of label``."""

    def __init__(self, rows: Array, objective: Objective, label: str) -> None:
        self.rows = rows
        self.objective = objective
        self.label = label

    def value_and_grad(self, Z: Array) -> Evaluation:
        """The value, gradient (n, q) and terms at ``Z`` (n, q)."""
        part = self.objective.value_and_grad(Z[self.rows])
        gradient = np.zeros(Z.shape)
        gradient[self.rows] = part.gradient
        return Evaluation(part.value, gradient, {f"{name} of {self.label}": v for name, v in part.terms.items()})


def alternating_parts(S: Kernel, seen: list[Array], profile: Profile, *, n_jobs: int | None = None) -> Parts:
    """Weighted parts of the alternating objective ``Σ_v (n_v / Σ n_v) (H(S_v, Z_v) - H(Z_v))``.

    Parameters
    ----------
    S : kernel of shape (n, n)
        The alternating kernel.
    seen : list of arrays
        Rows observed in each view.
    profile : Profile
        Of the latent kernel.
    n_jobs : int or None
        Threads.

    Returns
    -------
    dict of (weight, objective) by name
    """
    if all(np.array_equal(rows, seen[0]) for rows in seen):
        return {"-I": (1.0, EntropySum(information(S), profile, n_jobs=n_jobs))}
    total = sum(len(rows) for rows in seen)
    return {
        f"-I({name})": (len(rows) / total, _on(rows, information(kernel_block(S, rows)), name, profile, n_jobs))
        for name, rows in zip("XY", seen, strict=True)
    }


def joint_parts(views: list[ViewKernel], profile: Profile, *, n_jobs: int | None = None) -> Parts:
    """Weighted parts of the joint objective: ``I(X; Y | Z)`` of paired rows, ``-I`` of each view with unpaired rows.

    Parameters
    ----------
    views : list of two ViewKernel
    profile : Profile
        Of the latent kernel.
    n_jobs : int or None
        Threads.

    Returns
    -------
    dict of (weight, objective) by name
    """
    paired = np.intersect1d(views[0].rows, views[1].rows)
    K, L = (_among(with_self_weight(view.matrix), view.rows, paired) for view in views)
    parts: Parts = {"I(X;Y|Z)": (1.0, _on(paired, joint_information(K, L), "pairs", profile, n_jobs))}
    for name, view in zip("XY", views, strict=True):
        if len(view.rows) > len(paired):
            parts[f"-I({name})"] = (1.0, _on(view.rows, information(view.matrix), name, profile, n_jobs))
    return parts


def _among(matrix: Kernel, rows: Array, chosen: Array) -> Kernel:
    """Block of a kernel for the ``chosen`` ones of its ``rows``."""
    return matrix if len(rows) == len(chosen) else kernel_block(matrix, np.searchsorted(rows, chosen))


def _on(rows: Array, terms: list[Entropy], label: str, profile: Profile, n_jobs: int | None) -> OnRows:
    return OnRows(rows, EntropySum(terms, profile, n_jobs=n_jobs), label)
