"""The result of every generator and loader: rows with their true factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidelight.base.messages import error_message

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of data together with their true factors.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64
        One row per sample.
    factors : dict of str to ndarray of shape (n,) or (n, k)
        The hidden factors or labels, by name.
    image_shape : tuple (height, width) or None
        Shape of the image in each row, if rows are images.
    name, description : str
        A short name, and one sentence.

    See Also
    --------
    turntable : Pictures of turning objects.
    load_digits : Handwritten digits.

    Examples
    --------
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(100, random_state=0)
    >>> data
    Dataset(s_curve: 100 rows x 3 columns; factors: arc, height)
    >>> data.take([3, 5]).X.shape
    (2, 3)
    """

    X: NDArray[np.float64]
    factors: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    image_shape: tuple[int, int] | None = None
    name: str = "data"
    description: str = ""

    def __post_init__(self) -> None:
        if self.X.ndim != 2:
            raise ValueError(error_message(self, "X", self.X.shape, "is not (rows, columns)", "Reshape it"))
        n, d = self.X.shape
        for name, values in self.factors.items():
            if len(values) != n:
                rule = f"does not have one entry per row ({n})"
                raise ValueError(error_message(self, f"factors[{name!r}]", values.shape, rule, "Match its rows to X"))
        if self.image_shape is not None and int(np.prod(self.image_shape)) != d:
            rule = f"does not have as many pixels as X has columns ({d})"
            raise ValueError(error_message(self, "image_shape", self.image_shape, rule, "Give (height, width)"))

    def __repr__(self) -> str:
        n, d = self.X.shape
        picture = f" ({self.image_shape[0]}x{self.image_shape[1]} pictures)" if self.image_shape else ""
        known = f"; factors: {', '.join(self.factors)}" if self.factors else ""
        return f"Dataset({self.name}: {n} rows x {d} columns{picture}{known})"

    @property
    def images(self) -> NDArray[np.float64]:
        """The rows as pictures, shape (n, height, width); a view, not a copy."""
        if self.image_shape is None:
            raise ValueError(
                error_message(self, "image_shape", None, f"says the rows of {self.name} are no pictures", "Use X")
            )
        return self.X.reshape(-1, *self.image_shape)

    def take(self, rows: ArrayLike | slice) -> Dataset:
        """Return the chosen rows (indices, a mask or a slice) with their factors."""
        index = np.arange(len(self.X))[rows if isinstance(rows, slice) else np.asarray(rows)]
        return replace(self, X=self.X[index], factors={k: v[index] for k, v in self.factors.items()})
