"""How usual rows are by a density with missing entries: calibrated, row by row, whichever entries are missing."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sidelight import BernoulliMixture, CoordinatedCCA, CoordinatedMixture, PPCAMixture, ProbabilisticPCA
from sidelight.maps.typicality import StandardizedDensity, lower_share, view_shares

RNG = np.random.default_rng(0)
W = RNG.normal(size=(2, 6))


def rows(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) @ W + 0.3 * rng.normal(size=(n, 6)) + rng.choice([0.0, 4.0, -4.0], size=(n, 1))


def with_gaps(X, share=0.3):
    gone = np.random.default_rng(5).random(X.shape) < share
    return np.where(gone & ~gone.all(axis=1, keepdims=True), np.nan, X)


TRAIN, NEW = rows(500, 2), rows(400, 3)
MODELS = {
    "ProbabilisticPCA": ProbabilisticPCA(2),
    "PPCAMixture": PPCAMixture(3, 2, random_state=0),
    "CoordinatedMixture": CoordinatedMixture(n_charts=3, random_state=0),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param].fit(TRAIN)


def test_new_rows_of_the_same_kind_are_usual_and_far_ones_are_not(model):
    share = model.typicality(NEW)
    assert 0.4 < np.median(share) < 0.6
    assert (share < 0.01).mean() < 0.03
    assert model.typicality(1000 * NEW[:5]).tolist() == [0.0] * 5
    assert model.typicality(np.full((1, 6), 1e90)).tolist() == [0.0]


def test_typicality_is_row_by_row_and_the_same_with_any_number_of_threads(model):
    share = model.typicality(NEW[:40])
    assert np.array_equal(share, np.concatenate([model.typicality(NEW[i : i + 1]) for i in range(40)]))
    assert np.array_equal(share, model.set_params(n_jobs=2).typicality(NEW[:40]))


def test_a_mixture_with_few_rows_per_parameter_does_not_call_new_rows_unusual():
    few = PPCAMixture(10, 2, random_state=0).fit(TRAIN[:150])  # 10 charts of 19 parameters, 900 entries
    own, new = few.score_samples(TRAIN[:150]), few.score_samples(NEW)
    assert np.median(own) - np.median(new) > 1.0  # the density is much larger at its own rows
    assert (few.typicality(NEW) < 0.01).mean() < 0.1
    assert (new < np.quantile(own, 0.01)).mean() > 0.15  # what a comparison with those densities would say


@pytest.mark.parametrize("name", ["ProbabilisticPCA", "PPCAMixture"])
def test_missing_entries_do_not_make_a_row_unusual(name):
    found = MODELS[name].fit(with_gaps(TRAIN))
    for new in (NEW, with_gaps(NEW), with_gaps(NEW, 0.6)):
        share = found.typicality(new)
        assert 0.35 < np.median(share) < 0.65
        assert (share < 0.01).mean() < 0.04
    far = np.full((2, 6), np.nan)
    far[:, 3] = 1000.0, NEW[0, 3]
    assert found.typicality(far)[0] == 0.0
    assert found.typicality(far)[1] > 0.05
    assert 0.0 < found.typicality(np.full((1, 6), np.nan))[0] < 1.0  # nothing is known, so nothing is unusual


def test_equal_binary_rows_are_usual_and_a_new_combination_is_not():
    X = np.repeat([[0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 0, 0]], [150, 50], axis=0).astype(float)
    found = BernoulliMixture(2, random_state=0).fit(X)
    share = found.typicality(np.array([[0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 0, 0], [1, 0, 1, 0, 1, 0]], dtype=float))
    assert share[0] >= 0.75 - 1e-12
    assert 0.2 < share[1] < 0.3
    assert share[2] == 0.0
    assert found.typicality([[1.0, np.nan, np.nan, np.nan, np.nan, 1.0]])[0] == 0.0


def test_latent_points_outside_the_map_are_unusual():
    for found in (ProbabilisticPCA(2).fit(TRAIN), CoordinatedMixture(n_charts=3, random_state=0).fit(TRAIN)):
        assert found.latent_typicality([[50.0, 50.0]]).tolist() == [0.0]
        assert (found.latent_typicality(found.transform(NEW)) < 0.01).mean() < 0.05


def test_a_stream_keeps_no_rows_to_compare_with():
    for streamed in (ProbabilisticPCA(2).partial_fit(TRAIN), PPCAMixture(3, 2).fit(TRAIN).partial_fit(NEW)):
        assert not hasattr(streamed, "typicality")
    assert hasattr(PPCAMixture(3), "typicality")


def test_batches_give_the_typicality_of_all_rows_at_once():
    whole = ProbabilisticPCA(2).fit(TRAIN)
    batches = ProbabilisticPCA(2).fit_batches([TRAIN[:200], TRAIN[200:]])
    assert np.allclose(whole.typicality(NEW), batches.typicality(NEW), atol=0.005)


def test_views_are_compared_with_rows_that_the_same_views_have_seen():
    X, y = TRAIN[:, :3], TRAIN[:, 3:].copy()
    y[:100] = np.nan
    found = CoordinatedCCA(n_charts=3, random_state=0).fit(X, y)
    assert 0.35 < np.median(found.typicality(NEW[:, :3])) < 0.65
    assert found.typicality(1000 * NEW[:2, :3]).tolist() == [0.0, 0.0]
    own = np.array([[0.0, 0.0], [1.0, np.nan], [2.0, 5.0], *[[k, k] for k in range(3, 12)]])
    logs = np.array([[1.5, np.nan], [20.0, 20.0], [np.nan, 4.5]])
    assert view_shares(own, logs).tolist() == [2 / 12, 1.0, 3 / 11]
    few = view_shares(own[:3], np.array([[5.0, 1.0]]))  # two rows seen by both: the least share of a view
    assert few.tolist() == [0.5]


def test_standardised_densities_of_a_gaussian_have_mean_0_and_deviation_1_for_every_pattern():
    covariance = W.T @ W + 0.1 * np.eye(6)

    def log_density(X):
        seen = ~np.isnan(X)
        return np.array(
            [
                multivariate_normal.logpdf(x[at], np.zeros(at.sum()), covariance[np.ix_(at, at)])
                for x, at in zip(X, seen, strict=True)
            ]
        )

    draw = np.random.default_rng(7).multivariate_normal(np.zeros(6), covariance, size=600)
    density = StandardizedDensity(log_density, draw[:200])
    for columns in ([0, 1, 2, 3, 4, 5], [0, 3], [5]):
        X = np.full((400, 6), np.nan)
        X[:, columns] = draw[200:, columns]
        score = density(X)
        assert abs(score.mean()) < 0.3
        assert 0.7 < score.std() < 1.4


def test_the_share_does_not_depend_on_the_last_bits():
    own = np.array([-2.0, -1.0, -1.0, 3.0])
    assert lower_share(own, own * (1 - 1e-12)).tolist() == lower_share(own, own * (1 + 1e-12)).tolist()
    assert lower_share(own, np.array([-np.inf])).tolist() == [0.0]
