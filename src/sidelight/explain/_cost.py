"""Expected time of explanations, in seconds of one processor: what is said, or decided, before it is paid.

    rows · e + lines · (0.1 + 1000 (1 + 0.55 log₁₀(0.05 / tolerance)) e),      e = n d / 1.5e9

n rows and d columns of the fit; ``rows`` are placed, and ``lines`` integrated along. Constants were measured on kernel
maps of 178 × 13 to 8,000 × 500 (within a factor of three; maps without kernels are faster).
"""

from __future__ import annotations

import numpy as np

__all__ = ["expected_seconds"]

_SPEED, _LINE, _START, _LOOSE = 1.5e9, 1000.0, 0.1, 0.05


def expected_seconds(n: int, d: int, *, rows: int, lines: int = 0, tolerance: float = _LOOSE) -> float:
    """Seconds that placing some rows and integrating along some lines will take, about.

    Examples
    --------
    >>> round(expected_seconds(10_000, 1_000, rows=1_000), 1)
    6.7
    """
    each = float(n) * float(d) / _SPEED
    tighter = 1.0 + 0.55 * max(0.0, float(np.log10(_LOOSE / tolerance)))
    return rows * each + lines * (_START + _LINE * tighter * each)
