"""Errors of a model's outputs, compared with baselines: copying the input, and linear models.

    error = mean (ŷ - y)²  over values and samples,     explained = 1 - error / mean (y - ȳ)²

Baselines are fitted to half of the rows of the report, and all models are evaluated on the other half. Each field is
split in two: the best linear filter of twice the patch is fitted to the first part, all are evaluated on the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import count_of
from sidelight.plot._plane import Floats

from ._examples import Examples

__all__ = ["Errors", "errors_of"]

PENALTIES = np.logspace(-2, 5, 8)
"""Of ridge regression on columns of unit size, the best of which is taken by leaving rows out."""
MOST_SITES = 20_000
"""Sites that a linear filter is learned from."""


@dataclass(frozen=True)
class Errors:
    """Mean squared errors by name, the model's first, and the mean square of the outputs about their mean."""

    errors: dict[str, float]
    spread: float
    words: str

    def lines(self) -> list[tuple[str, float, float]]:
        """Name, error, and share of the variance that is explained."""
        return [(name, error, 1.0 - error / (self.spread or 1.0)) for name, error in self.errors.items()]


def errors_of(examples: Examples) -> Errors:
    """Errors of a model and its baselines."""
    return _of_rows(examples) if examples.structure == "rows" else _of_fields(examples)


def _of_rows(examples: Examples) -> Errors:
    learn, held = examples.halves
    X, Y, made = (_stacked(part(held)) for part in (examples.before, examples.after, examples.made))
    found = {"this model": made}
    if examples.paired and X.shape == Y.shape:
        found["copying the input"] = X
    words = "Measured on the rows given to the report."
    if len(learn) >= 2:
        X_learn, Y_learn = (_stacked(part(learn)) for part in (examples.before, examples.after))
        if examples.paired:
            found["linear regression"] = _linear(X_learn, Y_learn)(X)
            rival = "linear regression (ridge) learned from the other half"
        else:
            q = min(int(examples.model.n_components), *X_learn.shape)
            found[f"PCA, {count_of(q, 'component')}"] = _principal(X_learn, q)(X)
            rival = "PCA learned from the other half"
        words = f"Measured on {len(held):,} of the rows given to the report; {rival}."
    return Errors({name: _mean_square(rows - Y) for name, rows in found.items()}, _mean_square(Y - Y.mean(0)), words)


def _of_fields(examples: Examples) -> Errors:
    which = examples.halves[1]
    X, Y, made = (
        [_field(sample, examples.structure) for sample in part(which)]
        for part in (examples.before, examples.after, examples.made)
    )
    first, second = (_places(X, late=late) for late in (False, True))
    truth = _at(Y, second)
    found = {"this model": _at(made, second)}
    words = "Measured on the second part of " + (f"each of {len(which)} samples." if len(which) > 1 else "the sample.")
    if examples.paired:
        if X[0].shape == Y[0].shape:
            found["copying the input"] = _at(X, second)
        windows = [_windows(sample, examples.model.patch_size) for sample in X]
        found["linear filter"] = _linear(_at(windows, first), _at(Y, first))(_at(windows, second))
        words += " The linear filter, of two patches' width, was learned from the first parts."
    errors = {name: _mean_square(sites - truth) for name, sites in found.items()}
    return Errors(errors, _mean_square(truth - truth.mean(axis=0)), words)


def _stacked(samples: list[NDArray[Any]]) -> Floats:
    return np.stack(samples).astype(np.float64)


def _mean_square(difference: Floats) -> float:
    return float(np.square(difference).mean())


def _linear(A: Floats, B: Floats) -> Any:
    """Ridge regression; returns what it makes of new rows."""
    from sklearn.linear_model import RidgeCV

    centre = A.mean(axis=0)
    scale = np.sqrt(_mean_square(A - centre)) or 1.0
    model = RidgeCV(alphas=PENALTIES).fit((A - centre) / scale, B)
    return lambda rows: model.predict((rows - centre) / scale).reshape(len(rows), -1)


def _principal(A: Floats, q: int) -> Any:
    from sklearn.decomposition import PCA

    model = PCA(q, random_state=0).fit(A)
    return lambda rows: model.inverse_transform(model.transform(rows))


def _field(sample: NDArray[Any], structure: str) -> Floats:
    """A sample as (height, width, channels)."""
    whole = sample.astype(np.float64)
    whole = whole[:, None] if structure == "sequence" else whole
    return whole[..., None] if whole.ndim == 2 else whole


def _places(samples: list[Floats], *, late: bool) -> list[NDArray[np.intp]]:
    """Evenly spaced sites (2, m) of the first or the second part of each sample, some thousands in all."""
    found = []
    for height, width, _ in (sample.shape for sample in samples):
        begin, end = (height // 2, height) if late else (0, height // 2)
        most = min((end - begin) * width, MOST_SITES // len(samples))
        flat = np.linspace(begin * width, end * width - 1, most).astype(np.intp)
        found.append(np.stack(np.divmod(flat, width)))
    return found


def _at(samples: list[Floats], places: list[NDArray[np.intp]]) -> Floats:
    """What samples have at some of their sites, as rows."""
    parts = [sample[tuple(where)] for sample, where in zip(samples, places, strict=True)]
    return np.concatenate([part.reshape(len(part), -1) for part in parts])


def _windows(sample: Floats, patch_size: Any) -> Floats:
    """What lies within a patch's reach of each site, as a view (height, width, ...); edges are continued."""
    sides = patch_size if isinstance(patch_size, tuple | list) else (patch_size, patch_size)
    reach = [min(int(side), length) - 1 for side, length in zip(sides, sample.shape, strict=False)]
    wide = np.pad(sample, [(reach[0], reach[0]), (reach[1], reach[1]), (0, 0)], mode="edge")
    return np.lib.stride_tricks.sliding_window_view(wide, [2 * side + 1 for side in reach], axis=(0, 1))
