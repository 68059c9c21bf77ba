"""
A fast map in closed form
=========================

A :class:`~sidelight.SmootherEmbedding` solves one eigenproblem, like scikit-learn's SpectralEmbedding, and adds
``transform`` and ``inverse_transform``. The eigenvectors are nearly the same; the rival has no ``transform``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.manifold import SpectralEmbedding

from sidelight import SmootherEmbedding, datasets

data, new = datasets.s_curve(500, random_state=0), datasets.s_curve(100, random_state=5)
model = SmootherEmbedding(2).fit(data.X)
spectral = SpectralEmbedding(2, n_neighbors=15, random_state=0).fit_transform(data.X)
places = model.transform(new.X)

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
axes[0].scatter(*spectral.T, c=data.factors["arc"], s=8)
axes[0].set_title("SpectralEmbedding")
axes[1].scatter(*model.embedding_.T, c=data.factors["arc"], s=8)
axes[1].scatter(*places.T, c=new.factors["arc"], s=36, edgecolors="black", linewidths=0.7, label="new rows")
axes[1].set_title(f"SmootherEmbedding\nvariance of new rows that comes back: {model.score(new.X):.3f}")
axes[1].legend()
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()

found = np.abs([[np.corrcoef(a, b)[0, 1] for a in spectral.T] for b in model.embedding_.T])
print("correlation of the axes of both:", found.max(axis=1).round(3))
