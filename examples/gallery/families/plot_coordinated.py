"""
One map from a mixture of local models
======================================

A :class:`~sidelight.CoordinatedMixture` aligns the local components of a mixture in one map. Its eigenproblem has
the size of the number of components, not of rows, so it handles any number of rows, also in batches. The rival is
locally linear embedding, whose eigenproblem has the size of the rows. With these few rows both are fast and keep
lengths about equally well (both give each axis the same variance).
"""

import time

import matplotlib.pyplot as plt
from sklearn.manifold import LocallyLinearEmbedding

from sidelight import CoordinatedMixture, datasets, evaluate

data = datasets.s_curve(1500, random_state=0)
began = time.process_time()
model = CoordinatedMixture(n_charts=12, random_state=0).fit(data.X)
seconds = [time.process_time() - began]
began = time.process_time()
lle = LocallyLinearEmbedding(n_neighbors=12).fit_transform(data.X)
seconds.append(time.process_time() - began)

# %%

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for ax, Z, name, took in zip(axes, (model.embedding_, lle), ("CoordinatedMixture", "LLE"), seconds, strict=True):
    ax.scatter(*Z.T, c=data.factors["arc"], s=5)
    kept = evaluate.sheet_correlation(Z, data.factors)
    ax.set(title=f"{name}: lengths kept {kept:.3f}\n{took:.1f} s of processor time", xticks=[], yticks=[])
plt.show()

# %%
# The same in batches, for rows that do not fit into memory.

streamed = CoordinatedMixture(n_charts=12, random_state=0).fit_batches([data.X[:750], data.X[750:]])
print("places of new rows:", streamed.transform(datasets.s_curve(3, random_state=7).X).round(2).tolist())
