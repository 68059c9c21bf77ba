"""
A density of local linear models
================================

A :class:`~sidelight.PPCAMixture` follows curved data with flat components, chooses their number, and fills a
missing column from the components that fit. The rival is scikit-learn's GaussianMixture with the number of
components chosen by BIC.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.mixture import GaussianMixture

from sidelight import PPCAMixture


def spiral(n, seed):
    rng = np.random.default_rng(seed)
    t = 3 * np.pi * np.sqrt(rng.uniform(0.08, 1, n))
    return np.column_stack([t * np.cos(t), t * np.sin(t)]) + 0.25 * rng.normal(size=(n, 2))


X, new = spiral(500, 0), spiral(2000, 1)
ours = PPCAMixture().fit(X)
rivals = [GaussianMixture(k, random_state=0).fit(X) for k in range(2, 17, 2)]
rival = min(rivals, key=lambda model: model.bic(X))

# %%
# Shading: the log density.

x, y = np.meshgrid(np.linspace(-10, 11, 120), np.linspace(-10, 10, 120))
grid = np.column_stack([x.ravel(), y.ravel()])
figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
names = (f"GaussianMixture, BIC: {rival.n_components}", f"PPCAMixture(): {ours.n_charts_} charts")
for ax, model, name in zip(axes, (rival, ours), names, strict=False):
    ax.contourf(x, y, np.maximum(model.score_samples(grid), -12).reshape(x.shape), 20, cmap="Blues")
    ax.plot(*X.T, "k.", ms=1.5)
    ax.set(title=f"{name}\nlog density of new rows {model.score_samples(new).mean():.2f}", xticks=[], yticks=[])

broken = np.column_stack([np.linspace(-8.5, 9, 50), np.full(50, np.nan)])
mean, sd = ours.impute(broken)[:, 1], np.sqrt(ours.impute_variance(broken)[:, 1])
axes[2].plot(*X.T, ".", color="0.8", ms=2)
axes[2].errorbar(broken[:, 0], mean, sd, fmt="o", ms=3, lw=1, color="tab:orange")
axes[2].set(title="the second column missing:\nits mean, ± one standard deviation", xticks=[], yticks=[])
plt.show()
