"""``fit`` of rows that are not in memory (``Rows``, such as ``DaskRows``): by a sample of them, with a warning."""

from __future__ import annotations

from sidelight.base.messages import error_message
from sidelight.base.random import random_seed
from sidelight.base.row_order import warn_of_other_order
from sidelight.base.types import RandomState
from sidelight.base.warnings import warn
from sidelight.rows import Rows

__all__ = ["refuse_rows", "rows_in_memory"]

_SAMPLE = 50_000  # as in embed_rows


def rows_in_memory(owner: str, X: object, given: object, random_state: RandomState) -> tuple[object, object]:
    """X and ``given`` in memory; for ``Rows``, a sample of at most 50,000 rows, with a warning if some are left out.

    Parameters
    ----------
    owner : str
        Name for messages.
    X : array, table or Rows
    given : as ``fit`` takes it; for ``DaskRows`` also names of columns
    random_state : as of the estimator
        Draws the sample.
    """
    if not isinstance(X, Rows):
        warn_of_other_order(owner, X, given)
        return X, given
    rows = X if given is None else X.with_given(given)
    found, n = rows.sampled(_SAMPLE, random_seed(random_state)), rows.count()
    if len(found.X) < n:
        rule = f"is fitted by a sample of {len(found.X):,} rows, of which embedding_ is"
        remedy = "Use sidelight.embed_rows for the places of all rows, or a sample of another size"
        warn(error_message(owner, "X", f"{n:,} rows", rule, remedy), UserWarning)
    return found.X.astype(rows.dtype), found.given


def refuse_rows(owner: str, X: object) -> None:
    """Refuse to return places of all rows where a fit has those of a sample."""
    if isinstance(X, Rows):
        rule, remedy = "is not in memory, and fit knows the places of a sample", "Use sidelight.embed_rows"
        raise TypeError(error_message(owner, "X", type(X).__name__, rule, remedy))
