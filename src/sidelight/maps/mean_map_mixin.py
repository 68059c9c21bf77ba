"""Mixin for kernel models whose backward map interpolates: the source's kernel regression beside it.

    g(x) = Σ_j k(x, x_j) z_j / Σ_j k(x, x_j)                                    (S0 2.24 and 3.23)

``transform`` adds a correction to it that makes it exact at training rows (decision 0018).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import one_blas_thread

from .interpolation import smooth_part
from .two_way_mixin import TwoWayMixin

__all__ = ["MeanMapMixin"]

Array = npt.NDArray[Any]


class MeanMapMixin(TwoWayMixin):
    """Two-way methods, and ``transform_mean``."""

    @one_blas_thread
    def transform_mean(self, X: Any) -> Array:
        """Embed each row at the kernel-weighted mean of the latent points (S0 2.24), shape (m, q).

        ``transform`` adds a correction that maps training rows exactly to ``embedding_``. This is the source's kernel
        regression itself, which smooths them too.

        Parameters
        ----------
        X : array of shape (m, d)

        Returns
        -------
        Z : array of shape (m, q)
        """
        X = self._checked(X)
        mean = smooth_part(self.backward_)(self.frame_.points(X), self.n_jobs)
        return np.asarray(self.latent_frame_.outside(mean).astype(X.dtype, copy=False))
