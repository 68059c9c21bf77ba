"""``mean_`` has one meaning in all models that have it: the row that ``transform`` takes to 0, as in PCA."""

from __future__ import annotations

import numpy as np
import pytest
from registry import METRICS, VARIANTS, blobs
from sklearn.decomposition import PCA

X = blobs() + 7.0
LABELS = np.arange(len(X)) % 3
LINEAR = {
    "scikit-learn": lambda: PCA(2),
    **{name: VARIANTS[name] for name in ("ppca", "ppca-auto", "ppca-standardized-3d")},
    **METRICS,
}
gaps = pytest.mark.parametrize("make", [VARIANTS["ppca"], VARIANTS["ppca-standardized-3d"]])


@pytest.mark.parametrize("make", LINEAR.values(), ids=LINEAR.keys())
def test_the_mean_is_the_row_that_transform_takes_to_zero(make):
    model = make().fit(X, LABELS)
    if getattr(model, "kernel", None) is None:
        np.testing.assert_allclose(model.transform(model.mean_[None]), 0.0, atol=1e-12)
        np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-12)
    else:
        assert not hasattr(model, "mean_")


@gaps
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_missing_entries_the_mean_is_the_model_s_and_the_frame_that_of_the_observed(make):
    """Large entries of the first column are missing where the second, which follows it, is large."""
    rows = np.random.default_rng(0).normal(size=(300, 1)) @ np.ones((1, 5)) + 0.1 * X[:1]
    seen = np.where(
        (rows > 0.5) & (np.arange(5) == 0), np.nan, rows + 0.05 * np.random.default_rng(1).normal(size=(300, 5))
    )
    model = make().fit(seen)
    np.testing.assert_allclose(model.transform(model.mean_[None]), 0.0, atol=1e-9)
    observed = np.nanmean(seen, axis=0)
    assert abs(model.mean_[0] - rows[:, 0].mean()) < 0.3 * abs(observed[0] - rows[:, 0].mean())
