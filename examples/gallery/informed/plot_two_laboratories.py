"""
Two laboratories, one map
=========================

Wines were measured in two laboratories whose instruments differ, and the laboratories did not get the same wines. The
plain map shows the laboratory. Subtracting each laboratory's mean, which one would try first, takes out too much: the
means differ because the wines do. Given the laboratory, the map compares wines that have counterparts.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding, evaluate

wine = load_wine()
truth, cultivar = StandardScaler().fit_transform(wine.data), wine.target
rng = np.random.default_rng(0)
graz = rng.random(len(truth)) < np.array([0.85, 0.5, 0.15])[cultivar]  # Graz got most of the first cultivar
laboratory = np.where(graz, "Graz", "Porto")
X = truth + np.where(graz[:, None], 2.0, 0.0) * rng.normal(size=13)

# %%
# Three maps: of the rows as they are, of the rows less the mean of their laboratory, and given the laboratory.

centred = X - np.array([X[laboratory == name].mean(axis=0) for name in laboratory])
maps = {
    "plain": KernelInformationEmbedding().fit(X).embedding_,
    "means subtracted": KernelInformationEmbedding().fit(centred).embedding_,
    "given=laboratory": KernelInformationEmbedding().fit(X, given=laboratory).embedding_,
}

# %%
# Colours are cultivars, which no map was told; markers are laboratories.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, (name, Z) in zip(axes, maps.items(), strict=True):
    for marker, place in (("o", "Graz"), ("^", "Porto")):
        own = laboratory == place
        ax.scatter(*Z[own].T, c=cultivar[own], cmap="viridis", vmax=2.3, marker=marker, s=22, label=place)
    leak, hit = evaluate.leakage(Z, laboratory), evaluate.neighbour_hit(Z, cultivar)
    ax.set(title=f"{name}\nlaboratory told {leak.value:.2f} (chance {leak.chance:.2f})\ncultivar {hit:.2f}")
    ax.set(xticks=[], yticks=[])
axes[0].legend(loc="best")
plt.show()

# %%
# The cultivars of the two laboratories differ, so a little of the laboratory can be told from any honest map of
# cultivars: a map that hides it altogether would hide the cultivars, too.
