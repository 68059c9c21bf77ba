"""Settings of a coordinated fit, read from the estimator's parameters once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CoordinationSettings"]


@dataclass(frozen=True)
class CoordinationSettings:
    """Parameters of ``CoordinatedMixture`` and ``CoordinatedCCA`` that a fit needs.

    ``owner`` is the class name, for messages; ``seed`` is drawn from ``random_state``; the rest is as documented there.
    ``thorough``: whether the search for the number of charts goes on where it is unlikely to find a sheet, and fits
    wide rows in all their columns. ``n_init``: starts of a default mixture.
    """

    owner: str
    n_components: int
    n_charts: int | str
    n_mixtures: int
    n_local: int | str | Sequence[int] | None
    smoothing: float
    balance: float | str | None
    max_iter: int
    tol: float
    seed: int
    n_jobs: int | None
    verbose: int
    alignment: str = "coordination"
    thorough: bool = False
    n_init: int = 4
