"""Arrays of other libraries (torch, JAX, CuPy, ...) as NumPy arrays, where that copies nothing from another device.

This library computes with NumPy. An array in the memory of the CPU is taken as it is, by its ``__array__`` or by
DLPack. One on another device, or one that records gradients, is refused with a sentence: the copy, and the end of the
gradient, should be seen in the code of the user.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .messages import error_message

__all__ = ["as_numpy"]

_CPU = (1, 3)  # device types of DLPack: memory of the CPU, and the part of it that a GPU can read


def as_numpy(owner: object, argument: str, value: Any) -> Any:
    """Return an array of another library as a NumPy array; anything else (lists, frames, sparse) as it is.

    Parameters
    ----------
    owner : str or estimator
    argument : str
        Whom and what the message names.
    value : object

    Examples
    --------
    >>> as_numpy("Model", "X", [1, 2])
    [1, 2]
    """
    if isinstance(value, np.ndarray | np.generic) or not hasattr(type(value), "__dlpack_device__"):
        return value
    kind = f"{type(value).__module__.partition('.')[0]} array of shape {tuple(value.shape)}"
    if getattr(value, "requires_grad", False):
        rule, remedy = "records gradients, which end here", f"Give {argument}.detach()"
        raise ValueError(error_message(owner, argument, kind, rule, remedy))
    if not _is_on_the_cpu(value):
        rule = f"is on the device {getattr(value, 'device', 'unknown')!s}, not in the memory of the CPU"
        raise ValueError(error_message(owner, argument, kind, rule, "Copy it to the CPU, or give a NumPy array"))
    try:
        return np.asarray(value) if hasattr(type(value), "__array__") else np.from_dlpack(value)
    except (TypeError, RuntimeError, BufferError) as error:
        rule = f"cannot be read as a NumPy array ({error})"
        raise ValueError(error_message(owner, argument, kind, rule, "Give a NumPy array")) from error


def _is_on_the_cpu(value: Any) -> bool:
    """Whether the data are in the memory of the CPU; a library that cannot say has none that could be read."""
    try:
        return int(value.__dlpack_device__()[0]) in _CPU
    except (TypeError, ValueError, RuntimeError, BufferError, NotImplementedError):
        return False
