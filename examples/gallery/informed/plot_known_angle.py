"""
Factor out a known angle
========================

The angle of each picture is known, and the question is which objects there are. An angle is circular (359 degrees
is next to 1 degree); ``Conditioning(types="angle")`` says so.

The rival is a linear regression of the pixels on the cosine and sine of the angle, followed by PCA of the
residuals.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from sidelight import Conditioning, KernelInformationEmbedding, datasets, evaluate

data = datasets.turntable(36)
thing, angle = data.factors["object"], data.factors["angle"]
circle = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
rest = data.X - LinearRegression().fit(circle, data.X).predict(circle)

maps = {
    "plain map": KernelInformationEmbedding().fit(data.X).embedding_,
    "regression, then PCA": PCA(2).fit_transform(rest),
    "given=angle": KernelInformationEmbedding(conditioning=Conditioning(types="angle"))
    .fit(data.X, given=angle)
    .embedding_,
}

# %%
# Colours are angles, markers are objects. On a good map the colours are mixed and the objects are separate.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, (name, Z) in zip(axes, maps.items(), strict=True):
    for kind, marker in zip(np.unique(thing), "osD", strict=True):
        own = thing == kind
        ax.scatter(*Z[own].T, c=angle[own], cmap="twilight_shifted", marker=marker, s=24, label=kind)
    left = evaluate.recovery(Z, angle, period=360.0)
    ax.set(title=f"{name}\nobject {evaluate.neighbour_hit(Z, thing):.2f}, angle R² {left:.2f}", xticks=[], yticks=[])
axes[0].legend()
plt.show()
