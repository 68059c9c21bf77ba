"""
Detect rows unlike the training data
====================================

``is_novel`` flags rows at a chosen false-alarm rate. The model is fitted to the digits 0 to 7; the digits 8 and 9
are new. The rival is scikit-learn's LocalOutlierFactor, whose ``contamination`` must be guessed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from sidelight import KernelInformationEmbedding

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
known = rng.permutation(np.flatnonzero(y < 8))  # a rate can hold only for rows drawn like the training rows
train, held_out, strange = known[:700], known[700:], np.flatnonzero(y >= 8)
model = KernelInformationEmbedding().fit(X[train])
lof = LocalOutlierFactor(novelty=True).fit(X[train])

# %%
# Left: the share of flagged digits at each chosen rate, for held-out digits of known classes (which should follow the
# dashed line) and for digits of the new classes. Right: the places of the new classes. They fall among the known
# ones, so check ``is_novel`` before you interpret a place.

rates = np.array([0.01, 0.02, 0.05, 0.1, 0.2])
alarms = [model.is_novel(X[held_out], false_alarm=rate).mean() for rate in rates]
found = [model.is_novel(X[strange], false_alarm=rate).mean() for rate in rates]

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
left.plot(rates, rates, "k--", lw=1, label="stated")
left.plot(rates, alarms, "o-", label="known kinds flagged")
left.plot(rates, found, "s-", label="new kinds flagged")
left.plot((lof.predict(X[held_out]) < 0).mean(), (lof.predict(X[strange]) < 0).mean(), "*", ms=14, color="tab:red",
          label="LocalOutlierFactor: (alarms, found)")  # fmt: skip
left.set(xlabel="stated false-alarm rate", ylabel="share of rows", ylim=(0, 1))
left.legend()
flagged = model.is_novel(X[strange], false_alarm=0.05)
Z = model.transform(X[strange])
right.scatter(*model.embedding_.T, c="0.8", s=6)
right.scatter(*Z[~flagged].T, s=10, color="tab:blue", label="8 or 9, not flagged")
right.scatter(*Z[flagged].T, s=10, color="tab:red", label="8 or 9, flagged at 0.05")
right.set(xticks=[], yticks=[])
right.legend()
plt.show()

# %%
# Independent of the threshold: how well does each score rank the rows?

both = np.concatenate([held_out, strange])
for name, score in (("sidelight", model.novelty_p_value(X[both])), ("LocalOutlierFactor", lof.score_samples(X[both]))):
    print(f"{name}: area under the ROC curve {roc_auc_score(y[both] >= 8, -score):.3f}")
