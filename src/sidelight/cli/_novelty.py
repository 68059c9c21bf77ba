"""Columns that say which rows or latent points are unlike the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.model import FittedModel
from sidelight.maps.overlap import UNUSUAL

from ._matrix import Matrix
from ._output import Output

__all__ = ["UnusualRows", "add_latent_novelty", "add_novelty", "unusual_rows"]

_LISTED = 5  # most unusual rows of the fit that are named
_FEWEST, _MOST = 20, 5_000  # rows of the fit: with fewer none is unusual, with more the comparison takes long


@dataclass(frozen=True)
class UnusualRows:
    """How usual the rows of a fit are among each other: ``density`` (n,), each row left out of its own."""

    density: NDArray[Any]
    rows: NDArray[np.int64]
    names: Sequence[str]
    given: Sequence[str] = ()
    """The columns that were factored out of the map, whose effect is in the rows that are compared."""

    def write(self, frame: pd.DataFrame) -> None:
        """Add the columns ``density`` and ``unusual``."""
        _put(frame, self.density)

    @property
    def words(self) -> str:
        """The most unusual rows by name, most unusual first."""
        listed = ", ".join(self.names[i] for i in self._first)
        whole = f" Rows are compared with the effect of {' and '.join(self.given)} in them." if self.given else ""
        return f"Most unusual rows, each compared with the others (column density): {listed}.{whole}"

    @property
    def answer(self) -> list[dict[str, Any]]:
        """The same rows for ``--json``."""
        return [
            {"row": int(self.rows[i]), "name": self.names[i], "density": float(self.density[i])} for i in self._first
        ]

    @property
    def _first(self) -> NDArray[np.int64]:
        return np.argsort(self.density, kind="stable")[:_LISTED]


def unusual_rows(model: FittedModel, matrix: Matrix, X: Any) -> UnusualRows | None:
    """How usual the rows ``X`` of the fit are among each other; None for models that cannot tell, and few or many rows.

    Rows with a missing entry of a given column were left out of the fit: they are compared with all that were in it.
    """
    if not (capabilities(model).has_training_typicality and _FEWEST <= matrix.n_rows <= _MOST):
        return None
    fitted = matrix.given.notna().all(axis=1).to_numpy() if len(matrix.given.columns) else np.full(matrix.n_rows, True)
    own = np.asarray(model.training_typicality())
    if len(own) != fitted.sum():  # a fit on a sample of the rows
        return None
    density = np.empty(matrix.n_rows)
    density[fitted] = own
    if not fitted.all():
        density[~fitted] = np.asarray(model.typicality(X[~fitted]))
    numbers = [f"row {row}" for row in matrix.rows]
    names = numbers if matrix.row_names is None else [str(name) for name in matrix.row_names]
    return UnusualRows(density, matrix.rows, names, list(matrix.given.columns))


def add_novelty(talk: Output, frame: pd.DataFrame, model: FittedModel, X: Any) -> None:
    """Add the columns ``density`` (share of training rows of lower density) and ``unusual`` (below 0.01) of rows."""
    if capabilities(model).has_typicality:
        _add(
            talk,
            frame,
            model.typicality(X),
            "rows",
            "unlike the rows of the fit; where such a row is placed means little",
        )


def add_latent_novelty(talk: Output, frame: pd.DataFrame, model: FittedModel, Z: Any) -> None:
    """Add the same columns for latent points that are mapped back."""
    if capabilities(model).has_latent_typicality:
        share = model.latent_typicality(Z)
        _add(talk, frame, share, "points", "outside the map; the rows there are those of its edge")


def _add(talk: Output, frame: pd.DataFrame, share: Any, what: str, rule: str) -> None:
    unusual = _put(frame, np.asarray(share))
    talk.answer["unusual"] = int(unusual.sum())
    if unusual.any():
        verb = "is" if unusual.sum() == 1 else "are"
        talk.say(f"{int(unusual.sum())} of {len(unusual)} {what} {verb} {rule} (column unusual)")


def _put(frame: pd.DataFrame, share: NDArray[Any]) -> NDArray[np.bool_]:
    """Write the columns ``density`` and ``unusual``, and return the second."""
    unusual = np.asarray(share < UNUSUAL)
    for name, values in (("density", np.round(share, 4)), ("unusual", unusual)):
        frame[name if name not in frame.columns else f"model_{name}"] = values
    return unusual
