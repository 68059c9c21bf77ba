"""What all estimators of this room share: they keep arrays, an architecture, and what ``partial_fit`` continues."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import nn

from sidelight.base.fitting import KeptInterrupt
from sidelight.base.messages import complain

from ._architecture import Architecture
from ._checkpoints import identity_of
from ._modules import load_module
from ._settings import TrainingSettings
from ._trainer import Paused, Progress, TrainedNetwork

__all__ = ["TorchEstimator"]

Array = npt.NDArray[Any]
Kind = TypeVar("Kind", bound=Architecture[Any])
Module = TypeVar("Module", bound=nn.Module)


class TorchEstimator(BaseEstimator, ABC, Generic[Kind, Module]):
    """An estimator whose network is described by an architecture of one kind and built as a module of one class."""

    architecture_: Kind
    parameters_: dict[str, Array]
    history_: list[dict[str, Any]]
    n_iter_: int
    _paused_: Paused

    @abstractmethod
    def _new_architecture(self) -> Kind:
        """Check constructor parameters; return the network that they describe."""

    @abstractmethod
    def _sizes(self) -> tuple[int, int]:
        """Columns of inputs and outputs of the fitted network."""

    @abstractmethod
    def _device(self) -> str:
        """Where torch computes."""

    @property
    def _owner(self) -> str:
        return type(self).__name__

    def _architecture(self) -> Kind:
        """The fitted network's; files and pickles of earlier versions do not have it."""
        check_is_fitted(self, "parameters_")
        kept = vars(self).get("architecture_")
        return self._new_architecture() if kept is None else cast(Kind, kept)

    def _continued_architecture(self) -> Kind:
        """The same for ``partial_fit``, which refuses constructor parameters that are of another network by now."""
        fitted, new = self._architecture(), self._new_architecture()
        self._refuse_change(vars(fitted), vars(new))
        return fitted

    def _refuse_change(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Refuse parameters that have changed since the fit that is to be continued."""
        for name, value in before.items():
            if now[name] != value:
                rule = f"is not that of the fit, which had {name}={value!r}"
                raise ValueError(complain(self._owner, name, now[name], rule, "Set it back, or fit again"))

    def _module(self, dtype: npt.DTypeLike = np.float32) -> Module:
        """The fitted module, for rows of a type."""
        architecture: Architecture[Module] = self._architecture()
        return load_module(architecture, self._sizes(), self.parameters_, self._device(), dtype)

    def _identity(self, settings: TrainingSettings, **sizes: int) -> dict[str, str]:
        """What a checkpoint, where there is one, must have been written with: parameters and columns of the data."""
        return {} if settings.checkpoint is None else identity_of(self._owner, self.get_params(deep=True), sizes)

    def _progress(self) -> Progress:
        """How far this model was trained."""
        known = vars(self)
        if "parameters_" not in known:
            return Progress()
        return Progress(self.parameters_, self.n_iter_, self.history_, known.get("_paused_"))

    def _keep(self, architecture: Kind, found: TrainedNetwork) -> None:
        """Set what every fit leaves; an interrupt goes on from here, with the model as it was at the best."""
        self.architecture_ = architecture
        self.parameters_, self.history_, self.n_iter_ = found.parameters, found.history, found.n_iter
        if found.paused is not None:
            self._paused_ = found.paused
        if found.was_interrupted:
            raise KeptInterrupt

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the run that ``partial_fit`` continues."""
        return {name: value for name, value in super().__getstate__().items() if name != "_paused_"}

    def __sidelight_state__(self) -> dict[str, Any]:
        """A file does not hold it either."""
        return {"_paused_": ...}
