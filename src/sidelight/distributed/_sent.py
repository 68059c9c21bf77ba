"""A value that is sent to workers once, as bytes, and unpickled once in each process that uses it.

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
    """A value that is pickled when it leaves this process, and unpickled when it is first used in another.

    >>> Sent([1, 2]).value
    [1, 2]
    """

    def __init__(self, value: object) -> None:
        self._value: list[Any] = [value]  # empty in a process that has not used it yet

    @cached_property
    def content(self) -> bytes:
        """The value as bytes."""
        return bytes(cloudpickle.dumps(self._value[0], protocol=_PROTOCOL))

    @property
    def value(self) -> Any:
        """The value; threads of a worker share it."""
        with _LOCK:
            if not self._value:
                self._value.append(cloudpickle.loads(self.content))
        return self._value[0]

    def __sizeof__(self) -> int:
        """Size of the bytes, by which Dask judges memory and what a transfer costs."""
        return object.__sizeof__(self) + len(self.__dict__.get("content", b""))

    def __getstate__(self) -> bytes:
        return self.content

    def __setstate__(self, content: bytes) -> None:
        self.__dict__.update(content=content, _value=[])


def send(value: object) -> Any:
    """A value as one node of a graph."""
    return dask.delayed(Sent(value), pure=False, traverse=False)
