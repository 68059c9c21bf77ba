"""``sidelight.explorer.widget``: a fitted map as a page inside a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sidelight.base.messages import require_extra

from ._explorer import Explorer, Setting
from ._table import table_of
from .replaying import spoken

if TYPE_CHECKING:
    from ._widget import ExplorerWidget

__all__ = ["widget"]


def widget(
    model: Any,
    X: Any,
    *,
    columns: Any = None,
    given: Any = None,
    statements: Sequence[Any] = (),
    image_shape: tuple[int, int] | None = None,
    row_names: Sequence[str] | None = None,
    periods: Mapping[str, float] | None = None,
    title: str = "Sidelight",
    folder: str | Path = "sidelight-explore",
) -> ExplorerWidget:
    """The explorer inside a notebook: as the last line of a cell, it shows the page there.

    Needs the extra ``notebook`` and no server: the page asks the kernel. The parameters are those of
    :func:`sidelight.explore`.

    Returns
    -------
    ExplorerWidget
        With ``selection`` (row numbers; a trait to observe or to set), ``model`` and ``session`` of the map that is
        shown, ``save()`` and ``close()``.

    See Also
    --------
    sidelight.explore : A page of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import KernelInformationEmbedding, explorer
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = KernelInformationEmbedding(max_iter=20, tol=1e-2).fit(X)
    >>> page = explorer.widget(model, X)
    >>> page.selection = [3, 1]  # as Lasso in the page would
    >>> page.selection
    [1, 3]
    >>> page.close()
    """
    require_extra("anywidget", "explorer.widget", "notebook")
    from ._widget import ExplorerWidget

    table = table_of(model, X, columns, given, row_names=row_names, image_shape=image_shape)
    setting = Setting(title, Path(folder), {}, dict(periods or {}))
    return ExplorerWidget(Explorer(model, table, spoken(statements), setting))
