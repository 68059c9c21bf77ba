"""New tables against the table of the fit: columns by name, or by position where one of the two has no names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from sidelight.base.messages import error_message
from sidelight.base.warnings import warn

from ._table_columns import Table, TableColumn

__all__ = ["errors_of", "matched_columns"]

_READER = "TableEncoder"  # whom the messages of the modules that read tables name
_SHOWN = 5


def matched_columns(
    table: Table, names: Sequence[str], *, needed: Collection[str], named: bool, owner: str
) -> dict[str, TableColumn]:
    """Return the columns of a new table by the names of the fit.

    Columns that the fit has not seen are named in a warning; missing ones are refused.

    Parameters
    ----------
    table : Table
    names : sequence of str
        Columns of the fit.
    needed : collection of str
        Those that the new table must have.
    named : bool
        Whether the columns of the fit had names of their own.
    owner : str
        Whom messages name.
    """
    if not (table.named and named):
        if len(table.columns) != len(names):
            # the words of scikit-learn, which its checks look for
            expected = f"{owner} is expecting {len(names)} features as input."
            raise ValueError(f"X has {len(table.columns)} features, but {expected}")
        return dict(zip(names, table.columns, strict=True))
    found = table.by_name()
    missing = [name for name in names if name in needed and name not in found]
    if missing:
        rule, remedy = "lacks columns that fit had", "Add them; entries may be empty"
        raise ValueError(error_message(owner, "X", ", ".join(map(repr, missing[:_SHOWN])), rule, remedy))
    new = [name for name in found if name not in set(names)]
    if new:
        shown = ", ".join(map(repr, new[:_SHOWN])) + (f" and {len(new) - _SHOWN} more" if len(new) > _SHOWN else "")
        rule = "has columns that fit has not seen, which are ignored"
        warn(error_message(owner, "X", shown, rule, "Fit again with them to use them"), UserWarning)
    return found


@contextmanager
def errors_of(owner: str) -> Iterator[None]:
    """Let errors of the modules that read tables name ``owner``."""
    try:
        yield
    except (ValueError, TypeError) as error:
        said = str(error)
        if not said.startswith(f"{_READER}: "):
            raise
        raise type(error)(f"{owner}: {said.removeprefix(f'{_READER}: ')}") from error
