"""
Embed a table of numbers and categories
=======================================

The table has numbers, booleans and categories. :class:`~sidelight.TableEncoder` recognises the columns and gives
each the same weight, whatever its number of categories. The rival is the usual one-hot encoding with a
StandardScaler, in which one rare category counts as much as a number.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sidelight import KernelInformationEmbedding, TableEncoder, evaluate

rng = np.random.default_rng(0)
n = 300
job = rng.integers(3, size=n)  # what we hope to see: it is not in the table
table = pd.DataFrame(
    {
        "wage": np.round(np.exp(rng.normal([2.6, 3.0, 3.5], 0.25, size=(n, 3))[np.arange(n), job]), 2),
        "hours": np.round(np.clip(rng.normal([25, 40, 45], 6, size=(n, 3))[np.arange(n), job], 5, 70)),
        "shift": np.where(rng.random(n) < np.array([0.7, 0.4, 0.05])[job], "yes", "no"),
        "sector": np.array(["trade", "industry", "health", "offices"])[
            [rng.choice(4, p=[[0.6, 0.2, 0.15, 0.05], [0.1, 0.5, 0.35, 0.05], [0.05, 0.1, 0.15, 0.7]][j]) for j in job]
        ],
        "town": rng.choice([f"town {i}" for i in range(25)], size=n),  # says nothing, in 25 columns
    }
)
print(table.head().to_string(index=False))

# %%

encoder = TableEncoder().fit(table)
for column in encoder.columns_:
    print(column.sentence())

usual = make_column_transformer(
    (StandardScaler(), ["wage", "hours"]),
    (make_pipeline(OneHotEncoder(sparse_output=False), StandardScaler()), ["shift", "sector", "town"]),
)
maps = {
    "one-hot and StandardScaler": KernelInformationEmbedding().fit(usual.fit_transform(table)).embedding_,
    "TableEncoder": make_pipeline(TableEncoder(), KernelInformationEmbedding()).fit_transform(table),
}

# %%

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
for ax, (name, Z) in zip(axes, maps.items(), strict=True):
    ax.scatter(*Z.T, c=job, cmap="viridis", s=14)
    ax.set(title=f"{name}\nkind of job among neighbours: {evaluate.neighbour_hit(Z, job):.2f}", xticks=[], yticks=[])
plt.show()
