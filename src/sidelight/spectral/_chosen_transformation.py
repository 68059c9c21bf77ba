"""The parameter ``transformation`` of a distance, by name or as a function, validated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array, Function
from sidelight.base.validation import check_choice

from ._transformations import Parameter, Transformation, rotated, shifted

__all__ = ["STEPS", "chosen_transformation", "is_local", "picture_shape"]


_NAMES = ("shift", "rotate", "local")
STEPS = {"shift": 1.0, "rotate": 10.0}
"""Default step of each named transformation: a pixel, ten degrees."""


def is_local(transformation: object) -> bool:
    """Whether the transformation is the local filter, which is fitted to the data."""
    return isinstance(transformation, str) and transformation == "local"


def picture_shape(owner: str, image_shape: Sequence[int] | None, n_columns: int) -> tuple[int, int]:
    """Height and width of the image that a row holds; without ``image_shape`` a single line, (1, n_columns).

    Parameters
    ----------
    owner : str
        Class that a message names.
    image_shape : (height, width) or None
    n_columns : int
        Columns of the data, which the picture must have as pixels.
    """
    if image_shape is None:
        return 1, n_columns
    if len(image_shape) != 2 or int(np.prod(image_shape)) != n_columns:
        rule = f"does not have as many pixels as X has columns ({n_columns})"
        raise ValueError(error_message(owner, "image_shape", image_shape, rule, "Give (height, width)"))
    return int(image_shape[0]), int(image_shape[1])


def chosen_transformation(
    owner: str, transformation: object, image_shape: Sequence[int] | None, n_columns: int
) -> Transformation:
    """Return the transformation as a function ``(X, θ) -> X'`` of rows (n, ``n_columns``).

    Parameters
    ----------
    owner : str
        Class that a message names.
    transformation : "shift", "rotate" or callable
        What a callable returns is checked at every call.
    image_shape : (height, width) or None
        Of the named transformations.
    n_columns : int
        Columns of the data.
    """
    if callable(transformation):
        return lambda rows, theta: _checked_move(owner, transformation, rows, theta)
    check_choice(owner, "transformation", transformation, _NAMES)
    shape = picture_shape(owner, image_shape, n_columns)
    function: Function[Array] = shifted if transformation == "shift" else rotated
    return lambda rows, theta: function(rows, theta, shape)


def _checked_move(owner: str, function: Function[object], rows: Array, theta: Parameter) -> Array:
    """Rows that the user's function made of rows: finite, and of the same shape."""
    moved = np.asarray(function(rows, theta), dtype=np.float64)
    if moved.shape != rows.shape or not np.isfinite(moved).all():
        rule = f"made an array of shape {moved.shape}, or not finite, of one of shape {rows.shape}"
        raise ValueError(error_message(owner, "transformation", function, rule, "Return finite rows, one for each"))
    return moved
