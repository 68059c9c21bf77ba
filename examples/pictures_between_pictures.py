"""Interpolate between two pictures on the map: ``python examples/pictures_between_pictures.py [folder]``."""

import sys
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from matplotlib import pyplot as plt

from sidelight import KernelInformationEmbedding, datasets

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(exist_ok=True)

data = datasets.turntable(36, objects=["duck"])
model = KernelInformationEmbedding(perplexity=8, random_state=0).fit(data.X)

# The rows 0 to 9 are views of the duck at growing angles; leave the training rows and go between them.
corners = model.embedding_[[0, 3, 6, 9]]
steps = np.linspace(0, 1, 3, endpoint=False)[:, None]
walk = np.concatenate([a + steps * (b - a) for a, b in pairwise(corners)])
pictures = model.inverse_transform(walk).reshape(-1, *data.image_shape)
unsure = model.predictive_variance(walk).mean(axis=1)

figure, axes = plt.subplots(1, len(walk), figsize=(11, 1.7), layout="constrained")
for ax, picture, variance in zip(axes, pictures, unsure, strict=True):
    ax.imshow(picture, cmap="gray")
    ax.set_title(f"±{np.sqrt(variance):.2f}", fontsize=9)
    ax.set_axis_off()
figure.savefig(out / "walk.png", dpi=110)
print(f"{len(walk)} pictures between four: {out / 'walk.png'}")
