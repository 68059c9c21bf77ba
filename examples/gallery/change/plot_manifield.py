"""
Denoise a curve of any length
=============================

The noise is multiplicative, which a running mean does not model. :class:`~sidelight.gated.Manifield` slides a small
model (:class:`~sidelight.gated.BiasedAutoencoder`) along the curve and averages the predictions of overlapping
patches. The baseline is the best running mean.
"""

import matplotlib.pyplot as plt
import numpy as np

from sidelight.gated import BiasedAutoencoder, Manifield

rng = np.random.default_rng(0)


def curve(n):
    clean = np.sin(np.arange(n) / 8)
    return clean * rng.normal(1, 0.4, size=n), clean


noisy, clean = curve(400)
model = BiasedAutoencoder(n_components=2, weight_decay=1e-2, random_state=0)
field = Manifield(model, patch_size=9).fit([noisy], [clean])

# %%
# A test curve longer than the training curve. The width of the running mean is the best one for this test curve.

new, truth = curve(1000)
ours = np.asarray(field.predict([new])[0])
means = [np.convolve(new, np.ones(w) / w, mode="same") for w in (3, 5, 7, 9, 11)]
rival = min(means, key=lambda values: np.mean((values - truth) ** 2))

figure, ax = plt.subplots(figsize=(10.5, 3.8), layout="constrained")
part = slice(0, 260)
ax.plot(new[part], ".", color="0.7", ms=4, label="noisy")
ax.plot(truth[part], "k", lw=1, label="truth")
for values, name in ((rival, "running mean"), (ours, "Manifield")):
    ax.plot(values[part], label=f"{name}: error {np.sqrt(np.mean((values - truth) ** 2)):.3f}")
ax.legend(ncols=4, loc="lower center")
plt.show()
