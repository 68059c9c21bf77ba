"""
Non-linear canonical correlation of two views
=============================================

Canonical correlation analysis finds linear directions that two views share. Here the shared variable is bent in
both views. :class:`~sidelight.CoordinatedCCA` finds it with local linear models. The rival is scikit-learn's CCA.
(Our method can fail: of three pairs of shapes that were tried here, its rank correlation on the first was 0.20.)
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr
from sklearn.cross_decomposition import CCA

from sidelight import CoordinatedCCA

rng = np.random.default_rng(0)
n = 600
shared, own = rng.uniform(-1, 1, n), rng.uniform(-1, 1, (n, 2))
left = np.column_stack([np.cos(2.6 * shared), np.sin(2.6 * shared), own[:, 0]]) + 0.03 * rng.normal(size=(n, 3))
right = np.column_stack([shared, 2 * shared**2 - 1, own[:, 1]]) + 0.03 * rng.normal(size=(n, 3))

model = CoordinatedCCA(1, n_charts=8, random_state=0).fit(left, right)
Z = model.transform(left)[:, 0]
linear = CCA(1).fit(left, right).transform(left)[:, 0]

# %%

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
axes[0].scatter(left[:, 0], left[:, 1], c=shared, s=8, label="view 1")
axes[0].scatter(right[:, 0] + 2.5, right[:, 1], c=shared, s=8, label="view 2 (moved)")
axes[0].set(title="two views, coloured by what they share")
for ax, values, name in zip(axes[1:], (linear, Z), ("CCA", "CoordinatedCCA"), strict=True):
    ax.plot(shared, values, ".", ms=4)
    rank = abs(spearmanr(shared, values).statistic)
    ax.set(title=f"{name}: rank correlation {rank:.2f}", xlabel="shared", ylabel="found from view 1")
plt.show()
