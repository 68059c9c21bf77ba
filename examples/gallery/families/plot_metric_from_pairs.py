"""
Learn a metric from pairs of the same class
===========================================

The directions of the largest variance are not the interesting ones here. :class:`~sidelight.EquivalenceMetric`
learns from twenty pairs of rows of the same class which directions to ignore. The rivals are PCA, which uses no
labels, and linear discriminant analysis, which needs the labels of the same rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sidelight import EquivalenceMetric, Pairs, evaluate

rng = np.random.default_rng(0)
n = 300
kind = rng.integers(3, size=n)
signal = np.eye(3)[kind] @ rng.normal(size=(3, 10)) * 1.5
nuisance = 4.0 * rng.normal(size=(n, 3)) @ rng.normal(size=(3, 10))
X = signal + nuisance + 0.3 * rng.normal(size=(n, 10))

index = np.array([rng.choice(np.flatnonzero(kind == k), 2, replace=False) for k in rng.integers(3, size=20)])
metric = EquivalenceMetric(2).fit(X, same=Pairs(index, n_samples=n))
seen = np.unique(index)
maps = {
    "PCA": PCA(2).fit_transform(X),
    f"LDA, {len(seen)} labels": LinearDiscriminantAnalysis(n_components=2).fit(X[seen], kind[seen]).transform(X),
    "EquivalenceMetric, 20 same pairs": np.asarray(metric.transform(X)),
}

# %%

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
for ax, (name, Z) in zip(axes, maps.items(), strict=True):
    ax.scatter(*Z.T, c=kind, cmap="viridis", s=14)
    if "pairs" in name:
        ax.plot(Z[index, 0].T, Z[index, 1].T, color="black", lw=0.8)
    ax.set(title=f"{name}\nsame kind among neighbours {evaluate.neighbour_hit(Z, kind):.2f}", xticks=[], yticks=[])
plt.show()
