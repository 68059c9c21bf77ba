"""What a kernel information embedding was asked for, as small frozen values that its helpers take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

__all__ = ["GivenSettings", "KernelSettings", "LatentSettings"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class KernelSettings:
    """The kernel of the data.

    ``owner`` is the name of the estimator, for messages; ``profile`` and ``form`` are its parameters ``kernel`` and
    ``data_kernel``; ``short_lists``: half the perplexity, on lists of its length, as the multilevel solver wants it.
    """

    owner: str
    bandwidth: str | float
    perplexity: float
    n_neighbors: int | None
    metric: str
    profile: str
    form: str
    short_lists: bool
    n_jobs: int | None

    @property
    def precomputed(self) -> bool:
        """Whether rows are distances."""
        return self.metric == "precomputed"


@dataclass(frozen=True)
class LatentSettings:
    """The latent space: its dimensions, the profile of its kernel, the penalty, and where rows begin.

    ``init`` is a name or an array of places.
    """

    n_components: int
    kernel: str
    penalty: str
    init: str | Array
    random_state: Any


@dataclass(frozen=True)
class GivenSettings:
    """How ``given`` is factored out; ``conditioning`` is one of "balanced", "residual" and "product"."""

    conditioning: str
    weight: float
    bandwidth: Any
