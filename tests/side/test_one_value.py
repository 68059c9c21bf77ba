"""One value of ``given`` stands for all rows; what could mean two things gets a sentence."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sidelight import KernelInformationEmbedding
from sidelight.side.given import Given
from sidelight.side.one_value import is_one_value

X = np.random.default_rng(0).normal(size=(40, 4))
GROUP = np.array(["treated", "control"] * 20)
DAYS = pd.Series(pd.date_range("2024-01-01", periods=40, freq="7D"))


def fitted(given, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # five iterations do not converge
        return KernelInformationEmbedding(max_iter=5, perplexity=8.0, random_state=0, **settings).fit(X, given=given)


MODEL = fitted(GROUP)
BOTH = fitted(pd.DataFrame({"group": GROUP, "dose": X[:, 0]}))
NAMED = {"group": "treated", "dose": 0.5}


@pytest.mark.parametrize("value", ["treated", np.str_("treated"), np.array("treated"), {"group": "treated"}])
def test_a_scalar_is_the_value_of_every_row(value):
    rows = ["treated"] * 40
    if isinstance(value, dict):
        model, rows = fitted(pd.DataFrame({"group": GROUP})), {"group": rows}
    else:
        model = MODEL
    Z = model.embedding_
    assert np.array_equal(model.counterfactual(X, given=value), model.counterfactual(X, given=rows))
    assert np.array_equal(model.transform(X, given=value), model.transform(X, given=rows))
    assert np.array_equal(model.inverse_transform(Z, given=value), model.inverse_transform(Z, given=rows))
    assert np.array_equal(model.predictive_variance(Z, given=value), model.predictive_variance(Z, given=rows))
    assert model.score(X, given=value) == model.score(X, given=rows)


@pytest.mark.parametrize(
    "value",
    [NAMED, pd.Series(NAMED), pd.Series(NAMED)[["dose", "group"]], {"dose": np.full(40, 0.5), "group": "treated"}],
)
@pytest.mark.parametrize("n", [1, 2, 40])
def test_several_columns_are_given_by_name(value, n):
    value = {**value, "dose": value["dose"][:n]} if isinstance(value, dict) and np.ndim(value["dose"]) else value
    rows = pd.DataFrame({"group": ["treated"] * n, "dose": np.full(n, 0.5)})
    assert np.array_equal(BOTH.counterfactual(X[:n], given=value), BOTH.counterfactual(X[:n], given=rows))


def test_one_value_for_two_columns_gets_a_sentence():
    words = (
        r"given=treated is one value, and the model was given 2 columns \('group', 'dose'\)\. Say which is which: \{'gr"
    )
    with pytest.raises(ValueError, match=words):
        BOTH.counterfactual(X, given="treated")
    with pytest.raises(ValueError, match=r"given=1 column does not match the 2 columns of fit"):
        BOTH.counterfactual(X, given={"group": "treated"})


def test_a_value_that_fit_did_not_see_is_named():
    with pytest.raises(ValueError, match=r"given=Treated is not among the categories of 'given'.*'control', 'treated'"):
        MODEL.counterfactual(X, given="Treated")


@pytest.mark.parametrize("value", [float("nan"), pd.NA, np.nan])
def test_a_missing_value_averages_over_given(value):
    assert np.array_equal(MODEL.transform(X, given=value), MODEL.transform(X))


DATES = [dt.date(2024, 3, 4), dt.datetime(2024, 3, 4), np.datetime64("2024-03-04"), pd.Timestamp("2024-03-04")]
DATES += [pd.Timestamp("2024-03-04T02:00", tz="Europe/Berlin") - pd.Timedelta(hours=1)]


@pytest.mark.parametrize("date", DATES)
def test_one_date_is_read_as_a_column_of_dates_is(date):
    given = Given.learn("Model", DAYS, 40)
    expected = given.encode("Model", pd.Series([pd.Timestamp("2024-03-04")] * 3), 3)
    assert np.array_equal(given.encode("Model", date, 3).values, expected.values)


def test_entries_per_row_stay_entries_per_row():
    """A Series with a label per row is one entry per row, also where there are as many rows as columns."""
    assert not any(map(is_one_value, (["a"], ("a",), np.array(["a"]), pd.Series(["a"]), pl.Series(["a"]), None)))
    for rows in (["treated", "control"], pd.Series(["treated", "control"]), pl.Series(["treated", "control"])):
        assert MODEL.transform(X[:2], given=rows).tolist() == MODEL.transform(X[:2], given=GROUP[:2]).tolist()
    with pytest.raises(ValueError, match="given=2 entries in 'given' does not match the 3 rows"):
        MODEL.transform(X[:3], given=["treated", "control"])
