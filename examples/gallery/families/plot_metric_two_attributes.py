"""
A metric for several attributes
===============================

Each row has a colour and a size, and much other variation. :class:`~sidelight.MultiAttributeMetric` learns the
directions that matter for each attribute from forty labelled rows, and drops the others. The rival is PCA with as
many dimensions.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from sidelight import MultiAttributeMetric, evaluate

rng = np.random.default_rng(2)
n = 300
colour, size = rng.integers(2, size=n), rng.integers(3, size=n)
X = np.outer(colour, 2.0 * rng.normal(size=12)) + np.outer(size, 1.2 * rng.normal(size=12))
X += 3.0 * rng.normal(size=(n, 4)) @ rng.normal(size=(4, 12)) + 0.3 * rng.normal(size=(n, 12))
few = np.arange(40)

labels = np.column_stack([colour, size])
metric = MultiAttributeMetric().fit(X[few], labels[few])
maps = {"PCA(2)": PCA(2).fit_transform(X), "MultiAttributeMetric(), 40 labels": np.asarray(metric.transform(X))}

# %%

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
for ax, (name, Z) in zip(axes, maps.items(), strict=True):
    for c, marker in enumerate("o^"):
        ax.scatter(*Z[colour == c].T, c=size[colour == c], vmin=0, vmax=2.3, marker=marker, s=20)
    hits = [evaluate.neighbour_hit(Z[40:], values[40:]) for values in (colour, size)]
    ax.set(title=f"{name}\nunseen rows: colour {hits[0]:.2f}, size {hits[1]:.2f}", xticks=[], yticks=[])
plt.show()
