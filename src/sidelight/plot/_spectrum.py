"""How many dimensions the rows have: the shares of the Gram matrix's eigenvalues, one by one and summed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.capabilities import capabilities
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel

from ._axes import axes_for
from ._colouring import CATEGORIES
from ._plane import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Spectrum", "spectrum", "spectrum_of"]

MOST_BARS, FEWEST_BARS = 12, 4
MOST_NUMBERS = 8
"""Bars that have room for their number."""
WORTH_A_BAR = 1e-3
TALL = 0.15
"""Bars that have their number inside."""


@dataclass(frozen=True)
class Spectrum:
    """Shares (r,) of the whole, largest first; the first ``n_dimensions`` of them hold ``share`` together."""

    shares: Floats
    share: float

    @property
    def n_dimensions(self) -> int:
        """The estimated dimension; 0 where all rows are one point."""
        total = float(self.shares.sum())
        return int(np.searchsorted(np.cumsum(self.shares), self.share - 1e-12) + 1) if total > 0 else 0

    @property
    def shown(self) -> Floats:
        """The first shares: those that can be seen, some at least and not too many, padded by 0."""
        count = max(FEWEST_BARS, self.n_dimensions + 2, int((self.shares > WORTH_A_BAR).sum()))
        padded = np.zeros(min(count, MOST_BARS))
        padded[: len(self.shares)] = self.shares[: len(padded)]
        return padded


def spectrum_of(model: FittedModel, share: float = 0.99) -> Spectrum:
    """Return the spectrum of a model that has ``gram_eigenvalues_`` and ``explained_``."""
    if not capabilities(model).has_spectrum:
        rule, remedy = "has no gram_eigenvalues_", "Fit a SemidefiniteEmbedding"
        raise ValueError(error_message("spectrum", "model", type(model).__name__, rule, remedy))
    if not 0 < share <= 1:
        raise ValueError(error_message("spectrum", "share", share, "is not in (0, 1]", "Give 0.99"))
    return Spectrum(np.asarray(model.explained_, dtype=np.float64), float(share))


def spectrum(model: Any, *, share: float = 0.99, title: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the share of the variance of each latent axis, and its cumulative sum.

    Parameters
    ----------
    model : fitted SemidefiniteEmbedding or ActionRespectingEmbedding
        Has ``gram_eigenvalues_`` and ``explained_``.
    share : float, default=0.99
        The dimension is estimated as the number of axes that hold this share together; their bars are dark.
    title : str, optional
        Title of the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    path : The fit, stage by stage.
    """
    found = spectrum_of(model, share)
    shown, q = found.shown, found.n_dimensions
    ax = axes_for(ax, "sidelight.plot.spectrum", (5.6, 3.8))
    places = np.arange(1, len(shown) + 1)
    colours = [CATEGORIES[0] if k <= q else "#C9D3DB" for k in places]
    ax.bar(places, shown, width=0.72, color=colours)
    ax.plot(places, np.cumsum(shown), color="#222222", linewidth=1.4, marker="o", markersize=4, label="summed up")
    ax.axhline(share, color="#999999", linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    for k, value in zip(places[:MOST_NUMBERS], shown, strict=False):
        inside = value > TALL  # above it the number would meet the line
        ax.annotate(
            _number(value),
            (k, value),
            (0, -4 if inside else 3),
            textcoords="offset points",
            ha="center",
            va="top" if inside else "bottom",
            fontsize=8,
            color="white" if inside and k <= q else "#222222",
        )
    _mark_dimension(ax, found)
    ax.set_xticks(places)
    ax.set_xlim(0.4, len(shown) + 0.6)
    ax.set_ylim(0.0, 1.09)
    ax.set_xlabel("latent axis")
    ax.set_ylabel("share of the variance")
    ax.spines[["top", "right"]].set_visible(False)
    if title:
        ax.set_title(title)
    return ax


def _number(value: float) -> str:
    """Return a share in few letters.

    Examples
    --------
    >>> [_number(share) for share in (0.873, 0.0012, 0.00004)]
    ['0.87', '0.001', '0']
    """
    return f"{value:.2f}" if value >= 0.005 else f"{value:.3f}" if value >= 0.0005 else "0"


def _mark_dimension(ax: Axes, found: Spectrum) -> None:
    """The number of axes that hold the share, in words below the summed line."""
    q = found.n_dimensions
    words = f"{q} dimension{'' if q == 1 else 's'} hold{'s' if q == 1 else ''} {100 * found.share:g} %"
    ax.text(0.98, found.share - 0.04, words, transform=ax.get_yaxis_transform(), ha="right", va="top", color="#444444")
