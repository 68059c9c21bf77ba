"""
Unroll a sheet and keep its lengths
===================================

A :class:`~sidelight.SemidefiniteEmbedding` unrolls a sheet while the distances between neighbours stay the same. A
certificate bounds how much wider any embedding with these distances could be. The rivals are Isomap and locally
linear embedding, each with its best number of neighbours (chosen with the true coordinates, which real data do not
have).
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
print("certificate: no embedding is wider by more than", f"{model.certificate_['gap']:.1%}")
