"""What models of transformations learned: filters, filters of an input, flow, analogies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.alias import renamed_argument
from sidelight.base.capabilities import capabilities
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel

from ._axes import axes_for
from ._pictures import check_image_shape, range_of, to_pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["analogy", "filter_field", "filters", "flow"]

_STRONGEST = 0.999  # share of a field's weights below black or white: a few corners would leave all else grey
_ARROWS, _STILL = "#0072B2", "#8a8a8a"


def filters(
    weights: Any,
    image_shape: Sequence[int],
    *,
    columns: int | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw filters side by side, each scaled by its largest weight: grey is 0, white positive, black negative.

    Parameters
    ----------
    weights : array-like of shape (n, pixels)
        A filter in each row: weights of a hidden unit, principal components, rows of ``parameters_``.
    image_shape : (height, width)
        How to fold a row into a picture.
    columns : int, optional
        Filters per line; by default a square arrangement.
    title : str, optional
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    filter_field : The filters of a field.
    flow : Where the pixels of a pair go.
    """
    W = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    height, width = _sides("filters", image_shape, W.shape[1])
    largest = np.abs(W).max(axis=1, keepdims=True)
    pictures = (W / np.where(largest > 0, largest, 1.0)).reshape(-1, height, width)
    across = columns or int(np.ceil(np.sqrt(len(W))))
    return _mosaic("filters", pictures, across, title, ax)


