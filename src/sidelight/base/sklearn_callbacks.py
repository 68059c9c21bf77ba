"""scikit-learn's callbacks (``sklearn.callback``, 1.9) in every fit, beside the parameter ``callback`` of this library.

A callback of scikit-learn follows a tree of tasks, which here is

    fit → iteration             one stage: mixtures, networks, relations
    fit → stage → iteration     several stages: annealing, levels, sizes of a search

A model that is fitted in closed form has the task ``fit`` alone. The task of an iteration carries its ``state``, which
a ``callback`` of this library receives. A callback that returns True at the end of an iteration or a stage ends the
fit, as one of this library does: the model is made of the best iterate.

There is one place of contact: ``base.fitting`` runs each fit on a copy of the model (the *shell*), whose ``callback``
reports to scikit-learn's callbacks too. Nothing below knows of them, and earlier versions of scikit-learn have none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from .progress import combine_callbacks
from .result import State

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
except ImportError:  # scikit-learn before 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing: there are no callbacks to set."""


__all__ = ["CallbackSupport", "run_with_callbacks"]

Result = TypeVar("Result")
_OF_THE_CALL = ("_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_parent_callback_ctx")


def run_with_callbacks(
    model: Any, shell: Any, fit: Callable[..., Result], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Result:
    """Return ``fit(shell, *args, **kwargs)``, reported to the callbacks that ``model.set_callbacks`` has set.

    Parameters
    ----------
    model : estimator
        Whom the callbacks are told of; not changed, except for scikit-learn's own attributes during the call.
    shell : estimator
        The copy that is fitted. Estimators that it fits or clones do not report to the same callbacks again.
    """
    callbacks = vars(model).get("_skl_callbacks")
    for name in _OF_THE_CALL:
        vars(shell).pop(name, None)
    if not callbacks:
        return fit(shell, *args, **kwargs)
    from sklearn.callback import with_callbacks

    def whole(estimator: Any) -> Result:
        inputs = _inputs(estimator, fit, args, kwargs)
        tasks = _Tasks(estimator, fit.__name__, inputs)
        if hasattr(shell, "callback"):
            shell.callback = combine_callbacks(shell.callback, tasks)
        result = fit(shell, *args, **kwargs)
        tasks.finish(shell)
        return result

    told: Result = with_callbacks(whole)(model)  # calls ``teardown`` whatever happens
    return told


class _Tasks:
    """Reports a fit to scikit-learn's callbacks; called with the state of every iteration."""

    def __init__(self, model: Any, name: str, inputs: dict[str, Any]) -> None:
        self.model, self.inputs = model, inputs
        self.limit = _positive(getattr(model, "max_iter", None))
        self.has_stages: bool = model._fit_has_stages
        most = None if self.has_stages or name != "fit" else self.limit
        most = most if hasattr(model, "callback") else 0
        self.root = _Task(model._init_callback_context(task_name=name, max_subtasks=most), model, inputs)
        self.root.begin()
        self.stage: _Task | None = None
        self.last = (0, 0)

    def __call__(self, state: State) -> bool:
        """Report an iteration that has ended; return whether a callback wants the fit to end."""
        stop, parent = False, self.root
        if self.has_stages and state.n_stages > 1:
            if self.stage is None or state.stage != self.last[0] or state.iteration <= self.last[1]:
                stop = self._end_stage()
                self.stage = self.root.subtask("stage", self.limit)
                self.stage.begin()
            parent = self.stage
        self.last = (state.stage, state.iteration)
        task = parent.subtask("iteration", 0)
        task.context.state = state
        task.begin()
        return task.end() or stop

    def finish(self, shell: Any) -> None:
        """End the open tasks; callbacks that ask for it receive the fitted model."""
        self._end_stage()
        users = {name: value for name, value in vars(self.model).items() if not name.endswith("_")}
        self.root.end(reconstruction_attributes=lambda: {"__dict__": {**vars(shell), **users}})

    def _end_stage(self) -> bool:
        stage, self.stage = self.stage, None
        return stage is not None and stage.end()


class _Task:
    """A task of scikit-learn's tree, with what every hook is told: the model, X, y and metadata."""

    def __init__(self, context: Any, model: Any, inputs: dict[str, Any]) -> None:
        self.context, self.model, self.inputs = context, model, inputs
        self.n_subtasks = 0

    def subtask(self, name: str, most: int | None) -> _Task:
        """One more part of this task, with ``most`` parts at most (None: unknown)."""
        if self.context.max_subtasks is not None and self.n_subtasks >= self.context.max_subtasks:
            self.context.max_subtasks = None  # a search fits more than once: better no bound than a fit that fails
        self.n_subtasks += 1
        return _Task(self.context.subcontext(task_name=name, max_subtasks=most), self.model, self.inputs)

    def begin(self) -> None:
        self.context.call_on_fit_task_begin(estimator=self.model, **self.inputs)

    def end(self, **more: Any) -> bool:
        """Return whether a callback wants the fit to end."""
        return bool(self.context.call_on_fit_task_end(estimator=self.model, **self.inputs, **more))


def _inputs(model: Any, fit: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """X, y and metadata of a fit: the arguments that ``score`` takes as well, because scikit-learn scores with them."""
    try:
        given = inspect.signature(fit).bind(model, *args, **kwargs).arguments
    except TypeError:  # the fit says what is wrong
        return {}
    score = getattr(model, "score", None)
    scored = () if score is None else inspect.signature(score).parameters
    metadata = {name: given[name] for name in scored if name not in ("X", "y") and given.get(name) is not None}
    return {"X": given.get("X"), "y": given.get("y"), "metadata": metadata or None}


def _positive(number: Any) -> int | None:
    """The number, if it is a positive integer: parameters are not validated yet."""
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else None
