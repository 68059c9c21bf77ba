"""
2. A survey with missing answers
================================

*300 people were asked 14 questions, their age and their region. Nearly all skipped some. Which groups of opinions are
there, and what would the missing answers have been?*

You will use :class:`~sidelight.TableEncoder`, ``missing="expected"`` and :class:`~sidelight.Imputer`.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from sidelight import Imputer, KernelInformationEmbedding, TableEncoder, evaluate

# %%
# The data
# --------

rng = np.random.default_rng(2)
n = 300
opinion = rng.integers(3, size=n)
answers = np.clip(np.round(3 + 1.1 * rng.normal(size=(3, 14))[opinion] + 0.7 * rng.normal(size=(n, 14))), 1, 5)
full = pd.DataFrame(answers, columns=[f"question {i:02d}" for i in range(1, 15)])
full["age"] = np.round(np.clip(rng.normal([30, 45, 60], 9, size=(n, 3))[np.arange(n), opinion], 18, 90))
full["region"] = rng.choice(["north", "south", "east", "west"], size=n)
gone = rng.random(full.shape) < (0.1 + 0.4 * rng.random(n))[:, None]  # some people skip much, some little
table = full.mask(gone)
print(table.iloc[:5, [0, 1, 2, 14, 15]].to_string())
print(f"{gone.mean():.0%} of the entries are missing; complete rows: {(~gone.any(axis=1)).sum()}")

# %%
# Dropping all people with missing answers would leave almost no rows. So the method has to accept missing values.
#
# How the columns are read
# ------------------------
#
# The table mixes numbers and categories. :class:`~sidelight.TableEncoder` encodes them with equal weight and reports
# how it reads each column.

for column in TableEncoder().fit(table).columns_[-4:]:
    print(column.sentence())

# %%
# A map of people
# ---------------
#
# ``missing="expected"`` compares two people by the expected distance, given the answers that each of them gave. The
# rival fills the gaps with column means. Large points are people who skipped many questions.

model = make_pipeline(TableEncoder(), KernelInformationEmbedding(missing="expected")).fit(table)
Z = model[-1].embedding_
filled = table[full.columns[:15]].fillna(table.mean(numeric_only=True))
filled = (filled - filled.mean()) / filled.std()
usual = KernelInformationEmbedding().fit(filled).embedding_

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
for ax, places, title in zip(axes, (usual, Z), ("gaps filled with means", "expected distances"), strict=True):
    ax.scatter(*places.T, c=opinion, cmap="viridis", s=4 + 30 * gone.mean(axis=1))
    hit = evaluate.neighbour_hit(places, opinion)
    ax.set(title=f"{title}\ntrue opinion among neighbours {hit:.2f}", xticks=[], yticks=[])
plt.show()

# %%
# The missing answers
# -------------------
#
# :class:`~sidelight.Imputer` fills the gaps and leaves the observed entries unchanged. Columns of whole numbers stay
# whole. The truth is known here, so we can measure the error.

imputer = Imputer().fit(table)
completed = imputer.transform(table)
questions = full.columns[:14]
hidden = gone[:, :14]
ours = np.abs(completed[questions].to_numpy() - answers)[hidden].mean()
mean = np.abs(table[questions].fillna(table[questions].mean()).to_numpy() - answers)[hidden].mean()
print(f"mean error of a hidden answer, on a scale of 1 to 5: {ours:.2f}; the column's mean {mean:.2f}")

# %%
# How certain are they?
# ---------------------
#
# A filled table hides its uncertainty. Intervals show it: a 90 % interval should contain nine of ten hidden answers.
# (Here it contains more, because the ends of the intervals are rounded to whole numbers.)

ends = imputer.interval(table, level=0.9)
low, high = ends.lower[questions].to_numpy(), ends.upper[questions].to_numpy()
inside = ((low <= answers) & (answers <= high))[hidden].mean()
print(f"hidden answers inside their 90 % interval: {inside:.2f}")

# %%
# If you publish a statistic (a mean, a slope), compute it on several imputed tables. The spread between them is the
# uncertainty caused by the missing values (multiple imputation).

means = [drawn["question 01"].mean() for drawn in imputer.draws(table, 5)]
print(f"mean of question 01: {np.mean(means):.2f}, truth {answers[:, 0].mean():.2f}")
print(f"spread of the mean between draws: {np.std(means, ddof=1):.3f}")

# %%
# What to remember
# ----------------
#
# * Do not fill gaps with means before an embedding: people with many gaps would look alike.
# * For maps use ``missing="expected"``, for a completed table ``Imputer``, for statistics with an error ``draws``.
# * More: :doc:`/missing_values`; comparison with other imputers: :doc:`/imputation`.
