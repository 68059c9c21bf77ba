"""CoordinatedMixture: what it finds on sheets, its limit cases, its invariances, and that it streams."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.mixture import GaussianMixture

from sidelight import BernoulliMixture, CoordinatedCCA, CoordinatedMixture, PPCAMixture
from sidelight.datasets import s_curve, swiss_roll
from sidelight.maps.charts import gaussian_charts


def explained(Z, factors):
    """R² of each true coordinate by linear regression on the latents, the worst."""
    return min(LinearRegression().fit(Z, t).score(Z, t) for t in (factors["arc"], factors["height"]))


def agree(Z, other, tolerance):
    """Whether two maps are the same up to the sign of their axes."""
    signs = np.sign((Z * other).sum(axis=0))
    return np.abs(Z * signs - other).max() < tolerance


@pytest.fixture(scope="module")
def sheet():
    return s_curve(1000, random_state=0)


@pytest.fixture(scope="module")
def model(sheet):
    return CoordinatedMixture(n_charts=10, random_state=0).fit(sheet.X)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_s_curve_is_unrolled_with_the_defaults(seed):
    data = s_curve(1500, random_state=seed)
    assert explained(CoordinatedMixture(random_state=seed).fit_transform(data.X), data.factors) > 0.98


@pytest.mark.thorough
def test_a_swiss_roll_is_unrolled_with_the_defaults():
    data = swiss_roll(2000, random_state=0)
    found = CoordinatedMixture(random_state=0).fit(data.X)
    assert explained(found.embedding_, data.factors) > 0.98
    assert found.distortion_ < 0.02
    assert len(found.bridging_) == 0


@pytest.mark.thorough
def test_charts_of_a_sample_are_where_those_of_all_rows_begin():
    data = swiss_roll(6000, random_state=0)
    found = CoordinatedMixture(random_state=0).fit(data.X)
    assert explained(found.embedding_, data.factors) > 0.98


def test_too_few_charts_fold_the_roll_and_the_model_says_so():
    data = swiss_roll(2000, random_state=0)
    found = CoordinatedMixture(n_charts=6, alignment="coordination", random_state=0).fit(data.X)
    assert found.off_plane_.max() > 0.2
    assert found.distortion_ > 0.02
    assert found.score(data.X) < 0.9


def test_a_chart_across_two_layers_is_noticed():
    """Two layers, six flat charts on them and one that lies across."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 8, 1600), rng.uniform(0, 2, 1600), np.repeat([0.0, 2.5], 800)])
    cells = np.where(X[:, 0] < 2, 0, 1 + (X[:, 0] // 2 - 1).astype(int) * 2 + (X[:, 2] > 1))
    mixture = GaussianMixture(7)
    mixture.weights_ = np.bincount(cells) / 1600
    mixture.means_ = np.stack([X[cells == c].mean(axis=0) for c in range(7)])
    mixture.covariances_ = np.stack([np.cov(X[cells == c].T) + 1e-4 * np.eye(3) for c in range(7)])
    found = CoordinatedMixture(mixture=gaussian_charts(mixture, 2), alignment="coordination").fit(X)
    np.testing.assert_array_equal(found.bridging_, [0])


def test_a_linear_subspace_gives_back_its_principal_subspace():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2)) @ rng.normal(size=(2, 6)) + 3.0
    Z = CoordinatedMixture(n_charts=4, random_state=0).fit_transform(X)
    scores = PCA(2).fit_transform(X)
    assert LinearRegression().fit(scores, Z).score(scores, Z) > 1 - 1e-9
    assert LinearRegression().fit(Z, scores).score(Z, scores) > 1 - 1e-9


def test_one_chart_is_a_principal_component_map():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)) * [5, 4, 1, 0.5, 0.2]
    Z = CoordinatedMixture(n_charts=1).fit_transform(X)
    scores = PCA(2).fit_transform(X)
    assert LinearRegression().fit(scores, Z).score(scores, Z) > 1 - 1e-6


def test_latent_columns_are_centred_and_of_unit_variance(model):
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(np.cov(model.embedding_.T, bias=True), np.eye(2), atol=1e-6)


def test_rows_one_by_one_equal_the_batch(model, sheet):
    rows = sheet.X[:40] + 0.01
    alone = np.concatenate([model.transform(rows[i : i + 1]) for i in range(40)])
    np.testing.assert_allclose(alone, model.transform(rows), rtol=0, atol=1e-12)


def test_the_way_back_finds_the_sheet(model, sheet):
    assert model.score(sheet.X) > 0.999
    inside = model.embedding_ * 0.99
    assert np.abs(model.transform(model.inverse_transform(inside)) - inside).max() < 0.05


