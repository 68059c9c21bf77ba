"""
Add transform and inverse_transform to t-SNE
============================================

t-SNE has no ``transform`` and no ``inverse_transform``. :class:`~sidelight.TwoWayEmbedding` adds both to any map.
The rival for ``transform`` is a nearest-neighbour regression from rows to places; for ``inverse_transform``
scikit-learn has no rival.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsRegressor

from sidelight import TwoWayEmbedding, evaluate

X, y = load_digits(return_X_y=True)
train, new = np.arange(700), np.arange(700, 1000)
model = TwoWayEmbedding(TSNE(max_iter=500, random_state=0)).fit(X[train])
places = model.transform(X[new])
averaged = KNeighborsRegressor(5).fit(X[train], model.embedding_).predict(X[new])

# %%
# New digits (large) among the fitted ones (small). The score is the share whose nearest neighbour is the same digit.


def hits(Z):
    nearest = ((Z[:, None] - model.embedding_[None]) ** 2).sum(axis=2).argmin(axis=1)
    return (y[train][nearest] == y[new]).mean()


figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
for ax, Z, title in zip(axes, (places, averaged), ("TwoWayEmbedding", "mean of 5 neighbours"), strict=True):
    ax.scatter(*model.embedding_.T, c=y[train], cmap="tab10", s=4, alpha=0.5)
    ax.scatter(*Z.T, c=y[new], cmap="tab10", s=18, edgecolors="black", linewidths=0.4)
    ax.set(title=f"{title}: right neighbour {hits(Z):.3f}", xticks=[], yticks=[])
plt.show()

# %%
# Reconstructions of eight new digits.

figure, axes = plt.subplots(2, 8, figsize=(8, 2.3), layout="constrained")
for row, pictures, label in zip(axes, (X[new[:8]], model.inverse_transform(places[:8])), ("new", "back"), strict=True):
    row[0].set_ylabel(label)
    for ax, values in zip(row, pictures, strict=True):
        ax.imshow(values.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
plt.show()
print(f"share of the variance of new digits that is reconstructed: {model.score(X[new]):.2f}")
print(f"trustworthiness of the map: {evaluate.trustworthiness(X[train], model.embedding_):.3f}")