def filter_field(
    model: Any,
    *,
    unit: int = 0,
    image_shape: Sequence[int],
    components: Any = None,
    step: int = 1,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw, for each input pixel, the weights of a mapping unit between it and the output pixels (S0 fig. 5.5).

    Parameters
    ----------
    model : fitted GatedBoltzmannMachine
        Without premapping.
    unit : int, default=0
        Which mapping unit.
    image_shape : (height, width)
        Of inputs and outputs, in pixels.
    components : array-like of shape (d, pixels), optional
        For a model fitted to features: the pixels of each feature, ``pca.components_``, or with ``whiten=True`` that
        times the standard deviations. The same for inputs and outputs.
    step : int, default=1
        Draw every ``step``-th pixel of the input in each direction.
    title : str, optional
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A cell for each input pixel, at its place; a cell is a picture of the output.

    See Also
    --------
    filters : Weights of a gated model.
    flow : Where the pixels of a pair go.
    """
    W = _three_way(model, unit)
    if components is not None:
        C = np.asarray(components, dtype=np.float64)
        if C.ndim != 2 or len(C) != W.shape[0] or len(C) != W.shape[1]:
            rule = f"does not match the {W.shape[0]} inputs and {W.shape[1]} outputs of the model"
            raise ValueError(
                error_message("filter_field", "components", f"array of shape {C.shape}", rule, "One row for each")
            )
        W = C.T @ W @ C
    height, width = _sides("filter_field", image_shape, W.shape[0])
    _sides("filter_field", image_shape, W.shape[1])
    cells = (W / (np.quantile(np.abs(W), _STRONGEST) or 1.0)).reshape(height, width, height, width)
    begin = (step - 1) // 2
    shown = cells[begin::step, begin::step]
    return _mosaic("filter_field", shown.reshape(-1, height, width), shown.shape[1], title, ax)


def flow(
    arrows: Any,
    *,
    picture: Any = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the flow field of ``GatedBoltzmannMachine.flow(X, y, shape=...)``, with a dot for pixels that do not move.

    Parameters
    ----------
    arrows : array-like of shape (height, width, 2)
        Steps down and to the right.
    picture : array-like of shape (height, width), optional
        Background image.
    title : str, optional
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    filters : Weights of a gated model.
    analogy : A change that is done to other rows.
    """
    steps = np.asarray(arrows, dtype=np.float64)
    if steps.ndim != 3 or steps.shape[2] != 2:
        rule = "is not (height, width, 2)"
        remedy = "Give one pair's answer of flow(X, y, shape=...)"
        raise ValueError(error_message("flow", "arrows", f"array of shape {steps.shape}", rule, remedy))
    ax = axes_for(ax, "flow", (4.0, 4.0))
    height, width = steps.shape[:2]
    if picture is not None:
        ax.imshow(np.asarray(picture).reshape(height, width), cmap="gray", alpha=0.5)
    down, right = (part.ravel() for part in np.indices((height, width)))
    moves = steps.reshape(-1, 2)
    goes = (moves != 0).any(axis=1)
    ax.quiver(
        right[goes], down[goes], moves[goes, 1], moves[goes, 0], angles="xy", scale_units="xy", scale=1.0,
        color=_ARROWS, width=0.06 / max(height, width), zorder=2,
    )  # fmt: skip
    ax.plot(right[~goes], down[~goes], ".", color=_STILL, markersize=2)
    ax.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    return _bare(ax, title)


@renamed_argument("Y", "y")
def analogy(
    model: Any,
    X: Any,
    y: Any,
    X_new: Any,
    *,
    image_shape: Sequence[int] | None = None,
    truth: Any = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw pairs, other images, and their ``model.transfer(X, y, X_new)``, one line per pair.

    Parameters
    ----------
    model : fitted model with ``transfer``
    X, y, X_new : array-like of shape (n, d) or, for a field, (n, height, width)
        Pairs, and the images to which their transformation is applied.
    image_shape : (height, width), optional
        How to fold rows into pictures; not needed for a field.
    truth : array-like, optional
        True result for ``X_new``, shown as a last column.
    title : str, optional
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    flow : Where the pixels of a pair go.
    filters : Weights of a gated model.
    """
    shown = [np.asarray(part, dtype=np.float64) for part in (X, y, X_new, model.transfer(X, y, X_new))]
    names = ["before", "after", "another", "changed"]
    if truth is not None:
        shown, names = [*shown, np.asarray(truth, dtype=np.float64)], [*names, "right"]
    sides = image_shape if image_shape is not None else shown[0].shape[1:]
    rows = [part.reshape(len(part), -1) for part in shown]
    height, width = _sides("analogy", sides, rows[0].shape[1])
    limits = range_of(np.concatenate(rows[:3]))
    lines = np.stack([to_pictures(part, (height, width), limits) for part in rows], axis=1)
    ax = _mosaic("analogy", lines.reshape(-1, height, width) / 127.5 - 1, len(names), title, ax)
    for number, name in enumerate(names):
        ax.annotate(
            name, ((number + 0.5) / len(names), 1.0), (0, 3), xycoords="axes fraction", textcoords="offset points",
            ha="center", fontsize=8,
        )  # fmt: skip
    return ax


def _three_way(model: FittedModel, unit: int) -> NDArray[np.float64]:
    """W_·· of a mapping unit (d, e), full or factored."""
    offers = capabilities(model)
    if not (offers.is_network and offers.has_flow and offers.has_column_weights):
        rule = "has no weights between pixels"
        remedy = "Give a fitted GatedBoltzmannMachine without premapping"
        raise ValueError(error_message("filter_field", "model", type(model).__name__, rule, remedy))
    if not 0 <= unit < model.n_mapping:
        rule = f"is not one of the {model.n_mapping} mapping units"
        raise ValueError(error_message("filter_field", "unit", unit, rule, f"Give 0 to {model.n_mapping - 1}"))
    known = model.parameters_
    if "gated.weights" in known:
        return np.asarray(known["gated.weights"][:, :, unit], dtype=np.float64)
    inputs, visible, hidden = (
        np.asarray(known[f"gated.{name}"], np.float64) for name in ("inputs", "visible", "hidden")
    )
    return np.asarray((inputs * hidden[unit]) @ visible.T)


def _sides(owner: str, image_shape: Sequence[int], n_pixels: int) -> tuple[int, int]:
    shape = check_image_shape(image_shape, n_pixels, owner)
    if len(shape) != 2:
        raise ValueError(error_message(owner, "image_shape", shape, "has colours", "Give (height, width)"))
    return shape[0], shape[1]


def _mosaic(owner: str, pictures: NDArray[np.float64], columns: int, title: str | None, ax: Axes | None) -> Axes:
    """Pictures (n, h, w) of -1 to 1 in lines of ``columns``, with white gaps."""
    n, height, width = pictures.shape
    lines, gap = -(-n // columns), max(1, min(height, width) // 12)
    canvas = np.full((lines * (height + gap) + gap, columns * (width + gap) + gap), np.nan)
    for number, picture in enumerate(pictures):
        i, j = divmod(number, columns)
        top, left = gap + i * (height + gap), gap + j * (width + gap)
        canvas[top : top + height, left : left + width] = picture
    size = 6.4 / max(canvas.shape)
    ax = axes_for(ax, owner, (max(1.5, canvas.shape[1] * size), max(1.5, canvas.shape[0] * size)))
    ax.imshow(np.ma.masked_invalid(canvas), cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
    return _bare(ax, title)


def _bare(ax: Axes, title: str | None) -> Axes:
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)
    if title:
        ax.set_title(title)
    return ax
