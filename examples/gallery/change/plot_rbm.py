"""
Binary features of binary pictures
==================================

A :class:`~sidelight.gated.RestrictedBoltzmannMachine` learns binary features and reconstructs pictures from them.
The rival is scikit-learn's BernoulliRBM with the same number of features and passes over the data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import BernoulliRBM

from sidelight.gated import RestrictedBoltzmannMachine

digits, y = load_digits(return_X_y=True)
X = (digits > 7).astype(float)
order = np.random.default_rng(0).permutation(len(X))
train, new = order[:1000], order[1000:]
ours = RestrictedBoltzmannMachine(64, random_state=0).fit(X[train])
rival = BernoulliRBM(64, learning_rate=0.05, n_iter=60, random_state=0).fit(X[train])


def back(model, rows):
    if hasattr(model, "inverse_transform"):
        return model.inverse_transform(model.transform(rows))
    return 1 / (1 + np.exp(-(model.transform(rows) @ model.components_ + model.intercept_visible_)))


# %%
# Reconstructions of twelve test pictures, and the accuracy of a linear classifier on the features.

figure, axes = plt.subplots(3, 12, figsize=(11, 3.3), layout="constrained")
rows = {"new": X[new]}
for name, model in (("sidelight", ours), ("BernoulliRBM", rival)):
    rows[name] = back(model, X[new])
    reader = LogisticRegression(max_iter=2000).fit(model.transform(X[train]), y[train])
    print(f"{name}: squared error of the reconstruction {np.mean((rows[name] - X[new]) ** 2):.3f}, "
          f"accuracy {reader.score(model.transform(X[new]), y[new]):.3f}")  # fmt: skip
for row, (name, pictures) in zip(axes, rows.items(), strict=True):
    row[0].set_ylabel(name, fontsize=8)
    for ax, values in zip(row, pictures, strict=False):
        ax.imshow(values.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
plt.show()
