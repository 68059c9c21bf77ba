"""How far rows asked for under another value are from what the model has seen, and refusals to extrapolate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.maps.overlap import UNUSUAL, extrapolates

from ._matrix import Matrix
from ._model_file import ModelFile
from ._output import CommandError, Output

__all__ = ["Overlap", "refuse_extrapolation"]

_NAMED = 5  # rows that a message names


@dataclass(frozen=True)
class Overlap:
    """How usual rows are among the rows of the fit with the value asked for.

    ``shares`` (m,): NaN where fewer than ten such rows were seen; ``asked``: the value in words.
    """

    shares: NDArray[Any]
    asked: str

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """What is written beside each row: its overlap, and whether it is an extrapolation."""
        return {"overlap": np.round(self.shares, 4), "extrapolated": self.far}

    @property
    def far(self) -> NDArray[np.bool_]:
        """Rows (m,) unlike all that were seen with the value."""
        return np.asarray(self.shares < UNUSUAL)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Rows (m,) of whose value too few rows were seen."""
        return np.asarray(np.isnan(self.shares))


def refuse_extrapolation(
    talk: Output, file: ModelFile, matrix: Matrix, X: Any, side: dict[str, Any], now: dict[str, Any],
    asked: Mapping[str, str], *, force: bool,
) -> Overlap | None:  # fmt: skip
    """Raise where a counterfactual asks for a value that was never seen near most of the rows, unless forced.

    ``side`` holds the ``given`` asked for, ``now`` that of the rows, or nothing, ``asked`` the columns that differ, as
    they were written. What is not refused is said: which rows are extrapolated, and of which the value was seen too
    rarely to know.
    """
    if not side or not capabilities(file.model).has_overlap:
        return None
    shares = np.asarray(file.model.overlap(X, given=side["given"], given_now=now.get("given")))
    found = Overlap(shares, _in_words(file, asked))
    n, far, unknown = len(shares), int(found.far.sum()), int(found.unknown.sum())
    talk.answer |= {"extrapolated": far, "overlap_unknown": unknown}
    talk.answer |= {"extrapolated_rows": matrix.rows[found.far], "overlap_unknown_rows": matrix.rows[found.unknown]}
    which = f"{far} of the {n} ({_names(matrix, found.far)})" if far else ""
    if extrapolates(shares) and not force:
        raise CommandError(
            f"counterfactual: no rows like {which} were seen with {found.asked}, so the answer would be an "
            "extrapolation; leave these rows out, or use --force to see it"
        )
    if far:
        talk.say(
            f"no rows like {which} were seen with {found.asked}: their answers are extrapolations (column extrapolated)"
        )
    if unknown:
        talk.say(
            f"{unknown} of {n}: the fit had fewer than ten rows with {found.asked}, too few to rely on "
            "(column overlap is empty)"
        )
    return found


def _in_words(file: ModelFile, asked: Mapping[str, str]) -> str:
    """The value asked for, with the given columns that keep the value of each row.

    Only rows that agree in all given columns are compared: in categories exactly, in numbers about.
    """
    values = [f"{name} = {value}" for name, value in asked.items()]
    kept = [column for column in file.given if column.name not in asked]
    own = [column.name for column in kept if column.kind == "category"]
    near = [column.name for column in kept if column.kind != "category"]
    words = [*values, *([f"their own {' and '.join(own)}"] if own else [])]
    return " and ".join([*words, *([f"about their {' and '.join(near)}"] if near else [])])


def _names(matrix: Matrix, chosen: NDArray[np.bool_]) -> str:
    """The first rows chosen, by name or number."""
    names = matrix.rows if matrix.row_names is None else matrix.row_names.to_numpy()
    some = [str(name) for name in names[chosen]]
    listed = ", ".join(some[:_NAMED]) + (", ..." if len(some) > _NAMED else "")
    word = ("row " if len(some) == 1 else "rows ") if matrix.row_names is None else ""
    return word + listed