@pytest.mark.parametrize("options", [{"n_charts": 8}, {"n_charts": 6, "n_mixtures": 2}, {}])
@pytest.mark.thorough
def test_batches_give_the_map_of_all_rows(options):
    X = s_curve(400, noise=0.05, random_state=0).X
    whole = CoordinatedMixture(random_state=3, **options).fit(X)
    batches = [X[:170], X[170:171], X[171:]]
    parts = CoordinatedMixture(random_state=3, **options).fit_batches(lambda: iter(batches))
    assert agree(parts.transform(X), whole.embedding_, 1e-8)
    assert not hasattr(parts, "embedding_")


def test_a_fit_in_batches_forgets_the_embedding_of_a_fit(sheet):
    found = CoordinatedMixture(n_charts=4, alignment="coordination").fit(sheet.X)
    assert not hasattr(found.fit_batches(sheet.X), "embedding_")


@pytest.mark.thorough
def test_turned_and_scaled_data_give_the_same_map(sheet, model):
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    charts = PPCAMixture(10, 2, random_state=0).fit(sheet.X).charts_
    plain = CoordinatedMixture(mixture=charts).fit(sheet.X)
    moved = _Turned(charts, turn)
    other = CoordinatedMixture(mixture=moved).fit(7.0 * sheet.X @ turn + 100.0)
    assert agree(other.embedding_, plain.embedding_, 1e-6)
    shifted = CoordinatedMixture(n_charts=10, random_state=0).fit(sheet.X * 1e3 + 1e4)
    assert agree(shifted.embedding_, model.embedding_, 1e-5)


class _Turned:
    """Charts of data that was turned, scaled and moved."""

    def __init__(self, charts, turn):
        self.charts, self.turn = charts, turn
        self.n_charts, self.n_local = charts.n_charts, charts.n_local

    def responsibilities(self, X):
        return self.charts.responsibilities((X - 100.0) @ self.turn.T / 7.0)

    def features(self, X, chart):
        return self.charts.features((X - 100.0) @ self.turn.T / 7.0, chart)

    def reconstruction(self, F, chart):
        return 7.0 * self.charts.reconstruction(F, chart) @ self.turn + 100.0


@pytest.mark.thorough
def test_charts_may_have_local_features_of_unequal_number(sheet):
    mixture = GaussianMixture(9, random_state=0)
    found = CoordinatedMixture(mixture=mixture, n_local=[2, 2, 2, 1, 2, 2, 2, 2, 0]).fit(sheet.X)
    assert found.n_local_ == (2, 2, 2, 1, 2, 2, 2, 2, 0)
    assert np.isfinite(found.embedding_).all()
    assert found.inverse_transform(found.embedding_).shape == sheet.X.shape
    own = CoordinatedMixture(n_charts=8, n_local="auto", random_state=0).fit(sheet.X)
    assert len(own.n_local_) == 8


def test_a_gaussian_mixture_of_scikit_learn_plugs_in():
    data = s_curve(1500, random_state=1)
    found = CoordinatedMixture(mixture=GaussianMixture(20), random_state=0).fit(data.X)
    assert explained(found.embedding_, data.factors) > 0.95


@pytest.mark.thorough
def test_a_gaussian_mixture_finds_the_local_dimensions_of_each_chart():
    """A sheet of thickness 0.02 in five columns has two dimensions, or three where a chart is curved; never four."""
    data = s_curve(1500, random_state=1)
    X = np.column_stack([data.X, np.zeros((1500, 2))]) + 0.02 * np.random.default_rng(0).normal(size=(1500, 5))
    found = CoordinatedMixture(mixture=GaussianMixture(20), n_local="auto", random_state=0).fit(X)
    assert 2 in found.n_local_
    assert set(found.n_local_) <= {1, 2, 3}
    assert explained(found.embedding_, data.factors) > 0.9


class _WithCharts(BaseEstimator):
    """A mixture of the user's, whose fit sets ``charts_`` and nothing else."""

    def __init__(self, n_charts=8):
        self.n_charts = n_charts

    def fit(self, X, y=None):
        self.charts_ = PPCAMixture(self.n_charts, 2, random_state=0).fit(X).charts_
        return self


@pytest.mark.thorough
def test_an_estimator_that_has_charts_once_it_is_fitted_plugs_in(sheet):
    found = CoordinatedMixture(mixture=_WithCharts(10)).fit(sheet.X)
    charts = PPCAMixture(10, 2, random_state=0).fit(sheet.X).charts_
    np.testing.assert_array_equal(found.embedding_, CoordinatedMixture(mixture=charts).fit(sheet.X).embedding_)
    assert found.n_iter_ == 1


