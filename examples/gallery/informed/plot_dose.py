"""
Counterfactuals: cells at another dose
======================================

Four types of cells got a drug in doses from 0 to 1. The effect is non-linear and differs between genes. With the
dose as ``given``, the map shows the types. ``counterfactual`` predicts each cell at another dose, with intervals.

The rival is a linear regression of each gene on the dose, plus the residuals. The data are simulated, so the truth
is known.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from sidelight import KernelInformationEmbedding, evaluate

rng = np.random.default_rng(1)
n, genes = 400, 12
kind, dose = rng.integers(4, size=n), rng.random(n)
centres, effect = 2.0 * rng.normal(size=(4, genes)), 3.0 * rng.normal(size=genes)
saturation = rng.uniform(2, 12, size=genes)


def response(dose):
    return effect * np.tanh(saturation * np.asarray(dose)[:, None])


noise = 0.5 * rng.normal(size=(n, genes))
X = centres[kind] + response(dose) + noise

line = LinearRegression().fit(dose[:, None], X)
residuals = X - line.predict(dose[:, None])
plain = KernelInformationEmbedding().fit(X)
straight = KernelInformationEmbedding().fit(residuals)
informed = KernelInformationEmbedding().fit(X, given=dose)

# %%
# Colours are doses; markers are types.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
for ax, model, title in zip(axes, (plain, straight, informed), ("plain", "line subtracted", "given=dose"), strict=True):
    Z = model.embedding_
    for k, marker in enumerate("os^D"):
        points = ax.scatter(*Z[kind == k].T, c=dose[kind == k], marker=marker, s=16, vmin=0, vmax=1)
    leak = evaluate.leakage(Z, dose).value
    ax.set(title=f"{title}\ntype {evaluate.neighbour_hit(Z, kind):.2f}, dose R² {leak:.2f}", xticks=[], yticks=[])
figure.colorbar(points, ax=axes, label="dose")
plt.show()

# %%
# Ten untreated cells at dose 0.5, for the gene that responds most. Nine of ten intervals should contain the truth.

low = np.flatnonzero(dose < 0.1)[:10]
gene = int(np.abs(effect).argmax())
half = np.full(len(low), 0.5)
found = informed.counterfactual_interval(X[low], given=half, level=0.9)
made = informed.counterfactual(X[low], given=half)[:, gene]
true = X[low, gene] - response(dose[low])[:, gene] + response(half)[:, gene]
by_line = X[low, gene] + (line.predict(half[:, None]) - line.predict(dose[low, None]))[:, gene]

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
place = np.arange(len(low))
ax.vlines(place, found.lower[:, gene], found.upper[:, gene], lw=6, alpha=0.3, label="90 % interval")
ax.plot(place, made, "o", label="counterfactual")
ax.plot(place, by_line, "x", color="tab:red", label="straight line")
ax.plot(place, true, "_", ms=14, color="black", label="truth")
ax.set(xlabel="cell", ylabel=f"gene {gene} at dose 0.5", xticks=[])
ax.legend(ncols=2)
plt.show()
