"""
1. A laboratory with two machines
=================================

*You measured 240 samples. Half-way through the study the old machine broke, and the rest was measured with a new one.
Which groups of samples are there?*

You need ``pip install "sidelight[report]"``. You will use ``fit(X, given=...)``,
:func:`~sidelight.evaluate.leakage`, ``inverse_transform`` and :func:`~sidelight.save`.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import sidelight
from sidelight import KernelInformationEmbedding, evaluate

# %%
# The data
# --------
#
# The table has sixteen substances in 240 samples. There are four kinds of samples. An analyst would not know the kinds;
# we use them only to check the answer. The new machine has an offset for every substance. The fourth kind was measured
# with the new machine only.

rng = np.random.default_rng(5)
n, substances = 240, [f"substance {i:02d}" for i in range(1, 17)]
kind = rng.choice(4, size=n, p=[0.3, 0.3, 0.25, 0.15])
machine = np.where(rng.random(n) < np.array([0.6, 0.5, 0.4, 0.0])[kind], "old", "new")
profile = 1.2 * rng.normal(size=(4, 16))
reading = {"old": 0.0, "new": 1.5 * rng.normal(size=16)}
clean = profile[kind] + 0.6 * rng.normal(size=(n, 16))
table = pd.DataFrame(clean + np.array([np.broadcast_to(reading[m], 16) for m in machine]), columns=substances)
print(table.iloc[:4, :6].round(2).to_string())

# %%
# A first look
# ------------
#
# Look at the plain map first, coloured by what you know.

plain = KernelInformationEmbedding().fit(table)


def draw(ax, Z, title):
    for name, colour in (("old", "#0072B2"), ("new", "#E69F00")):
        ax.scatter(*Z[machine == name].T, color=colour, s=18, label=f"{name} machine")
    ax.set(title=title, xticks=[], yticks=[])


figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
draw(ax, plain.embedding_, "plain map")
ax.legend()
plt.show()

# %%
# The map is split by machine. :func:`~sidelight.evaluate.leakage` measures this: how often do the neighbours on the map
# predict the machine correctly? A map without information about the machine would be at chance.

print(evaluate.leakage(plain.embedding_, machine))

# %%
# Factor the machine out
# ----------------------
#
# ``given=machine`` factors the machine out. The model compares the machines on samples that have a counterpart on the
# other machine. The kind that only the new machine measured is not forced onto another kind.

informed = KernelInformationEmbedding().fit(table, given=machine)

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
draw(axes[0], informed.embedding_, "given=machine")
axes[0].legend()
axes[1].scatter(*informed.embedding_.T, c=kind, cmap="viridis", s=18)
axes[1].set(title="the same, by the true kind", xticks=[], yticks=[])
plt.show()
print(evaluate.leakage(informed.embedding_, machine))


def same_kind_across_machines(Z):
    """Share of samples of the old machine whose nearest sample of the new machine has the same kind."""
    old, other = np.flatnonzero(machine == "old"), np.flatnonzero(machine == "new")
    nearest = ((Z[old][:, None] - Z[other][None]) ** 2).sum(axis=2).argmin(axis=1)
    return (kind[old] == kind[other[nearest]]).mean()


across = [same_kind_across_machines(model.embedding_) for model in (plain, informed)]
print(f"plain {across[0]:.2f}, informed {across[1]:.2f}")

# %%
# The remaining leakage comes from the kind that the old machine never measured. This is not an error: these data do
# not show whether the machine or the kind makes the difference.

only_new = kind == 3
print("without that kind:", evaluate.leakage(informed.embedding_[~only_new], machine[~only_new]))

# %%
# What would the old machine have read?
# -------------------------------------
#
# To continue with one table, translate all samples to the old machine: ``transform`` with the true machine, then
# ``inverse_transform`` with the old one. The truth is known here: the clean values. (``counterfactual`` does the same
# in one call. It warns of extrapolation for the 35 samples of the kind that the old machine never measured.)

new = machine == "new"
places = informed.transform(table[new], given=machine[new])
translated = informed.inverse_transform(places, given=["old"] * new.sum())
error = np.sqrt(np.mean((np.asarray(translated) - clean[new]) ** 2))
untouched = np.sqrt(np.mean((table[new].to_numpy() - clean[new]) ** 2))
print(f"error after translation {error:.2f}, before {untouched:.2f}, noise of a measurement 0.60")

# %%
# ``inverse_transform`` smooths: it keeps only what the map keeps. ``corrected`` removes the effect of the machine
# from each row and leaves everything else unchanged.

corrected = np.asarray(informed.corrected(table, given=machine))
print("corrected table:", corrected.shape)

# %%
# Place new samples
# -----------------
#
# Save the model and load it later. It places new samples without moving the others, whether their machine is known or
# not.

path = Path(tempfile.mkdtemp()) / "samples.sidelight"  # or where you keep your models
sidelight.save(informed, path)
again = sidelight.load(path)
print(again.transform(table.iloc[:3], given=machine[:3]).round(2))

# %%
# What to remember
# ----------------
#
# * Colour the plain map by everything you know before you factor anything out.
# * ``given`` is for variables that you want to *remove* from the map.
# * Compare ``leakage`` before and after. If some is left, ask whether the groups really differ.
#
# The same on the command line: ``sidelight embed samples.csv --given machine --out out/``.
