"""
The annealing path, from simple to detailed
===========================================

A fit starts with a small, simple map that unfolds while the penalty weight λ decreases. Every stage is kept in
``path_``. :class:`~sidelight.Annealing` sets the schedule, :class:`~sidelight.KernelOptions` the data kernel. The
rival is locally linear embedding, which has no such path.
"""

import matplotlib.pyplot as plt
from sklearn.manifold import LocallyLinearEmbedding

from sidelight import Annealing, KernelInformationEmbedding, KernelOptions, datasets, evaluate

data = datasets.s_curve(500, random_state=0)
schedule = Annealing(0.05, start=300.0, decay=0.3)
model = KernelInformationEmbedding(regularization=schedule, kernel=KernelOptions("gaussian")).fit(data.X)
stages = [0, len(model.path_) // 3, 2 * len(model.path_) // 3, len(model.path_) - 1]

# %%
# Colour: the position along the S.

reach = 1.1 * abs(model.embedding_).max()
figure, axes = plt.subplots(1, 5, figsize=(13, 3), layout="constrained")
for ax, stage in zip(axes, stages, strict=False):
    ax.scatter(*model.path_[stage].T, c=data.factors["arc"], s=6)
    ax.set(title=f"λ = {model.regularization_path_[stage]:.2f}")
Z = LocallyLinearEmbedding(n_neighbors=15).fit_transform(data.X)
axes[-1].scatter(*Z.T, c=data.factors["arc"], s=6)
axes[-1].set(title=f"LLE\nlengths kept {evaluate.sheet_correlation(Z, data.factors):.3f}")
axes[3].set(title=f"λ = {model.regularization_path_[-1]:.2f}\nlengths kept "
                  f"{evaluate.sheet_correlation(model.embedding_, data.factors):.3f}")  # fmt: skip
for ax in axes:
    ax.set(xticks=[], yticks=[])
    if ax is not axes[-1]:
        ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
plt.show()
