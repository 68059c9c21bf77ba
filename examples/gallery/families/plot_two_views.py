"""
One view from the other, with twelve pairs
==========================================

The same things are seen by two instruments, but only twelve things by both. :class:`~sidelight.JointInformationEmbedding` uses the unpaired
rows, too: they show the shape of each view. The rival is kernel regression from the pairs alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from sidelight import JointInformationEmbedding

rng = np.random.default_rng(0)
t = rng.uniform(0, 4, 240)
first = np.column_stack([np.cos(t), np.sin(t), 0.3 * t])
second = np.column_stack([t + np.sin(2 * t), np.cos(t)])
X, y = first.copy(), second.copy()
X[126:], y[12:126] = np.nan, np.nan  # 12 pairs, 114 rows of each view alone

model = JointInformationEmbedding(n_components=1).fit(X, y)
hidden = slice(12, 126)
ours = model.predict(X[hidden])
kernel = RBF() + WhiteKernel(1e-3)
rival = GaussianProcessRegressor(kernel, normalize_y=True).fit(first[:12], second[:12]).predict(X[hidden])

# %%

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
axes[0].scatter(X[:126, 0], X[:126, 2], c=t[:126], s=14)
axes[0].scatter(X[:12, 0], X[:12, 2], s=80, facecolors="none", edgecolors="red", label="paired")
axes[0].set(title="first view (two of its columns)")
axes[0].legend()
for ax, guess, name in zip(axes[1:], (rival, ours), ("Gaussian process, 12 pairs", "JointInformationEmbedding"), strict=True):
    ax.scatter(*second[hidden].T, c="0.85", s=30, label="truth")
    ax.scatter(*guess.T, c=t[hidden], s=10)
    error = np.sqrt(np.mean((guess - second[hidden]) ** 2))
    ax.set(title=f"second view by {name}\nerror {error:.3f}")
    ax.legend()
plt.show()
