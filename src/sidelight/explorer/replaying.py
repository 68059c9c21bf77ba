"""Make the maps of a session again, by a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sidelight.base.messages import error_message
from sidelight.base.warnings import warn

from ._fit import Fitted, fit_statements
from ._table import Table, table_of
from .session import Session
from .statement import Statement

__all__ = ["replay", "replay_table", "spoken"]


def replay(
    session: Session,
    model: Any,
    X: Any,
    columns: Any = None,
    *,
    given: Any = None,
    at: int | None = None,
) -> Any:
    """Fit a map of a session again.

    Parameters
    ----------
    session : Session
        As :meth:`Session.load` reads it.
    model : estimator or Pipeline
        The model that the explorer was started with; its parameters count, not its fit.
    X, columns, given
        As they were given to :func:`sidelight.explore`. Other data are refused.
    at : int, default=None
        Position of the map in the history; None: the one that was shown last.

    Returns
    -------
    model
        The fitted model, with the same bytes as the map of the session; a warning says where they differ (another
        processor, another version).

    See Also
    --------
    Session : What was said.
    sidelight.explore : The page.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import KernelInformationEmbedding, explorer
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = KernelInformationEmbedding(max_iter=20, tol=1e-2).fit(X)
    >>> session = explorer.begin(model, X).saying(explorer.Statement("drop", rows=[3]))
    >>> len(explorer.replay(session.mapped(""), model, X).embedding_)
    39
    """
    return replay_table(session, model, table_of(model, X, columns, given), at).model


def replay_table(session: Session, model: Any, table: Table, at: int | None = None) -> Fitted:
    """Fit a map of a session again, from a table."""
    check_data(session, table.digest)
    if at is None:
        at = session.current
    if not 0 <= at < len(session.maps):
        rule = f"is no map of the session: there are {len(session.maps)}"
        raise ValueError(error_message("replay", "at", at, rule, "Count maps from 0"))
    made = session.maps[at]
    fitted = fit_statements(model, table, made.statements)
    if made.digest and fitted.digest != made.digest:
        rule = "has other bytes than the session says (another processor or version)"
        warn(error_message("replay", "map", at, rule, "Compare the maps before you rely on them"), UserWarning)
    return fitted


def check_data(session: Session, digest: str) -> None:
    """Raise if a session is about other rows."""
    if session.data and session.data != digest:
        rule = "is another than the session was made with"
        raise ValueError(error_message("replay", "data", digest[:12], rule, "Give the same rows and columns"))


def spoken(statements: Sequence[Any]) -> tuple[Statement, ...]:
    """Statements of a user's list: values, or dicts as :meth:`Statement.to_json` makes them."""
    return tuple(one if isinstance(one, Statement) else Statement.from_json(one) for one in statements)
