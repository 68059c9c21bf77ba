"""What every model annealed in λ does alike: check its parameters, follow the path, keep it.

The model has the parameters ``regularization``, ``regularization_start``, ``regularization_decay``, ``penalty``,
``max_iter``, ``tol``, ``verbose`` and ``callback``; nothing else is asked of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from sidelight.base.messages import complain
from sidelight.base.progress import ProgressBar, both
from sidelight.base.result import Status
from sidelight.base.validation import check_choice, check_integer, check_number
from sidelight.base.warnings import warn
from sidelight.objectives.evaluation import Objective, WeightedSum
from sidelight.objectives.penalties import Box, Power, Stretch

from .anneal import Path, ValueAndGrad, anneal, best_size, geometric

__all__ = ["Problem", "announce", "check_annealing", "follow_path", "keep_path", "penalty_of"]

Array = npt.NDArray[Any]
Problem = tuple[Mapping[str, tuple[float, Objective]], Objective, Callable[[Array], Array]]
"""Parts of the objective with their weights, the penalty, and the preconditioner."""
_AGAIN = 4.0  # times the final λ: from there the path is followed again when the problem was refined


def check_annealing(model: Any) -> None:
    """Every parameter of the path in range, or a sentence."""
    auto = ("auto",) if hasattr(model, "solver") else ()
    check_choice(model, "latent_kernel", model.latent_kernel, (*auto, "gaussian", "student", "quartic"))
    check_choice(model, "penalty", model.penalty, ("stretch", "l2", "l4", "box"))
    check_number(model, "regularization", model.regularization, 0.0)
    if model.regularization_start is not None:
        check_number(model, "regularization_start", model.regularization_start, 0.0)
    check_number(model, "regularization_decay", model.regularization_decay, 0.0, 1.0)
    check_integer(model, "max_iter", model.max_iter, 1)
    check_number(model, "tol", model.tol, 0.0)


def penalty_of(model: Any, kernel: Any) -> Objective:
    """The penalty the model asks for; ``kernel`` says who the neighbours are that stretch holds together."""
    if model.penalty == "stretch":
        return Stretch(kernel)
    return Box() if model.penalty == "box" else Power(2 if model.penalty == "l2" else 4)


def follow_path(
    model: Any,
    parts: Mapping[str, tuple[float, Objective]],
    penalty: Objective,
    start: Array,
    precondition: Callable[[Array], Array],
    *,
    resize: bool,
    refine: Callable[[Array], Problem] | None = None,
) -> Path:
    """Minimise the parts and λ times the penalty while λ falls; ``resize``: the objective chooses the start's size.

    ``refine`` makes a better problem of what was found, and the end of the path is followed again.
    """
    first = model.regularization_start or 30.0 * model.regularization
    bar = ProgressBar(type(model).__name__) if model.verbose else None
    falling = geometric(first, model.regularization, model.regularization_decay)
    again = [weight for weight in falling if weight <= _AGAIN * model.regularization] if refine else []

    def walk(problem: Problem, schedule: list[float], start: Array, before: Path | None) -> Path:
        parts, penalty, precondition = problem

        def objective_at(weight: float) -> ValueAndGrad:
            return WeightedSum({**parts, "penalty": (weight, penalty)}).value_and_grad

        return anneal(
            objective_at,
            schedule,
            best_size(objective_at(first), start) if resize and before is None else start,
            max_iter=model.max_iter,
            tolerance=model.tol,
            precondition=precondition,
            callback=both(bar, model.callback),
            before=before,
            n_stages=len(falling) + len(again),
        )

    path = walk((parts, penalty, precondition), falling, start, None)
    if refine is not None and path.status not in (Status.STOPPED, Status.INTERRUPTED):
        path = walk(refine(path.point), again, path.point, path)
    announce(model, bar, path)
    return path


def announce(model: Any, bar: ProgressBar | None, path: Path) -> None:
    """Close the bar, and warn where the last stage did not converge."""
    if bar is not None:
        bar.close(f"{path.status.value}, {path.n_iter} iterations")
    if path.status in (Status.ITERATIONS, Status.STALLED):
        rule = f"did not let the last stage converge: it {path.stages[-1].message}"
        message = complain(model, "max_iter", model.max_iter, rule, "Raise max_iter or tol")
        warn(message, ConvergenceWarning)


def keep_path(model: Any, path: Path, dtype: npt.DTypeLike) -> Array:
    """Set ``history_``, ``path_``, ``regularization_path_`` and ``n_iter_``; return the centred end of the path."""
    centred = [stage.point - stage.point.mean(axis=0) for stage in path.stages]
    model.history_ = [vars(record) for record in path.history]
    model.path_ = np.array(centred, dtype=dtype)
    model.regularization_path_ = np.array(path.schedule)
    model.n_iter_ = max(1, path.n_iter)
    return np.asarray(centred[-1])
