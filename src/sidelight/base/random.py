"""The meaning of ``random_state`` everywhere: None is a fixed seed (``docs/decisions/0017-random-state.md``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["random_numbers", "random_seed", "start_seed"]


def random_numbers(*random_states: Any) -> np.random.RandomState:
    """A random number generator from the first ``random_state`` that is not None, or from a fixed seed.

    >>> int(random_numbers(None).randint(100)) == int(random_numbers(None).randint(100))
    True
    """
    chosen = next((state for state in random_states if state is not None), 0)
    return check_random_state(chosen)  # type: ignore[no-any-return]


def random_seed(*random_states: Any) -> int:
    """A seed drawn from :func:`random_numbers`."""
    return int(random_numbers(*random_states).randint(2**31 - 1))


def start_seed(random_state: Any) -> int:
    """The seed for initial points of a fit: 0 for None, else drawn from ``random_state`` (a RandomState advances)."""
    return 0 if random_state is None else random_seed(random_state)
