"""Settings of an annealed fit: the schedule of the penalty weight λ, progress bar, and the fitted attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from sidelight.base.messages import error_message
from sidelight.base.progress import ProgressBar, combine_callbacks
from sidelight.base.result import Callback, Status
from sidelight.base.types import Array, NamedValues
from sidelight.base.warnings import warn

from .anneal import Path, geometric

__all__ = ["ENDED_EARLY", "AnnealingSettings", "FitProgress", "FittedPath", "end_progress", "fitted_path"]


ENDED_EARLY = (Status.STOPPED, Status.INTERRUPTED)
"""The user stopped the fit (callback or Ctrl-C): run no further stage."""
_START = 30.0  # default first λ, in multiples of the final one: all latent points collapse to one clump there
_UNFOLDED = 3.0  # the same where the start is an unfolded sheet already: in a clump it may bend
_AGAIN = 4.0  # multiple of the final λ from which annealing is repeated after the problem was refined


@dataclass(frozen=True)
class AnnealingSettings:
    """Schedule of λ: geometric from ``start`` (None: 30 times ``regularization``) down to ``regularization``.

    ``decay`` is the factor between stages. ``max_iter`` and ``tol`` are the stopping rule of each stage. ``limit`` is
    the largest power of the latent points, a constraint instead of the penalty; None: the penalty.
    """

    regularization: float
    start: float | None
    decay: float
    max_iter: int
    tol: float
    limit: float | None = None

    @property
    def first(self) -> float:
        """λ of the first stage."""
        return self.start or _START * self.regularization

    def from_a_sheet(self) -> AnnealingSettings:
        """The schedule for a start that is already unfolded: from near the final λ, unless ``start`` is given."""
        return self if self.start is not None else replace(self, start=_UNFOLDED * self.regularization)

    def schedule(self) -> list[float]:
        """λ of each stage."""
        return geometric(self.first, self.regularization, self.decay)

    def last_part(self) -> list[float]:
        """λ of the last stages (at most 4 times the final λ), repeated after the problem was refined."""
        return [weight for weight in self.schedule() if weight <= _AGAIN * self.regularization]


class FitProgress:
    """The progress bar of one fit (``verbose``) and the user's callback, as one callback."""

    def __init__(self, owner: str, verbose: int, callback: Callback | None) -> None:
        self.owner = owner
        self.bar = ProgressBar(owner) if verbose else None
        self.callback = combine_callbacks(self.bar, callback)

    def end(self, path: Path, max_iter: int) -> None:
        """Close the progress bar; warn if the last stage did not converge."""
        end_progress(self.owner, max_iter, self.bar, path)


@dataclass(frozen=True)
class FittedPath:
    """An annealing path as estimators store it.

    Parameters
    ----------
    point : array of shape (n, q)
        The final embedding, centred.
    stages : array of shape (s, n, q)
        The centred embedding at the end of each stage.
    weights : array of shape (s,)
        λ of each stage.
    history : list of dict
        One record per iteration.
    n_iter : int
        Iterations in total, at least 1.
    """

    point: Array
    stages: Array
    weights: Array
    history: list[NamedValues]
    n_iter: int


def fitted_path(path: Path, dtype: npt.DTypeLike) -> FittedPath:
    """Convert a Path to what estimators store; stages are cast to ``dtype``, the final point keeps its precision."""
    centred = [stage.point - stage.point.mean(axis=0) for stage in path.stages]
    return FittedPath(
        np.asarray(centred[-1]),
        np.array(centred, dtype=dtype),
        np.array(path.schedule),
        [vars(record) for record in path.history],
        max(1, path.n_iter),
    )


def end_progress(owner: str, max_iter: int, bar: ProgressBar | None, path: Path) -> None:
    """Close the progress bar; warn if the last stage did not converge."""
    if bar is not None:
        bar.close(f"{path.status.value}, {path.n_iter} iterations")
    if path.status in (Status.ITERATIONS, Status.STALLED):
        rule = f"did not let the last stage converge: it {path.stages[-1].message}"
        message = error_message(owner, "max_iter", max_iter, rule, "Raise max_iter or tol")
        warn(message, ConvergenceWarning)
