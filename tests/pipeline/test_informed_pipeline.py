"""Pipelines with ``given``, without metadata routing: forwards, backwards, and in a file."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from sidelight import CountEncoder, KernelInformationEmbedding, ProbabilisticPCA, load, save
from sidelight.base.way_back import goes_back, undone
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
    "dropped columns": (lambda: [make_column_transformer((StandardScaler(), [0, 1, 2]))], FULL),
}
ONE_WAY = ("dropped columns",)
BY_PARTS = ("normalizer", "columns")  # scikit-learn has no inverse of these


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
    if name not in (*ONE_WAY, *BY_PARTS):
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
    for method in ("inverse_transform", "counterfactual"):
        assert hasattr(pipeline, method) == (name not in ONE_WAY)
    assert hasattr(pipeline, "score")  # of the last step, in the columns that it sees


@pytest.mark.thorough
def test_rows_that_change_to_what_they_are_come_back_as_they_are():
    """Also through steps of which scikit-learn has no inverse."""
    steps = [make_column_transformer((Normalizer(norm="l1"), [7, 0]), ("passthrough", slice(1, 7))), RobustScaler()]
    model = make_pipeline(*steps, Normalizer(), kie()).fit(FULL, given=GIVEN)
    np.testing.assert_allclose(model.corrected(FULL, given=GIVEN, to=GIVEN), FULL, rtol=1e-10)
    same = model.counterfactual(FULL, given=GIVEN, given_now=GIVEN, residual=1.0)
    np.testing.assert_allclose(same, FULL, rtol=1e-10)
    np.testing.assert_allclose(
        model.corrected(FULL, given=GIVEN, to=GIVEN, columns=[5, 0]), FULL[:, [5, 0]], rtol=1e-10
    )
    assert model.inverse_transform(model.transform(FULL, given=GIVEN)).shape == FULL.shape


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array, pd.DataFrame])
def test_a_normalizer_gives_rows_their_length_back(norm, form):
    full = np.where(FULL > 3, FULL, 0.0)
    full[4] = 0.0
    rows, step = form(full), Normalizer(norm=norm).fit(form(full))
    made = step.transform(rows)
    back = undone(step, made.toarray() if sparse.issparse(made) else made, rows)
    np.testing.assert_allclose(back, full, atol=1e-12)


def test_columns_of_words_have_no_way_back():
    table = pd.DataFrame(FULL[:, :3], columns=list("abc")).assign(word=np.where(np.arange(90) % 3, "x", "y"))
    columns = make_column_transformer((StandardScaler(), list("abc")), (OneHotEncoder(), ["word"]))
    assert not hasattr(make_pipeline(columns, kie()), "inverse_transform")
    assert not goes_back(columns.fit(table))


@pytest.mark.thorough
def test_columns_of_a_table_go_back_by_name():
    table = pd.DataFrame(FULL[:, :4], columns=list("abcd"))
    columns = make_column_transformer((PCA(2), ["c", "a"]), (Normalizer(), ["d", "b"]))
    model = make_pipeline(columns, kie()).fit(table, given=GIVEN)
    np.testing.assert_allclose(model.corrected(table, given=GIVEN, to=GIVEN), table, rtol=1e-10)
    some = model.counterfactual(table, given="b", given_now=GIVEN, columns=["d", "a"])
    np.testing.assert_array_equal(some, model.counterfactual(table, given="b", given_now=GIVEN)[:, [3, 0]])


def test_a_function_without_its_inverse_has_no_way_back():
    """scikit-learn would take the identity for it."""
    assert not hasattr(make_pipeline(FunctionTransformer(np.log1p), kie()), "counterfactual")
    two_way = make_pipeline(FunctionTransformer(np.log1p, inverse_func=np.expm1), kie()).fit(FULL, given=GIVEN)
    np.testing.assert_allclose(two_way.corrected(FULL, given=GIVEN, to=GIVEN), FULL, rtol=1e-10)
    with pytest.raises(ValueError, match="return_std=True has no inverse through FunctionTransformer, which is not"):
        two_way.counterfactual(FULL, given="b", return_std=True)


@pytest.mark.parametrize("name", ["standard scaler", "columns", "normalizer"])
def test_standard_deviations_go_back_through_linear_steps(name):
    """Against many draws of independent columns that go back with the rows."""
    steps, X = STEPS[name]
    if name == "columns":  # and components of some columns, whitened
        steps = lambda: [make_column_transformer((MinMaxScaler(), [0, 1]), (PCA(3, whiten=True), slice(2, 8)))]  # noqa: E731
    model = make_pipeline(*steps(), kie()).fit(X, given=GIVEN)
    rows, std = model.counterfactual(X[:3], given="b", given_now=GIVEN[:3], return_std=True)
    inside, own = model[-1].counterfactual(by_hand(model, X[:3]), given="b", given_now=GIVEN[:3], return_std=True)
    np.testing.assert_array_equal(rows, model.counterfactual(X[:3], given="b", given_now=GIVEN[:3]))
    draws = inside + own * np.random.default_rng(1).normal(size=(4000, *own.shape))
    back = undone(model.steps[0][1], draws.reshape(-1, own.shape[1]), np.tile(X[:3], (4000, 1)))
    np.testing.assert_allclose(std, back.reshape(4000, 3, -1).std(axis=0), rtol=0.08)
    some = model.counterfactual(X[:3], given="b", given_now=GIVEN[:3], return_std=True, columns=[6, 1])
    np.testing.assert_array_equal(some[1], std[:, [6, 1]])


@pytest.mark.thorough
def test_a_pipeline_adapts_to_a_new_category_and_is_saved(tmp_path):
    model = make_pipeline(StandardScaler(), PCA(4), kie()).fit(FULL, given=GIVEN)
    new = FULL[:12] + 2.0
    wider = model.adapt(new, given="c")
    expected = model[-1].adapt(by_hand(model, new), given="c")
    np.testing.assert_array_equal(wider.transform(new, given="c"), expected.transform(by_hand(model, new), given="c"))
    assert model[-1].given_.columns[0].categories == ("a", "b")
    save(wider, tmp_path / "model")
    back = load(tmp_path / "model")
    for one, other in zip(*(m.counterfactual(FULL, given="c", return_std=True) for m in (wider, back)), strict=True):
        assert one.tobytes() == other.tobytes()  # a file holds the arrays themselves
    assert not hasattr(make_pipeline(StandardScaler(), ProbabilisticPCA(2)), "adapt")


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
