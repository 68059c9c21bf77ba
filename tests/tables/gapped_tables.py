"""Tables with gaps, whose entries are known."""

from __future__ import annotations

import numpy as np
import pandas as pd


def holes(frame, share=0.15, seed=0, columns=None):
    """The table with entries of some columns removed; pandas gives whole numbers and truth values another type then."""
    rng = np.random.default_rng(seed)
    gapped = frame.copy()
    for name in frame.columns if columns is None else columns:
        gapped[name] = frame[name].mask(rng.random(len(frame)) < share)
    return gapped


def correlated(n=400, d=5, share=0.25, seed=0):
    """Rows of a Gaussian with correlations of about 0.8, and the same with gaps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, d)) + 3.0
    return X, np.where(rng.random(X.shape) < share, np.nan, X)


def mixed(n=200, seed=0):
    """A table in which every column tells of the others."""
    rng = np.random.default_rng(seed)
    t = rng.normal(size=n)
    return pd.DataFrame({
        "mass": 4000 + 800 * t + 100 * rng.normal(size=n),
        "count": np.rint(np.exp(1.0 + 0.8 * t)).astype(int),
        "kind": np.select([t < -0.4, t < 0.4], ["small", "middling"], "large"),
        "grown": t + 0.2 * rng.normal(size=n) > 0,
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.rint(40 * t), "D"),
        "size": pd.Categorical.from_codes(np.digitize(t, [-0.7, 0.7]), ["low", "medium", "high"], ordered=True),
    })  # fmt: skip
