"""Encode the side information ``given`` as numeric features: columns of any type become features and codes.

category  one-hot; two categories are at squared distance 2
number    centred, scaled to unit variance; ordered categories by rank, dates in days
angle     a point on a circle, from the period

so that ``exp(-|f_i - f_j|²)`` over the features is a sensible kernel: each column is divided by the square root of its
bandwidth. Categories with a kernel matrix K (``side.value_kernels``) have ``f_iᵀ K f_j`` instead. A row with a missing
entry in any column is *unknown*: it has no code.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.validation import check_number, refuse_too_large

from .columns import Entries, read_table
from .natural_kind import natural_kind, warn_of_labels
from .one_value import for_all_rows
from .value_kernels import ValueKernel, is_one_kernel, read_value_kernel

__all__ = ["Column", "EncodedGiven", "Given"]

Array = npt.NDArray[Any]
_NUMBER_BANDWIDTH = 0.3  # of squared distance, in units of the variance: measured, decision 0006
_CATEGORY_BANDWIDTH = 1.0
_REACH = 1e100  # features are clipped to it, so that squares do not overflow


@dataclass(frozen=True)
class Column:
    """One column of ``given`` as learned at ``fit``: how its entries become features."""

    name: str
    kind: str
    categories: tuple[Any, ...] = ()
    centre: float = 0.0
    scale: float = 1.0
    period: float = 0.0
    bandwidth: float = 1.0
    chosen: bool = False
    """Whether the user chose the bandwidth, which is then never widened."""
    matrix: Array | None = None
    """Kernel (c, c) between the categories, instead of the Gaussian of their codes."""

    @property
    def width(self) -> int:
        """Number of features of the column."""
        return {"category": len(self.categories), "number": 1, "angle": 2}[self.kind]

    def features(self, codes: Array) -> Array:
        """Features (n, width) of coded entries (n,): codes of categories, or the numbers themselves."""
        if self.kind == "category":
            F = (codes[:, None] == np.arange(len(self.categories))).astype(np.float64)
        elif self.kind == "number":
            with np.errstate(over="ignore"):
                F = np.clip((codes - self.centre) / self.scale, -_REACH, _REACH)[:, None]
        else:
            turn = 2 * np.pi * (np.mod(codes, self.period) / self.period)
            F = np.sqrt(2.0) * np.column_stack([np.cos(turn), np.sin(turn)])
        return np.asarray(F / np.sqrt(self.bandwidth))

    def codes(self, features: Array) -> Array:
        """Coded entries (n,) of features (n, width): what ``features`` was computed from, up to rounding."""
        F = features * np.sqrt(self.bandwidth)
        if self.kind == "category":
            return np.asarray(F.argmax(axis=1), dtype=np.float64)
        if self.kind == "number":
            return np.asarray(F[:, 0] * self.scale + self.centre)
        return np.asarray(np.mod(np.arctan2(F[:, 1], F[:, 0]) / (2 * np.pi), 1.0) * self.period)

    @property
    def has_slopes(self) -> bool:
        """Whether entries are numbers that can be moved a little: not categories, nor ordered ones."""
        return self.kind in ("number", "angle") and not self.categories

    def slopes(self, codes: Array) -> Array:
        """Derivatives (n, width) of ``features`` by the entries (n,), which are numbers."""
        if self.kind == "number":
            inside = np.abs((codes - self.centre) / self.scale) < _REACH
            D = np.where(inside, 1.0 / self.scale, 0.0)[:, None]
        else:
            turn = 2 * np.pi * (np.mod(codes, self.period) / self.period)
            D = np.sqrt(2.0) * (2 * np.pi / self.period) * np.column_stack([-np.sin(turn), np.cos(turn)])
        return np.asarray(D / np.sqrt(self.bandwidth))

    def bandwidth_times(self, widening: float) -> float | None:
        """The bandwidth in the units of ``Conditioning.bandwidth``, with squared distances divided by ``widening``.

        0 for the delta kernel, None for another kernel matrix.
        """
        if self.matrix is not None:
            return 0.0 if np.array_equal(self.matrix, np.eye(len(self.matrix))) else None
        width = self.bandwidth * widening
        if self.kind == "category":
            return float(width)
        if self.kind == "number":
            return float(np.sqrt(width) * self.scale)
        return float(self.period / np.pi * np.arcsin(np.sqrt(min(width / 8.0, 1.0))))


@dataclass(frozen=True)
class EncodedGiven:
    """Encoded rows of ``given``.

    Parameters
    ----------
    features : array of shape (n, f)
    values : array of shape (n, columns)
        Codes or numbers, NaN where missing.
    complete : array of bool, of shape (n,)
        Rows without a missing entry.
    """

    features: Array
    values: Array
    complete: Array

    def take(self, rows: Array) -> EncodedGiven:
        """The encoding of some of the rows."""
        return EncodedGiven(self.features[rows], self.values[rows], self.complete[rows])


@dataclass(frozen=True)
class Given:
    """The columns of ``given`` as learned at ``fit``; ``encode`` encodes further rows in the same way.

    ``named``: the column names are the user's, and columns of further tables are matched by name.
    """

    columns: tuple[Column, ...]
    named: bool = False

    @classmethod
    def learn(
        cls, owner: object, given: Any, n: int, kinds: Any = None, bandwidths: Any = None, kernels: Any = None
    ) -> Given:
        """Decide the kind and scale of each column from the rows of ``fit``.

        Parameters
        ----------
        owner : object
            Estimator or name for messages.
        given : table, array or list
        n : int
            Rows of the data.
        kinds, bandwidths : mapping, sequence, one value or None
            ``types`` and ``bandwidth`` of the user's ``Conditioning``: by name, by position, or one for all. None:
            automatic.
        kernels : array, mapping, list of these or None
            ``kernel`` of the user's ``Conditioning``: of the one column, or one for each column.
        """
        table = read_table(owner, given, n)
        names = tuple(table.columns)
        kinds = _chosen(owner, "conditioning.types", kinds, names)
        bandwidths = _chosen(owner, "conditioning.bandwidth", bandwidths, names)
        kernels = _kernels(owner, kernels, names)
        found = zip(table.columns.items(), kinds, bandwidths, kernels, strict=True)
        return cls(tuple(_column(owner, name, entries, *choice) for (name, entries), *choice in found), table.named)

    def encode(self, owner: object, given: Any, n: int) -> EncodedGiven:
        """Encode ``n`` rows of ``given``; a missing entry makes a row unknown, a new category raises.

        One value (of each column) stands for all rows (``side.one_value``).
        """
        names = tuple(column.name for column in self.columns)
        table = read_table(owner, for_all_rows(owner, given, n, names), n)
        ordered = table.in_order_of(owner, names, self.named)
        coded = [_coded(owner, column, entries) for column, entries in zip(self.columns, ordered, strict=True)]
        values = np.column_stack(coded)
        known = np.isfinite(values).all(axis=1)
        filled = np.where(known[:, None], values, 0.0)
        features = np.column_stack([column.features(filled[:, c]) for c, column in enumerate(self.columns)])
        return EncodedGiven(features, values, known)

    def decoded(self, features: Array) -> EncodedGiven:
        """The encoding of rows of which only the features (n, f) were kept; all are complete."""
        starts = np.cumsum([0, *(column.width for column in self.columns)])
        parts = [column.codes(features[:, starts[c] : starts[c + 1]]) for c, column in enumerate(self.columns)]
        return EncodedGiven(features, np.column_stack(parts), np.ones(len(features), dtype=bool))

    @property
    def chosen(self) -> Array:
        """Whether the bandwidth of each feature (f,) was chosen by the user."""
        return np.repeat([column.chosen for column in self.columns], [column.width for column in self.columns])

    def bandwidths(self, others: float, every: float = 1.0) -> list[float | None]:
        """The bandwidths in the units of ``Conditioning.bandwidth``.

        Those that the user did not choose are widened by ``others``, all of them by ``every``; both are factors of
        squared distance.
        """
        return [column.bandwidth_times(every * (1.0 if column.chosen else others)) for column in self.columns]

    @property
    def matrices(self) -> tuple[tuple[int, Array], ...]:
        """The kernel matrices between categories, each with the position of the column's first feature."""
        starts = np.cumsum([0, *(column.width for column in self.columns)])
        found = zip(starts[:-1], self.columns, strict=True)
        return tuple((int(start), column.matrix) for start, column in found if column.matrix is not None)

    @property
    def of_categories(self) -> Array:
        """Whether each feature (f,) belongs to a categorical column."""
        return np.repeat([c.kind == "category" for c in self.columns], [c.width for c in self.columns])

    @property
    def categorical(self) -> bool:
        """Whether every column is a category."""
        return all(column.kind == "category" for column in self.columns)


