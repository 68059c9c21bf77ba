"""Pipelines with ``given``, without metadata routing: forwards, backwards, and in a file."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler

from sidelight import CountEncoder, KernelInformationEmbedding, ProbabilisticPCA, load, save
from sidelight.pipeline import InformedPipeline, make_pipeline

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sidelight.base.warnings.ExtrapolationWarning"),
]
RNG = np.random.default_rng(0)
GIVEN = np.where(np.arange(90) % 2, "b", "a")
FULL = np.abs(RNG.normal(size=(90, 3)) @ RNG.normal(size=(3, 8)) + 3.0 * (GIVEN == "b")[:, None])
COUNTS = np.rint(2 * FULL)
STEPS = {
    "standard scaler": (lambda: [StandardScaler()], FULL),
    "scaler and pca": (lambda: [StandardScaler(), PCA(4)], FULL),
    "truncated svd of sparse rows": (
        lambda: [MaxAbsScaler(), TruncatedSVD(4, random_state=0)],
        sparse.csr_matrix(FULL),
    ),
    "counts": (lambda: [CountEncoder(4)], sparse.csr_matrix(COUNTS)),
    "normalizer": (lambda: [Normalizer()], FULL),
    "columns": (lambda: [make_column_transformer((StandardScaler(), [0, 1, 2]), (PCA(2), [3, 4, 5, 6, 7]))], FULL),
}
ONE_WAY = ("normalizer", "columns")


def kie():
    return KernelInformationEmbedding(max_iter=15)


@pytest.fixture(scope="module", params=STEPS)
def case(request):
    steps, X = STEPS[request.param]
    return request.param, make_pipeline(*steps(), kie()).fit(X, given=GIVEN), X


def by_hand(pipeline, X):
    for _, step in pipeline.steps[:-1]:
        X = step.transform(X)
    return X


def back_by_hand(pipeline, rows):
    for _, step in reversed(pipeline.steps[:-1]):
        rows = step.inverse_transform(rows)
    return rows


@pytest.mark.thorough
def test_given_reaches_the_last_step_in_every_method(case):
    name, pipeline, X = case
    last, rows = pipeline[-1], by_hand(pipeline, X)
    assert last.given_.columns[0].categories == ("a", "b")
    np.testing.assert_array_equal(last.embedding_, kie().fit(rows, given=GIVEN).embedding_)
    Z = pipeline.transform(X, given=GIVEN)
    np.testing.assert_array_equal(Z, last.transform(rows, given=GIVEN))
    assert not np.allclose(pipeline.transform(X, given="a"), pipeline.transform(X, given="b"))
    if name not in ONE_WAY:
        back = back_by_hand(pipeline, last.inverse_transform(Z, given=GIVEN))
        np.testing.assert_array_equal(pipeline.inverse_transform(Z, given=GIVEN), back)
        other = back_by_hand(pipeline, last.counterfactual(rows, given="b"))
        np.testing.assert_array_equal(pipeline.counterfactual(X, given="b"), other)
        assert other.shape == X.shape
        assert pipeline.score(X, given=GIVEN) > 0.2
    np.testing.assert_array_equal(pipeline.overlap(X, given="b"), last.overlap(rows, given="b"))


def test_a_file_keeps_it_as_data_and_gives_the_same_bytes(case, tmp_path):
    """Bytes may be compared: a file holds the arrays themselves, and the same calls follow."""
    name, pipeline, X = case
    save(pipeline, tmp_path / "model")
    back = load(tmp_path / "model")
    assert type(back) is InformedPipeline
    Z = pipeline.transform(X, given=GIVEN)
    assert back.transform(X, given=GIVEN).tobytes() == Z.tobytes()
    if name not in ONE_WAY:
        assert back.counterfactual(X, given="b").tobytes() == pipeline.counterfactual(X, given="b").tobytes()


def test_a_step_without_an_inverse_takes_the_way_back_away(case):
    name, pipeline, _ = case
    for method in ("inverse_transform", "counterfactual", "score"):
        assert hasattr(pipeline, method) == (name not in ONE_WAY)


def test_plain_pipelines_are_loaded_as_plain_ones(tmp_path):
    save(Pipeline([("pca", PCA(3)), ("map", kie())]).fit(FULL), tmp_path / "model")
    assert type(load(tmp_path / "model")) is Pipeline


@pytest.mark.thorough
def test_metadata_routing_changes_nothing():
    model = make_pipeline(StandardScaler(), kie())
    expected = model.fit_transform(FULL, given=GIVEN)
    with sklearn.config_context(enable_metadata_routing=True):
        found = clone(model).fit_transform(FULL, given=GIVEN)
    np.testing.assert_array_equal(found, expected)


def test_without_given_it_is_a_plain_pipeline():
    steps = [("scaler", StandardScaler()), ("map", kie())]
    model, plain = InformedPipeline(steps).fit(FULL), Pipeline(clone(InformedPipeline(steps)).steps).fit(FULL)
    np.testing.assert_array_equal(model.transform(FULL), plain.transform(FULL))
    assert not hasattr(model, "counterfactual")


def test_a_last_step_that_takes_no_given_is_named():
    sentence = r"InformedPipeline: steps=ProbabilisticPCA, the last, takes no given\. End the Pipeline with Kernel"
    with pytest.raises(ValueError, match=sentence):
        make_pipeline(StandardScaler(), ProbabilisticPCA(2)).fit(FULL, given=GIVEN)
