r"""Mixin for novelty detection at a given rate of false alarms.

With the log densities s_1, ..., s_n of training rows that were left out of the density, and s of a new row,

.. math::

    p = \frac{1 + \#\{i: s_i ≤ s\}}{n + 1}

is a conformal p-value: a row that is drawn like the training rows has p ≤ a with probability a at most, whatever the
density is. A better density finds more of the others. So that no a below 1 / (n + 1) can be asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_number

__all__ = ["NoveltyMixin"]

Array = npt.NDArray[Any]


def _has_novelty(model: NoveltyMixin) -> bool:
    """Whether training rows are there to compare with."""
    return model._compares_rows()


class NoveltyMixin:
    """``novelty_p_value`` and ``is_novel``."""

    @available_if(_has_novelty)
    @one_blas_thread
    def novelty_p_value(self, X: Any) -> Array:
        """P-values (m,) of the hypothesis that each row is like the training rows; small for novel rows.

        The share of training rows whose leave-one-out density is at most that of the row, counting the row itself as
        one more. Among rows like the training rows, at most a share a has a p-value of a or less. ``typicality`` is the
        share without the row itself, and so 0 for rows of lower density than all training rows.

        Parameters
        ----------
        X : array of shape (m, d)

        Returns
        -------
        p : array of shape (m,)
            Between 1 / (n + 1) and 1, for n training rows compared with.
        """
        return self._p_values(X)[0]

    @available_if(_has_novelty)
    @one_blas_thread
    def is_novel(self, X: Any, *, false_alarm: float = 0.01) -> Array:
        """Whether each row is unlike all training rows: a boolean array of shape (m,).

        Parameters
        ----------
        X : array of shape (m, d)
        false_alarm : float, default=0.01
            Share of rows like the training rows that may be flagged; at least 1 / (n + 1) for n training rows compared
            with (at most 2,000).

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import TwoWayEmbedding
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> TwoWayEmbedding().fit(X).is_novel([[0.0, 0.0, 0.0], [0.0, 0.0, 9.0]], false_alarm=0.01)
        array([False,  True])
        """
        check_number(self, "false_alarm", false_alarm, 0.0, 1.0)
        p, n = self._p_values(X)
        if false_alarm * (n + 1) < 1.0 - 1e-9:
            rule = f"is too small for the {n} training rows compared with"
            remedy = f"Give {1 / (n + 1):.2g} or more, or fit to more rows"
            raise ValueError(error_message(self, "false_alarm", false_alarm, rule, remedy))
        return np.asarray(p <= false_alarm * (1.0 + 1e-9))

    @abstractmethod
    def _p_values(self, X: Any) -> tuple[Array, int]:
        """P-values (m,) of rows, and the number of training rows they are compared with."""

    @abstractmethod
    def _compares_rows(self) -> bool:
        """Whether training rows are there to compare with."""
