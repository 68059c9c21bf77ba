"""``score`` of a pipeline is that of its last step, also of mixed tables and inside a search."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding, ProbabilisticPCA, TableEncoder
from sidelight.pipeline import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
GIVEN = np.where(np.arange(60) % 2, "b", "a")
X = RNG.normal(size=(60, 2)) @ RNG.normal(size=(2, 5)) + RNG.normal(size=(60, 5)) + (GIVEN == "b")[:, None]
X[:, 4] = 1000.0 * RNG.normal(size=60)  # noise: in raw units, this column would be all that a score measures
GRID = {"kernelinformationembedding__perplexity": [5, 15]}
WITHOUT = r"InformedPipeline: score without given, with which the model was fitted"


def kie():
    return KernelInformationEmbedding(max_iter=15)


def mixed():
    kind = np.where(RNG.random(60) < 0.5, "round", "square")
    return pd.DataFrame({"length": X[:, 0], "weight": X[:, 4], "width": X[:, 1], "kind": kind})


def test_the_score_is_that_of_the_last_step_and_of_scikit_learns_pipeline():
    model = make_pipeline(StandardScaler(), kie()).fit(X, given=GIVEN)
    rows = model[0].transform(X)
    assert model.score(X, given=GIVEN) == model[-1].score(rows, given=GIVEN)
    plain = make_pipeline(StandardScaler(), kie()).fit(X)
    assert plain.score(X) == Pipeline(plain.steps).score(X)
    raw = 1 - np.square(X - plain.inverse_transform(plain.transform(X))).sum() / np.square(X - X.mean(axis=0)).sum()
    assert abs(plain.score(X) - raw) > 0.01  # else this test could not tell the columns that are scored


def test_the_score_passes_weights_on_and_may_be_a_log_density():
    model, weight = make_pipeline(StandardScaler(), kie()).fit(X), np.arange(60.0)
    rows = model[0].transform(X)
    assert model.score(X, sample_weight=weight) == model[-1].score(rows, sample_weight=weight)
    assert model.score(X, sample_weight=weight) != model.score(X)
    density = make_pipeline(StandardScaler(), ProbabilisticPCA(2)).fit(X)
    assert density.score(X) == Pipeline(density.steps).score(X)


@pytest.mark.thorough
def test_a_mixed_table_has_a_score_and_can_be_searched():
    table = mixed()
    model = make_pipeline(TableEncoder(), kie()).fit(table)
    assert model.score(table) == Pipeline(model.steps).score(table)
    found = GridSearchCV(make_pipeline(TableEncoder(), kie()), GRID, cv=2, error_score="raise").fit(table)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


@pytest.mark.thorough
def test_a_search_scores_with_given_where_routing_is_on_and_warns_where_it_is_not():
    steps = [("standardscaler", StandardScaler()), ("kernelinformationembedding", kie())]
    with sklearn.config_context(enable_metadata_routing=True):
        ours = GridSearchCV(make_pipeline(StandardScaler(), kie()), GRID, cv=2).fit(X, given=GIVEN)
        steps[1][1].set_fit_request(given=True).set_score_request(given=True)
        theirs = GridSearchCV(Pipeline(steps), GRID, cv=2).fit(X, given=GIVEN)
    expected = theirs.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], expected)
    assert ours.best_estimator_.transform(X, given=GIVEN).shape == (60, 2)
    with pytest.warns(UserWarning, match=WITHOUT):
        blind = GridSearchCV(make_pipeline(StandardScaler(), kie()), GRID, cv=2).fit(X, given=GIVEN)
    assert (blind.cv_results_["mean_test_score"] != expected).all()


def test_a_score_without_given_warns_only_if_the_model_was_given_something(recwarn):
    make_pipeline(StandardScaler(), kie()).fit(X).score(X)
    assert not [one for one in recwarn if "score without given" in str(one.message)]
    model = make_pipeline(StandardScaler(), kie()).fit(X, given=GIVEN)
    with pytest.warns(UserWarning, match=WITHOUT):
        model.score(X)
