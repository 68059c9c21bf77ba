"""
Which points of a map are reliable?
===================================

A single score for a whole map (trustworthiness) does not show where the map is wrong. ``explain.reliability``
scores every row by how many of its neighbours on the map are also neighbours in the data. Here the map is PCA's,
which folds digits onto each other.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from sidelight import KernelInformationEmbedding, TwoWayEmbedding, evaluate, explain, plot

X, y = load_digits(return_X_y=True)
X, y = X[:500], y[:500]
models = {"PCA": TwoWayEmbedding(PCA(2)).fit(X), "KernelInformationEmbedding": KernelInformationEmbedding().fit(X)}

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    table = explain.reliability(model)
    plot.reliability(model, table, ax=ax)
    whole = evaluate.trustworthiness(X, model.embedding_)
    ax.set_title(f"{name}\none number for all: trustworthiness {whole:.3f}")
plt.show()

# %%
# Reliable rows have more neighbours of their own class on the map. The scores did not use the classes.

for name, model in models.items():
    score = explain.reliability(model)["reliability"].to_numpy()
    Z = model.embedding_
    D = ((Z[:, None] - Z[None]) ** 2).sum(axis=2) + 1e9 * np.eye(len(Z))
    right = (y[D.argsort(axis=1)[:, :10]] == y[:, None]).mean(axis=1)
    half = np.median(score)
    print(f"{name}: own kind among neighbours {right[score > half].mean():.2f} where reliable, "
          f"{right[score <= half].mean():.2f} elsewhere")  # fmt: skip
