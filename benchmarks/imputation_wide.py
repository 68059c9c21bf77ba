"""Missing values in 649 columns: `imputation` on the six views of mfeat side by side, which takes most of an hour.

IterativeImputer with its ten rounds takes more than an hour and 10 GB there. It is given one round, one mask is
measured, and its time is taken to be ten times that of the round.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Report
from benchmarks.imputation import SHARES, compared
from sidelight.datasets import load_mfeat

TITLE = "imputation beside IterativeImputer and KNNImputer in many columns: mfeat"
RIVALS = ("scikit-learn",)
_VIEWS = ("fac", "fou", "kar", "mor", "pix", "zer")


def run(*, quick: bool) -> Report:
    return compared({"mfeat": np.hstack([load_mfeat(view).X for view in _VIEWS])}, (0.3,) if quick else SHARES, masks=1)
