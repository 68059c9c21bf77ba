"""
A robot's map from views and actions
====================================

A camera moves over a picture: forward, backward, and so on. The pixels alone do not show that five steps forward
and five back lead to the starting point. :class:`~sidelight.ActionRespectingEmbedding` is given the action between
successive views. It finds a map on which each action is a rigid motion, and plans paths on it. The rival is Isomap,
which uses the pixels only.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.manifold import Isomap

from sidelight import ActionRespectingEmbedding, Actions, datasets

data = datasets.imagebot("A")
done, poses = data.factors["actions"][:-1], data.factors["poses"]
n = len(data.X)

# %%
# ``fit`` also accepts a plain list with the action at each view. :class:`~sidelight.Actions` holds the same information
# explicitly: steps between rows, and their names.

names, codes = np.unique(done.astype(str), return_inverse=True)
actions = Actions(np.column_stack([np.arange(n - 1), np.arange(1, n)]), codes, tuple(names), n_samples=n)
print(actions)
model = ActionRespectingEmbedding().fit(data.X, actions=actions)
Z = model.embedding_
Z = Z if Z.shape[1] > 1 else np.column_stack([Z, np.zeros(n)])
maps = {
    "true positions": poses[:, :2],
    "Isomap": Isomap(n_neighbors=5).fit_transform(data.X),
    "ActionRespectingEmbedding": Z,
}

# %%
# The path on each map; time runs from dark to light.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for ax, (name, places) in zip(axes, maps.items(), strict=True):
    ax.plot(*places[:, :2].T, color="0.8", lw=0.8)
    ax.scatter(*places[:, :2].T, c=np.arange(n), s=22)
    right = np.corrcoef(pdist(places[:, :2]), pdist(poses))[0, 1]
    ax.set(title=f"{name}\ncorrelation with true distances {right:.2f}", xticks=[], yticks=[])
plt.show()
print("from view 0 to view 12:", *model.plan(0, 12))
