"""The gated room, and without PyTorch stand-ins for its classes, so that tables of cases can be written down.

Cases of gated models are left out then: whoever makes a table asks ``TORCH_THERE``.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

TORCH_THERE = find_spec("torch") is not None
needs_torch = pytest.mark.skipif(not TORCH_THERE, reason="needs the extra torch")


class _Absent:
    __all__: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        return type(name, (), {"__init__": lambda self, *args, **kwargs: None})


if TORCH_THERE:
    from sidelight import gated
else:
    gated = _Absent()
