"""
A mixture model for binary rows
===============================

A :class:`~sidelight.BernoulliMixture` finds prototypes of binary rows, gives each row a likelihood, and fills
missing bits. The rival is k-means, which finds similar centres but has no density.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from sidelight import BernoulliMixture

digits, y = load_digits(return_X_y=True)
X = (digits > 7).astype(float)
order = np.random.default_rng(0).permutation(len(X))
train, new = order[:1000], order[1000:]
model = BernoulliMixture(12, random_state=0).fit(X[train])
kmeans = KMeans(12, n_init=4, random_state=0).fit(X[train])

# %%
# Prototypes, and pictures whose lower half is hidden. The mixture imputes it; k-means uses the centre nearest to the
# upper half.

half = X[new].copy()
half[:, 32:] = np.nan
filled = model.impute(half)
nearest = ((X[new][:, None, :32] - kmeans.cluster_centers_[None, :, :32]) ** 2).sum(axis=2).argmin(axis=1)
guess = kmeans.cluster_centers_[nearest]
errors = [np.mean((rows[:, 32:] > 0.5) != X[new][:, 32:]) for rows in (filled, guess)]

figure, axes = plt.subplots(4, 12, figsize=(11, 4.2), layout="constrained")
rows = (model.means_, X[new[:12]], filled[:12], np.column_stack([X[new[:12], :32], guess[:12, 32:]]))
for row, pictures, name in zip(axes, rows, ("prototypes", "truth", "mixture", "k-means"), strict=True):
    row[0].set_ylabel(name)
    for ax, values in zip(row, pictures, strict=True):
        ax.imshow(values.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
plt.show()
print(f"error rate of hidden bits: mixture {errors[0]:.3f}, k-means {errors[1]:.3f}")
squares = [np.mean((rows[:, 32:] - X[new][:, 32:]) ** 2) for rows in (filled, guess)]  # the mixture fills in 0 or 1
print(f"mean squared error: mixture {squares[0]:.3f}, k-means {squares[1]:.3f}")
kinds = model.predict(X[new]), kmeans.predict(X[new])
shared = [round(normalized_mutual_info_score(y[new], k), 2) for k in kinds]
print("normalised mutual information with the true digit:", shared)
