"""Actions: labelled transitions from a row to the next one. The labels have no meaning of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.validation import check_integer

from .columns import read_table
from .row_numbers import check_made_for, checked_index, renumbered
from .trajectory import trajectory_numbers

__all__ = ["Actions", "as_actions"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Actions:
    """Labelled transitions between rows, which slice like an array with one entry per row of the data.

    ``actions[rows]`` keeps the steps whose two rows are both kept, renumbered: so scikit-learn can split them with X.

    Parameters
    ----------
    steps : array of shape (m, 2)
        Row numbers (from, to).
    codes : array of shape (m,)
        Index into ``names`` of the action of each step, -1 where it is not known.
    names : tuple
        Labels, all text or all numbers.
    n_samples : int
        Rows of the data that the row numbers refer to.

    See Also
    --------
    ActionRespectingEmbedding : The method that takes them.
    Relations : Several kinds of likeness between rows.

    Examples
    --------
    >>> from sidelight.side.actions import as_actions
    >>> actions = as_actions(["right", "right", "left", None], n=4)
    >>> actions
    Actions(3 steps of 4 rows; left, right)
    >>> actions.steps.tolist(), actions.labels.tolist()
    ([[0, 1], [1, 2], [2, 3]], ['right', 'right', 'left'])
    >>> actions[[0, 1, 3]].steps.tolist()
    [[0, 1]]
    """

    steps: Array
    codes: Array
    names: tuple[Any, ...]
    n_samples: int

    def __post_init__(self) -> None:
        check_integer(self, "n_samples", self.n_samples, 0)
        steps, codes = checked_index("Actions", "steps", self.steps, self.n_samples), np.asarray(self.codes)
        if len(steps) == 0:
            codes = np.empty(0, dtype=np.int64)
        names = tuple(self.names)
        if codes.shape != (len(steps),) or codes.dtype.kind not in "iu":
            seen, rule = f"array of shape {codes.shape} and type {codes.dtype}", f"does not match {len(steps)} steps"
            raise ValueError(error_message(self, "codes", seen, rule, "Give one integer for each step"))
        if len(codes) and not (codes.min() >= -1 and codes.max() < len(names)):
            rule = f"is not a place in the {len(names)} names"
            raise ValueError(error_message(self, "codes", int(codes.max()), rule, "Give 0, 1, ..., or -1 for unknown"))
        codes = codes.astype(np.int64)
        codes.setflags(write=False)
        for name, value in (("steps", steps), ("codes", codes), ("names", names)):
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``: one entry per row, so that scikit-learn splits it together with X."""
        return (self.n_samples,)

    @property
    def labels(self) -> Array:
        """The label of each step (m,), None where it is not known."""
        return np.array([*self.names, None], dtype=object)[self.codes]

    def __len__(self) -> int:
        return self.n_samples

    def __getitem__(self, rows: Any) -> Actions:
        return self.take(rows)

    def __repr__(self) -> str:
        return f"Actions({len(self.steps)} steps of {self.n_samples} rows; {', '.join(map(str, self.names))})"

    def take(self, rows: Any) -> Actions:
        """The steps whose rows are both among ``rows`` (numbers, a mask or a slice), renumbered.

        If a row is taken more than once, steps refer to its last position.
        """
        steps, kept, n = renumbered(self.steps, rows, self.n_samples)
        return Actions(steps, self.codes[kept], self.names, n)

    def validate(self, n: int) -> Actions:
        """Return itself if it was made for ``n`` rows."""
        check_made_for("Actions", self.n_samples, n, "Make the actions for these rows")
        return self


def as_actions(actions: Any, n: int, trajectory: Any = None) -> Actions:
    """Convert labels to ``Actions``; ``Actions`` are returned as they are, after a check.

    Parameters
    ----------
    actions : Actions, array of shape (n,) or (n - 1,), or None
        The action taken *at* each row. A missing label (None, NaN, "") ends the trajectory; if ``trajectory`` says that
        it goes on, the action is unknown. A label at the last row of a trajectory has no resulting row and is ignored.
    n : int
        Rows of the data.
    trajectory : array of shape (n,), one value, or None
        Rows with the same entry are one trajectory, in row order; None: all are one, cut where actions are missing.
    """
    if isinstance(actions, Actions):
        if trajectory is not None:
            rule = "contains its steps already, and a trajectory is given too"
            raise ValueError(error_message("Actions", "actions", "Actions", rule, "Leave trajectory out"))
        return actions.validate(n)
    if actions is None and trajectory is None:
        return Actions(np.empty((0, 2)), np.empty(0), (), n)
    codes, names = (np.full(n, -1), ()) if actions is None else _codes(actions, n)
    if trajectory is None:
        begins = np.flatnonzero(codes[:-1] >= 0)
        return Actions(np.column_stack([begins, begins + 1]), codes[begins], names, n)
    piece = trajectory_numbers("Actions", trajectory, n)
    order = np.argsort(piece, kind="stable")
    on = piece[order[1:]] == piece[order[:-1]]
    steps = np.column_stack([order[:-1][on], order[1:][on]])
    steps = steps[np.argsort(steps[:, 0], kind="stable")]
    return Actions(steps, codes[steps[:, 0]], names, n)


def _codes(actions: Any, n: int) -> tuple[Array, tuple[Any, ...]]:
    """The code of each row's label (n,), -1 where it is missing, and the sorted labels."""
    length = actions.shape[0] if getattr(actions, "shape", ()) else len(actions) if hasattr(actions, "__len__") else -1
    if length not in (n, n - 1) or getattr(actions, "ndim", 1) != 1:
        seen = f"array of shape {actions.shape}" if hasattr(actions, "shape") else f"{length} entries"
        seen = seen if length >= 0 else repr(actions)
        rule = f"does not match the {n} rows of X"
        raise ValueError(error_message("Actions", "actions", seen, rule, "Give one label per row, missing at the end"))
    (column,) = read_table("Actions", actions, length).columns.values()
    missing = np.array(column.missing)
    if column.values.dtype.kind in "OUS":
        missing[~missing] = column.here == ""
    try:
        names, place = np.unique(column.values[~missing], return_inverse=True)
    except TypeError:
        rule = "mixes text and numbers"
        raise ValueError(error_message("Actions", "actions", "labels", rule, "Give labels of one kind")) from None
    codes = np.full(n, -1)
    codes[:length][~missing] = place
    return codes, tuple(names.tolist())
