"""
3. Cells under a drug
=====================

*Cells of five types come from two donors, and half of them were treated with a drug. Which types are there, independent
of donor and drug, and which genes respond to the drug?*

You will use ``given`` with two columns, counts, and ``inverse_transform`` to genes. (The counts are simulated. For
AnnData objects use ``sidelight.anndata.embed``: :doc:`/anndata`.)
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sidelight import CountEncoder, KernelInformationEmbedding, evaluate
from sidelight.pipeline import make_pipeline

# %%
# The data
# --------

rng = np.random.default_rng(1)
n, genes = 500, 120
cell_type = rng.choice(5, size=n, p=[0.3, 0.25, 0.2, 0.15, 0.1])
design = pd.DataFrame({"donor": rng.choice(["A", "B"], size=n), "drug": rng.choice(["none", "treated"], size=n)})
base = rng.normal(0.5, 1.0, size=genes)
markers = 1.6 * rng.normal(size=(5, genes)) * (rng.random((5, genes)) < 0.25)
donor_effect = 0.7 * rng.normal(size=genes)
drug_effect = np.where(np.arange(genes) < 12, 1.5, 0.0)  # the first twelve genes respond
log_rate = base + markers[cell_type]
log_rate = (
    log_rate + np.outer(design["donor"] == "B", donor_effect) + np.outer(design["drug"] == "treated", drug_effect)
)
counts = rng.poisson(np.exp(log_rate - 0.5) * rng.gamma(6, 1 / 6, size=(n, 1)))
print("counts:", counts.shape, "zeros:", f"{(counts == 0).mean():.0%}")

# %%
# A plain map and an informed map
# -------------------------------
#
# :class:`~sidelight.CountEncoder` encodes the counts. ``given`` accepts a table; each of its columns is factored out.
# The titles show how well the neighbours on the map predict the type, the donor and the drug.

encoded = CountEncoder(15).fit_transform(counts)
plain = KernelInformationEmbedding().fit(encoded)
informed = KernelInformationEmbedding().fit(encoded, given=design)

donor_b, got_drug = (np.asarray(design[name] == value) for name, value in (("donor", "B"), ("drug", "treated")))
colours = {"type": cell_type, "donor": donor_b, "drug": got_drug}
figure, axes = plt.subplots(2, 3, figsize=(11, 6.6), layout="constrained")
for row, (title, model) in zip(axes, (("plain", plain), ("given=[donor, drug]", informed)), strict=True):
    Z = model.embedding_
    for ax, (name, colour) in zip(row, colours.items(), strict=True):
        ax.scatter(*Z.T, c=colour, cmap="viridis", s=9)
        found = evaluate.leakage(Z, colour)
        score = f"predicted {found.value:.2f} (chance {found.chance:.2f})"
        ax.set(title=f"{title}, by {name}\n{score}", xticks=[], yticks=[])
plt.show()

# %%
# Which genes respond to the drug?
# --------------------------------
#
# Predict each untreated cell of donor A as a treated cell, and compare. A Pipeline of :mod:`sidelight.pipeline` maps
# the result back to genes. (``counterfactual`` does the same in one call, and warns of extrapolation for
# cells without similar treated cells.)

pipe = make_pipeline(CountEncoder(15), KernelInformationEmbedding()).fit(counts.astype(float), given=design)
asked = np.flatnonzero((design["donor"] == "A") & (design["drug"] == "none"))[:80]
as_is = design.iloc[asked]
treated = as_is.assign(drug="treated")
places = pipe.transform(counts[asked].astype(float), given=as_is)
before = np.asarray(pipe.inverse_transform(places, given=as_is))
after = np.asarray(pipe.inverse_transform(places, given=treated))
change = np.log((after.mean(axis=0) + 0.05) / (before.mean(axis=0) + 0.05))

figure, ax = plt.subplots(figsize=(9, 3.2), layout="constrained")
ax.bar(np.arange(genes), change, color=np.where(drug_effect > 0, "#D55E00", "0.7"))
ax.set(xlabel="gene (the coloured ones truly respond)", ylabel="log ratio, treated to not")
plt.show()

top = np.argsort(-change)[:12]
print(f"of the twelve genes with the largest change {np.isin(top, np.arange(12)).sum()} truly respond")

# %%
# What to remember
# ----------------
#
# * ``given`` takes several columns, of words or numbers.
# * ``inverse_transform`` predicts single rows; average over rows to describe a type.
# * A type that exists under one condition only cannot be compared; :doc:`/anndata` shows how it is flagged
#   (``only_here``).
