"""
4. A robot's camera
===================

*A robot drives over a floor and sees pictures. It knows which motor commands it gave, and nothing about places. Can
it make a map, say where it is, and plan a way?*

You will use :class:`~sidelight.ActionRespectingEmbedding`: ``fit(X, actions=...)``, ``predict_next`` and ``plan``.
"""

import matplotlib.pyplot as plt
import numpy as np

from sidelight import ActionRespectingEmbedding, datasets

# %%
# The data
# --------
#
# A built-in simulator: a window moves over a picture. ``actions[i]`` is what was done at view ``i``; the last has
# none.

data = datasets.imagebot("A")
actions, poses = data.factors["actions"], data.factors["poses"]
print(f"{len(data.X)} views of {data.X.shape[1]} pixels; actions: {sorted({str(a) for a in actions if a is not None})}")

side = int(np.sqrt(data.X.shape[1]))
figure, axes = plt.subplots(1, 6, figsize=(10, 2), layout="constrained")
for ax, row in zip(axes, (0, 3, 6, 12, 20, 30), strict=True):
    ax.imshow(data.X[row].reshape(data.image_shape or (side, side)), cmap="gray")
    ax.set(title=f"view {row}", xticks=[], yticks=[])
plt.show()

# %%
# The map
# -------
#
# Wherever the same action was done, the same move should be made on the map. That is a constraint, and the fit keeps
# it as far as a plane allows.

model = ActionRespectingEmbedding().fit(data.X, actions=actions)
Z = model.embedding_
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for ax, places, title in ((left, poses[:, :2], "where it truly was"), (right, Z, "the map it made")):
    ax.plot(*places[:, :2].T, color="0.8")
    ax.scatter(*places[:, :2].T, c=np.arange(len(Z)), s=26)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
print("a step forward on the map:", np.round(model.action_maps_["forward"].translation[:2], 3))

# %%
# What comes next, and how do I get there?
# ----------------------------------------
#
# ``predict_next`` names the view that an action would lead to. ``plan`` finds the shortest list of actions between
# two views.

print("after 'forward' at view 3 it expects view", model.predict_next(3, "forward"))
way = [str(step) for step in model.plan(0, 12)]
print("from view 0 to view 12:", " ".join(way))
print("it took, in truth:", " ".join(str(a) for a in actions[:12]))

# %%
# What to remember
# ----------------
#
# * Pixels do not know about places; actions do.
# * Some views are seen twice. They meet on the map because the actions say so.
# * More, also about noise and several walks: :doc:`/methods/action_respecting`.
