"""An old name of a constructor parameter is accepted wherever the parameter is set, and seen nowhere."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import HybridEmbedding
from sidelight.base.alias import current_names, renamed_argument, with_present_parameters

OLD = pytest.mark.filterwarnings("ignore:HybridEmbedding. distance=.* is the old name of metric:FutureWarning")
X = np.random.default_rng(0).normal(size=(40, 3))


@OLD
def test_the_old_keyword_sets_the_parameter():
    model = HybridEmbedding(distance="euclidean")
    assert model.metric == model.distance == "euclidean"
    np.testing.assert_array_equal(model.fit(X).embedding_, HybridEmbedding(metric="euclidean").fit(X).embedding_)


@OLD
def test_only_the_new_name_is_seen():
    model = HybridEmbedding(distance="euclidean")
    assert "distance" not in inspect.signature(HybridEmbedding).parameters
    assert "distance" not in model.get_params()
    assert clone(model).get_params() == model.get_params()
    assert "distance" not in vars(model)
    assert repr(model) == "HybridEmbedding(metric='euclidean')"


@OLD
def test_the_old_name_works_in_set_params_alone_and_inside_a_pipeline():
    model = HybridEmbedding()
    assert model.set_params(distance="euclidean") is model
    chain = Pipeline([("scale", StandardScaler()), ("map", model)]).set_params(map__distance="precomputed")
    assert chain.get_params()["map__metric"] == "precomputed"


@OLD
def test_the_old_name_works_in_a_grid():
    search = GridSearchCV(HybridEmbedding(), {"distance": ["euclidean", "geodesic"]}, cv=2).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@OLD
def test_the_old_attribute_can_be_set():
    model = HybridEmbedding()
    model.distance = "euclidean"
    assert model.get_params()["metric"] == "euclidean"


@pytest.mark.parametrize("call", [HybridEmbedding, HybridEmbedding().set_params])
def test_both_names_at_once_are_refused(call):
    with pytest.raises(
        TypeError, match=r"distance=geodesic is the old name of metric, which is given too\. Give metric"
    ):
        call(distance="geodesic", metric="euclidean")


def test_an_unknown_keyword_is_refused_as_before():
    with pytest.raises(TypeError, match="unexpected keyword argument 'distanz'"):
        HybridEmbedding(distanz="euclidean")


def test_every_use_of_an_old_name_warns_with_the_line_to_write():
    said = r"HybridEmbedding: distance=euclidean is the old name of metric\. Write metric='euclidean'; the old keyword"
    with pytest.warns(FutureWarning, match=said) as seen:
        model = HybridEmbedding(distance="euclidean")
    assert seen[0].filename == __file__
    with pytest.warns(FutureWarning, match=said):
        model.set_params(distance="euclidean")
    with pytest.warns(FutureWarning, match=r"distance=\.\.\. is the old name of metric"):
        assert model.distance == "euclidean"


def test_a_file_with_an_old_name_loads_without_a_warning():
    assert with_present_parameters(HybridEmbedding, {"distance": "euclidean"}) == {"metric": "euclidean"}


def test_a_class_without_old_names_has_none():
    assert current_names(StandardScaler) == {}
    assert current_names(HybridEmbedding) == {"distance": "metric"}


def test_an_old_argument_of_a_method_is_understood_with_a_warning():
    @renamed_argument("Y", "y")
    def difference(X, y, *, scale=1):
        return (X - y) * scale

    with pytest.warns(
        FutureWarning, match=r"difference: Y=1 is the old name of y\. Write y=1; the old keyword will go\."
    ) as seen:
        assert difference(4, Y=1, scale=2) == 6
    assert seen[0].filename == __file__
    assert list(inspect.signature(difference).parameters) == ["X", "y", "scale"]
    with pytest.raises(TypeError, match="which is given too"):
        difference(4, y=1, Y=1)
    with pytest.raises(TypeError, match="multiple values"), pytest.warns(FutureWarning):
        difference(4, 1, Y=1)
