"""
A picture at every place of the map
===================================

``inverse_transform`` works for every place of the map, also between rows. Here a grid of places becomes a grid of
pictures, faded where there is little data. The rival is PCA, whose inverse is linear.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from sidelight import KernelInformationEmbedding, datasets

data = datasets.turntable(36)
train, new = np.arange(len(data.X)) % 6 != 0, np.arange(len(data.X)) % 6 == 0
model = KernelInformationEmbedding().fit(data.X[train])
pca = PCA(2).fit(data.X[train])

# %%


def grid(ax, Z, back, density, size=10):
    low, high = Z.min(axis=0), Z.max(axis=0)
    x, y = (np.linspace(a, b, size) for a, b in zip(low, high, strict=True))
    places = np.array([(a, b) for b in y[::-1] for a in x])
    pictures = back(places).reshape(size, size, *data.image_shape)
    seen = density(places).reshape(size, size)[:, :, None, None]
    sheet = (seen * pictures + (1 - seen) * data.X.max()).transpose(0, 2, 1, 3).reshape(size * 32, -1)
    ax.imshow(sheet, cmap="gray", vmin=0, vmax=data.X.max())
    ax.set(xticks=[], yticks=[])


def kie_density(places):
    value = model.latent_log_density(places)
    return np.clip(1 + (value - value.max()) / 6, 0, 1)


figure, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
grid(axes[0], pca.transform(data.X), pca.inverse_transform, lambda places: np.ones(len(places)))
grid(axes[1], model.embedding_, model.inverse_transform, kie_density)
backs = [either.inverse_transform(either.transform(data.X[new])) for either in (pca, model)]
error = [np.mean((back - data.X[new]) ** 2) / data.X.var(axis=0).mean() for back in backs]
axes[0].set_title(f"PCA: unexplained variance of new pictures {error[0]:.2f}")
axes[1].set_title(f"KernelInformationEmbedding: {error[1]:.2f}")
plt.show()
