"""The same map twice: coloured by the factored-out variable and by another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sidelight.base.messages import error_message, require_extra

from ._scatter import scatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["known_and_rest"]


def known_and_rest(
    Z: Any,
    known: Any,
    rest: Any,
    *,
    names: tuple[str | None, str | None] = (None, None),
    periods: tuple[float | None, float | None] = (None, None),
    titles: tuple[str, str] = ("by what was given", "by the rest"),
    axes: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw a map twice, coloured by the factored-out variable and by another one.

    If ``known`` was factored out, its colours are mixed on the left; the right panel shows the order by ``rest``.

    Parameters
    ----------
    Z : array-like of shape (n, q), or fitted model
        Latent points.
    known : array-like of shape (n,)
        The variable that was passed as ``given``.
    rest : array-like of shape (n,)
        The variable that the map should show.
    names : pair of str, optional
        Names of the two variables; by default the columns' own names.
    periods : pair of float, optional
        Their periods, if they are periodic (360 for degrees).
    titles : pair of str
        Titles of the two pictures.
    axes : two matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    tuple of two matplotlib.axes.Axes

    See Also
    --------
    counterfactual_grid : Rows under other values of what was given.
    scatter : The map.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> left, right = known_and_rest([[0.0, 1.0], [2.0, 0.5]], ["cup", "pan"], [0.0, 90.0], periods=(None, 360.0))
    >>> left.get_title(), right.get_title()
    ('by what was given', 'by the rest')
    """
    pyplot = require_extra("matplotlib.pyplot", "sidelight.plot.known_and_rest", "report")
    if axes is None:
        axes = pyplot.subplots(1, 2, figsize=(11.6, 4.6), layout="constrained")[1]
    if len(axes) != 2:
        rule = "are not a pair (one for known, one for rest)"
        raise ValueError(error_message("known_and_rest", "axes", f"{len(axes)} axes", rule, "Pass two"))
    left, right = (
        scatter(Z, colour=colour, name=name, period=period, title=title, ax=ax)
        for colour, name, period, title, ax in zip((known, rest), names, periods, titles, axes, strict=True)
    )
    return left, right