def _chosen(owner: object, argument: str, choice: Any, names: tuple[str, ...]) -> list[Any]:
    """The user's choice for each column: by name, by position, or one for all; None where there is none."""
    if isinstance(choice, Mapping):
        by_name = {str(name): value for name, value in choice.items()}
        unknown = [name for name in by_name if name not in names]
        if unknown:
            rule = f"is not among the columns of given ({', '.join(map(repr, names))})"
            raise ValueError(error_message(owner, argument, f"entry for {unknown[0]!r}", rule, "Use their names"))
        return [by_name.get(name) for name in names]
    if isinstance(choice, (Sequence, np.ndarray)) and not isinstance(choice, str):
        if len(choice) != len(names):
            seen, rule = f"{len(choice)} entries", f"does not match the {len(names)} columns of given"
            raise ValueError(error_message(owner, argument, seen, rule, "Give one per column, or one for all"))
        return list(choice)
    return [choice] * len(names)


def _kernels(owner: object, choice: Any, names: tuple[str, ...]) -> list[ValueKernel | None]:
    """The user's kernel matrix of each column, None where there is none."""
    if is_one_kernel(choice):
        choice = [choice]
    if choice is None:
        return [None] * len(names)
    if not isinstance(choice, (list, tuple)) or len(choice) != len(names):
        rule = f"does not match the {len(names)} columns of given"
        seen = f"{len(choice)} kernels" if isinstance(choice, (list, tuple)) else type(choice).__name__
        raise ValueError(
            error_message(owner, "conditioning.kernel", seen, rule, "Give a list with a kernel or None for each column")
        )
    return [None if one is None else read_value_kernel(owner, one) for one in choice]


