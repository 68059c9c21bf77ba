"""A value that is sent to workers once: pickled here, unpickled once in each process that uses it.

An array that travels as a buffer of a message may start at any byte there, and arithmetic on such an array can round
otherwise (NumPy copies it in pieces). Unpickled from a copy of its bytes, it is aligned as here: the same bits
everywhere. The bytes are part of the graph, which the scheduler keeps: unlike scattered data they cannot be lost with a
worker.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import cloudpickle

from ._dask import dask

__all__ = ["Sent", "send"]

_LOCK = threading.Lock()
_PROTOCOL = 4  # the last one that copies arrays


class Sent:
    """A value as bytes.

    >>> Sent([1, 2]).value
    [1, 2]
    """

    def __init__(self, value: object) -> None:
        self.content: bytes = cloudpickle.dumps(value, protocol=_PROTOCOL)

    def __sizeof__(self) -> int:
        """Size of the bytes, by which Dask judges memory and what a transfer costs."""
        return object.__sizeof__(self) + len(self.content)

    def __getstate__(self) -> dict[str, bytes]:
        return {"content": self.content}

    @property
    def value(self) -> Any:
        """The value, unpickled on first use; threads of a worker share it."""
        with _LOCK:
            return self._unpickled

    @cached_property
    def _unpickled(self) -> Any:
        return cloudpickle.loads(self.content)


def send(value: object) -> Any:
    """A value as one node of a graph."""
    return dask.delayed(Sent(value), pure=False, traverse=False)
