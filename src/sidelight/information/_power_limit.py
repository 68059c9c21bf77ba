"""The annealed solver under the constraint tr C ≤ r instead of a penalty: λ falls until the power is r.

Stages with a power penalty come first, λ falling as in ``_annealed``, until the power of the latent points has reached
the limit. The last stage solves the constrained problem (``objectives.limited_power``) from there. The λ of that stage
is the Lagrange multiplier, with which the penalty would have the same solution. An objective that a larger size makes
worse has its minimum inside, and the last stage has no penalty (λ = 0).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.objectives.evaluation import Objective, WeightedSum
from sidelight.objectives.limited_power import LimitedPower, power
from sidelight.solvers.anneal import Path, ValueAndGrad, anneal
from sidelight.solvers.annealing import ENDED_EARLY, AnnealingSettings, FitProgress

__all__ = ["check_limit", "solve_limited"]


def check_limit(owner: str, limit: float | None, penalty: str, bandwidth: object = None) -> None:
    """Raise ValueError where a limit of the power does not apply: other penalties, and a learned bandwidth."""
    if limit is None:
        return
    if penalty != "l2":
        rule = f"bounds the power of the latent points, and the penalty is {penalty!r}"
        raise ValueError(error_message(owner, "regularization.limit", limit, rule, 'Give penalty="l2"'))
    if bandwidth == "learned":
        rule, remedy = "is not for a learned bandwidth", "Give another bandwidth, or leave the limit out"
        raise ValueError(error_message(owner, "regularization.limit", limit, rule, remedy))


def solve_limited(
    parts: Mapping[str, tuple[float, Objective]],
    penalised_at: Callable[[float], ValueAndGrad],
    precondition: Callable[[Array], Array],
    schedule: list[float],
    start: Array,
    annealing: AnnealingSettings,
    limit: float,
    progress: FitProgress,
    *,
    before: Path | None = None,
) -> Path:
    """Minimise an objective of points (n, q) whose power is at most ``limit``.

    Parameters
    ----------
    parts : mapping of str to (float, Objective)
        The objective, a weighted sum, without a penalty.
    penalised_at : callable
        λ to the objective with a power penalty of that weight.
    precondition : callable
        Of the gradient.
    schedule : list of float
        λ of the stages before the last one; the first that reaches the limit is the last of them. May be empty.
    start : array of shape (n, q)
    annealing : AnnealingSettings
        Only ``max_iter`` and ``tol`` are used here.
    limit : float
    progress : FitProgress
    before : Path or None
        A path that this one continues.

    Returns
    -------
    Path
        The parameter of its last stage is the Lagrange multiplier of the constraint; 0: the minimum is inside.
    """
    n_stages = (0 if before is None else len(before.stages)) + len(schedule) + 1
    path, point = before, start

    def stage(at: Callable[[float], ValueAndGrad], weight: float, begin: Array, tolerance: float) -> Path:
        return anneal(
            at, [weight], begin, max_iter=annealing.max_iter, tolerance=tolerance, precondition=precondition,
            callback=progress.callback, before=path, n_stages=n_stages,
        )  # fmt: skip

    for weight in schedule:
        path = stage(penalised_at, weight, point, 10 * annealing.tol)
        point = path.point
        if path.status in ENDED_EARLY:
            return path
        if power(point) >= limit:
            break
    limited = LimitedPower(WeightedSum(parts), limit)
    if power(point) == 0.0:  # all in one place: the points of the start, unless these are equal, too
        if path is not None and power(start) == 0.0:
            return path
        point = start
    on_sphere = limited.points(point)
    alone = limited.objective.value_and_grad
    if power(point) < limit and alone(point).value < alone(on_sphere).value:  # larger is worse: the minimum is inside
        inside = stage(penalised_at, 0.0, point, annealing.tol)
        if power(inside.point) <= limit or inside.status in ENDED_EARLY:
            return inside
    return _with_multiplier(stage(lambda _: limited.value_and_grad, 0.0, on_sphere, annealing.tol), limited)


def _with_multiplier(path: Path, limited: LimitedPower) -> Path:
    """The path with the points of its last stage on the sphere, and the multiplier as the parameter of that stage."""
    point, last = limited.points(path.point), len(path.stages) - 1
    multiplier = limited.value_and_grad(point).terms["multiplier"]
    history = tuple(
        replace(record, regularization=record.terms["multiplier"]) if record.stage == last else record
        for record in path.history
    )
    stages = (*path.stages[:-1], replace(path.stages[-1], point=point))
    return Path(np.asarray(point), stages, (*path.schedule[:-1], multiplier), history)
