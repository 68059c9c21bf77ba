r"""R² of all rows from sums of partitions, merged without loss of digits.

n, m = mean of the rows, S = Σ |x - m|², E = Σ |x - x̂|²          R² = 1 - E / S
two parts a, b:   m = m_a + (m_b - m_a) n_b / n,   S = S_a + S_b + |m_b - m_a|² n_a n_b / n,   E = E_a + E_b
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array

from ._dask import dask
from ._sent import Sent

__all__ = ["score_graph"]


@dataclass(frozen=True)
class _Sums:
    """Of some rows: their number, mean (d,), squared distance from it, and from their reconstruction."""

    n: int
    mean: Array
    spread: float
    lost: float

    def __add__(self, other: _Sums) -> _Sums:
        n = self.n + other.n
        if n == 0:
            return self
        apart, share = other.mean - self.mean, other.n / n
        spread = self.spread + other.spread + float(apart @ apart) * self.n * share
        return _Sums(n, self.mean + share * apart, spread, self.lost + other.lost)


def score_graph(
    call: Callable[[Any, Any, object], Array], sent: Any, parts: Sequence[Any], known: Sequence[Any], constant: object
) -> Any:
    """R², as one delayed number; ``call(model, rows, given)`` reconstructs rows."""
    level = [_of_partition(call, sent, part, given, constant) for part, given in zip(parts, known, strict=True)]
    while len(level) > 1:
        level = [_merged(level[i : i + 2]) for i in range(0, len(level), 2)]
    return _share(level[0])


@dask.delayed(pure=False)
@one_blas_thread
def _of_partition(
    call: Callable[[Any, Any, object], Array], sent: Sent, part: Any, given: object, constant: object
) -> _Sums:
    X = np.asarray(part, dtype=np.float64)
    if len(X) == 0:
        return _Sums(0, np.zeros(X.shape[1]), 0.0, 0.0)
    residual, mean = X - call(sent.value, part, constant if given is None else given), X.mean(axis=0)
    return _Sums(len(X), mean, float(((X - mean) ** 2).sum()), float((residual**2).sum()))


@dask.delayed(pure=False)
def _merged(parts: list[_Sums]) -> _Sums:
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@dask.delayed(pure=False)
def _share(sums: _Sums) -> float:
    return 1.0 - sums.lost / sums.spread if sums.spread > 0 else 0.0
