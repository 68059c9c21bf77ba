"""Two rows, or two selections of rows: what makes the difference in the map between them.

    z(ȳ₁) - z(ȳ₂) = Σ_f s_f (ū₁f - ū₂f),      s = ∫ ∂z/∂u along the straight line between the mean rows

ū are mean features (after ``given``), ȳ their coordinates. A feature that does not differ between the selections
contributes nothing, however the map uses it to tell rows apart. The places of rows have another mean than the place of
the mean row, as the map is not linear: this is a record of its own, so that contributions sum to the difference of the
mean places. Intervals are those of s_f (ū₁f - ū₂f) over rows that are drawn again, with the slopes s held; p is that of
Welch's test that a feature has the same mean in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread

from ._paths import mean_slopes
from ._reading import Reading, read_model
from ._statistics import Group, false_discovery_rates, group_of, p_of_one, welch
from ._tables import tidy

__all__ = ["GIVEN", "SPREAD", "Settings", "difference", "group_columns", "groups", "selection"]

Array = npt.NDArray[Any]
SPREAD = "(spread of the rows)"
"""Name of the record of what the mean places differ by beyond the places of the mean rows."""
GIVEN = "(given)"
"""Name of the record of what another value of ``given`` alone changes (models with conditioning="product")."""
_ROWS = 5000  # rows of a selection that are looked at, evenly spaced


@dataclass(frozen=True)
class Settings:
    """How groups are compared."""

    owner: str
    n_resamples: int
    level: float
    seed: int
    tolerance: float


class _Places:
    """Places of rows on the map, each computed once: a row is among the others of all groups but its own."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._known = np.zeros(reading.n, dtype=bool)
        self._values: Any = None

    def mean(self, rows: Array) -> Array:
        """Mean place (q,) of some rows."""
        new = rows[~self._known[rows]]
        if len(new):
            found = self._reading.smooth.value(self._reading.coordinates[new], new)
            if self._values is None:
                self._values = np.zeros((self._reading.n, found.shape[1]))
            self._values[new], self._known[new] = found, True
        return np.asarray(self._values[rows].mean(axis=0))


@one_blas_thread
def difference(
    model: Any,
    X: Any,
    first: Any,
    second: Any,
    *,
    given: Any = None,
    n_resamples: int = 200,
    level: float = 0.95,
    random_state: int = 0,
    tolerance: float = 1e-6,
    output: str | None = None,
) -> Any:
    """What makes the difference in the map between two rows, or between two selections of rows.

    Parameters
    ----------
    model : fitted model or Pipeline
        As for :func:`local`.
    X : array, sparse array or table of shape (n, d)
        All rows.
    first, second : int, sequence of int, or mask of shape (n,)
        A row or several rows each. Contributions sum to the place of ``first`` less that of ``second``.
    given : array of shape (n,) or (n, g), or table, default=None
        The known variables of all rows: features are compared after their effect.
    n_resamples : int, default=200
        How often rows are drawn again for the intervals.
    level : float, default=0.95
        Of the intervals.
    random_state : int, default=0
        Seed of these draws.
    tolerance : float, default=1e-6
        As for :func:`rows`.
    output : {"pandas", "polars"} or None, default=None
        As for :func:`local`.

    Returns
    -------
    table
        A record for each axis and feature, largest contributions first: the mean of the feature in ``first`` and in
        ``second`` and their ``difference``, ``standardised`` by the standard deviation within the selections (2 or -2
        where there is none, and they differ); the mean ``slope`` of the map between them; the ``contribution``, in
        units of the map, with its interval ``low`` to ``high``; ``p`` and ``fdr``, the false discovery rate (Benjamini
        and Hochberg) of all features up to this p. A single row against several has no intervals: their standard
        deviation stands for its own, and p is that of a row drawn like them. Two single rows have neither.
        Contributions of an axis sum to the difference of (mean) places.

    See Also
    --------
    groups : Every group against the others.
    selection : Rows by number or condition.
    in_words : The table as sentences.

    Notes
    -----
    Of more than 5,000 rows of a selection, so many are looked at, evenly spaced. Intervals and p take rows as
    independent of each other, which cells of one donor are not.

    Examples
    --------
    >>> from sidelight import TwoWayEmbedding, explain
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 4)) + np.outer(np.arange(80) % 2, [4.0, 0.0, 0.0, 0.0])
    >>> model = TwoWayEmbedding(maps="kernel").fit(X)
    >>> table = explain.difference(model, X, np.arange(1, 80, 2), np.arange(0, 80, 2))
    >>> table.feature[0], bool(table.fdr[0] < 0.001)
    ('0', True)
    """
    settings = Settings("explain.difference", n_resamples, level, random_state, tolerance)
    reading = read_model(settings.owner, model, X, given)
    own, others = (_members(settings.owner, *side, reading.n) for side in (("first", first), ("second", second)))
    return tidy(settings.owner, _compared(reading, own, others, settings, _Places(reading)), output)


