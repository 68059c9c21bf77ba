"""What models of rows share: how rows are checked and framed, and training on those that come batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued
from sidelight.base.validation import checked_array, validated

from ._frames import frame_of, framed, unframed
from ._torch_model import TorchModel

__all__ = ["RowModel"]

Array = npt.NDArray[Any]
_FLOATS = [np.float64, np.float32]


class RowModel(TorchModel):
    """Rows ``X``, their ``frame_``, and a code of ``n_components``.

    A subclass names this class before that of its torch model, which has ``_real`` (rows are numbers of any scale) and
    ``_check_values(name, rows)``; what it gives rows back as is its own.
    """

    n_components: int

    @all_or_nothing
    def fit_batches(self, source: Any, *, held_out: Array | None = None) -> Self:
        """Learn from arrays that an iterable yields, or a callable makes when it is called.

        The scale of rows is that of the first batch. Training ends with the iterable, or after ``max_iter`` updates.
        ``held_out`` (m, d): rows for early stopping; ``validation_fraction`` plays no part.
        """
        self._fit_source(source, held_out)
        return self

    @all_or_nothing_continued
    def partial_fit(self, X: Array, y: Any = None) -> Self:
        """One update for each batch of these rows, in their order; parameters and optimiser go on from where they are.

        The scale of rows is that of the first call. ``validation_fraction`` and ``checkpoint`` play no part.
        """
        del y
        self._check_parameters()
        self._check_stream()
        self._continue(self._framed(self._rows(X)) if hasattr(self, "parameters_") else self._opened(X))
        return self

    def _opened(self, first: Any) -> Sequence[Array]:
        alone = isinstance(first, tuple | list) and len(first) == 1
        return self._in_frame(self._rows(first[0] if alone else first, reset=True))

    def _in_frame(self, X: Array) -> tuple[Array]:
        """Rows in the frame that they define."""
        self.frame_ = frame_of(X, scaled=self._real)
        return (self.frame_.inside(X),)

    def _framed(self, *parts: Array) -> tuple[Array, ...]:
        (X,) = parts
        self._check_values("X", X)
        return (self.frame_.inside(X),)

    def _rows(self, X: Any, *, reset: bool = False) -> Array:
        if not reset:
            check_is_fitted(self, "parameters_")
        least = 2 if reset else 1
        spread = np.inf if reset else self.frame_.scale
        rows = np.asarray(validated(self, X, reset=reset, spread=spread, dtype=_FLOATS, ensure_min_samples=least))
        self._check_values("X", rows)
        return rows

    def _given_codes(self, Z: Any) -> Array:
        check_is_fitted(self, "parameters_")
        Z = np.asarray(checked_array(self, Z, dtype=_FLOATS, input_name="X"))
        self._check_columns("X", Z, self.n_components)
        return np.asarray(Z)

    def _in(self, x: Tensor) -> Tensor:
        return framed(x, self.frame_)

    def _back(self, x: Tensor) -> Tensor:
        return unframed(x, self.frame_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components
