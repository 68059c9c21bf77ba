"""
Which columns explain the axes of a map?
========================================

``explain.axes`` attributes the directions of a non-linear map to columns, as shares. The rival is the loadings of
PCA, which are the same everywhere on the map.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding, explain
from sidelight.pipeline import make_pipeline

wine = load_wine(as_frame=True)
model = make_pipeline(StandardScaler(), KernelInformationEmbedding()).fit(wine.data)
table = explain.axes(model, wine.data)
for sentence in explain.in_words(table):
    print(sentence)

# %%
# Which columns separate the first cultivar from the third? Each contribution has an interval.

found = explain.difference(model, wine.data, (wine.target == 0).to_numpy(), (wine.target == 2).to_numpy())
first = found[found["axis"] == found["axis"].iloc[0]].sort_values("contribution", key=abs).tail(8)
Z = model[-1].embedding_
loadings = PCA(1).fit(StandardScaler().fit_transform(wine.data)).components_[0]

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
axes[0].scatter(*Z.T, c=wine.target, cmap="viridis", s=14)
axes[0].set(title="the map, coloured by cultivar", xlabel="axis 1", ylabel="axis 2")
y = np.arange(len(first))
axes[1].barh(y, first["contribution"])
axes[1].hlines(y, first["low"], first["high"], color="black")
axes[1].set_yticks(y, first["feature"])
axes[1].set(title="from cultivar 3 to 1 along axis 1")
order = np.abs(loadings).argsort()[-8:]
axes[2].barh(range(8), loadings[order], color="tab:gray")
axes[2].set_yticks(range(8), wine.data.columns[order])
axes[2].set(title="PCA: loadings of axis 1")
plt.show()
