"""
5. Pictures of turning objects
==============================

*You have pictures of three objects from all sides, and know the object of each picture. What else varies, and what does
an object look like from another angle?*

You will use ``given``, ``same=`` hints, ``inverse_transform`` and ``counterfactual``.
"""

import matplotlib.pyplot as plt
import numpy as np

from sidelight import KernelInformationEmbedding, datasets, evaluate

data = datasets.turntable(48)
thing, angle = data.factors["object"], data.factors["angle"]
names = ["car", "duck", "mug"]


def show(rows, labels, width=6.5):
    size = (width, 1.15 * len(rows))
    axes = plt.subplots(len(rows), len(rows[0]), figsize=size, layout="constrained", squeeze=False)[1]
    for line, pictures, label in zip(axes, rows, labels, strict=True):
        line[0].set_ylabel(label)
        for ax, values in zip(line, pictures, strict=True):
            ax.imshow(np.reshape(values, data.image_shape), cmap="gray", vmin=0, vmax=data.X.max())
            ax.set(xticks=[], yticks=[])
    plt.show()


show([data.X[thing == name][::8] for name in names], names)

# %%
# The plain map
# -------------
#
# The plain map has one loop per object. It shows that each object turns, but not that all three turn in the same way.
# (It is drawn below, beside the others.)

plain = KernelInformationEmbedding().fit(data.X)


def draw(ax, Z, title):
    for name, marker in zip(names, "osD", strict=True):
        own = thing == name
        ax.scatter(*Z[own].T, c=angle[own], cmap="twilight_shifted", marker=marker, s=20, label=name)
    ax.set(title=title, xticks=[], yticks=[])


# %%
# Factor the object out
# ---------------------
#
# With ``given=thing`` the model aligns the three loops. But which side of a mug corresponds to which side of a duck?
# The pictures do not show it. Three corresponding views of each object, passed as ``same=``, are enough.

views = [np.flatnonzero(thing == name)[[0, 16, 32]] for name in names]
same = np.concatenate([np.column_stack([views[0], other]) for other in views[1:]])
given = KernelInformationEmbedding().fit(data.X, given=thing)
hinted = KernelInformationEmbedding().fit(data.X, given=thing, same=same)

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for ax, model, title in zip(axes, (plain, given, hinted), ("plain", "given=object", "and three hints"), strict=True):
    Z = model.embedding_
    leak, found = evaluate.leakage(Z, thing).value, evaluate.recovery(Z, angle, period=360.0)
    draw(ax, Z, f"{title}\nobject predicted {leak:.2f}, angle R² {found:.2f}")
axes[0].legend()
plt.show()

# %%
# Another object in the same pose
# -------------------------------

cars = np.flatnonzero(thing == "car")[[3, 11, 19, 27, 35, 43]]
show(
    [data.X[cars], *(hinted.counterfactual(data.X[cars], given=[name] * 6) for name in names[1:])],
    ["car", "as duck", "as mug"],
)

# %%
# Views between two pictures
# --------------------------
#
# ``inverse_transform`` works at every place of the map, for every object: here six steps between two views of the
# duck.

ducks = np.flatnonzero(thing == "duck")
start, end = hinted.embedding_[ducks[10]], hinted.embedding_[ducks[14]]
steps = np.linspace(0, 1, 6)[:, None]
show([hinted.inverse_transform((1 - steps) * start + steps * end, given=["duck"] * 6)], ["between"])

# %%
# What to remember
# ----------------
#
# * ``given`` holds the known variable of each row; ``same`` lists rows that correspond.
# * ``inverse_transform`` averages the pictures around a place: the result is smooth and stays within the data.
# * More: :doc:`/methods/informed_embedding`.
