"""Free text as a few numbers: hashed character n-grams, weighted by rarity, and their leading singular vectors.

    z = (idf ∘ h(x) / |idf ∘ h(x)|) V / s,        h(x)  counts of n-grams of 3 and 4 characters in 4,096 buckets

s scales all columns together to a total variance of 1. There is no way back: the inverse of text is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from ._number_code import spread_of

__all__ = ["TextCode", "fit_text"]

Array = npt.NDArray[Any]
_BUCKETS = 4096


@dataclass(frozen=True)
class TextCode:
    """A column of text.

    Parameters
    ----------
    rarity : array of shape (buckets,)
        Weight of each bucket of n-grams: ln((1 + n) / (1 + rows that have it)) + 1.
    directions : array of shape (buckets, p)
    mean : array of shape (p,)
    scale : float
    """

    rarity: Array
    directions: Array
    mean: Array
    scale: float

    @property
    def width(self) -> int:
        """Columns of the code."""
        return len(self.mean)

    def encode(self, values: Array, missing: Array) -> Array:
        """Return the code (n, width) of texts (n,); NaN where one is missing."""
        H = _weighted(
            _hashed(["" if gone else str(one) for one, gone in zip(values, missing, strict=True)]), self.rarity
        )
        A = (np.asarray(H @ self.directions) - self.mean) / self.scale
        A[missing] = np.nan
        return A

    def decode(self, A: Array) -> Array:
        """Return None for each row: text cannot be made from its code."""
        return np.full(len(A), None, dtype=object)

    def names(self, name: str) -> list[str]:
        """Return the names of the columns of the code."""
        return [f"{name}_text{k + 1}" for k in range(self.width)]


def fit_text(texts: list[str], n_text: int, random: np.random.RandomState) -> TextCode:
    """Return the code of texts in at most ``n_text`` columns."""
    H = _hashed(texts)
    rows_with = np.bincount(H.indices, minlength=_BUCKETS)
    rarity = np.log((1 + len(texts)) / (1 + rows_with)) + 1
    W = _weighted(H, rarity)
    rank = max(1, min(n_text, len(texts) - 1, int(np.count_nonzero(rows_with)) - 1))
    _, _, Vt = randomized_svd(W, rank, n_oversamples=20, n_iter=6, random_state=random)
    # the sign of a singular vector is arbitrary: its largest entry is made positive
    V = Vt.T * np.sign(Vt[np.arange(rank), np.abs(Vt).argmax(axis=1)])
    Z = np.asarray(W @ V)
    return TextCode(rarity, np.ascontiguousarray(V), Z.mean(axis=0), spread_of(Z))


def _hashed(texts: list[str]) -> Any:
    """Counts of n-grams (n, buckets), sparse; the hash is the same on every machine."""
    make = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), n_features=_BUCKETS, alternate_sign=False, norm=None
    )
    return make.transform(texts)


def _weighted(H: Any, rarity: Array) -> Any:
    return normalize(H.multiply(rarity).tocsr())
