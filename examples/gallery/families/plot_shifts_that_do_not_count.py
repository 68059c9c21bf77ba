"""
A shift should not count
========================

Three digits, each in nine places. For pixels, a digit moved by two pixels is another picture. :class:`~sidelight.TangentDistance` and
:class:`~sidelight.ReconstructionDistance` measure what is left after the best small shift; :class:`~sidelight.HybridEmbedding` makes a map of
such distances that keeps far things far and near things near. The rival is Isomap of pixels.
"""

import matplotlib.pyplot as plt
from sklearn.manifold import Isomap

from sidelight import HybridEmbedding, ReconstructionDistance, TangentDistance, datasets, evaluate

data = datasets.shifted_digits(step=2)
digit = data.factors["digit"]
options = {"alpha": 0.6, "n_neighbors": 5, "graph": "union"}
tangent = TangentDistance("shift", image_shape=data.image_shape, paths=True, parameters=(-2, 2))
reconstruction = ReconstructionDistance("shift", image_shape=data.image_shape, parameters=(-2, 2))
maps = {
    "Isomap of pixels": Isomap(n_neighbors=5).fit_transform(data.X),
    "tangent distance": HybridEmbedding(metric=tangent, **options).fit_transform(data.X),
    "reconstruction distance": HybridEmbedding(metric=reconstruction, **options).fit_transform(data.X),
}

# %%

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for ax, (name, Z) in zip(axes, maps.items(), strict=True):
    ax.scatter(*Z.T, s=1)
    for place, row in zip(Z, data.X, strict=True):
        size = 0.035 * max(Z.max(axis=0) - Z.min(axis=0))
        extent = (place[0] - size, place[0] + size, place[1] - size, place[1] + size)
        ax.imshow(row.reshape(data.image_shape), cmap="gray_r", extent=extent, zorder=3)
    low, high = Z.min(axis=0) - 0.08 * abs(Z).max(), Z.max(axis=0) + 0.08 * abs(Z).max()
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[], aspect="auto")
    ax.set_title(f"{name}\nsame digit beside it: {evaluate.neighbour_hit(Z, digit, n_neighbors=3):.2f}")
plt.show()
