"""
A map of a survey with missing answers
======================================

Some people skipped some questions. Filling the gaps with column means pulls people with many gaps together,
whatever their opinion. ``missing=Missing("expected")`` compares people by the expected distance given the answers
they did give.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer

from sidelight import KernelInformationEmbedding, Missing, evaluate

rng = np.random.default_rng(3)
n, questions = 300, 20
opinion = rng.integers(3, size=n)
answers = np.clip(np.round(3 + rng.normal(size=(3, questions))[opinion] + 0.8 * rng.normal(size=(n, questions))), 1, 5)
silent = rng.random(n) * 0.8  # some people skip most questions
X = np.where(rng.random((n, questions)) < silent[:, None], np.nan, answers)
X[np.isnan(X).all(axis=1), 0] = 3.0
print(f"{np.isnan(X).mean():.0%} of the answers are missing")

maps = {
    "gaps filled with the mean": KernelInformationEmbedding().fit(SimpleImputer().fit_transform(X)).embedding_,
    'Missing("expected")': KernelInformationEmbedding(missing=Missing("expected")).fit(X).embedding_,
}

# %%
# Top: the three opinions. Bottom: the share of questions that a person skipped, which should not shape the map.

figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
for column, (name, Z) in zip(axes.T, maps.items(), strict=True):
    column[0].scatter(*Z.T, c=opinion, cmap="viridis", s=14)
    column[0].set(title=f"{name}\nopinion among neighbours: {evaluate.neighbour_hit(Z, opinion):.2f}")
    points = column[1].scatter(*Z.T, c=np.isnan(X).mean(axis=1), cmap="magma_r", s=14)
    column[1].set(title=f"skipped questions: R² {evaluate.leakage(Z, np.isnan(X).mean(axis=1)).value:.2f}")
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
figure.colorbar(points, ax=axes[1], label="share skipped")
plt.show()
