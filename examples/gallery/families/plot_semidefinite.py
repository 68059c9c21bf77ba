"""
True lengths of a rolled sheet
==============================

:class:`~sidelight.SemidefiniteEmbedding` unrolls a sheet while all distances between neighbours stay the same, and
proves with a certificate that no embedding of these neighbours is wider. Rivals: Isomap and locally linear embedding,
each with the number of neighbours that suits it best (the truth is known here; for real data nobody tells it).
"""

import matplotlib.pyplot as plt
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from sidelight import SemidefiniteEmbedding, datasets, evaluate

data = datasets.swiss_roll(300, random_state=1)


def kept(Z):
    return evaluate.sheet_correlation(Z, data.factors)


model = SemidefiniteEmbedding().fit(data.X)
maps = {
    "LLE, best k": max((LocallyLinearEmbedding(n_neighbors=k).fit_transform(data.X) for k in (5, 6, 8, 12)), key=kept),
    "Isomap, best k": max((Isomap(n_neighbors=k).fit_transform(data.X) for k in (5, 6, 8, 12)), key=kept),
    "SemidefiniteEmbedding": model.embedding_,
}

# %%

figure = plt.figure(figsize=(12, 3.2), layout="constrained")
roll = figure.add_subplot(1, 4, 1, projection="3d")
colour = next(iter(data.factors.values()))
roll.scatter(*data.X.T, c=colour, s=6)
roll.view_init(8, -75)
roll.set(xticks=[], yticks=[], zticks=[], title="the roll")
for place, (name, Z) in enumerate(maps.items(), 2):
    ax = figure.add_subplot(1, 4, place)
    ax.scatter(*Z.T, c=colour, s=8)
    ax.set(title=f"{name}\nlengths kept {kept(Z):.3f}", xticks=[], yticks=[])
plt.show()
print("share of the variance by dimension:", model.explained_[:3].round(3))
print("no embedding is wider by more than", f"{model.certificate_['gap']:.1%}")
