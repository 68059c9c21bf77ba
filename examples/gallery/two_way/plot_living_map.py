"""
Add new rows to a map
=====================

On Monday a map is fitted. On Tuesday more rows arrive, some of them from a new class. ``extend`` adds them: the old
rows stay exactly where they are, and the new class gets a region of its own. The rival fits t-SNE again, which
moves all points.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE

from sidelight import KernelInformationEmbedding

X, y = load_digits(return_X_y=True)
monday = np.flatnonzero(y < 5)[:500]
tuesday = np.concatenate([np.flatnonzero(y < 5)[500:600], np.flatnonzero(y == 6)[:80]])
both = np.concatenate([monday, tuesday])

model = KernelInformationEmbedding(solver="multilevel").fit(X[monday])
before = model.embedding_.copy()
model.extend(X[tuesday])
after = model.embedding_

tsne = [TSNE(init="pca", max_iter=400, random_state=0).fit_transform(X[rows]) for rows in (monday, both)]

# %%
# Lines join the Monday and Tuesday places of a row.

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
for ax, (first, second), title in zip(axes, ((before, after), tsne), ("extend", "t-SNE, fitted again"), strict=True):
    old = second[: len(monday)]
    moved = np.linalg.norm(old - first, axis=1) / first.std()
    ax.plot([first[:, 0], old[:, 0]], [first[:, 1], old[:, 1]], color="0.7", lw=0.4)
    ax.scatter(*second.T, c=y[both], cmap="tab10", vmin=0, vmax=9, s=8)
    new = np.flatnonzero(y[both] == 6)
    ax.scatter(*second[new].T, facecolors="none", edgecolors="black", s=24, lw=0.5, label="the new kind")
    ax.set(title=f"{title}\nold rows moved by {np.median(moved):.2f} of the spread", xticks=[], yticks=[])
    ax.legend()
plt.show()
region = model.region_[len(monday) :] > 0
print(f"in a region of their own: {region[100:].mean():.2f} of the new kind, {region[:100].mean():.2f} of the others")