def selection(model: Any, X: Any, selection: Any, **options: Any) -> Any:
    """What makes the difference in the map between a selection of rows and all others.

    Parameters
    ----------
    model : fitted model or Pipeline
    X : array, sparse array or table of shape (n, d)
    selection : sequence of int, or mask of shape (n,)
    **options
        Of :func:`difference`.

    Returns
    -------
    table
        As that of :func:`difference`.

    See Also
    --------
    difference : Compares two of them.
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    chosen = _members("explain.selection", "selection", selection, n)
    others = np.setdiff1d(np.arange(n), chosen)
    if not len(others):
        rule = "leaves no row to compare with"
        raise ValueError(error_message("explain.selection", "selection", "all rows", rule, "Select fewer"))
    return difference(model, X, chosen, others, **options)


@one_blas_thread
def groups(
    model: Any,
    X: Any,
    labels: Any,
    *,
    given: Any = None,
    n_resamples: int = 200,
    level: float = 0.95,
    random_state: int = 0,
    tolerance: float = 1e-6,
    output: str | None = None,
) -> Any:
    """What makes the difference in the map between each group of rows and all others.

    Parameters
    ----------
    model, X, given, n_resamples, level, random_state, tolerance, output
        As for :func:`difference`.
    labels : array of shape (n,)
        Group of each row; rows with a missing label (None, NaN) are in none, and left out.

    Returns
    -------
    table
        As that of :func:`difference`, with a column ``group`` in front.

    See Also
    --------
    difference : Two selections.
    axes : What changes along the axes.
    sidelight.anndata.attributions : Of cells.
    """
    settings = Settings("explain.groups", n_resamples, level, random_state, tolerance)
    return tidy(settings.owner, group_columns(model, X, labels, given, settings), output)


def group_columns(model: Any, X: Any, labels: Any, given: Any, settings: Settings) -> dict[str, Any]:
    """Columns of the table of :func:`groups`."""
    reading = read_model(settings.owner, model, X, given)
    names, codes = _codes(labels)
    if len(codes) != reading.n:
        rule = f"does not match the {reading.n} rows"
        raise ValueError(error_message(settings.owner, "labels", f"{len(codes)} entries", rule, "Give one per row"))
    if len(names) < 2:
        rule = "has fewer than two groups to compare"
        raise ValueError(error_message(settings.owner, "labels", f"{len(names)} groups", rule, "Give two or more"))
    parts, places = [], _Places(reading)
    for code, name in enumerate(names):
        own, others = np.flatnonzero(codes == code), np.flatnonzero((codes >= 0) & (codes != code))
        found = _compared(reading, own, others, settings, places)
        parts.append({"group": np.full(len(found["axis"]), name, dtype=object), **found})
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _compared(reading: Reading, first: Array, second: Array, settings: Settings, places: _Places) -> dict[str, Array]:
    """Columns of the table of two selections."""
    several = max(len(first), len(second)) > 1
    if reading.smooth.held and several:
        rule = "holds the value of one row along a line, and selections have several (conditioning='product')"
        raise ValueError(error_message(settings.owner, "given", "something", rule, "Compare single rows"))
    first, second = (rows[_spaced(len(rows))] for rows in (first, second))
    rng = np.random.default_rng(settings.seed)
    samples = settings.n_resamples if min(len(first), len(second)) > 1 else 0
    sides = [
        group_of((reading.units(t) for t in reading.tiles(rows)), len(rows), samples, rng) for rows in (first, second)
    ]
    ends = [reading.coordinates[rows].mean(axis=0)[None] for rows in (first, second)]
    found = mean_slopes(reading.smooth, ends[1], ends[0], first[:1], tolerance=settings.tolerance)
    slopes = reading.of_features(found.slopes)[0]
    q, moved = len(slopes), sides[0].mean - sides[1].mean
    columns = {
        "first": np.tile(sides[0].mean, (q, 1)),
        "second": np.tile(sides[1].mean, (q, 1)),
        "difference": np.tile(moved, (q, 1)),
        "standardised": np.tile(_standardised(moved, sides), (q, 1)),
        "slope": slopes,
        "contribution": slopes * moved,
        **_intervals(slopes, sides, settings.level),
    }
    extra = {} if not several else {SPREAD: places.mean(first) - places.mean(second) - (found.end - found.start)[0]}
    if reading.smooth.held:
        extra[GIVEN] = (found.start - reading.smooth.value(ends[1], second[:1]))[0]
    return _ordered(columns, extra, reading)


def _ordered(columns: dict[str, Array], extra: dict[str, Array], reading: Reading) -> dict[str, Array]:
    """Records by axis, the largest contributions first, and then those that are of no feature."""
    contribution = columns["contribution"]
    order = np.argsort(-np.abs(contribution), axis=1, kind="stable")
    q, d = contribution.shape
    more = len(extra)
    names = np.array([*reading.features, *extra], dtype=object)
    order = np.hstack([order, np.tile(np.arange(d, d + more), (q, 1))])
    out = {"axis": np.repeat(np.array(reading.axes, dtype=object), d + more), "feature": names[order].ravel()}
    for name, values in columns.items():
        last = (
            np.stack(list(extra.values()), axis=1) if extra and name == "contribution" else np.full((q, more), np.nan)
        )
        out[name] = np.take_along_axis(np.hstack([values, last]), order, axis=1).ravel()
    return out


def _intervals(slopes: Array, sides: list[Group], level: float) -> dict[str, Array]:
    """Intervals of the contributions, p and false discovery rates (q, d); NaN where a single row has none."""
    q, d = slopes.shape
    few, many = sorted(sides, key=lambda side: side.n)
    if few.n < 2:
        p = p_of_one(few, many) if many.n > 1 else np.full(d, np.nan)
        fdr = false_discovery_rates(p) if many.n > 1 else p
        none = np.full((q, d), np.nan)
        return {"low": none, "high": none, "p": np.tile(p, (q, 1)), "fdr": np.tile(fdr, (q, 1))}
    if not len(sides[0].resampled):
        return {name: np.full((q, d), np.nan) for name in ("low", "high", "p", "fdr")}
    tail = 0.5 * (1.0 - level)
    drawn = np.quantile(sides[0].resampled - sides[1].resampled, [tail, 1.0 - tail], axis=0)
    ends = np.sort(slopes[None] * drawn[:, None], axis=0)
    p = welch(*sides)
    return {"low": ends[0], "high": ends[1], "p": np.tile(p, (q, 1)), "fdr": np.tile(false_discovery_rates(p), (q, 1))}


def _standardised(moved: Array, sides: list[Group]) -> Array:
    known = [side.variance for side in sides if side.n > 1]  # one row has none: that of the others stands for it
    if not known:
        return np.full(len(moved), np.nan)
    within = np.mean(known, axis=0)
    # A column that tells the selections apart without error varies only between them: by the square of half the way.
    spread = np.sqrt(np.where(within > 0, within, 0.25 * moved**2))
    return np.divide(moved, spread, out=np.zeros_like(moved), where=spread > 0)


def _spaced(n: int) -> Array:
    return np.unique(np.linspace(0, n - 1, min(n, _ROWS)).astype(np.int64))


def _members(owner: str, argument: str, rows: Any, n: int) -> Array:
    """Row numbers from one number, several, or a mask."""
    found = np.atleast_1d(np.asarray(rows))
    if found.dtype == bool:
        if found.shape != (n,):
            rule = f"does not match the {n} rows"
            raise ValueError(error_message(owner, argument, f"mask of {len(found)}", rule, "Give one entry per row"))
        found = np.flatnonzero(found)
    if not np.issubdtype(found.dtype, np.integer) or not len(found):
        rule = "selects no row"
        raise ValueError(error_message(owner, argument, rows, rule, "Give row numbers, or a mask of the rows"))
    if found.min() < -n or found.max() >= n:
        rule = f"is outside the {n} rows"
        raise ValueError(error_message(owner, argument, int(found.max()), rule, "Count rows from 0"))
    return np.asarray(found % n, dtype=np.int64)


def _codes(labels: Any) -> tuple[list[str], Array]:
    """Names of the groups, sorted, and the number of each row's; -1 for a missing label."""
    values = np.asarray(labels, dtype=object)
    there = np.array([value is not None and value == value for value in values], dtype=bool)  # NaN is not itself
    texts = np.array([str(value) for value in values[there]])
    names, codes = np.unique(texts, return_inverse=True)
    out = np.full(len(values), -1)
    out[there] = codes
    return [str(name) for name in names], out
