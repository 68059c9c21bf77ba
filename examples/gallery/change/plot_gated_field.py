"""
Learn a shift on small patches, apply it to large pictures
==========================================================

A :class:`~sidelight.gated.GatedField` applies one gated model to every patch of a picture, so a model learned on
patches works on pictures of any size. The baseline leaves the picture as it is. (Adding the difference of the
example pair is not possible: it has another size.)
"""

import matplotlib.pyplot as plt
import numpy as np

from sidelight import datasets
from sidelight.gated import GatedBoltzmannMachine, GatedField

rng = np.random.default_rng(0)
X = rng.normal(size=(4, 40, 40))
Y = np.concatenate([np.roll(X[:2], 1, axis=2), np.roll(X[2:], -1, axis=2)])  # right, or left
model = GatedBoltzmannMachine(10, learning_rate=0.03, batch_size=10, max_iter=120, random_state=0)
field = GatedField(model, patch_size=5).fit(X, Y)

# %%
# The field infers the shift of a pair of noise pictures and applies it to a picture of a car.

car = datasets.turntable(8).X[1].reshape(32, 32)
car = (car - car.mean()) / car.std()
right = field.transfer(X[:1], Y[:1], car[None])[0]
left = field.transfer(X[3:], Y[3:], car[None])[0]

figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
pictures = (car, right, left, right - left)
names = ("picture", "shifted as the first pair", "shifted as the last pair", "difference of the two")
for ax, values, name in zip(axes, pictures, names, strict=True):
    ax.imshow(values, cmap="gray")
    ax.set(title=name, xticks=[], yticks=[])
plt.show()
inner = (slice(4, -4), slice(4, -4))
for name, made, shift in (("right", right, 1), ("left", left, -1)):
    match = np.corrcoef(made[inner].ravel(), np.roll(car, shift, axis=1)[inner].ravel())[0, 1]
    still = np.corrcoef(car[inner].ravel(), np.roll(car, shift, axis=1)[inner].ravel())[0, 1]
    print(f"{name}: correlation with the true shift {match:.3f}; without a shift {still:.3f}")
