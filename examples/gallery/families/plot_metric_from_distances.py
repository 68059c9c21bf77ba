"""
Learn a metric from known distances
===================================

The distances between sixty pairs of places are known, for example travel times. The columns are measured in
unrelated units. :class:`~sidelight.DistanceMetric` learns a linear transformation that fits the known distances.
The baseline gives all columns the same variance.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.preprocessing import StandardScaler

from sidelight import DistanceMetric, Pairs

rng = np.random.default_rng(0)
n = 120
truth = rng.normal(size=(n, 2)) * [3.0, 1.0]
X = np.column_stack([truth @ rng.normal(size=(2, 4)), 5.0 * rng.normal(size=(n, 4))]) + 0.1 * rng.normal(size=(n, 8))
index = rng.choice(n, size=(60, 2))
index = index[index[:, 0] != index[:, 1]]
known = np.linalg.norm(truth[index[:, 0]] - truth[index[:, 1]], axis=1)

metric = DistanceMetric().fit(X, pairs=Pairs(index, n_samples=n), distances=known)
found = {"StandardScaler": pdist(StandardScaler().fit_transform(X)), "DistanceMetric": pdist(metric.transform(X))}

# %%
# True distances and learned distances of all pairs of rows.

true = pdist(truth)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, values) in zip(axes, found.items(), strict=True):
    ax.plot(true, values, ",", alpha=0.5)
    ax.set(
        title=f"{name}\ncorrelation {np.corrcoef(true, values)[0, 1]:.2f}", xlabel="true distance", ylabel="distance"
    )
axes[1].axline((0, 0), slope=1, color="black", ls="--", lw=1)
plt.show()
