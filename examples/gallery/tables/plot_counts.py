"""
Embed sparse counts
===================

The noise of counts (of words or genes) grows with their mean, and rows differ in their total count.
:class:`~sidelight.CountEncoder` turns counts into coordinates in which Euclidean distances are meaningful. The
rival is the usual ``log1p`` of scaled counts, followed by PCA.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

from sidelight import CountEncoder, KernelInformationEmbedding, evaluate

rng = np.random.default_rng(0)
n, words = 400, 300
topic = rng.integers(5, size=n)
base = rng.gamma(0.3, size=words)
rates = base * np.where(rng.random((5, words)) < 0.08, 5.0, 1.0)
depth = np.exp(rng.normal(4.2, 0.7, size=n))  # some texts are long, most are short
counts = rng.poisson(depth[:, None] * rates[topic] / rates[topic].sum(axis=1, keepdims=True))
counts[counts.sum(axis=1) == 0, 0] = 1

scaled = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
coordinates = {
    "log1p, PCA": PCA(10).fit_transform(scaled),
    "CountEncoder": np.asarray(CountEncoder(10).fit_transform(csr_array(counts))),
}

# %%

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.3), layout="constrained")
for ax, (name, C) in zip(axes, coordinates.items(), strict=True):
    Z = KernelInformationEmbedding().fit(C).embedding_
    length = evaluate.leakage(Z, np.log(counts.sum(axis=1))).value
    ax.scatter(*Z.T, c=topic, cmap="tab10", vmax=9, s=12)
    ax.set(title=f"{name}\ntopic {evaluate.neighbour_hit(Z, topic):.2f}, length of the text R² {length:.2f}")
    ax.set(xticks=[], yticks=[])
plt.show()
