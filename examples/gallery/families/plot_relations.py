"""
Axes with a meaning, from partial labels
========================================

One third of the pictures on a turntable are labelled with the object and the angle.
:class:`~sidelight.MultipleRelationalEmbedding` gives each label axes of its own, for all pictures. A
:class:`~sidelight.Relation` says which rows are similar in one respect; :class:`~sidelight.Relations` holds several
of them. The rival is PCA.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from sidelight import MultipleRelationalEmbedding, Relation, Relations, datasets, plot

data = datasets.turntable(36)
thing, angle = data.factors["object"], data.factors["angle"]
n = len(data.X)
known = np.sort(np.random.default_rng(0).choice(n, n // 3, replace=False))
relations = Relations(
    {
        "object": Relation.from_labels(thing[known], known, n_samples=n),
        "angle": Relation.from_values(angle[known], known, n_samples=n, period=360.0),
    }
)
model = MultipleRelationalEmbedding(3).fit(data.X, relations=relations)
Z, P = model.embedding_, PCA(3).fit_transform(data.X)
codes = np.unique(thing, return_inverse=True)[1]

# %%
# Only unlabelled rows are shown. The first axis is the object, the other two are the angle.

hidden = np.setdiff1d(np.arange(n), known)
figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
axes[0].scatter(P[hidden, 0], P[hidden, 1], c=angle[hidden], cmap="twilight_shifted", s=16)
axes[0].set(title="PCA, by angle")
axes[1].scatter(Z[hidden, 1], Z[hidden, 2], c=angle[hidden], cmap="twilight_shifted", s=16)
axes[1].set(title="axes 2 and 3, by angle")
axes[2].scatter(Z[hidden, 0], Z[hidden, 1], c=codes[hidden], cmap="viridis", s=16)
axes[2].set(title="axes 1 and 2, by object")
for ax in axes[:3]:
    ax.set(xticks=[], yticks=[])
plot.relation_weights(model, ax=axes[3])
plt.show()
