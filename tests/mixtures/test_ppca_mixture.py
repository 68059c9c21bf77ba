"""PPCAMixture: limit cases, likelihood, batches, streams, collapse, and what it says to bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from sidelight import PPCAMixture, ProbabilisticPCA
from sidelight.objectives.mixtures import MixtureParameters, Planes


def clusters(n=400, d=6, k=4, seed=0, noise=0.1):
    """Flat clusters: two wide directions each, and noise."""
    rng = np.random.default_rng(seed)
    label = rng.integers(k, size=n)
    centres, axes = 6 * rng.normal(size=(k, d)), rng.normal(size=(k, 2, d))
    X = centres[label] + np.einsum("nq,nqd->nd", rng.normal(size=(n, 2)), axes[label]) + noise * rng.normal(size=(n, d))
    return X, label


def climbs(model):
    """The likelihood of each step, stage by stage."""
    stages = {}
    for record in model.history_:
        stages.setdefault(record["stage"], []).append(-record["objective"])
    return list(stages.values())


def test_one_chart_is_probabilistic_pca():
    """PCA divides by n - 1, a mixture by n, as scikit-learn has both."""
    X = clusters()[0]
    mixture, single = PPCAMixture(1, 2).fit(X), ProbabilisticPCA(2, standardize=False).fit(X)
    unbiased = len(X) / (len(X) - 1)
    C = mixture.components_[0].T @ mixture.components_[0] + mixture.noise_variance_[0] * np.eye(6)
    np.testing.assert_allclose(mixture.means_[0], single.mean_, rtol=1e-8)
    np.testing.assert_allclose(mixture.noise_variance_[0] * unbiased, single.noise_variance_, rtol=1e-8)
    axes, noise = single.components_, single.noise_variance_
    expected = (axes.T * (single.explained_variance_ - noise)) @ axes + noise * np.eye(6)
    np.testing.assert_allclose(C * unbiased, expected, rtol=1e-8, atol=1e-8)


def test_charts_of_all_dimensions_but_one_are_a_gaussian_mixture():
    X, label = clusters(400)
    ours = PPCAMixture(4, 5, tol=1e-8).fit(X)
    theirs = GaussianMixture(4, reg_covar=0, tol=1e-8, max_iter=500, random_state=0, n_init=4).fit(X)
    assert abs(ours.score(X) - theirs.score(X)) < 1e-6 * abs(theirs.score(X))
    assert len(set(zip(ours.predict(X), label, strict=True))) == 4


def test_fewer_local_dimensions_cost_little_likelihood_where_the_rest_is_noise():
    X, _ = clusters(400)
    most, few = (PPCAMixture(4, q).fit(X) for q in (5, 2))
    assert most.score(X) - few.score(X) < 0.1
    assert few.bic(X) < most.bic(X)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_likelihood_never_falls(share):
    X, _ = clusters()
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    X = X[~np.isnan(X).all(axis=1)]
    model = PPCAMixture(6, 2, tol=1e-6, n_init=1).fit(X)
    for values in climbs(model):
        assert (np.diff(values) > -1e-9).all()
        assert values[-1] > values[0]


def test_every_seed_finds_the_clusters():
    X, label = clusters(300)
    for seed in range(5):
        found = PPCAMixture(4, 2, random_state=seed).fit(X).predict(X)
        assert len(set(zip(found, label, strict=True))) == 4


@pytest.mark.thorough
def test_batches_give_what_memory_gives():
    X, _ = clusters(300)
    X[5, 2] = np.nan
    for rows in (X, X[6:]):
        whole = PPCAMixture(5, 2).fit(rows)
        parts = PPCAMixture(5, 2).fit_batches(lambda rows=rows: (rows[i : i + 101] for i in range(0, len(rows), 101)))
        np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(parts.score_samples(rows), whole.score_samples(rows), rtol=1e-8, atol=1e-8)
        assert not hasattr(parts, "embedding_")


def test_more_rows_than_the_start_is_made_of():
    """The start is made of a sample; batches and memory take the same one."""
    X, _ = clusters(12_000, d=3)
    whole, parts = PPCAMixture(3, 1).fit(X), PPCAMixture(3, 1).fit_batches(lambda: np.array_split(X, 7))
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_a_stream_comes_close_to_the_fit_of_all_rows(share):
    X, _ = clusters(2000)
    broken = np.where(np.random.default_rng(1).random(X.shape) < share, np.nan, X)
    stream = PPCAMixture(4, 2)
    for part in np.array_split(broken, 10) * 3:
        stream.partial_fit(part)
    assert stream.n_samples_seen_ == 6000
    assert PPCAMixture(4, 2).fit(broken).score(X) - stream.score(X) < 0.2
    first = PPCAMixture(4, 2).partial_fit(broken[:200])
    assert stream.score(X) > first.score(X)


@pytest.mark.thorough
def test_values_may_be_missing_anywhere_in_a_stream():
    X, _ = clusters(2000)
    parts = np.array_split(X.copy(), 10)
    for part in parts[2::3]:
        part[np.random.default_rng(1).random(part.shape) < 0.2] = np.nan
    stream = PPCAMixture(4, 2)
    for part in parts * 3:
        stream.partial_fit(part)
    assert PPCAMixture(4, 2).fit(np.concatenate(parts)).score(X) - stream.score(X) < 0.2
    fitted = PPCAMixture(4, 2).fit(X)
    before = fitted.score(X)
    assert fitted.partial_fit(parts[2]).score(X) > before - 0.1


@pytest.mark.parametrize("d", [6, 40, 310])
def test_sums_of_full_rows_open_into_those_of_rows_with_missing_values(d):
    """For each form that the sums of full rows have."""
    X = clusters(300, d=d)[0]
    charts = PPCAMixture(3, 2, max_iter=3, tol=1e9, n_init=1).fit(X).charts_
    mixture, inside = MixtureParameters(charts.weights, charts.charts), (X - charts.centre) / charts.scale
    full, wanted = (Planes(1e-9, missing).sums(mixture, inside) for missing in (False, True))
    opened = Planes(1e-9).opened(full, mixture)
    assert set(opened) == set(wanted)
    for name, value in wanted.items():
        np.testing.assert_allclose(opened[name], value, rtol=1e-8, atol=1e-9 * (1.0 + np.abs(value).max()))


def test_a_stream_goes_on_from_a_fit():
    X, _ = clusters(1000)
    model = PPCAMixture(4, 2).fit(X)
    before = model.score(X)
    model.partial_fit(X[:100])
    assert model.score(X) > before - 0.05
    assert model.n_samples_seen_ == 1100


def test_missing_values_cost_little_where_the_rest_tells_them():
    X, _ = clusters(400)
    holes = np.random.default_rng(1).random(X.shape) < 0.2
    holes[holes.all(axis=1), 0] = False
    broken = np.where(holes, np.nan, X)
    filled = PPCAMixture(4, 2).fit(broken).impute(broken)
    error = np.sqrt(((filled - X)[holes] ** 2).mean())
    assert error < 0.1 * np.sqrt(((X - np.nanmean(broken, axis=0))[holes] ** 2).mean())


def test_the_variance_of_what_is_missing_is_that_of_the_errors():
    X, _ = clusters(1000)
    holes = np.random.default_rng(1).random(X.shape) < 0.3
    holes[holes.all(axis=1), 0] = False
    broken = np.where(holes, np.nan, X)
    model = PPCAMixture(4, 2).fit(broken)
    ratio = (model.impute(broken) - X)[holes] ** 2 / model.impute_variance(broken)[holes]
    assert 0.8 < ratio.mean() < 1.3


@pytest.mark.thorough
def test_the_number_of_charts_and_of_dimensions_can_be_found():
    X, _ = clusters(800)
    model = PPCAMixture("bic").fit(X)
    assert model.n_charts_ == 4
    assert model.n_local_ == (2, 2, 2, 2)
    assert min(model.criteria_, key=model.criteria_.get) == "4"
    np.testing.assert_allclose(min(model.criteria_.values()), model.bic(X), rtol=1e-6)


def test_no_chart_collapses_onto_a_row():
    X = np.concatenate([clusters(200)[0], np.full((1, 6), 300.0)])
    model = PPCAMixture(5, 2).fit(X)
    floor = 1e-6 * X.var(axis=0).mean()
    assert (model.noise_variance_ >= 0.999 * floor).all()
    assert np.isfinite(model.score_samples(X)).all()


def test_dead_charts_are_begun_anew_and_history_says_so():
    """Twelve places, each of eight equal rows: starts of thirty charts leave some without rows."""
    X = np.repeat(clusters(12)[0], 8, axis=0)
    model = PPCAMixture(30, 2, max_iter=50).fit(X)
    assert any("reseeded" in record["terms"] for record in model.history_)
    assert [record["iteration"] for record in model.history_] == list(range(1, len(model.history_) + 1))
    assert np.isfinite(model.score_samples(X)).all()


def test_samples_are_like_the_data():
    X, _ = clusters(2000)
    drawn = PPCAMixture(4, 2).fit(X).sample(20_000, random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.35)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(X.T), atol=2.0)


def test_denoising_removes_the_noise_across_the_planes():
    flat, noisy = clusters(800, noise=0.0)[0], clusters(800, noise=0.2)[0]
    clean = PPCAMixture(4, 2).fit(noisy).denoise(noisy)
    assert ((clean - flat) ** 2).sum() < 0.4 * ((noisy - flat) ** 2).sum()


def test_wide_data_takes_the_way_without_covariances():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 320)) + 0.1 * rng.normal(size=(80, 320))
    X[:40] += 3
    model = PPCAMixture(2, 2).fit(X)
    assert set(model.predict(X)[:40]).isdisjoint(model.predict(X)[40:])
    np.testing.assert_allclose(model.noise_variance_, 0.01, rtol=0.15)
    before = model.score(X)
    assert model.partial_fit(X).score(X) > before - 0.5


def test_running_out_of_steps_is_warned_of():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 did not let the fit converge"):
        PPCAMixture(6, 2, max_iter=2, n_init=1, tol=1e-9).fit(clusters()[0])


def test_a_callback_stops_the_fit_and_ctrl_c_keeps_the_best():
    X, _ = clusters()
    model = PPCAMixture(6, 2, callback=lambda state: state.iteration == 2, tol=1e-12).fit(X)
    assert model.n_iter_ == 2

    def interrupt(state):
        if state.iteration == 2:
            raise KeyboardInterrupt

    model = PPCAMixture(6, 2, callback=interrupt, tol=1e-12)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert np.isfinite(model.score(X))


def test_a_search_that_is_interrupted_ends_there():
    X, _ = clusters()
    seen = []

    def interrupt(state):
        seen.append(state)
        if len(seen) == 9:
            raise KeyboardInterrupt

    model = PPCAMixture("auto", 2, callback=interrupt, tol=1e-12, max_iter=4)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert len(seen) == 9
    assert model.n_charts_ <= 4
    assert np.isfinite(model.score(X))


SAID = {
    "more charts than rows": (clusters(8)[0], r"n_charts=10 is more than the 8 rows of X\. Give at most 8"),
    "a column never seen": (
        np.column_stack([clusters(30)[0], np.full(30, np.nan)]),
        r"X=column 6 has no observed entry in any row\. Leave the column out",
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_what_cannot_be_fitted_is_said(name):
    X, message = SAID[name]
    with pytest.raises(ValueError, match=message):
        PPCAMixture(10).fit(X)


def test_rows_of_which_nothing_is_seen_are_warned_of_and_change_nothing():
    X, _ = clusters(200)
    empty = np.concatenate([X, np.full((3, 6), np.nan)])
    with pytest.warns(UserWarning, match=r"X=3 rows have no observed entry\. Leave them out"):
        model = PPCAMixture(4, 2).fit(empty)
    assert abs(model.score(X) - PPCAMixture(4, 2).fit(X).score(X)) < 0.05


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("n_charts", 0), ("n_charts", "many"), ("n_components", -1), ("n_init", 0), ("noise_floor", 0.0), ("tol", 0.0)],
)
@pytest.mark.parametrize("fit", ["fit", "fit_batches", "partial_fit"])
def test_a_bad_parameter_is_said(parameter, value, fit):
    with pytest.raises(ValueError, match=rf"^PPCAMixture: {parameter}=.* is not .*\. Give .*\.$"):
        getattr(PPCAMixture(**{parameter: value}), fit)(clusters(50)[0])


def test_a_stream_does_not_count_criteria():
    X, _ = clusters(200)
    with pytest.raises(ValueError, match=r'n_charts=bic cannot be chosen from a stream\. Give a number, or "auto"'):
        PPCAMixture("bic").partial_fit(X)
