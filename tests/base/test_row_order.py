"""Tables with the same labels in different orders are matched by position, and that is said."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding
from sidelight.base.row_order import warn_of_row_order
from sidelight.pipeline import make_pipeline

X = pd.DataFrame(
    np.random.default_rng(0).normal(size=(60, 4)), index=[f"cell{i}" for i in range(60)], columns=list("abcd")
)
BATCH = pd.Series(np.arange(60) % 2, index=X.index, name="batch").map({0: "x", 1: "y"})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("steps", [(), (StandardScaler(),)])
def test_a_fit_with_given_in_another_order_warns(steps):
    model = KernelInformationEmbedding(max_iter=3, tol=1e-1)
    model = make_pipeline(*steps, model) if steps else model
    with pytest.warns(UserWarning, match=r"given=a table has the labels of X in another order.*given\.loc\[X\.index\]"):
        model.fit(X, given=BATCH[::-1])


@pytest.mark.parametrize(
    "given",
    [BATCH, BATCH.reset_index(drop=True), BATCH.to_numpy(), BATCH.tolist(), {"batch": BATCH}, None, BATCH[:10]],
    ids=["same", "fresh", "array", "list", "mapping", "none", "short"],
)
def test_other_labels_and_other_containers_say_nothing(given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_row_order("Model", X, given)
        warn_of_row_order("Model", X.to_numpy().tolist(), given)