def _column(
    owner: object, name: str, entries: Entries, kind: Any, bandwidth: Any, kernel: ValueKernel | None
) -> Column:
    """Learn the kind, scale and bandwidth of one column from its entries."""
    here = entries.here
    if len(here) == 0:
        seen, rule = f"column {name!r}", "has no entry at all"
        raise ValueError(error_message(owner, "given", seen, rule, "Leave the column out"))
    if kernel is not None:
        return _column_of_kernel(owner, name, here, kind, bandwidth, kernel)
    delta = _is_zero(bandwidth)
    if bandwidth is not None and not delta:
        check_number(owner, "conditioning.bandwidth", bandwidth, 0.0)
    period, chosen = _period(owner, kind), bandwidth is not None
    if kind is None:
        kind = "ordinal" if entries.order else "category" if entries.names else natural_kind(here)
        labels = f"pass it as text (astype(str)) or Conditioning(types={{{name!r}: 'category'}})"
        warn_of_labels(owner, f"given column {name!r}", here, kind, labels, "types 'number'")
    if delta:
        return _delta_column(owner, name, here, kind)
    if kind == "category":
        width = _CATEGORY_BANDWIDTH if bandwidth is None else float(bandwidth)
        return Column(name, "category", _names(owner, name, here), bandwidth=width, chosen=chosen)
    if period:
        _as_numbers(owner, name, here)
        width = _NUMBER_BANDWIDTH if bandwidth is None else _circle(float(bandwidth), period)
        return Column(name, "angle", period=period, bandwidth=width, chosen=chosen)
    ranks: tuple[Any, ...] = ()
    if kind == "ordinal":
        ranks = entries.order or tuple(np.unique(_as_numbers(owner, name, here)).tolist())
        rank = {entry: place for place, entry in enumerate(ranks)}
        numbers_ = np.array([rank[entry] for entry in map(_plain, here)], dtype=np.float64)
    else:
        numbers_ = _as_numbers(owner, name, here)
    centre, scale = _centre_and_scale(numbers_)
    width = _NUMBER_BANDWIDTH if bandwidth is None else (float(bandwidth) / scale) ** 2
    return Column(name, "number", ranks, centre, scale, bandwidth=width, chosen=chosen)


def _is_zero(bandwidth: Any) -> bool:
    """Whether a bandwidth is the number 0, which asks for the delta kernel."""
    return bandwidth is not False and isinstance(bandwidth, numbers.Real) and float(bandwidth) == 0


def _delta_column(owner: object, name: str, here: Array, kind: Any) -> Column:
    """Categories with the delta kernel (S0 3.25), which is 1 within a category and 0 between two."""
    if kind != "category":
        rule = f"is the delta kernel of categories, and column {name!r} holds numbers"
        remedy = "Give a bandwidth above 0, or its type as 'category'"
        raise ValueError(error_message(owner, "conditioning.bandwidth", 0, rule, remedy))
    categories = _names(owner, name, here)
    return Column(name, "category", categories, chosen=True, matrix=np.eye(len(categories)))


