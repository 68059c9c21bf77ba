"""A report inside a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from ._options import ReportOptions
from ._write import SECTIONS, page_of

__all__ = ["InlineReport", "show"]


@dataclass(frozen=True, repr=False)
class InlineReport:
    """A report displayed in a notebook in a frame of ``height`` pixels; ``page`` is the whole HTML text.

    See Also
    --------
    show : Makes it.
    """

    page: str
    height: int

    def __repr__(self) -> str:
        return f"InlineReport of {len(self.page):,} letters: a notebook shows it, report.write saves it"

    def _repr_html_(self) -> str:
        # The frame runs the scripts of the report and nothing else: it has no access to the notebook.
        return (
            f'<iframe sandbox="allow-scripts" title="Sidelight report" srcdoc="{escape(self.page)}" '
            f'style="width:100%;height:{self.height}px;border:1px solid #ccc;border-radius:8px"></iframe>'
        )


def show(model: Any, X: Any = None, *, height: int = 720, max_rows: int = 10_000, **options: Any) -> InlineReport:
    """Return the report of a model as an object that a notebook displays at the end of a cell.

    Parameters
    ----------
    model : fitted model
        As for :func:`write`.
    X : array-like of shape (n, d) or data frame, optional
        The rows on the map.
    height : int
        Height of the frame in pixels; the report scrolls inside it.
    max_rows : int
        Maximum number of rows on the interactive map; they are stored in the notebook.
    **options
        All other options of :func:`write`.

    Returns
    -------
    InlineReport
        Displayed by a notebook; ``page`` is the HTML text.

    See Also
    --------
    write : The report as a file.
    sidelight.explore : A page that can be asked and told.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import TwoWayEmbedding, report
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> shown = report.show(TwoWayEmbedding().fit(X), X)
    >>> shown.page.startswith("<!DOCTYPE html>")
    True
    """
    sections = options.pop("sections", SECTIONS)
    return InlineReport(page_of(model, sections, ReportOptions(X=X, max_rows=max_rows, **options)), height)
