"""Mixin of the estimators that are fitted by annealing: schedule, progress, and the attributes of the path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sidelight.base.alias import MovedParameter
from sidelight.base.fitting import raise_if_interrupted
from sidelight.base.options import argument_name
from sidelight.base.result import Callback, Status
from sidelight.base.types import Array, NamedValues
from sidelight.base.validation import check_integer, check_number
from sidelight.solvers.anneal import Path
from sidelight.solvers.annealing import AnnealingSettings, FitProgress, FittedPath

from .annealing import Annealing

__all__ = ["AnnealedMixin"]


class AnnealedMixin:
    """Reads the parameters of an annealed fit, and keeps the path that the fit took."""

    _moved_parameters: ClassVar[Mapping[str, MovedParameter]] = {
        "regularization_start": MovedParameter("regularization", "start", Annealing),
        "regularization_decay": MovedParameter("regularization", "decay", Annealing),
    }

    regularization: float | Annealing
    max_iter: int
    tol: float
    verbose: int
    callback: Callback | None
    history_: list[NamedValues]
    path_: Array
    regularization_path_: Array
    n_iter_: int

    def _check_annealing(self) -> None:
        """Raise ValueError for a schedule, a limit or a stopping rule out of range."""
        owner, options = type(self).__name__, Annealing.of(self.regularization)
        argument = argument_name("regularization", self.regularization, Annealing, "regularization")
        check_number(owner, argument, options.regularization, 0.0)
        if options.start is not None:
            check_number(owner, "regularization.start", options.start, 0.0)
        check_number(owner, "regularization.decay", options.decay, 0.0, 1.0)
        if options.limit is not None:
            check_number(owner, "regularization.limit", options.limit, 0.0)
        check_number(owner, "tol", self.tol, 0.0)
        check_integer(owner, "max_iter", self.max_iter, 1)

    def _annealing(self) -> AnnealingSettings:
        options = Annealing.of(self.regularization)
        return AnnealingSettings(
            options.regularization, options.start, options.decay, self.max_iter, self.tol, options.limit
        )

    def _progress(self) -> FitProgress:
        return FitProgress(type(self).__name__, self.verbose, self.callback)

    def _keep_path(self, path: Path, kept: FittedPath, stages: Array) -> None:
        """Set the attributes of the path. The last step of ``fit``: raises Ctrl-C again if it ended the fit.

        ``kept`` is what estimators store of ``path``, ``stages`` (s, n, q) are the embeddings of its stages.
        """
        self.history_, self.path_ = kept.history, stages
        self.regularization_path_, self.n_iter_ = kept.weights, kept.n_iter
        raise_if_interrupted(path.status is Status.INTERRUPTED)
