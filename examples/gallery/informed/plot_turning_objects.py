"""
Turn one object into another in the same pose
=============================================

Pictures of a car, a duck and a mug on a turntable. Pictures of the same object are similar, so the plain map has
one loop per object. With the object as ``given`` and three corresponding views as ``same``, the map has one loop of
angles. ``counterfactual`` turns a picture of the car into the duck in the same pose.

The rival subtracts the mean picture of the object from each picture.
"""

import matplotlib.pyplot as plt
import numpy as np

from sidelight import KernelInformationEmbedding, Pairs, datasets, evaluate

data = datasets.turntable(36)
thing, angle = data.factors["object"], data.factors["angle"]
names = ["car", "duck", "mug"]
views = [np.flatnonzero(thing == name)[[0, 12, 24]] for name in names]
same = Pairs(np.concatenate([np.column_stack([views[0], other]) for other in views[1:]]), n_samples=len(data.X))

plain = KernelInformationEmbedding().fit(data.X)
means = np.array([data.X[thing == name].mean(axis=0) for name in thing])
subtracted = KernelInformationEmbedding().fit(data.X - means)
informed = KernelInformationEmbedding().fit(data.X, given=thing, same=same)

# %%
# Colours are angles. A good map of poses has one loop, in the order of the colours.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
titles = ("plain", "means subtracted", "given=object, same=3 views")
for ax, model, title in zip(axes, (plain, subtracted, informed), titles, strict=True):
    Z = model.embedding_
    for name, marker in zip(names, "osD", strict=True):
        own = thing == name
        ax.scatter(*Z[own].T, c=angle[own], cmap="twilight_shifted", marker=marker, s=24, label=name)
    ax.set(title=f"{title}\nangle: R² {evaluate.recovery(Z, angle, period=360.0):.2f}", xticks=[], yticks=[])
axes[0].legend()
plt.show()

# %%
# First row: the car. Other rows: its counterfactuals.

cars = np.flatnonzero(thing == "car")[[2, 9, 16, 23, 30]]
lines = [data.X[cars], *(informed.counterfactual(data.X[cars], given=[name] * 5) for name in names[1:])]
figure, axes = plt.subplots(3, 5, figsize=(6.5, 4), layout="constrained")
for line, row, label in zip(lines, axes, ("car (data)", "as duck", "as mug"), strict=True):
    row[0].set_ylabel(label)
    for ax, values in zip(row, line, strict=True):
        ax.imshow(values.reshape(data.image_shape), cmap="gray", vmin=0, vmax=data.X.max())
        ax.set(xticks=[], yticks=[])
plt.show()
