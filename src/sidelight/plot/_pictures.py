"""Rows that are images, as pictures of 8-bit pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight.base.messages import error_message

__all__ = ["Bytes", "check_image_shape", "range_of", "shrink", "to_pictures"]

Bytes = NDArray[np.uint8]


def check_image_shape(image_shape: Sequence[int], n_features: int, owner: str) -> tuple[int, ...]:
    """Return ``image_shape`` as (height, width) or (height, width, 3), or say why it does not fit.

    Examples
    --------
    >>> check_image_shape((8, 8, 1), 64, "thumbnails")
    (8, 8)
    """
    shape = tuple(int(side) for side in image_shape)
    if len(shape) == 3 and shape[2] == 1:
        shape = shape[:2]
    known = len(shape) == 2 or (len(shape) == 3 and shape[2] == 3)
    if not known or min(shape) < 1:
        rule = "is neither (height, width) nor (height, width, 3)"
        raise ValueError(error_message(owner, "image_shape", shape, rule, "Name the sides of one picture"))
    if int(np.prod(shape)) != n_features:
        rule = f"has {int(np.prod(shape))} pixels, but a row has {n_features} values"
        raise ValueError(
            error_message(owner, "image_shape", shape, rule, "The sides must multiply to the row's length")
        )
    return shape


def range_of(rows: ArrayLike) -> tuple[float, float]:
    """Smallest and largest value: black and white of every picture, so that pictures can be compared.

    Examples
    --------
    >>> range_of([[0, 3], [16, 2]])
    (0.0, 16.0)
    """
    values = np.asarray(rows)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    return (low, high) if high > low else (low, low + 1.0)


def to_pictures(rows: Any, shape: tuple[int, ...], limits: tuple[float, float]) -> Bytes:
    """Return ``rows`` (m, pixels) as pictures (m, *shape) of bytes, ``limits`` becoming 0 and 255."""
    low, high = limits
    scaled = (np.asarray(rows, dtype=np.float32) - np.float32(low)) * np.float32(255.0 / (high - low))
    pixels = np.clip(np.nan_to_num(np.rint(scaled)), 0.0, 255.0).astype(np.uint8)
    pictures: Bytes = pixels.reshape(-1, *shape)
    return pictures


def shrink(pictures: Bytes, longest: int) -> Bytes:
    """Return ``pictures`` averaged over whole blocks of pixels until the longer side is at most ``longest``.

    Examples
    --------
    >>> shrink(np.full((5, 64, 48), 7, dtype=np.uint8), 20).shape
    (5, 16, 12)
    """
    height, width = pictures.shape[1:3]
    block = -(-max(height, width) // longest)
    if block <= 1:
        return pictures
    rows, columns = max(1, height // block), max(1, width // block)
    tall, wide = min(block, height), min(block, width)
    cut = pictures[:, : rows * tall, : columns * wide]
    blocks = cut.reshape(len(cut), rows, tall, columns, wide, *pictures.shape[3:])
    averaged: Bytes = np.rint(blocks.mean(axis=(2, 4), dtype=np.float32)).astype(np.uint8)
    return averaged
