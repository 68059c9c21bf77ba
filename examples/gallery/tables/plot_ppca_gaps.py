"""
PCA of a table with missing values
==================================

A :class:`~sidelight.ProbabilisticPCA` estimates the principal subspace from incomplete rows, chooses the number of
dimensions, and gives each filled entry a standard deviation. The rival is PCA after mean imputation, whose subspace
becomes worse the more entries are missing.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer

from sidelight import ProbabilisticPCA

rng = np.random.default_rng(0)
W = rng.normal(size=(3, 15))
truth = rng.normal(size=(300, 3)) @ W + 0.3 * rng.normal(size=(300, 15))
shares = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
angles = {"PCA of means": [], "ProbabilisticPCA": []}
for share in shares:
    X = np.where(rng.random(truth.shape) < share, np.nan, truth)
    planes = (PCA(3).fit(SimpleImputer().fit_transform(X)).components_, ProbabilisticPCA(3).fit(X).components_)
    for line, plane in zip(angles.values(), planes, strict=True):
        line.append(np.degrees(subspace_angles(plane.T, W.T)).max())

# %%

model = ProbabilisticPCA().fit(X)  # half of the entries missing, unknown number of dimensions
gone = np.isnan(X)
filled, sure = model.impute(X), np.sqrt(model.impute_variance(X))
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for name, line in angles.items():
    left.plot(shares, line, "o-", label=name)
left.set(xlabel="share of missing entries", ylabel="largest angle to the true plane, degrees")
left.legend()
right.errorbar(truth[gone][:150], filled[gone][:150], sure[gone][:150], fmt=".", lw=0.6)
right.plot([-6, 6], [-6, 6], "k--", lw=1)
right.set(title=f"half missing: dimensions found {model.n_components_}", xlabel="truth", ylabel="filled, ± one sd")
plt.show()
