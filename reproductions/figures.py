"""One look for every figure: type, colours, a latent plane with its density in grey."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.maps.parzen import ParzenDensity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, GREY = "#222222", "#8a8a8a"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
_LOOK: Any = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlecolor": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "figure.constrained_layout.use": True,
}


@contextmanager
def house_style() -> Iterator[Any]:
    """Yield ``matplotlib.pyplot`` under our style and a backend without a window; figures are closed at the end."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(_LOOK):
        yield plt
        plt.close("all")


def bare(ax: Axes, title: str = "") -> Axes:
    """Axes of a map: no ticks, the same scale both ways, a thin frame."""
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.spines[["top", "right"]].set_visible(True)
    ax.spines[:].set(linewidth=0.5, color=GREY)
    ax.set_title(title)
    return ax


def grey_density(ax: Axes, Z: Any, *, resolution: int = 160, margin: float = 0.08) -> None:
    """Shade the Parzen density of latent points, darker where it is higher, and fit the axes to them."""
    low, high = Z.min(axis=0), Z.max(axis=0)
    pad = margin * (high - low).max() + 0.5
    x, y = (np.linspace(low[k] - pad, high[k] + pad, resolution) for k in (0, 1))
    lattice = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    logs = ParzenDensity(np.asarray(Z, dtype=np.float64), np.ones(len(Z))).log_density(lattice)
    shade = np.sqrt(np.exp(logs - logs.max())).reshape(resolution, resolution)
    extent = (x[0], x[-1], y[0], y[-1])
    ax.imshow(shade, extent=extent, origin="lower", cmap="Greys", vmin=0, vmax=1.5, interpolation="bilinear")
    ax.set(xlim=extent[:2], ylim=extent[2:])
