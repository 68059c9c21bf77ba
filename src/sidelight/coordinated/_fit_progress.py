"""The steps of a coordinated fit, for ``history_``, and whether it was ended early."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sidelight.base.fitting import raise_if_interrupted
from sidelight.base.result import Callback, State, Status
from sidelight.base.types import NamedValues

__all__ = ["FitProgress"]


class FitProgress:
    """Collects the history of a fit, and remembers whether the callback or Ctrl-C has ended it.

    It is the callback of every mixture of the fit. Once it is ended, mixtures that the maps cannot do without take one
    step each, and no others are fitted.
    """

    def __init__(self, callback: Callback | None) -> None:
        self.callback, self.began = callback, time.perf_counter()
        self.history: list[NamedValues] = []
        self.n_iter = 0
        self.ended: Status | None = None

    def __call__(self, state: State) -> bool:
        """Ask the callback, until the fit is ended."""
        if self.ended is None and self.callback is not None and self.callback(state):
            self.ended = Status.STOPPED
        return self.ended is not None

    def interrupt(self, *, kept: bool) -> None:
        """Remember Ctrl-C; where nothing is kept, or it is the second one, it is raised at once."""
        raise_if_interrupted(not kept or self.ended is Status.INTERRUPTED, kept=False)
        self.ended = Status.INTERRUPTED

    def add(self, history: Sequence[NamedValues], n_iter: int) -> None:
        """Append the records of one more mixture, counted on from those before."""
        last = self.history[-1] if self.history else {"stage": -1, "iteration": 0, "seconds": 0.0}
        first = {"stage": last["stage"] + 1, "iteration": last["iteration"], "seconds": last["seconds"]}
        self.history += [record | {name: record[name] + first[name] for name in first} for record in history]
        self.n_iter += n_iter

    def add_eigenproblem(self, terms: dict[str, float]) -> None:
        """Append the eigenproblem as a stage of one step; its seconds are those of the whole fit."""
        total = terms["disagreement"]
        record = {"stage": 0, "regularization": 0.0, "iteration": 1, "objective": total, "terms": terms, "seconds": 0.0}
        self.add([record], 0)
        self.history[-1]["seconds"] = time.perf_counter() - self.began

    def finish(self) -> None:
        """Raise Ctrl-C again, when everything is kept."""
        raise_if_interrupted(self.ended is Status.INTERRUPTED)
