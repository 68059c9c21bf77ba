"""The objective of a multiple relational embedding, its unknowns, and their initial values.

The unknowns are one array: the latent points Z (n, q), then the transformations R_c, as rows of their diagonals
(C, q), as whole matrices (C q, q), or not at all.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.base.random import random_numbers
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import checked_start
from sidelight.kernels.profiles import profile
from sidelight.kernels.relations import Similarity
from sidelight.objectives.relational import Divergence, Part, RelationalSum
from sidelight.side.relation import Relation

from ._relational_start import Start

__all__ = ["ObjectiveSettings", "first_unknowns", "relational_objective"]


_EXTENDED = 5.0  # weight of an extended relation: its axis is to show what was predicted, not what the data bends it to
_SIZES = (0.1, 0.3, 1.0, 3.0, 10.0)  # scales of the start to try: the one with the smallest objective is taken


@dataclass(frozen=True)
class ObjectiveSettings:
    """Parameters of the estimator that the objective depends on.

    Parameters
    ----------
    transformation : "diagonal", "full" or "identity"
    weights : dict of name to float
        1 where not given, 5 for extended relations.
    extended : collection of str
        Names of the relations that were extended to all rows.
    latent_kernel : str
    sparsity : float
    n_jobs : int or None
    """

    transformation: str
    weights: Mapping[str, float]
    extended: Collection[str]
    latent_kernel: str
    sparsity: float
    n_jobs: int | None


def relational_objective(
    relations: Mapping[str, Relation], similarities: Sequence[Similarity], n: int, settings: ObjectiveSettings
) -> RelationalSum:
    """``Σ_c w_c KL(P^c || Q^c(R_c Z))`` over the relations.

    Parameters
    ----------
    relations : dict of name to Relation
    similarities : sequence of Similarity
        P^c, in the order of the relations.
    n : int
        Rows.
    settings : ObjectiveSettings
    """
    latent = profile(settings.latent_kernel)
    parts = [
        Part(
            name,
            relation.index,
            Divergence(found, latent, n_jobs=settings.n_jobs),
            float(settings.weights.get(name, _EXTENDED if name in settings.extended else 1.0)),
            labels=relation.kind == "labels",
            one_pair=_is_one_pair(relation),
            few_axes=relation.kind in ("labels", "values", "pairs") and not _is_one_pair(relation),
        )
        for (name, relation), found in zip(relations.items(), similarities, strict=True)
    ]
    # with a single relation the latent points can absorb the transformation
    transformation = settings.transformation if len(relations) > 1 else "identity"
    return RelationalSum(parts, n, transformation, sparsity=settings.sparsity)


def _is_one_pair(relation: Relation) -> bool:
    return relation.kind == "pairs" and len(relation.index) == 2


def first_unknowns(
    owner: str, objective: RelationalSum, start: Start, init: object, random_state: RandomState
) -> Array:
    """Initial values of the unknowns, as one array.

    Parameters
    ----------
    owner : str
        Class that a message names.
    objective : RelationalSum
        Chooses the scale of the start for "relations".
    start : Start
    init : "relations", "random" or array of shape (n, q)
    random_state : int, RandomState or None
        For "random".
    """
    (n, q), transformation = start.Z.shape, objective.transformation
    if not isinstance(init, str):
        return _packed(checked_start(owner, init, (n, q)), start.R, transformation)
    if init == "random":
        noise = random_numbers(random_state).standard_normal((n + len(start.R), q))
        return _packed(0.1 * noise[:n], 0.1 * noise[n:], transformation)
    candidates = [_packed(size * start.Z, start.R, transformation) for size in _SIZES]
    return candidates[int(np.argmin([objective.value_and_grad(candidate).value for candidate in candidates]))]


def _packed(Z: Array, R: Array, transformation: str) -> Array:
    """The array of unknowns, of Z (n, q) and the diagonals of the R_c (C, q)."""
    if transformation == "identity":
        return np.array(Z)
    if transformation == "diagonal":
        return np.vstack([Z, R])
    return np.vstack([Z, *(np.diag(row) for row in R)])
