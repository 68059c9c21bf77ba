"""
Transfer a shift from one pair of pictures to another picture
=============================================================

The training data are pairs of random pictures; the second is the first one shifted in one of four directions. The
directions are not given. :class:`~sidelight.gated.GatedBoltzmannMachine` learns the transformations, infers the one
of a new pair and applies it to another picture. The baseline adds the pixel difference of the pair.
"""

import matplotlib.pyplot as plt
import numpy as np

from sidelight.gated import GatedBoltzmannMachine

rng = np.random.default_rng(0)
side, moves = 6, [(0, 1), (1, 0), (0, -1), (-1, 0)]


def moved(pictures, move):
    return np.roll(pictures.reshape(-1, side, side), move, axis=(1, 2)).reshape(len(pictures), -1)


X = rng.normal(size=(2000, side * side))
which = rng.integers(4, size=len(X))
Y = np.concatenate([moved(row[None], moves[k]) for row, k in zip(X, which, strict=True)])
model = GatedBoltzmannMachine(n_mapping=12, max_iter=600, random_state=0).fit(X, Y)

# %%
# New pairs, new pictures, and the output of each method.

before, new = rng.normal(size=(2, 4, side * side))
after = np.concatenate([moved(row[None], move) for row, move in zip(before, moves, strict=True)])
truth = np.concatenate([moved(row[None], move) for row, move in zip(new, moves, strict=True)])
ours = np.concatenate([model.transfer(before[[i]], after[[i]], new[[i]]) for i in range(4)])
added = new + after - before

figure, axes = plt.subplots(4, 6, figsize=(8.5, 5.8), layout="constrained")
columns = (before, after, new, truth, ours, added)
errors = [np.mean((made - truth) ** 2) for made in (ours, added)]
names = ("before", "after", "new", "truth", f"gated\nerror {errors[0]:.2f}", f"difference\nerror {errors[1]:.2f}")
for column, pictures, name in zip(axes.T, columns, names, strict=True):
    column[0].set_title(name)
    for ax, values in zip(column, pictures, strict=True):
        ax.imshow(values.reshape(side, side), cmap="gray", vmin=-2.5, vmax=2.5)
        ax.set(xticks=[], yticks=[])
plt.show()
