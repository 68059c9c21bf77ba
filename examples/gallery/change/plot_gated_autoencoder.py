"""
One input, two correct outputs
==============================

Each row was shifted up or down, and the direction is not recorded. A regression can only predict the mean of both.
:class:`~sidelight.gated.GatedAutoencoder` learns a latent code for the direction. It infers the code from one pair
of rows and applies it to another row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from sidelight.gated import GatedAutoencoder

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 8)).cumsum(axis=1)
X -= X.mean(axis=1, keepdims=True)
up = rng.integers(2, size=400).astype(bool)
Y = np.where(up[:, None], np.roll(X, 1, axis=1), np.roll(X, -1, axis=1))
model = GatedAutoencoder(n_mapping=2, weight_decay=1e-3, max_iter=800, random_state=0).fit(X[:300], Y[:300])
ridge = Ridge().fit(X[:300], Y[:300])

# %%
# Left: the codes of new pairs. Right: one new row, transformed with the code of a pair of each kind.

codes = model.infer(X[300:], Y[300:])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for kind, label in ((True, "up"), (False, "down")):
    left.plot(*codes[up[300:] == kind].T, "o", ms=4, label=label)
left.set(title="codes of 100 new pairs", xlabel="code 1", ylabel="code 2")
left.legend()
row = X[[399]]
for kind, colour in ((True, "tab:blue"), (False, "tab:orange")):
    example = 300 + np.flatnonzero(up[300:] == kind)[[0]]
    right.plot(model.apply(row, model.infer(X[example], Y[example]))[0], color=colour, label="gated")
    right.plot(np.roll(row, 1 if kind else -1, axis=1)[0], "o", color=colour, mfc="none", label="truth")
right.plot(ridge.predict(row)[0], color="0.5", ls="--", label="Ridge: the mean of both")
right.set(title="a new row, both outputs")
right.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()
