"""A small estimator and two records that hold one of everything a model file must carry."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class Span:
    low: float
    high: float = 1.0
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Grid:
    points: np.ndarray
    span: Span

    def __post_init__(self) -> None:
        if self.points.ndim != 2:
            raise AssertionError("a loader must not run this on data it has not checked")


@dataclass(frozen=True)
class Stranger:
    value: int


class Shelf(BaseEstimator):
    """Keeps whatever it is given."""

    _saved_attributes = ("_hidden",)

    def __init__(self, content: Any = None, *, random_state: Any = None, callback: Any = None) -> None:
        self.content = content
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> "Shelf":
        self.kept_ = X
        self._hidden = "listed"
        self._cache = object()
        return self


class Hooked(BaseEstimator):
    """Leaves a foreign estimator out of its file, as a two-way embedding does."""

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any = None) -> "Hooked":
        self.estimator_ = self.estimator
        self.rows_ = np.asarray(X)
        return self

    def __sidelight_state__(self) -> dict[str, Any]:
        return {"estimator": None, "estimator_": ..., "estimator_description_": repr(self.estimator)}


class Unlisted(BaseEstimator):
    """Looks like an estimator, but stands in no table."""
