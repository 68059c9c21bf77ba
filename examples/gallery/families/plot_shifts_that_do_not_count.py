"""
Distances that ignore small shifts
==================================

Three digits, each at nine positions. In pixel space, a digit shifted by two pixels is far from the original.
:class:`~sidelight.TangentDistance` and :class:`~sidelight.ReconstructionDistance` measure the difference that is
left after the best small shift. :class:`~sidelight.HybridEmbedding` embeds such distances. The rival is Isomap of
the pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
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
    low, spread = Z.min(axis=0), np.ptp(Z, axis=0)
    for (x, y), row in zip((Z - low) / spread, data.X, strict=True):  # drawn in units of the panel
        picture = np.ma.masked_less(row.reshape(data.image_shape), 0.2 * data.X.max())
        ax.imshow(picture, cmap="gray_r", vmin=0, extent=(x - 0.07, x + 0.07, y - 0.07, y + 0.07), zorder=3)
    ax.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.1), xticks=[], yticks=[])
    ax.set_title(f"{name}\nsame digit among neighbours: {evaluate.neighbour_hit(Z, digit, n_neighbors=3):.2f}")
plt.show()
