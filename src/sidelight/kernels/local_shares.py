"""The share of each stratum *around a row*, from how often rows of the strata choose each other as neighbours.

Every row j has a list of nearest rows in each stratum, with weights p_ji that sum to 1 (``balanced``). What row i of
stratum a receives from the rows of stratum s,

    b_is = Σ_j∈s r_ja p_ji,

is in the mean the density of s over that of a where row i lies (r_ja: how far j is represented in a). So

    m_is = b_is / Σ_t b_it,        b_ia = 1

is the share of s around row i: rows of a type that is a third of one batch and two thirds of another have neighbours in
the shares of that type, not of the batches. Only the order of the rows within a stratum matters, so that it holds where
an effect of the groups is left, and their nearest rows would all be of their own group.

What one row receives is noisy, as some rows are near to many others. A quarter of it is that of the nearest rows of
its own stratum. (With more, shares are the same everywhere, which is more even than at random; decision 0026.) Where an
effect is left between two strata, rows on the side that faces the other are chosen by many and those behind them by
none: who is chosen tells the effect then, not the share, and all of it is that of the nearest rows. With e_as what is
left (``neighbours.counterparts``), that part rises from a quarter at e_as = 0.05 to all at 0.1.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from sidelight.base.types import Array, SparseMatrix
from sidelight.neighbours.strata import InStratum

__all__ = ["local_shares"]


_OF_OTHERS = 0.25
_LEFT, _MUCH_LEFT = 0.05, 0.1  # effect left (log ratio of squared distances) from which on, and at which, it is all


def local_shares(
    strata: list[InStratum], weights: list[Array], codes: Array, close: Array, effect_left: Array | None = None
) -> Array:
    """Shares m (n, S) of the strata around each row.

    Parameters
    ----------
    strata : list of InStratum
        The nearest rows of each row in each stratum.
    weights : list of arrays of shape (m, k)
        Their weights, which sum to 1; k may be less than the length of the lists.
    codes : array of shape (n,)
        Stratum of each row.
    close : array of shape (n, S)
        How far each row is represented in each stratum.
    effect_left : array of shape (S, S) or None
        What is left of an effect between strata. None: nothing.
    """
    n, own = len(codes), (np.arange(len(codes)), codes)
    member = np.zeros_like(close)
    member[own] = 1.0
    received, smoothed = np.zeros_like(close), np.zeros_like(close)
    for s, (stratum, P) in enumerate(zip(strata, weights, strict=True)):
        W = _sparse(stratum, P, n)
        here = np.flatnonzero(codes == s)
        received[here] = (W.T @ (close[:, s, None] * member))[here]
    for s, (stratum, P) in enumerate(zip(strata, weights, strict=True)):
        here = stratum.rows[codes[stratum.rows] == s]
        smoothed[here] = (_sparse(stratum, P, n) @ received)[here]
    of_others = np.full((len(strata), len(strata)), _OF_OTHERS)
    if effect_left is not None:
        of_others += (1.0 - _OF_OTHERS) * np.clip((effect_left - _LEFT) / (_MUCH_LEFT - _LEFT), 0.0, 1.0)
    received = (1.0 - of_others[codes]) * received + of_others[codes] * smoothed
    received[own] = 1.0
    return np.asarray(received / received.sum(axis=1, keepdims=True))


def _sparse(stratum: InStratum, P: Array, n: int) -> SparseMatrix:
    """The weights of one stratum as a sparse matrix (n, n)."""
    width = P.shape[1]
    rows, columns = np.repeat(stratum.rows, width), stratum.neighbours.index[:, :width].ravel()
    return csr_array(coo_array((P.ravel(), (rows, columns)), shape=(n, n)))
