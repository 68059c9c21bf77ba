"""
Prediction intervals of inverse_transform
=========================================

``inverse_transform_interval`` gives an interval for each column of the row at a place. 90 % of new rows should lie
inside. The baseline is the mean of the neighbours on the map, plus and minus 1.64 standard deviations.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
order = np.random.default_rng(0).permutation(len(X))
train, new = X[order[:120]], X[order[120:]]
model = KernelInformationEmbedding().fit(train)
Z = model.transform(new)

ours = model.inverse_transform_interval(Z, level=0.9)
index = NearestNeighbors(n_neighbors=8).fit(model.embedding_).kneighbors(Z, return_distance=False)
middle, spread = train[index].mean(axis=1), train[index].std(axis=1)
rival = middle - 1.64 * spread, middle + 1.64 * spread

# %%
# Share of the values of new wines inside their intervals, for each of 13 columns, and the mean width.

inside = {
    "sidelight": (ours.lower <= new) & (new <= ours.upper),
    "8 neighbours ± 1.64 sd": (rival[0] <= new) & (new <= rival[1]),
}
width = {"sidelight": (ours.upper - ours.lower).mean(), "8 neighbours ± 1.64 sd": (rival[1] - rival[0]).mean()}
figure, ax = plt.subplots(figsize=(9, 3.8), layout="constrained")
for shift, (name, hit) in zip((-0.2, 0.2), inside.items(), strict=True):
    label = f"{name}: {hit.mean():.3f} inside, width {width[name]:.2f}"
    ax.bar(np.arange(13) + shift, hit.mean(axis=0), 0.38, label=label)
ax.axhline(0.9, color="black", ls="--", lw=1)
ax.set(ylim=(0.5, 1.12), ylabel="inside the 90 % interval")
ax.set_xticks(range(13), [name[:14] for name in wine.feature_names], rotation=40, ha="right")
ax.legend()
plt.show()
