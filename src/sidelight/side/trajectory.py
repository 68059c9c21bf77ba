"""Which trajectory each row belongs to: rows of one trajectory are in temporal order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message

from .columns import read_table

__all__ = ["trajectory_numbers"]


def trajectory_numbers(owner: Any, trajectory: Any, n: int) -> npt.NDArray[np.int64]:
    """Number the trajectories of ``n`` rows, shape (n,).

    Parameters
    ----------
    owner : str or object
        Whose name messages begin with.
    trajectory : array of shape (n,), or one value
        Rows with the same entry are one trajectory, in row order. One value: all rows are one trajectory.
    n : int
        Rows of X.

    Examples
    --------
    >>> trajectory_numbers("Model", ["a", "a", "b"], 3).tolist(), trajectory_numbers("Model", "walk", 2).tolist()
    ([0, 0, 1], [0, 0])
    """
    if np.shape(trajectory) == ():
        trajectory = np.full(n, trajectory)
    if np.shape(trajectory) != (n,):
        seen, rule = f"array of shape {np.shape(trajectory)}", f"does not match the {n} rows of X"
        raise ValueError(error_message(owner, "trajectory", seen, rule, "Name the trajectory of each row"))
    (column,) = read_table(owner, trajectory, n).columns.values()
    if column.missing.any():
        row = int(np.flatnonzero(column.missing)[0])
        raise ValueError(
            error_message(owner, "trajectory", f"the name at row {row}", "is missing", "Name that of each row")
        )
    return np.asarray(np.unique(column.values.astype(str), return_inverse=True)[1], dtype=np.int64)
