"""Add transform and inverse_transform to a t-SNE map: ``python examples/two_way_tsne.py [folder]``."""

import sys
from pathlib import Path

import numpy as np
from sklearn.manifold import TSNE

import sidelight
from sidelight import TwoWayEmbedding, datasets

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
out.mkdir(exist_ok=True)

data = datasets.load_digits()
known, new = data.X[:800], data.X[800:1000]
model = TwoWayEmbedding(TSNE(random_state=0)).fit(known)

places = model.transform(new)
print(f"{len(new)} new digits placed; variance that comes back: {model.score(new):.2f}")

# The file holds the maps, not t-SNE: the loaded model answers the same, to the bit.
sidelight.save(model, out / "digits.sidelight")
again = sidelight.load(out / "digits.sidelight")
print("same places after loading:", np.array_equal(again.transform(new), places))

# Rows that belong nowhere: noise has a low density, whatever place it is given.
noise = np.random.default_rng(0).uniform(0, 16, size=(5, known.shape[1]))
print(f"median log density: digits {np.median(model.score_samples(new)):.0f}, "
      f"noise {np.median(model.score_samples(noise)):.0f}")  # fmt: skip
