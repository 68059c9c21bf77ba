"""Rows under another value of a given column, for ``sidelight counterfactual``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.intervals import Intervals
from sidelight.base.warnings import ExtrapolationWarning

from ._model_file import ModelFile
from ._output import CommandError, Output

__all__ = ["Asked", "changed_intervals", "changed_rows", "tell_confounded"]


@dataclass(frozen=True)
class Asked:
    """Arguments of a counterfactual.

    ``COLUMN=VALUE`` to show and as it is now, the share of the residual that is kept, columns to write, and the level
    of intervals beside them.
    """

    given: Sequence[str]
    now: Sequence[str] = ()
    residual: float | None = None
    columns: Sequence[str] = ()
    level: float | None = None


def changed_rows(
    talk: Output,
    file: ModelFile,
    X: Any,
    changed: dict[str, Any],
    known: dict[str, Any],
    residual: float | None,
    columns: Any = None,
) -> NDArray[Any]:
    """Rows under another value; with their current values they keep their residuals, which is printed.

    ``columns`` (c,): numbers of the columns to return; None: all.
    """
    names = ", ".join(column.name for column in file.given)
    if not known or file.model.change_ is None:  # models saved by an older version have no change of rows
        if residual:
            raise CommandError(f"--residual: needs the current values of the rows; add --now {names}=...")
        talk.answer["now"] = []
        some = changed if columns is None else {**changed, "columns": columns}
        return np.asarray(file.model.inverse_transform(file.model.transform(X, **known), **some))
    kept = file.model.change_.kept if residual is None else residual
    talk.answer |= {"now": list(known["given"]), "residual": kept}
    if kept == 0.0:
        talk.say(
            f"current values ({names}) are known, but nothing is kept of a row's difference from similar rows: "
            "rows with the same place come out the same; --residual 1 keeps all of it"
        )
    else:
        part = f"{kept:.0%} of their difference from similar rows (--residual)"
        talk.say(f"current values ({names}) are known: rows keep {part}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)  # said or refused before
        warnings.filterwarnings("ignore", message=".*keeps nothing of the rows")  # said above
        share = "auto" if residual is None else residual
        some = changed if columns is None else {**changed, "columns": columns}
        return np.asarray(file.model.counterfactual(X, **some, given_now=known["given"], residual=share))


def changed_intervals(
    file: ModelFile, X: Any, changed: dict[str, Any], known: dict[str, Any], wanted: Asked
) -> Intervals:
    """Intervals around these rows, in the units of the model."""
    share = "auto" if wanted.residual is None else wanted.residual
    options = {"given_now": known["given"], "residual": share} if known and file.model.change_ is not None else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        warnings.filterwarnings("ignore", message=".*keeps nothing of the rows")
        found: Intervals = file.model.counterfactual_interval(X, given=changed["given"], level=wanted.level, **options)
    return found


def tell_confounded(talk: Output, file: ModelFile) -> None:
    """Say that groups which differ in the rest, too, cannot be shown under another value without error."""
    confounded = bool(file.model.confounded_)
    talk.answer["confounded"] = confounded
    if confounded:
        names = ", ".join(column.name for column in file.given)
        talk.say(
            f"groups of {names} also differ otherwise, and part of that difference is shown as an effect of the "
            "value: compare with rows that have it"
        )
