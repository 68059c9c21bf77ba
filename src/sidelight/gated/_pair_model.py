"""What models of pairs share: how inputs and outputs are checked and framed, and training on pairs batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued
from sidelight.base.messages import complain
from sidelight.base.validation import check_rows, checked_array, refuse_too_large, validated

from ._frames import frame_of, framed, unframed
from ._torch_model import TorchModel

__all__ = ["PairModel"]

Array = npt.NDArray[Any]
_FLOATS = [np.float64, np.float32]


class PairModel(TorchModel):
    """Outputs ``Y`` given inputs ``X``, each with a frame.

    A subclass names this class before that of its torch model, which has ``_real`` (outputs are numbers of any scale),
    ``_inputs_scaled(X)`` and ``_check_values(name, Y)``.
    """

    _widths: tuple[int, ...] = (2,)
    """How many arrays a batch may have."""

    @all_or_nothing
    def fit_batches(self, source: Any, *, held_out: tuple[Array, ...] | None = None) -> Self:
        """Learn from pairs ``(X, Y)`` that an iterable yields, or a callable makes when it is called.

        The scale of rows is that of the first batch. Training ends with the iterable, or after ``max_iter`` updates.
        ``held_out``: one more such pair, for early stopping; ``validation_fraction`` plays no part.
        """
        self._fit_source(source, held_out)
        return self

    @all_or_nothing_continued
    def partial_fit(self, X: Array, Y: Array) -> Self:
        """One update for each batch of these rows, in their order; parameters and optimiser go on from where they are.

        The scale of rows is that of the first call. ``validation_fraction`` and ``checkpoint`` play no part.
        """
        self._continue_pairs(X, Y)
        return self

    def _continue_pairs(self, *parts: Any) -> None:
        self._check_parameters()
        self._check_stream()
        self._continue(self._framed(*self._group(*parts)) if hasattr(self, "parameters_") else self._opened(parts))

    def _opened(self, first: Any) -> Sequence[Array]:
        if not isinstance(first, tuple | list) or len(first) not in self._widths:
            rule = "is not a pair of arrays"
            raise ValueError(complain(self, "source", type(first).__name__, rule, "Yield (X, Y)"))
        parts = self._group(*first, reset=True)
        self._frames(*parts[:2])
        return self._framed(*parts)

    def _group(self, X: Any, Y: Any, *guess: Any, reset: bool = False) -> tuple[Array, ...]:
        X, Y = self._pair(X, Y, reset=reset)
        return (X, Y, *(self._outputs("guess", part, X) for part in guess))

    def _framed(self, *parts: Array) -> tuple[Array, ...]:
        X, *outputs = parts
        for Y in outputs:
            self._check_values("Y", Y)
        return (self.input_frame_.inside(X), *(self.output_frame_.inside(Y) for Y in outputs))

    def _frames(self, X: Array, Y: Array) -> None:
        self.input_frame_ = frame_of(X, scaled=self._inputs_scaled(X))
        self.output_frame_ = frame_of(Y, scaled=self._real)

    def _in(self, x: Tensor) -> Tensor:
        return framed(x, self.input_frame_)

    def _out(self, y: Tensor) -> Tensor:
        return framed(y, self.output_frame_)

    def _back(self, y: Tensor) -> Tensor:
        return unframed(y, self.output_frame_)

    def _pair(self, X: Any, Y: Any, *, reset: bool = False) -> tuple[Array, Array]:
        if not reset:
            check_is_fitted(self, "parameters_")
        least = 2 if reset else 1
        spread = np.inf if reset else self.input_frame_.scale
        X = np.asarray(validated(self, X, reset=reset, spread=spread, dtype=_FLOATS, ensure_min_samples=least))
        Y = self._output_rows("Y", Y, X)
        if reset:
            self.n_outputs_ = Y.shape[1]
        return X, self._like_fitted("Y", Y)

    def _inputs(self, X: Any) -> Array:
        check_is_fitted(self, "parameters_")
        return np.asarray(validated(self, X, reset=False, spread=self.input_frame_.scale, dtype=_FLOATS))

    def _outputs(self, name: str, Y: Any, X: Array | None = None) -> Array:
        """Outputs, or first guesses of them; one for each input, where these are given."""
        check_is_fitted(self, "n_outputs_")
        return self._like_fitted(name, self._output_rows(name, Y, X))

    def _output_rows(self, name: str, Y: Any, X: Array | None) -> Array:
        Y = np.asarray(checked_array(self, Y, dtype=_FLOATS if X is None else X.dtype, input_name=name))
        if X is not None:
            check_rows(self, name, Y, len(X))
        return np.asarray(Y)

    def _like_fitted(self, name: str, Y: Array) -> Array:
        self._check_columns(name, Y, self.n_outputs_)
        self._check_values(name, Y)
        return Y

    def _mapping(self, mapping: Any, n_mapping: int, X: Array) -> Array:
        """Mapping units, one row for each input or one for all."""
        mapping = np.atleast_2d(np.asarray(mapping, dtype=X.dtype))
        refuse_too_large(self, "mapping", mapping)
        self._check_columns("mapping", mapping, n_mapping)
        if len(mapping) not in (1, len(X)):
            rule = f"does not match the {len(X)} rows of X"
            raise ValueError(complain(self, "mapping", f"{len(mapping)} rows", rule, "Give one row, or one for each"))
        return np.broadcast_to(mapping, (len(X), n_mapping))