def _column_of_kernel(owner: object, name: str, here: Array, kind: Any, bandwidth: Any, kernel: ValueKernel) -> Column:
    """Categories with a kernel matrix: all that it names, whether they occur or not."""
    if kind not in (None, "category") or bandwidth is not None:
        argument, seen = ("types", kind) if kind not in (None, "category") else ("bandwidth", bandwidth)
        rule = f"has no place in column {name!r}, which has a kernel matrix"
        raise ValueError(error_message(owner, f"conditioning.{argument}", seen, rule, "Leave it out (None)"))
    named = set(kernel.values)
    strange = [entry for entry in map(_plain, here) if entry not in named]
    if strange:
        rule = "has no row in conditioning.kernel"
        remedy = "Give the kernel between all values of the column, also those of new rows"
        raise ValueError(error_message(owner, "given", strange[0], rule, remedy))
    return Column(name, "category", kernel.values, chosen=True, matrix=kernel.matrix)


def _period(owner: object, kind: Any) -> float:
    """The period that a column type implies, 0 if none."""
    if kind is None or (isinstance(kind, str) and kind in ("category", "number", "ordinal", "angle")):
        return 360.0 if kind == "angle" else 0.0
    if isinstance(kind, numbers.Real) and kind is not True and 0 < float(kind) < np.inf:
        return float(kind)
    remedy = "Choose 'category', 'number', 'ordinal', 'angle' (degrees) or the period as a number"
    raise ValueError(error_message(owner, "conditioning.types", kind, "is not a type of column", remedy))


def _circle(difference: float, period: float) -> float:
    """The squared chord of an angular difference on a circle of radius √2."""
    return float(8.0 * np.sin(np.pi * min(difference / period, 0.5)) ** 2)


def _names(owner: object, name: str, entries: Array) -> tuple[Any, ...]:
    """The distinct entries as Python scalars (1 and np.int64(1) are one category), in order."""
    try:
        return tuple(sorted({_plain(entry) for entry in entries}, key=lambda e: (type(e).__name__, e)))
    except TypeError:
        seen, rule = f"column {name!r}", "holds entries that cannot be told apart and sorted, as names can"
        raise ValueError(error_message(owner, "given", seen, rule, "Give text or numbers")) from None


def _plain(entry: Any) -> Any:
    """A NumPy scalar as a Python scalar."""
    return entry.item() if isinstance(entry, np.generic) else entry


def _as_numbers(owner: object, name: str, entries: Array) -> Array:
    """Entries as float64; raises where they are not finite numbers."""
    try:
        found = entries.astype(np.float64)
    except (TypeError, ValueError):
        seen, rule = f"column {name!r}", "holds entries that are not numbers"
        raise ValueError(error_message(owner, "given", seen, rule, "Give its type as 'category'")) from None
    if not np.isfinite(found).all():
        seen, rule = f"column {name!r}", "holds infinite entries"
        raise ValueError(error_message(owner, "given", seen, rule, "Make them missing (NaN) or finite"))
    refuse_too_large(owner, "given", found)
    return np.asarray(found)


def _centre_and_scale(values: Array) -> tuple[float, float]:
    """Mean and standard deviation (1 if that is 0), without overflow."""
    size = float(np.abs(values).max()) or 1.0
    unit = values / size
    return float(unit.mean() * size), float(unit.std() * size) or 1.0


def _coded(owner: object, column: Column, entries: Entries) -> Array:
    """Codes of categories, or numbers (n,); NaN where missing."""
    out = np.full(len(entries.values), np.nan)
    if column.kind == "angle" or (column.kind == "number" and not column.categories):
        out[~entries.missing] = _as_numbers(owner, column.name, entries.here)
        return out
    position = {category: place for place, category in enumerate(column.categories)}
    places = [position.get(entry, -1) for entry in map(_plain, entries.here)]
    if -1 in places:
        known = ", ".join(repr(c) for c in column.categories[:8]) + (", ..." if len(column.categories) > 8 else "")
        rule = f"is not among the categories of {column.name!r} that fit saw ({known})"
        remedy = (
            "Use one of these, leave it missing (None, NaN) to average over them, or add it to the model with adapt"
        )
        raise ValueError(error_message(owner, "given", _plain(entries.here[places.index(-1)]), rule, remedy))
    out[~entries.missing] = places
    return out
