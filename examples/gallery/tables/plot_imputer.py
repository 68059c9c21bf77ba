"""
Impute a table with intervals
=============================

An :class:`~sidelight.Imputer` fills tables of numbers and categories, gives intervals, and draws multiple
imputations. The rivals are the column mean, and scikit-learn's IterativeImputer and KNNImputer.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.preprocessing import StandardScaler

from sidelight import Imputer

truth = StandardScaler().fit_transform(load_wine().data)
rng = np.random.default_rng(0)
gone = rng.random(truth.shape) < 0.25
X = np.where(gone, np.nan, truth)

imputer = Imputer().fit(X)
filled = {
    "mean": SimpleImputer().fit_transform(X),
    "KNNImputer": KNNImputer().fit_transform(X),
    "IterativeImputer": IterativeImputer(tol=0.1, random_state=0).fit_transform(X),
    "sidelight.Imputer": imputer.transform(X),
}

# %%
# Left: the error on a quarter of the entries, which were hidden. Right: intervals of forty of them, sorted by their
# true value.

ends = imputer.interval(X, level=0.9)
lower, upper = np.asarray(ends.lower)[gone], np.asarray(ends.upper)[gone]
inside = ((lower <= truth[gone]) & (truth[gone] <= upper)).mean()

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained", width_ratios=(1, 1.5))
errors = [np.sqrt(np.mean((values - truth)[gone] ** 2)) for values in filled.values()]
left.barh(list(filled), errors, color=["0.7", "0.7", "0.7", "tab:blue"])
for y, error in enumerate(errors):
    left.text(error, y, f" {error:.3f}", va="center")
left.set(xlabel="error of hidden entries, in standard deviations", xlim=(0, 1.2))
some = rng.choice(gone.sum(), 40, replace=False)
some = some[truth[gone][some].argsort()]
right.vlines(np.arange(40), lower[some], upper[some], lw=5, alpha=0.3)
right.plot(np.arange(40), truth[gone][some], "k_", label="truth")
right.plot(np.arange(40), np.asarray(filled["sidelight.Imputer"])[gone][some], ".", label="filled")
right.set(title=f"90 % intervals hold {inside:.2f} of all hidden entries", xticks=[])
right.legend()
plt.show()
