"""
Denoise a curve
===============

Points around an S are embedded in one dimension. ``denoise`` maps them to the latent space and back, which leaves
the curve. The methods are :class:`~sidelight.KernelInformationEmbedding`,
:class:`~sidelight.UnsupervisedKernelRegression`, which minimises the reconstruction error, and PCA.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from sidelight import KernelInformationEmbedding, UnsupervisedKernelRegression, datasets

train, new = datasets.noisy_s(300, random_state=0).X, datasets.noisy_s(300, random_state=9).X
truth = datasets.noisy_s(4000, noise=0.0, random_state=1).X  # the curve itself


def off_the_curve(rows):
    return np.sqrt(((rows[:, None] - truth[None]) ** 2).sum(axis=2).min(axis=1)).mean()


pca = PCA(1).fit(train)
cleaned = {
    "new points": new,
    "PCA": pca.inverse_transform(pca.transform(new)),
    "KernelInformationEmbedding(1)": KernelInformationEmbedding(1).fit(train).denoise(new),
    "UnsupervisedKernelRegression(1)": UnsupervisedKernelRegression(1).fit(train).denoise(new),
}

# %%
# Grey: the true curve. The number is the mean distance from it.

figure, axes = plt.subplots(1, 4, figsize=(12, 4), layout="constrained", sharex=True, sharey=True)
for ax, (name, rows) in zip(axes, cleaned.items(), strict=True):
    ax.plot(*truth.T, ",", color="0.75")
    ax.plot(*rows.T, ".", ms=4)
    ax.set(title=f"{name}\n{off_the_curve(rows):.3f} off the curve", xticks=[], yticks=[])
    ax.set_aspect("equal")
plt.show()
