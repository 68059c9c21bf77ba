"""Plans of finufft that are kept: making one takes as long as two transforms of a thousand points.

A plan depends on the grid only, and is given points before it runs. So the transforms of the same points share the
sorting of their points, and the next points take the same plan if their grid is the same: along a descent it changes
every few steps. A plan that is used again gives the same bits as a new one.

finufft changes bits with its number of threads, so each plan runs on one thread. Plans that run at the same time have
different ``place`` numbers.
"""

from __future__ import annotations

import functools
import math
from collections import OrderedDict
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array, DType, Untyped

__all__ = ["Grid", "Plans", "library", "packed", "unpacked"]


_TOGETHER = 4  # complex columns in a plan
_MOST = 2**18  # modes of all plans that are kept for other points: 4 to 16 MiB
_Key = tuple["Grid", int, int, int]  # and type, arrays at a time, place


class Grid(NamedTuple):
    """Number of modes of each axis, relative precision, complex data type, and oversampling of a transform."""

    shape: tuple[int, ...]
    precision: float
    dtype: DType
    oversampling: float


class _Plan(Protocol):
    """A transform of finufft."""

    def setpts(self, *angles: Array) -> object: ...

    def execute(self, data: Array) -> Array: ...


class _Kept:
    """A plan, and the points that it was given last."""

    def __init__(self, plan: _Plan) -> None:
        self.plan = plan
        self.points: list[Array] | None = None


class Plans:
    """Run transforms by plans that are kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._lock = Lock()

    def transform(self, kind: int, grid: Grid, angles: list[Array], data: Array, place: int = 0) -> Array:
        """A transform of type 1 (points to modes) or 2 (modes to points), of one array or several (b, ...).

        ``angles`` are the coordinates (n,) of the points, one array for each axis; the plan keeps a reference.
        """
        single = 1 if kind == 1 else len(grid.shape)
        kept = self._of((grid, kind, len(data) if data.ndim > single else 1, place), angles)
        if kept.points is not angles:
            kept.plan.setpts(*angles)
            kept.points = angles
        return np.asarray(kept.plan.execute(np.ascontiguousarray(data, dtype=grid.dtype)))

    def _of(self, key: _Key, angles: list[Array]) -> _Kept:
        """The plan of this key, made if there is none."""
        with self._lock:
            if key not in self._kept:
                self._make_room(_modes(key), angles)
                self._kept[key] = _Kept(_new_plan(*key[:3]))
            self._kept.move_to_end(key)
            return self._kept[key]

    def _make_room(self, modes: int, angles: list[Array]) -> None:
        """Let go the oldest plans, but none of the present points, until ``modes`` more are not too many."""
        held = modes + sum(_modes(key) for key in self._kept)
        for key in [key for key, kept in self._kept.items() if kept.points is not angles]:
            if held <= _MOST:
                return
            held -= _modes(key)
            del self._kept[key]


def _modes(key: _Key) -> int:
    """Modes of all arrays that a plan transforms at a time."""
    return math.prod(key[0].shape) * key[2]


def _new_plan(grid: Grid, kind: int, count: int) -> _Plan:
    plan: _Plan = library().Plan(
        kind,
        grid.shape,
        n_trans=count,
        eps=grid.precision,
        isign=-1 if kind == 1 else 1,
        dtype=grid.dtype,
        nthreads=1,
        upsampfac=grid.oversampling,
    )
    return plan


@functools.cache
def library() -> Untyped:
    """finufft, imported when first needed; None where there is none (no wheel for Linux on ARM)."""
    try:
        import finufft
    except ImportError:
        return None
    return finufft


def packed(W: Array, dtype: DType) -> list[Array]:
    """Pack two real columns into each complex one, in batches (b, n) that share a plan."""
    c = W.shape[1]
    V = np.zeros((-(-c // 2), len(W)), dtype=dtype)
    V.real, V.imag[: c // 2] = W[:, ::2].T, W[:, 1::2].T
    return [V[part] for part in spans(len(V), _TOGETHER)]


def unpacked(parts: list[Array], c: int) -> Array:
    """Undo ``packed``: the real columns (n, c)."""
    V = np.concatenate(parts)
    W = np.empty((V.shape[1], c))
    W[:, ::2], W[:, 1::2] = V.real.T, V.imag[: c // 2].T
    return W
