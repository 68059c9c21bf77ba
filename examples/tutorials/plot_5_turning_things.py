"""
5. Pictures of turning things
=============================

*You have pictures of three objects from all sides. You know which object each shows. What else varies, and what would
this object look like from there?*

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
# A loop for each object: the map has found that each of them turns, but not that all three turn in the same way.

plain = KernelInformationEmbedding().fit(data.X)


def draw(ax, Z, title):
    for name, marker in zip(names, "osD", strict=True):
        own = thing == name
        ax.scatter(*Z[own].T, c=angle[own], cmap="twilight_shifted", marker=marker, s=20, label=name)
    ax.set(title=title, xticks=[], yticks=[])


# %%
# What you know
# -------------
#
# Given the object, each loop is laid onto the others. But which side of a mug belongs to which side of a duck?
# Nothing in the pictures says so. Three views of each that correspond are enough of a hint.

views = [np.flatnonzero(thing == name)[[0, 16, 32]] for name in names]
same = np.concatenate([np.column_stack([views[0], other]) for other in views[1:]])
given = KernelInformationEmbedding().fit(data.X, given=thing)
hinted = KernelInformationEmbedding().fit(data.X, given=thing, same=same)

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for ax, model, title in zip(axes, (plain, given, hinted), ("plain", "given=object", "and three hints"), strict=True):
    Z = model.embedding_
    told, found = evaluate.leakage(Z, thing).value, evaluate.recovery(Z, angle, period=360.0)
    draw(ax, Z, f"{title}\nobject told {told:.2f}, angle R² {found:.2f}")
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
# A view that nobody took
# -----------------------
#
# Any place of the map can be asked, for any object: here six steps between two neighbouring views of the duck.

ducks = np.flatnonzero(thing == "duck")
start, end = hinted.embedding_[ducks[10]], hinted.embedding_[ducks[14]]
steps = np.linspace(0, 1, 6)[:, None]
show([hinted.inverse_transform((1 - steps) * start + steps * end, given=["duck"] * 6)], ["between"])

# %%
# What to remember
# ----------------
#
# * ``given`` says what each row *is*; ``same`` says which rows correspond.
# * The way back averages the pictures around a place: it is smooth, and never outside the data.
# * More: :doc:`/methods/informed_embedding`.
