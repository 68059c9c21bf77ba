"""
A robot learns where it is
==========================

A camera moves over a picture: forward, backward, left, right. Pixels do not say that ten steps forward and ten back lead home. Told what was done between views,
:class:`~sidelight.ActionRespectingEmbedding` makes a map in which each action is a simple move, and plans in it. The rival is Isomap, which is told nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import Isomap

from sidelight import ActionRespectingEmbedding, Actions, datasets, evaluate

data = datasets.imagebot("A")
actions = Actions(data.factors["actions"])
model = ActionRespectingEmbedding().fit(data.X, actions=actions)
print({name: values.shape for name, values in data.factors.items()})

maps = {"Isomap": Isomap(n_neighbors=5).fit_transform(data.X), "ActionRespectingEmbedding": model.embedding_}

# %%
# The walk on both maps, in time from dark to light.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for ax, (name, Z) in zip(axes, maps.items(), strict=True):
    Z = Z if Z.shape[1] > 1 else np.column_stack([Z[:, 0], np.arange(len(Z))])
    ax.plot(Z[:, 0], Z[:, 1], color="0.8", lw=0.8)
    ax.scatter(Z[:, 0], Z[:, 1], c=np.arange(len(Z)), s=18)
    ax.set(title=f"{name}", xticks=[], yticks=[])
plt.show()
print("from view 0 to view 12:", model.plan(0, 12))