def test_mixtures_of_bernoullis_plug_in():
    rng = np.random.default_rng(0)
    t = rng.uniform(size=400)
    X = (rng.uniform(size=(400, 30)) < 1 / (1 + np.exp(-20 * (t[:, None] - np.linspace(0, 1, 30))))).astype(float)
    found = CoordinatedMixture(1, mixture=BernoulliMixture(5), random_state=0).fit(X)
    assert np.isfinite(found.inverse_transform(found.embedding_)).all()
    assert abs(np.corrcoef(found.embedding_[:, 0], t)[0, 1]) > 0.9


def test_a_mixture_of_bernoullis_is_coordinated_of_binary_rows_only():
    """Its threshold would make other rows of them than those that the charts see."""
    with pytest.raises(ValueError, match=r"^BernoulliMixture: X=array with 0\.5 is not binary"):
        CoordinatedMixture(1, mixture=BernoulliMixture(5, binarize=0.2)).fit(np.full((40, 6), 0.5))


def test_automatic_alignment_unrolls_an_s_curve(sheet):
    found = CoordinatedMixture(n_charts=12, alignment="automatic", random_state=0).fit(sheet.X)
    assert explained(found.embedding_, sheet.factors) > 0.95
    np.testing.assert_allclose(found.embedding_.mean(axis=0), 0.0, atol=1e-8)


def test_automatic_alignment_needs_the_rows_in_memory(sheet):
    with pytest.raises(ValueError, match=r"alignment=automatic is not an option\. Choose one of 'auto', "):
        CoordinatedMixture(alignment="automatic").fit_batches(sheet.X)


@pytest.mark.thorough
def test_the_density_is_the_mixture_s(sheet):
    mixture = PPCAMixture(6, 2, random_state=0).fit(sheet.X)
    found = CoordinatedMixture(mixture=mixture.charts_).fit(sheet.X)
    np.testing.assert_allclose(found.score_samples(sheet.X), mixture.score_samples(sheet.X), rtol=1e-10)
    drawn = found.sample(2000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), sheet.X.mean(axis=0), atol=0.2)


BAD = {
    "n_components": [0, 1.5],
    "n_charts": [0, "many", 2.5],
    "n_mixtures": [0],
    "n_local": [-1, "some"],
    "smoothing": [0.0, -1.0],
    "balance": ["fair", 0.0],
    "alignment": ["none"],
    "n_neighbors": [0],
    "max_iter": [0],
    "tol": [0.0],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value):
    with pytest.raises(ValueError, match=rf"^CoordinatedMixture: {name}=.* is not .*\. (Give|Choose) .*\.$"):
        CoordinatedMixture(**{name: value}).fit(np.eye(5))


def test_more_charts_than_rows_are_refused():
    with pytest.raises(ValueError, match=r"^CoordinatedMixture: n_charts=9 is more than the 5 rows\. Give fewer"):
        CoordinatedMixture(n_charts=9).fit(np.eye(5))


def test_what_is_no_mixture_is_refused():
    with pytest.raises(TypeError, match=r"^CoordinatedMixture: mixture=3 is neither an estimator nor charts"):
        CoordinatedMixture(mixture=3).fit(np.eye(5))
    with pytest.raises(ValueError, match=r"n_local=\[1, 2\] is a list, which a mixture of probabilistic PCA"):
        CoordinatedMixture(n_local=[1, 2]).fit(np.eye(5))


def test_cost_grows_with_rows_and_charts():
    few, many = CoordinatedMixture(n_charts=10), CoordinatedMixture(n_charts=80)
    assert few.estimate_cost(10_000, 5).seconds < few.estimate_cost(1_000_000, 5).seconds
    assert few.estimate_cost(10_000, 5).seconds < many.estimate_cost(10_000, 5).seconds
    search, fixed = CoordinatedMixture(), CoordinatedMixture(n_charts=20)
    longer = search.estimate_cost(2_000, 50).seconds / fixed.estimate_cost(2_000, 50).seconds
    assert 1.0 < longer < 2.0  # mixtures of a search have one start, those of a given number four: 1.5 measured
    assert search.estimate_cost(700, 4_000).seconds < fixed.estimate_cost(700, 4_000).seconds  # wide rows are reduced


def test_cost_of_views_counts_the_kernels():
    auto, charts = (CoordinatedCCA(n_charts=10, regression=regression) for regression in ("auto", "charts"))
    assert auto.estimate_cost(2_000, 50).seconds > charts.estimate_cost(2_000, 50).seconds
    assert auto.estimate_cost(2_000, 50).bytes > charts.estimate_cost(2_000, 50).bytes
