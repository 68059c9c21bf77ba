"""The share of each stratum *around a row*, from how often rows of the strata choose each other as neighbours.

Every row j has a list of nearest rows in each stratum, with weights p_ji that sum to 1 (``balanced``). What row i of
stratum a receives from the rows of stratum s,

    b_is = Σ_j∈s r_ja p_ji,

is in the mean the density of s over that of a where row i lies (r_ja: how far j is represented in a). So

    m_is = q_is / Σ_t q_it,        q_is = b_is / b_ia,        q_ia = 1

is the share of s around row i: rows of a type that is a third of one batch and two thirds of another have neighbours in
the shares of that type, not of the batches. Only the order of the rows within a stratum matters, so that it holds where
an effect of the groups is left, and their nearest rows would all be of their own group.

b_ia is what the row receives from its own stratum, and not its mean, which is 1: a row in the middle of its type is
chosen by many rows of *every* stratum, and the quotient is free of that. Where the strata are drawn at random, b_is and
b_ia fluctuate alike, so that b_is / Σ_t b_it has the mean of the random share (of Gamma variables of one scale it is a
Beta variable), which 1 / (1 + Σ b) has not.

The row counts among the rows of its own stratum: with N_s and N_a rows of the strata near it, itself not counted, q_is
is N_s / (1 + N_a). That is right for a map. It evens chance differences of density, so that the shares in its
neighbourhoods are those of the kernel with the row *in* the neighbourhood, and without it there are more of the others.
With the exact shares N_s / N_a maps of random strata are mixed 1.025 of random (decision 0026).

What one row receives is noisy, as some rows are near to many others: 0.15 of each b is that of the nearest rows of
its own stratum. (With more, shares are the same everywhere, which is more even than at random; decision 0026.) Where an
effect is left between two strata, rows on the side that faces the other are chosen by many and those behind them by
none: who is chosen tells the effect then, not the share, and all of it is that of the nearest rows. With e_as what is
left (``neighbours.counterparts``), that part rises from 0.15 at e_as = 0.05 to 1 at 0.1, and b_ia is drawn to
its mean, as the rows that many choose are then others in each stratum.

Where strata are cells of *numbers*, b_ia is its mean, 1, and the part of the nearest rows a quarter. (The quotient was
measured for categories; with it types that differ in a number were told slightly less well, decision 0026.)
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from sidelight.base.types import Array, SparseMatrix
from sidelight.neighbours.strata import InStratum

__all__ = ["local_shares"]


_OF_OTHERS, _OF_OTHERS_IN_NUMBERS = 0.15, 0.25
_LEFT, _MUCH_LEFT = 0.05, 0.1  # effect left (log ratio of squared distances) from which on, and at which, it is all
_NOTHING = 1e-6  # received from the own stratum: a row that none of it chooses, nor chooses its neighbours


def local_shares(
    strata: list[InStratum],
    weights: list[Array],
    codes: Array,
    close: Array,
    effect_left: Array | None = None,
    *,
    numbers: bool = False,
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
    numbers : bool
        Whether strata are cells of numbers.
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
    told_by_effect = np.zeros((len(strata), len(strata)))
    if effect_left is not None:
        told_by_effect = np.clip((effect_left - _LEFT) / (_MUCH_LEFT - _LEFT), 0.0, 1.0)
    told_by_effect = told_by_effect[codes]
    least = _OF_OTHERS_IN_NUMBERS if numbers else _OF_OTHERS
    others = least + (1.0 - least) * told_by_effect
    from_own = np.ones(n) if numbers else (1.0 - least) * received[own] + least * smoothed[own]
    from_own = told_by_effect + (1.0 - told_by_effect) * np.maximum(from_own, _NOTHING)[:, None]
    quotient = ((1.0 - others) * received + others * smoothed) / from_own
    quotient[own] = 1.0
    return np.asarray(quotient / quotient.sum(axis=1, keepdims=True))


def _sparse(stratum: InStratum, P: Array, n: int) -> SparseMatrix:
    """The weights of one stratum as a sparse matrix (n, n)."""
    width = P.shape[1]
    rows, columns = np.repeat(stratum.rows, width), stratum.neighbours.index[:, :width].ravel()
    return csr_array(coo_array((P.ravel(), (rows, columns)), shape=(n, n)))
