"""Base class of all estimators of this package: they keep arrays, an architecture, and the state of ``partial_fit``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted
from torch import nn

from sidelight.base.estimator import Estimator
from sidelight.base.fitting import raise_if_interrupted
from sidelight.base.messages import error_message
from sidelight.base.types import Array, NamedValues, Parameters

from ._architecture import Architecture
from ._checkpoints import identity_of
from ._modules import load_module
from ._settings import TrainingSettings
from ._trainer import Paused, Progress, TrainedNetwork

__all__ = ["TorchEstimator"]


Kind = TypeVar("Kind", bound=Architecture[nn.Module])
Module = TypeVar("Module", bound=nn.Module)


class TorchEstimator(Estimator, ABC, Generic[Kind, Module]):
    """An estimator with a torch network: ``Kind`` is the class of its architecture, ``Module`` that of its module."""

    _fit_has_stages = False
    architecture_: Kind
    parameters_: dict[str, Array]
    history_: list[NamedValues]
    n_iter_: int
    weight_decay_: float
    _paused_: Paused

    @abstractmethod
    def _new_architecture(self) -> Kind:
        """Validate constructor parameters; return the architecture that they describe."""

    @abstractmethod
    def _sizes(self) -> tuple[int, int]:
        """Numbers of input and output columns of the fitted network."""

    @abstractmethod
    def _device(self) -> str:
        """The torch device."""

    @property
    def _owner(self) -> str:
        return type(self).__name__

    def _architecture(self) -> Kind:
        """The architecture of the fitted network; rebuilt for files and pickles of earlier versions, which lack it."""
        check_is_fitted(self, "parameters_")
        kept = vars(self).get("architecture_")
        return self._new_architecture() if kept is None else cast(Kind, kept)

    def _continued_architecture(self) -> Kind:
        """The same for ``partial_fit``; raises an error if the constructor parameters now describe another network."""
        fitted, new = self._architecture(), self._new_architecture()
        self._refuse_change(vars(fitted), vars(new))
        return fitted

    def _refuse_change(self, before: Parameters, now: Parameters) -> None:
        """Raise an error if parameters have changed since the fit that is to be continued."""
        for name, value in before.items():
            if _differ(now[name], value):
                rule = f"is not that of the fit, which had {name}={value!r}"
                raise ValueError(error_message(self._owner, name, now[name], rule, "Set it back, or fit again"))

    def _module(self, dtype: npt.DTypeLike = np.float32) -> Module:
        """The fitted torch module, for rows of type ``dtype``."""
        architecture: Architecture[Module] = self._architecture()
        return load_module(architecture, self._sizes(), self.parameters_, self._device(), dtype)

    def _identity(self, settings: TrainingSettings, **sizes: int) -> dict[str, str]:
        """Settings that a checkpoint (if any) must have been written with: parameters and columns of the data."""
        return {} if settings.checkpoint is None else identity_of(self._owner, self.get_params(deep=True), sizes)

    def _progress(self) -> Progress:
        """The training progress of this model, for ``partial_fit``."""
        known = vars(self)
        if "parameters_" not in known:
            return Progress()
        return Progress(self.parameters_, self.n_iter_, self.history_, known.get("_paused_"))

    def _keep(self, architecture: Kind, found: TrainedNetwork) -> None:
        """Set the fitted attributes; re-raise an interrupt afterwards, so that the best model so far is kept."""
        self.architecture_ = architecture
        self.parameters_, self.history_, self.n_iter_ = found.parameters, found.history, found.n_iter
        self.weight_decay_ = found.weight_decay
        if found.paused is not None:
            self._paused_ = found.paused
        raise_if_interrupted(found.was_interrupted)

    def __getstate__(self) -> NamedValues:
        """Everything but the optimiser state that ``partial_fit`` continues from."""
        return {name: value for name, value in super().__getstate__().items() if name != "_paused_"}

    def __sidelight_state__(self) -> NamedValues:
        """Model files do not hold that state either."""
        return {"_paused_": ...}


def _differ(now: object, before: object) -> bool:
    """Whether two parameters differ; modules are compared by their layers, not by their weights."""
    if isinstance(now, nn.Module) and isinstance(before, nn.Module):
        return repr(now) != repr(before)
    return bool(now != before)
