"""One thread of PyTorch in the tests of formulas, where it is used."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def one_torch_thread():
    """Limit PyTorch to one thread, if a test file has imported it."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
