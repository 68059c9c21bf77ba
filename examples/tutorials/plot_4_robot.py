"""
4. A robot's camera
===================

*A robot drives over a floor and records pictures. It knows its motor commands but not its position. Can it make a map,
localise itself and plan a path?*

You will use :class:`~sidelight.ActionRespectingEmbedding`: ``fit(X, actions=...)``, ``predict_next`` and ``plan``.
"""

import matplotlib.pyplot as plt
import numpy as np

from sidelight import ActionRespectingEmbedding, datasets

# %%
# The data
# --------
#
# A built-in simulator moves a window over a large picture. ``actions[i]`` is the action after view ``i``; the last
# view has none.

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
# The constraint: the same action always makes the same move on the map. The fit satisfies it as far as two dimensions
# allow.

model = ActionRespectingEmbedding().fit(data.X, actions=actions)
Z = model.embedding_
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for ax, places, title in ((left, poses[:, :2], "true positions"), (right, Z, "learned map")):
    ax.plot(*places[:, :2].T, color="0.8")
    ax.scatter(*places[:, :2].T, c=np.arange(len(Z)), s=26)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
print("a step forward on the map:", np.round(model.action_maps_["forward"].translation[:2], 3))

# %%
# Predict and plan
# ----------------
#
# ``predict_next`` returns the view that an action leads to. ``plan`` finds the shortest sequence of actions between two
# views.

print("predicted view after 'forward' at view 3:", model.predict_next(3, "forward"))
way = [str(step) for step in model.plan(0, 12)]
print("from view 0 to view 12:", " ".join(way))
print("actions that were taken:", " ".join(str(a) for a in actions[:12]))

# %%
# What to remember
# ----------------
#
# * Pixels carry little information about positions; actions carry a lot.
# * Views of the same position meet on the map because of the actions.
# * More, also about noise and several sequences: :doc:`/methods/action_respecting`.
